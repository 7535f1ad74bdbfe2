//! What single copies of a `[[body]]` are otherwise than the others: `copy_edits = [{ copy = 3, gain_db = -6 }]`.

use super::{Body, ModeEdit, Rotation};
use serde::Deserialize;

/// What one copy has in place of what its `[[body]]` says. What is not given stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CopyEdit {
    /// Which, counted from 1, as their names are.
    pub copy: usize,
    /// A name of the material table; a `model` file does not count for it then.
    pub material: Option<String>,
    /// Texture of its surface; empty for the material's own.
    pub surface: Option<String>,
    /// All lengths as a factor.
    pub size: Option<f64>,
    /// Factor of all frequencies.
    pub pitch: Option<f64>,
    /// Factor of all decay rates.
    pub damping: Option<f64>,
    /// Tilt of its modes' loudness around 1 kHz, in dB per octave.
    pub brightness_db: Option<f64>,
    /// Loudness, in dB.
    pub gain_db: Option<f64>,
    /// Of its mesh's origin, in m, in place of its place on the grid.
    pub position: Option<[f64; 3]>,
    /// How it is turned.
    pub rotation: Option<Rotation>,
    /// Whether nothing moves it.
    pub fixed: Option<bool>,
    /// Single modes that are changed.
    pub mode_edits: Option<Vec<ModeEdit>>,
}

impl CopyEdit {
    /// Makes a copy what it is.
    pub fn apply(&self, body: &mut Body) {
        if let Some(material) = &self.material {
            body.material.clone_from(material);
            body.model = None;
            if body.silent == Some(true) {
                body.silent = None;
            }
        }
        if let Some(surface) = &self.surface {
            body.surface = Some(surface.clone()).filter(|s| !s.is_empty());
        }
        let numbers = [
            (self.size, &mut body.size),
            (self.pitch, &mut body.pitch),
            (self.damping, &mut body.damping),
            (self.brightness_db, &mut body.brightness_db),
            (self.gain_db, &mut body.gain_db),
        ];
        for (new, old) in numbers {
            *old = new.unwrap_or(*old);
        }
        body.position = self.position.unwrap_or(body.position);
        body.rotation = self.rotation.unwrap_or(body.rotation);
        body.fixed = self.fixed.unwrap_or(body.fixed);
        if let Some(edits) = &self.mode_edits {
            body.mode_edits.clone_from(edits);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Scene;

    fn parse(edits: &str) -> Result<Scene, crate::Error> {
        let text = format!(
            "[[body]]\nname = \"pea\"\nsphere = 0.01\nmaterial = \"glass\"\ngain_db = 3\ncopies = {{ count = [3, 1, 1] }}\ncopy_edits = {edits}\n"
        );
        Scene::parse(&text, ".".as_ref(), "peas")
    }

    /// One of three is louder and elsewhere; the others are where the grid has them.
    #[test]
    fn one_copy_is_changed_and_the_others_are_not() {
        let scene = parse("[{ copy = 2, gain_db = -6, position = [1, 2, 3], surface = \"\" }]").unwrap();
        let bodies = super::super::plan::written_out(&scene).unwrap();
        let all: Vec<_> = bodies.iter().map(|b| (b.name.as_str(), b.gain_db, b.position)).collect();
        assert_eq!(all, [("pea", 3.0, [0.0; 3]), ("pea 2", -6.0, [1.0, 2.0, 3.0]), ("pea 3", 3.0, [0.2, 0.0, 0.0])]);
    }

    #[test]
    fn edits_that_cannot_be_are_named() {
        for (edits, word) in [
            ("[{ copy = 4 }]", "copy_edits"),
            ("[{ copy = 0 }]", "copy_edits"),
            ("[{ copy = 2 }, { copy = 2 }]", "twice"),
            ("[{ copy = 2, size = -1 }]", "size"),
            ("[{ copy = 2, mode_edits = [{ mode = 0, frequency = -1 }] }]", "mode_edits"),
            ("[{ copy = 2, colour = 1 }]", "colour"),
        ] {
            let error = parse(edits).unwrap_err().to_string();
            assert!(error.contains(word), "{edits}: {error}");
        }
    }
}

//! Named textures, in TOML: the library that ships, and the user's own.
//!
//! ```toml
//! [[texture]]
//! name = "pebbles"
//! base = "gravel"                       # whatever is not given is taken from here
//! decay_s = 0.25
//! profile.loose.band_hz = [600, 2500]
//! ```
//!
//! ```
//! use eigentone_scene::textures;
//! use eigentone_synth::texture::Generator;
//!
//! let table = textures::builtin();
//! let gravel = textures::prepare(table.get("gravel")?, None, 1, 44_100.0)?;
//! assert!(Generator::new(gravel, 1).is_silent());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::Error;
use eigentone_core::texture::{Profile, Source, Texture, TextureTable};
use eigentone_io::{read_audio, read_file};
use eigentone_synth::texture::{Recording, SurfaceRuntime, synthesise};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use toml::{Table, Value};

/// The textures that ship with the engine.
pub fn builtin() -> TextureTable {
    TextureTable::builtin()
}

/// Adds the textures of a file to a table. A texture of the same name is replaced.
///
/// # Errors
/// [`Error::Table`] if the file does not parse, a base is unknown or a number impossible.
pub fn add_from_file(table: &mut TextureTable, file: &Path) -> Result<(), Error> {
    let bad = |message: String| Error::Table { file: file.to_owned(), message };
    let bytes = read_file(file)?;
    let text = std::str::from_utf8(&bytes).map_err(|e| bad(format!("not text: {e}")))?;
    add_from_text(table, text).map_err(bad)
}

fn add_from_text(table: &mut TextureTable, text: &str) -> Result<(), String> {
    let tidy = |e: toml::de::Error| e.to_string().trim_end().to_owned();
    let mut page: Table = toml::from_str(text).map_err(tidy)?;
    let rows = page.remove("texture");
    if let Some(key) = page.keys().next() {
        return Err(format!("unknown key `{key}`; a texture begins with [[texture]]"));
    }
    let Some(Value::Array(rows)) = rows else { return Err("no [[texture]] in it".to_owned()) };
    for row in rows {
        let Value::Table(mut row) = row else { return Err("a texture is a table of keys".to_owned()) };
        let name = row.remove("name").and_then(|n| n.as_str().map(str::to_owned)).unwrap_or_default();
        let base = row.remove("base");
        let base = base.as_ref().map(|base| base.as_str().unwrap_or_default());
        add(table, &name, base, row)?;
    }
    Ok(())
}

/// Adds a texture by its keys, on top of `base` if there is one. One of the same name is replaced.
///
/// # Errors
/// Says which key of which texture is wrong, or that the base is unknown.
pub fn add(table: &mut TextureTable, name: &str, base: Option<&str>, mut keys: Table) -> Result<(), String> {
    if name.trim().is_empty() {
        return Err("a texture has no `name`".to_owned());
    }
    if let Some(base) = base {
        let base = table.get(base).map_err(|e| e.to_string())?;
        let mut whole = Table::try_from(base).map_err(|e| e.to_string())?;
        lay_over(&mut whole, keys);
        keys = whole;
    }
    keys.insert("name".to_owned(), Value::String(name.to_owned()));
    let texture: Texture = keys.try_into().map_err(|e| format!("texture `{name}`: {}", e.to_string().trim_end()))?;
    table.insert(texture).map_err(|e| e.to_string())
}

/// Replaces what the upper table names. A profile of another kind replaces the whole profile.
fn lay_over(lower: &mut Table, upper: Table) {
    for (key, value) in upper {
        match (lower.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new))
                if key != "profile" || new.keys().all(|k| old.contains_key(k)) =>
            {
                lay_over(old, new);
            }
            (_, value) => {
                lower.insert(key, value);
            }
        }
    }
}

/// Makes a texture ready for a sample rate: computes or reads its recordings. Files are looked for in `folder` and may not leave it. Surfaces with the same seed
/// have the same relief where it is repeatable.
///
/// # Errors
/// [`Error::WrongKind`] for a file outside of the folder or a texture that cannot be used, and [`Error::Read`] for one that cannot be read.
pub fn prepare(
    texture: &Texture,
    folder: Option<&Path>,
    seed: u64,
    sample_rate_hz: f64,
) -> Result<Arc<SurfaceRuntime>, Error> {
    let loops: Vec<Recording> = match &texture.profile {
        Profile::Recorded(recorded) => recorded
            .loops
            .iter()
            .map(|l| match &l.source {
                Source::Synthetic(kind) => Ok(synthesise(*kind, f64::from(l.events_per_s), sample_rate_hz)),
                Source::File(name) => load(name, folder),
            })
            .collect::<Result<_, _>>()?,
        _ => vec![],
    };
    let takes: Vec<Recording> = texture.impact.takes.iter().map(|name| load(name, folder)).collect::<Result<_, _>>()?;
    SurfaceRuntime::new(texture, &loops, &takes, seed, sample_rate_hz)
        .map_err(|e| Error::WrongKind { file: PathBuf::from(&texture.name), message: e.to_string() })
}

/// The recordings that a texture names, relative to the folder of the file that describes it.
pub fn files(texture: &Texture) -> impl Iterator<Item = &str> {
    let loops = match &texture.profile {
        Profile::Recorded(recorded) => recorded.loops.as_slice(),
        _ => &[],
    };
    let of_loop = loops.iter().filter_map(|l| match &l.source {
        Source::File(name) => Some(name.as_str()),
        Source::Synthetic(_) => None,
    });
    of_loop.chain(texture.impact.takes.iter().map(String::as_str))
}

fn load(name: &str, folder: Option<&Path>) -> Result<Recording, Error> {
    let path = Path::new(name);
    let inside = path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    let (Some(folder), true) = (folder, inside) else {
        let message = "a recording must lie in the folder of the file that names it".to_owned();
        return Err(Error::WrongKind { file: path.to_owned(), message });
    };
    let audio = read_audio(&folder.join(path))?;
    Ok(Recording::new(&audio.mono(), f64::from(audio.sample_rate_hz)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_synth::BLOCK;
    use eigentone_synth::texture::{ContactState, Generator};

    #[test]
    fn the_library_has_what_it_says() {
        let table = builtin();
        for name in [
            "smooth",
            "brushed-metal",
            "wood",
            "brick",
            "concrete",
            "gravel",
            "sand",
            "leaves",
            "foil",
            "water",
            "plastic",
            "ice",
            "glass",
            "rubber",
            "cloth",
            "squeaky",
        ] {
            table.get(name).unwrap().validate().unwrap();
        }
        assert_eq!(table.iter().count(), 16);
    }

    /// Slips of 0–10 m/s under 0–10 kN: finite, and never more than the texture's largest gain times what its profile reaches.
    #[test]
    fn every_texture_is_finite_bounded_and_heard() {
        for texture in builtin().iter() {
            let surface = prepare(texture, None, 1, 44_100.0).unwrap();
            let mut generator = Generator::new(surface, 3);
            let (mut peak, mut position_m) = (0.0f32, 0.0);
            for v in [0.0f32, 1e-3, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0] {
                for force_n in [0.0f32, 0.1, 10.0, 1e3, 1e4] {
                    for _ in 0..100 {
                        position_m += f64::from(v) * BLOCK as f64 / 44_100.0;
                        let state = ContactState {
                            slip_m_s: v,
                            travel_m_s: v,
                            force_n,
                            mass_over_stiffness_s: 1e-4,
                            position_m,
                            roughness: 1.0,
                        };
                        let mut out = [0.0; BLOCK];
                        generator.fill(&state, &mut out);
                        peak = out.iter().fold(peak, |m, y| if y.is_finite() { m.max(y.abs()) } else { f32::INFINITY });
                    }
                }
            }
            let most = texture.gain.slip.largest() * texture.gain.force.largest();
            assert!(peak < 50.0 * most, "{}: {peak} N", texture.name);
            assert_eq!(peak > 0.0, texture.profile != Profile::Smooth, "{} is never heard", texture.name);
        }
    }

    #[test]
    fn a_row_with_a_base_changes_only_what_it_names() {
        let mut table = builtin();
        let mine = "[[texture]]\nname = 'pebbles'\nbase = 'gravel'\ndecay_s = 0.25\nprofile.loose.q = 1.5\n\
                    [[texture]]\nname = 'still water'\nbase = 'water'\nprofile = 'smooth'\n\
                    [[texture]]\nname = 'grit'\nbase = 'gravel'\nprofile.bumps = {}\n";
        add_from_text(&mut table, mine).unwrap();
        let (pebbles, gravel) = (table.get("pebbles").unwrap(), table.get("gravel").unwrap());
        assert_eq!((pebbles.decay_s, pebbles.damping), (0.25, gravel.damping));
        let (Profile::Loose(mine), Profile::Loose(theirs)) = (&pebbles.profile, &gravel.profile) else { panic!() };
        assert_eq!((mine.q, mine.voices), (1.5, theirs.voices));
        assert_eq!(table.get("still-water").unwrap().profile, Profile::Smooth);
        assert!(matches!(table.get("grit").unwrap().profile, Profile::Bumps(_)));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("[[texture]]\nname = 'x'\nfricton = 1\n", "fricton"),
            ("[[texture]]\nname = 'x'\nprofile.bumps = { mark = 1 }\n", "mark"),
            ("[[texture]]\nname = 'x'\nbase = 'grvel'\n", "did you mean `gravel`"),
            ("[[texture]]\nname = 'x'\nrestitution = 2\n", "restitution is 2"),
            ("[[texture]]\nname = 'x'\ngain.slip = [[1, 0], [0, 1]]\n", "not to the right"),
            ("[[texture]]\nfriction = 1\n", "no `name`"),
            ("[[textur]]\nname = 'x'\n", "unknown key `textur`"),
        ] {
            let found = add_from_text(&mut builtin(), text).unwrap_err();
            assert!(found.contains(expected), "{text} gives {found}");
        }
    }

    /// A user's recording replaces a synthetic one, if it lies beside the file that names it.
    #[test]
    fn recordings_come_from_the_folder_only() {
        let text = "[[texture]]\nname = 'mine'\nprofile.recorded.loops = [{ source = { file = 'NAME' } }]\n";
        let folder = std::env::temp_dir().join(format!("eigentone-textures-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let audio = eigentone_io::AudioBuffer { sample_rate_hz: 48_000, channels: vec![vec![0.5; 4800]] };
        eigentone_io::write_wav(&folder.join("loop.wav"), &audio, eigentone_io::SampleFormat::Pcm16).unwrap();
        for (name, good) in [("loop.wav", true), ("none.wav", false), ("../loop.wav", false), ("/etc/loop.wav", false)]
        {
            let mut table = TextureTable::default();
            add_from_text(&mut table, &text.replace("NAME", name)).unwrap();
            assert_eq!(prepare(table.get("mine").unwrap(), Some(&folder), 0, 44_100.0).is_ok(), good, "{name}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

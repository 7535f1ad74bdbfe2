//! Scenes: what is in them, without making a single model.

use eigentone::bake::{self, Estimate, MaterialRow, Prepared};
use eigentone::core::MaterialTable;
use eigentone::plot::Stage;
use eigentone::scene::{Scene, SceneCounts};
use eigentone::{materials, textures};
use serde::Serialize;
use std::collections::BTreeSet;

/// A scene.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SceneInspection {
    /// What it calls itself.
    pub title: String,
    /// How long it lasts, in s, without the tail.
    pub duration_s: f64,
    /// Of the sound that comes of it.
    pub sample_rate_hz: f64,
    /// Seed.
    pub seed: u64,
    /// Bodies, with all copies and what melodies drop.
    pub bodies: usize,
    /// Those of them that make a sound.
    pub sounding: usize,
    /// Soft bodies.
    pub soft: usize,
    /// Textures that it describes or uses, by name.
    pub surfaces: Vec<String>,
    /// Scripted events.
    pub events: usize,
    /// Notes of all melodies.
    pub melody_notes: usize,
    /// Particles in flight.
    pub particles: usize,
    /// What particles may strike.
    pub colliders: usize,
    /// Bodies that drive others.
    pub bridges: usize,
    /// Its rooms, if it has an `[acoustics]` table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acoustics: Option<AcousticsInspection>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// `[acoustics]` of a scene, before a bake.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AcousticsInspection {
    /// Points from which sound would be simulated; none if it cannot be.
    pub probes: usize,
    /// Side of a simulated cell, in m; `null` if it cannot be simulated.
    pub cell_m: Option<f64>,
    /// How names of materials were understood.
    pub materials: Vec<MaterialRow>,
    /// What a bake would take; `null` if it cannot be simulated.
    pub estimate: Option<Estimate>,
    /// What the user should know, and why it cannot be simulated.
    pub warnings: Vec<String>,
}

/// Makes cells of a scene's rooms, if it has any.
fn inspect_acoustics(scene: &Scene) -> (Option<AcousticsInspection>, Option<Prepared>) {
    if scene.acoustics.is_none() {
        return (None, None);
    }
    match bake::prepare(scene) {
        Ok(rooms) => {
            let estimate = rooms.estimate.clone();
            let inspection = AcousticsInspection {
                probes: rooms.probes.len(),
                cell_m: Some(estimate.cell_m),
                materials: rooms.materials.clone(),
                estimate: Some(estimate),
                warnings: rooms.warnings.clone(),
            };
            (Some(inspection), Some(rooms))
        }
        Err(e) => (Some(AcousticsInspection { warnings: vec![e.to_string()], ..Default::default() }), None),
    }
}

/// Looks into a scene, sketches it, and makes cells of its rooms.
pub(super) fn inspect_scene(scene: &Scene) -> (SceneInspection, Stage, Option<Prepared>) {
    let (stage, mut warnings) = Stage::new(scene);
    warnings.extend(unknown_names(scene));
    let SceneCounts { bodies, sounding, melody_notes } = scene.counts();
    let unplayable = scene.melodies.iter().filter_map(|melody| melody.score().err());
    warnings.extend(unplayable.map(|e| format!("a melody cannot be played: {e}")));
    // Rooms alone are a scene as well.
    if sounding == 0 && (scene.acoustics.is_none() || !scene.bodies.is_empty()) {
        warnings.push("nothing in it makes a sound".to_owned());
    }
    if scene.particles.is_some() && scene.colliders.is_empty() {
        warnings.push("there are particles, but no [[collider]] for them to strike".to_owned());
    }
    let described = scene.surfaces.iter().map(|s| &s.name);
    let surfaces: BTreeSet<&String> = scene.bodies.iter().filter_map(|b| b.surface.as_ref()).chain(described).collect();
    let (acoustics, rooms) = inspect_acoustics(scene);
    let inspection = SceneInspection {
        title: scene.title.clone(),
        duration_s: scene.duration_s,
        sample_rate_hz: scene.output.sample_rate_hz,
        seed: scene.seed,
        bodies,
        sounding,
        soft: scene.softs.len(),
        surfaces: surfaces.into_iter().cloned().collect(),
        events: scene.events.len(),
        melody_notes,
        particles: scene.particles.as_ref().map_or(0, |p| p.particles),
        colliders: scene.colliders.len(),
        bridges: scene.bridges.len(),
        acoustics,
        warnings,
    };
    (inspection, stage, rooms)
}

/// Materials, textures and pitches that rendering will not find.
fn unknown_names(scene: &Scene) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut table = MaterialTable::builtin();
    let own = scene.materials_file();
    if own.is_file() {
        warnings.extend(materials::add_from_file(&mut table, &own).err().map(|e| e.to_string()));
    }
    let mut known = textures::builtin();
    for surface in &scene.surfaces {
        let added = textures::add(&mut known, &surface.name, surface.like.as_deref(), surface.texture.clone());
        warnings.extend(added.err().map(|message| format!("[[surface]] {message}")));
    }
    for body in &scene.bodies {
        let material = table.get(&body.material).err().map(|e| e.to_string());
        let surface = body.surface.as_ref().and_then(|name| known.get(name).err()).map(|e| e.to_string());
        warnings.extend(material.into_iter().chain(surface).map(|e| format!("body `{}`: {e}", body.name)));
    }
    for melody in &scene.melodies {
        let played = melody.score().unwrap_or_default();
        let missing: BTreeSet<_> =
            played.iter().map(|n| n.note).filter(|n| !scene.bodies.iter().any(|b| b.tune == Some(*n))).collect();
        warnings.extend(missing.iter().map(|note| format!("no body has `tune = \"{note}\"`, which a melody plays")));
    }
    warnings
}

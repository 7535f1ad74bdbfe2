//! How much there is in a scene, before anything is made.

use super::Scene;

/// Bodies of a scene, with all copies and all that melodies drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SceneCounts {
    /// Rigid and soft bodies.
    pub bodies: usize,
    /// Those of them that make a sound.
    pub sounding: usize,
    /// Notes of all melodies that can be played.
    pub melody_notes: usize,
}

impl Scene {
    /// Counts bodies and notes. No model is made.
    pub fn counts(&self) -> SceneCounts {
        let mut counts = SceneCounts::default();
        for body in &self.bodies {
            counts.bodies += body.count();
            counts.sounding += if body.is_silent() { 0 } else { body.count() };
        }
        for melody in &self.melodies {
            let notes = melody.score().map_or(0, |score| score.len());
            let loud = self.body(&melody.body).is_some_and(|b| !b.is_silent());
            counts.melody_notes += notes;
            counts.sounding += if loud { notes } else { 0 };
        }
        counts.sounding += self.softs.iter().filter(|soft| !soft.silent).count();
        counts.bodies += self.softs.len() + counts.melody_notes;
        counts
    }
}

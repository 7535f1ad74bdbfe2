//! What can be done to a body: at once, or at a time.

use crate::body::{Kind, MaterialRef, Sound, Surface};
use crate::key::BodyKey;
use crate::strike::Strike;
use eigentone_core::{Ordered, Vec3};
use eigentone_sim::rigid::Drive;
use glam::DQuat;
use std::collections::BTreeMap;

/// Something done to a body: see [`World::change`](crate::World::change) and [`World::schedule`](crate::World::schedule).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Change {
    /// A blow.
    Strike(Strike),
    /// Loudness, as a factor.
    Gain(f32),
    /// Importance.
    Emphasis(f32),
    /// Factor of all decay rates, 1 to 50.
    Damping(f32),
    /// Factor of all frequencies.
    Frequency(f32),
    /// Strain.
    Strain(f32),
    /// It stops sounding, within a block.
    Silence,
    /// What it sounds with; the old sound goes over into the new.
    Sound(Sound),
    /// What it is made of; its model is made anew.
    Material(MaterialRef),
    /// What it is like to the touch.
    Surface(Surface),
    /// A push that moves it and is not heard by itself.
    Push {
        /// In N·s, in the world.
        impulse_ns: Vec3,
        /// Where, in its own frame; the centre of mass if not given.
        at: Option<Vec3>,
    },
    /// Where it is.
    Pose {
        /// Of its origin.
        position: Vec3,
        /// How it is turned.
        rotation: DQuat,
    },
    /// How it moves; its spin stays if none is given.
    Velocity {
        /// In m/s.
        velocity: Vec3,
        /// In rad/s.
        spin: Option<Vec3>,
    },
    /// A pull that holds a speed, or none.
    Drive(Option<Drive>),
    /// What moves it.
    Kind(Kind),
    /// Whether it is there.
    Present(bool),
    /// In kg.
    Mass(f64),
    /// Coulomb's coefficient.
    Friction(f64),
    /// Share of the speed that a bounce keeps.
    Restitution(f64),
    /// All lengths as a factor of the body's own shape: higher when smaller, as modes of a scaled body are.
    Size(f64),
    /// Taken in the hand, or let go: held, it stays where it is and rings briefly.
    Hold(bool),
}

impl Change {
    /// Whether it changes how bodies move, and must be done before the step it falls into.
    pub(crate) fn moves(&self) -> bool {
        !matches!(
            self,
            Self::Strike(_)
                | Self::Gain(_)
                | Self::Emphasis(_)
                | Self::Damping(_)
                | Self::Frequency(_)
                | Self::Strain(_)
                | Self::Silence
        )
    }
}

/// Changes that wait for their time, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    /// What moves bodies, and what does not, by time and in the order in which they came.
    waiting: [BTreeMap<(Ordered, u64), (BodyKey, Change)>; 2],
    counter: u64,
}

impl Script {
    pub fn add(&mut self, time_s: f64, body: BodyKey, change: Change) {
        self.counter += 1;
        self.waiting[usize::from(change.moves())].insert((Ordered(time_s), self.counter), (body, change));
    }

    pub fn len(&self) -> usize {
        self.waiting.iter().map(BTreeMap::len).sum()
    }

    /// Takes out the next that is due by this time: of those that move bodies, or of the others.
    pub fn next(&mut self, until_s: f64, moving: bool) -> Option<(f64, BodyKey, Change)> {
        let first = self.waiting[usize::from(moving)].first_entry().filter(|e| e.key().0.0 <= until_s)?;
        let ((Ordered(time_s), _), (body, change)) = first.remove_entry();
        Some((time_s, body, change))
    }
}

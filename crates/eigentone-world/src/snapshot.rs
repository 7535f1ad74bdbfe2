//! What there is, and how it moves: to be kept, and gone back to.
//!
//! The *document* is what there is and its parameters; the *motion* is everything that decides what happens next: physics, contacts, hail, soft bodies, scripts, seeds. How things ring is in neither: going back does not bring back
//! a sound. Going on from a restored snapshot gives the same steps as if nothing had happened, bit for bit.

use crate::body::{Body, Sound};
use crate::change::Script;
use crate::error::WorldError;
use crate::hail::{Hail, HailSettings};
use crate::key::{BodyKey, BridgeKey};
use crate::listener::Pose;
use crate::soft::SoftMotion;
use crate::world::{BridgeSpec, GameTime, World};
use eigentone_core::acoustics::Field;
use eigentone_core::contact;
use eigentone_core::{ModalModel, Vec3};
use eigentone_sim::rigid;
use eigentone_synth::Quality;
use eigentone_synth::contact::Tracker;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What there is.
#[derive(Clone, Debug)]
pub struct Document {
    bodies: Vec<Kept>,
    bridges: BTreeMap<BridgeKey, BridgeSpec>,
    hail: Option<HailSettings>,
    listener: Pose,
    rooms: Option<Arc<Field>>,
    quality: Quality,
    budget_us: Option<f64>,
    gravity: Vec3,
}

/// A body, and the model that was made for it.
#[derive(Clone, Debug)]
struct Kept {
    key: BodyKey,
    body: Body,
    made: Option<Arc<ModalModel>>,
}

impl Document {
    /// The bodies, with their keys.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyKey, &Body)> {
        self.bodies.iter().map(|kept| (kept.key, &kept.body))
    }
}

/// How it moves.
#[derive(Clone)]
pub struct Motion {
    rigid: rigid::Snapshot,
    tracker: Tracker,
    hail: Option<Hail>,
    soft: Option<SoftMotion>,
    script: Script,
    time: GameTime,
    /// Where bodies are, and who drags them.
    poses: Vec<(BodyKey, contact::Pose, Option<u64>)>,
}

impl std::fmt::Debug for Motion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Motion").field("time", &self.time).finish_non_exhaustive()
    }
}

/// Both.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// What there is.
    pub document: Document,
    /// How it moves.
    pub motion: Motion,
}

impl World {
    /// What there is now.
    pub fn document(&mut self) -> Document {
        let keys: Vec<BodyKey> = self.bodies.iter().map(|(key, _)| key).collect();
        let kept = |key: BodyKey| {
            let body = self.current(key)?;
            let made = matches!(body.sound, Sound::Made | Sound::MadeWith(_));
            // A task that is still under way would be forgotten.
            let done = made && !self.is_being_made(key);
            let made = self.bodies.get(key).and_then(|state| state.base.clone()).filter(|_| done);
            Some(Kept { key, body, made })
        };
        Document {
            bodies: keys.into_iter().filter_map(kept).collect(),
            bridges: self.bridge_specs(),
            hail: self.hail().cloned(),
            listener: self.listener,
            rooms: self.settings.rooms.clone(),
            quality: self.settings.quality,
            budget_us: self.settings.budget_us,
            gravity: self.settings.gravity,
        }
    }

    /// What there is now and how it moves.
    pub fn snapshot(&mut self) -> Snapshot {
        let motion = Motion {
            rigid: self.rigid.get().snapshot(),
            tracker: self.tracker.clone(),
            hail: self.hail.clone(),
            soft: self.keep_soft(),
            script: self.script.clone(),
            time: self.time,
            poses: self.bodies.iter().map(|(key, state)| (key, state.pose, state.grab)).collect(),
        };
        Snapshot { document: self.document(), motion }
    }

    /// Goes back to what there was, and how it moved. Bodies that were removed since have their keys again; those that came since are gone.
    ///
    /// # Errors
    /// If a body cannot be made again; what came before it is restored.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), WorldError> {
        self.restore_document(&snapshot.document)?;
        let motion = &snapshot.motion;
        // What is left of sliding fades; if the audio side is gone, it has faded.
        let _ = self.tracker.restore(&motion.tracker, self.time.now_s, self.engine.get());
        self.rigid.get().restore(&motion.rigid);
        self.hail.clone_from(&motion.hail);
        self.script.clone_from(&motion.script);
        self.clock.set_game_time(self.time.now_s, motion.time.now_s);
        self.time = GameTime { paused: self.time.paused, ..motion.time };
        for (key, pose, grab) in &motion.poses {
            if let Some(state) = self.bodies.get_mut(*key) {
                (state.pose, state.grab) = (*pose, *grab);
                (state.placed, state.excited) = (false, true);
            }
        }
        let known = motion.poses.iter().map(|(key, ..)| *key).collect();
        self.restore_soft(motion.soft.as_ref(), &known)
    }

    /// Goes back to what there was and its parameters, without touching how things move: what undoing a change of a parameter is.
    ///
    /// # Errors
    /// If a body cannot be made again; what came before it is restored.
    pub fn restore_document(&mut self, document: &Document) -> Result<(), WorldError> {
        let wanted: BTreeSet<BodyKey> = document.bodies.iter().map(|kept| kept.key).collect();
        if wanted.iter().any(|key| !self.bodies.fits(*key)) {
            let max = self.settings.max_bodies;
            return Err(WorldError::Full { what: "bodies", max, setting: "max_bodies" });
        }
        let gone: Vec<BodyKey> = self.bodies.iter().map(|(key, _)| key).filter(|key| !wanted.contains(key)).collect();
        for key in gone {
            self.remove(key)?;
        }
        // Those that sound through others come after the others.
        let shares = |kept: &&Kept| matches!(kept.body.sound, Sound::Shared { .. });
        let (sharers, own): (Vec<&Kept>, Vec<&Kept>) = document.bodies.iter().partition(shares);
        for kept in own.into_iter().chain(sharers) {
            match self.bodies.get(kept.key) {
                None => self.insert_with(kept.key, kept.body.clone(), kept.made.clone())?,
                Some(_) => self.make_like(kept.key, &kept.body)?,
            }
        }
        self.restore_bridges(&document.bridges);
        match (&mut self.hail, &document.hail) {
            (Some(hail), Some(wanted)) if hail.settings.colliders == wanted.colliders => {
                if hail.settings.cloud != wanted.cloud {
                    hail.simulation.set_cloud(wanted.cloud.clone())?;
                }
                hail.settings.clone_from(wanted);
            }
            (None, None) => {}
            _ => self.set_hail(document.hail.clone())?,
        }
        self.set_listener(document.listener);
        let same_rooms = match (&self.settings.rooms, &document.rooms) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        if !same_rooms {
            self.set_rooms(document.rooms.clone());
        }
        if self.settings.quality != document.quality {
            self.set_quality(document.quality);
        }
        self.set_budget_us(document.budget_us);
        self.set_gravity(document.gravity)
    }
}

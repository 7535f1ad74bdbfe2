//! How soft bodies move, kept and gone back to.
//!
//! The simulation keeps a clone of itself when it comes to the order to do so: offline that is at once, live when its thread has done all that was ordered before. Nobody waits for it. Going back is an order as
//! well, so it always finds what was kept before. Impulses on rigid bodies that were still on their way are kept too.

use super::stage::{Command, Kept, Restoring};
use crate::error::WorldError;
use crate::key::BodyKey;
use crate::world::World;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// How soft bodies move.
#[derive(Clone)]
pub(crate) struct SoftMotion {
    kept: Arc<OnceLock<Kept>>,
    began_s: f64,
    /// Samples that had been asked for.
    ordered: u64,
    colliders: BTreeSet<u32>,
}

impl World {
    /// How soft bodies move, after all that they were asked to do; `None` if none has been there.
    pub(crate) fn keep_soft(&mut self) -> Option<SoftMotion> {
        let soft = &mut self.soft;
        let runner = soft.runner.as_mut().filter(|_| soft.started)?;
        let kept = Arc::new(OnceLock::new());
        runner.send(Command::Keep { slot: kept.clone(), taken: soft.taken });
        Some(SoftMotion { kept, began_s: soft.began_s, ordered: soft.ordered, colliders: soft.colliders.clone() })
    }

    /// Soft bodies go back to how they moved. Those that were not there then (`known` says who was) begin anew; one that was there but did not move any more does not move again.
    pub(crate) fn restore_soft(
        &mut self,
        motion: Option<&SoftMotion>,
        known: &BTreeSet<BodyKey>,
    ) -> Result<(), WorldError> {
        let all: Vec<BodyKey> = self.bodies.iter().filter(|(_, s)| s.body.soft.is_some()).map(|(key, _)| key).collect();
        let Some(motion) = motion else {
            self.soft.stop();
            return all.into_iter().try_for_each(|key| self.start_soft(key));
        };
        self.need_runner()?;
        self.soft.started = true;
        self.soft.epoch += 1;
        (self.soft.began_s, self.soft.ordered) = (motion.began_s, motion.ordered);
        let (back, anew): (Vec<_>, Vec<_>) = all.into_iter().partition(|key| known.contains(key));
        let mut result = Ok(());
        let mut bodies = Vec::new();
        for key in back {
            let Some(radiation) = self.state(key)?.body.soft.as_ref().map(|spec| spec.radiation) else { continue };
            match self.open_soft_voice(key) {
                Ok(writer) => bodies.push((key, radiation, writer)),
                Err(error) => result = result.and(Err(error)),
            }
        }
        let is_there = |number: &u32| self.bodies.key_of(*number).is_some_and(|key| known.contains(&key));
        self.soft.colliders = motion.colliders.iter().copied().filter(is_there).collect();
        let colliders = self.soft.colliders.iter().copied().collect();
        let restoring = Restoring { kept: motion.kept.clone(), epoch: self.soft.epoch, bodies, colliders };
        if let Some(runner) = &mut self.soft.runner {
            runner.send(Command::Restore(Box::new(restoring)));
        }
        let others: Vec<BodyKey> = self.bodies.iter().map(|(key, _)| key).filter(|key| !known.contains(key)).collect();
        others.into_iter().for_each(|key| self.tell_soft(key));
        self.take_soft();
        result.and(anew.into_iter().try_for_each(|key| self.start_soft(key)))
    }
}

//! Steps that can be undone: what the scene was before each, bounded in memory.

use crate::document::SceneText;
use crate::session::Entry;
use eigentone_world::Document;
use std::collections::{BTreeMap, VecDeque};

/// Memory that all steps may take, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// What a scene was at some time.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Which world it belongs to: another scene is another world.
    pub epoch: u64,
    /// The bodies and their parameters.
    pub document: Document,
    /// The file.
    pub text: SceneText,
    /// What the studio knows of bodies.
    pub entries: BTreeMap<u64, Entry>,
    /// The file's name, if it has one.
    pub file: Option<std::path::PathBuf>,
    /// About how much memory it takes by itself.
    pub bytes: usize,
    /// What it shares with others, by where it is in memory: models and meshes, and how large each is in bytes.
    pub shared: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
struct Step {
    before: Moment,
    label: String,
}

/// Steps back and forth.
#[derive(Debug, Default)]
pub struct History {
    undo: VecDeque<Step>,
    redo: Vec<Step>,
    gesture: Option<(u64, u64)>,
    held: Held,
}

/// Memory that all steps hold, what several share counted once.
#[derive(Debug, Default)]
struct Held {
    own: usize,
    shared: BTreeMap<usize, (usize, usize)>,
    shared_bytes: usize,
}

impl Held {
    fn take(&mut self, moment: &Moment) {
        self.own += moment.bytes;
        for &(place, bytes) in &moment.shared {
            let (count, _) = self.shared.entry(place).or_insert((0, bytes));
            if *count == 0 {
                self.shared_bytes += bytes;
            }
            *count += 1;
        }
    }

    fn give(&mut self, moment: &Moment) {
        self.own = self.own.saturating_sub(moment.bytes);
        for (place, _) in &moment.shared {
            let Some((count, bytes)) = self.shared.get_mut(place) else { continue };
            *count -= 1;
            if *count == 0 {
                self.shared_bytes -= *bytes;
                self.shared.remove(place);
            }
        }
    }
}

impl History {
    /// Whether a request of this gesture on this body is part of the last step.
    pub fn continues(&self, gesture: Option<u64>, body: u64) -> bool {
        gesture.is_some_and(|g| self.gesture == Some((g, body)))
    }

    /// Something is about to change: this is what was before.
    pub fn push(&mut self, before: Moment, label: impl Into<String>, gesture: Option<(u64, u64)>) {
        for step in std::mem::take(&mut self.redo) {
            self.held.give(&step.before);
        }
        self.held.take(&before);
        self.undo.push_back(Step { before, label: label.into() });
        self.gesture = gesture;
        self.keep_small();
    }

    /// What comes next is a step of its own, whatever its gesture.
    pub fn end_gesture(&mut self) {
        self.gesture = None;
    }

    /// The last step turned out to change nothing.
    pub fn forget_last(&mut self) {
        if let Some(step) = self.undo.pop_back() {
            self.held.give(&step.before);
        }
        self.gesture = None;
    }

    /// Memory that all steps hold, in bytes.
    pub fn bytes(&self) -> usize {
        self.held.own + self.held.shared_bytes
    }

    /// Forgets the oldest steps back, then the farthest forward, until the rest is small enough. One step back always stays.
    fn keep_small(&mut self) {
        while self.bytes() > MAX_BYTES {
            let gone = match self.undo.len() {
                0 | 1 if self.redo.is_empty() => return,
                0 | 1 => Some(self.redo.remove(0)),
                _ => self.undo.pop_front(),
            };
            gone.into_iter().for_each(|step| self.held.give(&step.before));
        }
    }

    /// Goes a step back: what was before, if there is one. `now` can be come back to.
    pub fn undo(&mut self, now: impl FnOnce() -> Moment) -> Option<Moment> {
        let Step { before, label } = self.undo.pop_back()?;
        self.held.give(&before);
        let now = now();
        self.held.take(&now);
        self.redo.push(Step { before: now, label });
        self.gesture = None;
        self.keep_small();
        Some(before)
    }

    /// Goes a step forward again.
    pub fn redo(&mut self, now: impl FnOnce() -> Moment) -> Option<Moment> {
        let Step { before, label } = self.redo.pop()?;
        self.held.give(&before);
        let now = now();
        self.held.take(&now);
        self.undo.push_back(Step { before: now, label });
        self.gesture = None;
        self.keep_small();
        Some(before)
    }

    /// Steps back, steps forward, and what the next step back would undo.
    pub fn counts(&self) -> (usize, usize, Option<&str>) {
        (self.undo.len(), self.redo.len(), self.undo.back().map(|s| s.label.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(world: &mut eigentone_world::World, bytes: usize, shared: &[(usize, usize)]) -> Moment {
        Moment {
            epoch: 0,
            document: world.document(),
            text: SceneText::parse("").unwrap(),
            entries: BTreeMap::new(),
            file: None,
            bytes,
            shared: shared.to_vec(),
        }
    }

    /// A thousand steps of a megabyte each, going back and forth among them: never more than 64 MB are held, what all share is counted once, and nothing is left of the count when all is given up.
    #[test]
    fn steps_hold_64_mb_at_most() {
        let (mut world, _out) = eigentone_world::World::new(eigentone_world::Settings::offline()).unwrap();
        let mut history = History::default();
        for step in 0..1000 {
            let own = [(7, 10 << 20), (1000 + step, 1 << 19)];
            history.push(moment(&mut world, 1 << 19, &own), "x", None);
            assert!(history.bytes() <= MAX_BYTES, "{}", history.bytes());
        }
        assert_eq!(history.counts().0, 54, "54 MB of steps beside the 10 MB that all share");
        for _ in 0..40 {
            let now = moment(&mut world, 3 << 20, &[(7, 10 << 20)]);
            history.undo(|| now);
            assert!(history.bytes() <= MAX_BYTES, "{}", history.bytes());
        }
        // One that is larger than all stays, alone.
        history.push(moment(&mut world, 100 << 20, &[]), "large", None);
        assert_eq!(history.counts(), (1, 0, Some("large")));
        history.forget_last();
        assert_eq!((history.bytes(), history.held.shared.len()), (0, 0));
    }
}

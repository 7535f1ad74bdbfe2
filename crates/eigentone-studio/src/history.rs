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
    /// About how much memory it takes.
    pub bytes: usize,
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
}

impl History {
    /// Whether a request of this gesture on this body is part of the last step.
    pub fn continues(&self, gesture: Option<u64>, body: u64) -> bool {
        gesture.is_some_and(|g| self.gesture == Some((g, body)))
    }

    /// Something is about to change: this is what was before.
    pub fn push(&mut self, before: Moment, label: impl Into<String>, gesture: Option<(u64, u64)>) {
        self.undo.push_back(Step { before, label: label.into() });
        self.redo.clear();
        self.gesture = gesture;
        self.keep_small();
    }

    /// What comes next is a step of its own, whatever its gesture.
    pub fn end_gesture(&mut self) {
        self.gesture = None;
    }

    /// The last step turned out to change nothing.
    pub fn forget_last(&mut self) {
        self.undo.pop_back();
        self.gesture = None;
    }

    fn keep_small(&mut self) {
        let size = |steps: &VecDeque<Step>| steps.iter().map(|s| s.before.bytes).sum::<usize>();
        let mut bytes = size(&self.undo);
        while bytes > MAX_BYTES && self.undo.len() > 1 {
            bytes -= self.undo.pop_front().map_or(0, |s| s.before.bytes);
        }
    }

    /// Goes a step back: what was before, if there is one. `now` can be come back to.
    pub fn undo(&mut self, now: impl FnOnce() -> Moment) -> Option<Moment> {
        let Step { before, label } = self.undo.pop_back()?;
        self.redo.push(Step { before: now(), label });
        self.gesture = None;
        Some(before)
    }

    /// Goes a step forward again.
    pub fn redo(&mut self, now: impl FnOnce() -> Moment) -> Option<Moment> {
        let Step { before, label } = self.redo.pop()?;
        self.undo.push_back(Step { before: now(), label });
        self.gesture = None;
        Some(before)
    }

    /// Steps back, steps forward, and what the next step back would undo.
    pub fn counts(&self) -> (usize, usize, Option<&str>) {
        (self.undo.len(), self.redo.len(), self.undo.back().map(|s| s.label.as_str()))
    }
}

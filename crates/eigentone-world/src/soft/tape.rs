//! What soft bodies did, for whoever shows or plays it later: where their surfaces were, and what they sounded like.

use super::stage::Taped;
use crate::key::BodyKey;
use crate::key::Slots;
use crate::world::{BodyState, World};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Records that wait to be taken; of more the oldest are dropped.
const MAX_RECORDS: usize = 16_384;

/// A piece of what a soft body did. Times are game times.
#[derive(Clone, Debug, PartialEq)]
pub enum SoftRecord {
    /// Where its surface was.
    Surface {
        /// Which.
        body: BodyKey,
        /// When, in s.
        time_s: f64,
        /// In the world, in m, in the order of the vertices of its shape's mesh.
        positions: Vec<[f32; 3]>,
    },
    /// What it sounded like.
    Sound {
        /// Which.
        body: BodyKey,
        /// Of the first sample, in s.
        time_s: f64,
        /// In Pa at one metre.
        samples: Vec<f32>,
    },
}

/// What is recorded.
pub(super) struct Tape {
    every_s: f64,
    records: std::collections::VecDeque<SoftRecord>,
    /// Nodes of surfaces, by vertex.
    nodes: BTreeMap<BodyKey, Arc<[u32]>>,
}

impl Tape {
    /// What a run between two game times tells: surfaces, if a multiple of their interval lies in it.
    pub fn order(&mut self, [begin_s, end_s]: [f64; 2], bodies: &Slots<BodyState>) -> Taped {
        let count = |time_s: f64| (time_s / self.every_s + 1e-6).floor();
        if count(end_s) <= count(begin_s) {
            return Taped { surfaces: Vec::new() };
        }
        let soft = bodies.iter().filter_map(|(key, state)| Some((key, state.body.soft.as_ref()?)));
        let nodes = &mut self.nodes;
        let surfaces =
            soft.map(|(key, spec)| (key, nodes.entry(key).or_insert_with(|| spec.body.surface().1.into()).clone()));
        Taped { surfaces: surfaces.collect() }
    }
}

impl World {
    /// Records what soft bodies do from now on, with their surfaces so often, in s; or stops that. [`drain_soft_records`](Self::drain_soft_records) gives it.
    pub fn record_soft(&mut self, every_s: Option<f64>) {
        let every_s = every_s.filter(|s| *s > 0.0 && s.is_finite());
        self.soft.tape = every_s.map(|every_s| Tape { every_s, records: Default::default(), nodes: BTreeMap::new() });
    }

    /// What soft bodies have done since the last call, in the order of time for each. If nobody takes it for long, the oldest is lost.
    pub fn drain_soft_records(&mut self) -> impl Iterator<Item = SoftRecord> {
        self.soft.tape.as_mut().map(|tape| std::mem::take(&mut tape.records)).unwrap_or_default().into_iter()
    }

    pub(super) fn keep_record(&mut self, record: SoftRecord) {
        if let Some(tape) = &mut self.soft.tape {
            tape.records.push_back(record);
            if tape.records.len() > MAX_RECORDS {
                tape.records.pop_front();
            }
        }
    }
}

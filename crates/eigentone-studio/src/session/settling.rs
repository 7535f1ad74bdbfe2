//! Models that are ready but not heard yet: pages are told when the sound that they get is the new model's.

use super::Session;
use crate::audio::BLOCK;
use serde_json::json;
use std::collections::BTreeMap;

/// How long an exchange of models takes to be heard in full, in s: what has no match in the new one fades over 20 ms, and the mix looks ahead.
const EXCHANGE_S: f64 = 0.03;

/// Bodies with a new model, and the frame from which nothing of the old one is heard.
#[derive(Debug, Default)]
pub(super) struct Settling(BTreeMap<u64, u64>);

impl Session {
    /// A body has got the model that was being made for it.
    pub(super) fn model_ready(&mut self, id: u64) {
        let exchange = (EXCHANGE_S * self.rate_hz()) as u64 + self.out_latency + 2 * BLOCK as u64;
        self.tasks_told.remove(&id);
        self.settling.0.insert(id, self.audio.pace().frames() + exchange);
    }

    /// Whether a body has a model that is not heard yet.
    pub(super) fn is_settling(&self, id: u64) -> bool {
        self.settling.0.contains_key(&id)
    }

    /// Tells of models that are heard by now.
    pub(super) fn tell_settled(&mut self) {
        if self.settling.0.is_empty() {
            return;
        }
        let sent = self.hub.sent_frames();
        let heard: Vec<u64> = self.settling.0.iter().filter(|(_, due)| **due <= sent).map(|(id, _)| *id).collect();
        for id in heard {
            self.settling.0.remove(&id);
            self.hub.event(&json!({ "event": "task", "body": id, "stage": "ready", "share": 1.0 }));
            self.tell_body(id);
        }
    }
}

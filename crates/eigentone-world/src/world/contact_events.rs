//! What the tracker heard, as events of the world.

use super::World;
use crate::events::{EventKind, WorldEvent};
use eigentone_synth::contact::{ContactEvent, ContactEventKind};

impl World {
    /// Turns what the tracker heard into events.
    pub(super) fn tell_contacts(&mut self) {
        let heard: Vec<ContactEvent> = self.tracker.drain().collect();
        for ContactEvent { time_s, bodies, position, kind } in heard {
            let bodies = bodies.map(|number| self.bodies.key_of(number));
            let kind = match kind {
                ContactEventKind::Impact { impulse_ns, approach_m_s } => {
                    EventKind::Impact { bodies, position, impulse_ns, approach_m_s: Some(approach_m_s), particle: None }
                }
                ContactEventKind::Begin => EventKind::ContactBegin { bodies, position },
                ContactEventKind::End => EventKind::ContactEnd { bodies, position },
            };
            self.say(WorldEvent { time_s, kind });
        }
    }
}

//! Which contacts there are: their numbers, and whether they begin, stay or end.

use eigentone_core::contact::{Contact, Phase, Pose};
use std::collections::BTreeMap;

/// A pose is told again once it has changed by this much (m, quaternion, m/s): far less than what moves a point of contact
/// from one vertex of a mesh to the next.
const MOVED_M: f32 = 1e-5;
const TURNED: f32 = 5e-5;
const SPED_M_S: f32 = 1e-3;

/// What touches, from step to step.
#[derive(Clone, Default)]
pub(super) struct Ledger {
    steps: u64,
    /// Pairs that touch: their number and the step in which they last did.
    touching: BTreeMap<[u32; 2], (u64, u64)>,
    contacts_made: u64,
    /// Contacts of bodies that are gone: to be told with the next step.
    ended: Vec<Contact>,
}

impl Ledger {
    /// Numbers the contacts of a step, adds those that have ended, and puts all in the order of their bodies. A pair has two entries if a body was
    /// replaced by another of the same number: the end of the old one's contact, then the new one's.
    pub(super) fn enter(&mut self, mut contacts: Vec<Contact>) -> Vec<Contact> {
        self.steps += 1;
        let now = self.steps;
        contacts.sort_by_key(|c| c.bodies);
        for contact in &mut contacts {
            let next = self.contacts_made;
            let (id, last) = self.touching.entry(contact.bodies).or_insert((next, now));
            let new = *id == next;
            (contact.id, *last) = (*id, now);
            contact.phase = if new { Phase::Begin } else { Phase::Stay };
            self.contacts_made += u64::from(new);
        }
        let mut all = std::mem::take(&mut self.ended);
        self.touching.retain(|&bodies, &mut (id, last)| {
            if last < now {
                all.push(end(id, bodies));
            }
            last == now
        });
        all.append(&mut contacts);
        all.sort_by_key(|c| c.bodies);
        all
    }

    /// A body is gone: its contacts end with the next step, and nothing of them is left to who gets its number.
    pub(super) fn forget(&mut self, body: u32) {
        let ended = &mut self.ended;
        self.touching.retain(|&bodies, &mut (id, _)| {
            let gone = bodies.contains(&body);
            if gone {
                ended.push(end(id, bodies));
            }
            !gone
        });
    }
}

fn end(id: u64, bodies: [u32; 2]) -> Contact {
    Contact { id, bodies, phase: Phase::End, points: Vec::new() }
}

/// Whether a pose is worth telling again.
pub(super) fn differs(old: &Pose, new: &Pose) -> bool {
    let beyond = |a: &[f32], b: &[f32], limit: f32| a.iter().zip(b).any(|(a, b)| (a - b).abs() > limit);
    beyond(&old.position, &new.position, MOVED_M)
        || beyond(&old.rotation, &new.rotation, TURNED)
        || beyond(&old.velocity, &new.velocity, SPED_M_S)
}

//! The first stage of level control: what no contact can be is cut before anything is made of it.

use super::follow::length;
use super::tracker::TrackerSettings;
use eigentone_core::contact::{Contact, ContactFrame};

/// The frame with speeds and impulses within the limits, and how many contacts were beyond them; `None` if none was.
pub(super) fn limited(frame: &ContactFrame, settings: &TrackerSettings) -> Option<(ContactFrame, u64)> {
    if frame.contacts.iter().all(|c| is_within(c, settings)) {
        return None;
    }
    let mut cut = frame.clone();
    let mut count = 0;
    for contact in cut.contacts.iter_mut().filter(|c| !is_within(c, settings)) {
        limit(contact, settings);
        count += 1;
    }
    Some((cut, count))
}

fn total_ns(contact: &Contact) -> f32 {
    contact.points.iter().map(|p| p.normal_impulse_ns.max(0.0)).sum()
}

fn is_within(contact: &Contact, settings: &TrackerSettings) -> bool {
    let fastest = |v: f32| v.abs() <= settings.max_speed_m_s;
    total_ns(contact) <= settings.max_impulse_ns
        && contact.points.iter().all(|p| {
            fastest(length(p.slip_m_s))
                && fastest(p.approach_m_s)
                && p.travel_m_s.unwrap_or_default().map(fastest) == [true; 2]
        })
}

fn limit(contact: &mut Contact, settings: &TrackerSettings) {
    let most = settings.max_speed_m_s.max(0.0);
    let total = total_ns(contact);
    let share = if total > settings.max_impulse_ns { settings.max_impulse_ns.max(0.0) / total } else { 1.0 };
    for point in &mut contact.points {
        point.normal_impulse_ns *= share;
        point.tangent_impulse_ns = point.tangent_impulse_ns.map(|x| x * share);
        let slip = length(point.slip_m_s);
        if slip > most {
            point.slip_m_s = point.slip_m_s.map(|v| if slip.is_finite() { v / slip * most } else { 0.0 });
        }
        point.approach_m_s = point.approach_m_s.clamp(-most, most);
        point.travel_m_s = point.travel_m_s.map(|t| t.map(|v| v.clamp(-most, most)));
    }
}

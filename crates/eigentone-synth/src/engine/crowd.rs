//! More events in a block than it has time for.
//!
//! Work is counted in advance, by the number of modes each event touches. A block whose events fit does them one by one, each at its sample. In one whose events do not, all that happens to a body happens
//! together: of each parameter the last value counts, and its blows become one, which is their sum (resonators are linear) at their mean moment. Bodies are served in the order in which they will be heard,
//! by impulse, gain and what reaches the listener. What still does not fit waits for the next block; a blow that is later than 20 ms is not worth hearing any more.
//! Nothing here depends on how fast the machine is, so that the same events give the same sound.

use super::pending::{Fate, PendingKind};
use super::perception::view;
use super::processor::Processor;
use crate::BLOCK;
use crate::body::{Body, Gathered, Hit};
use eigentone_core::event::Action;
use eigentone_core::model::SiteBlend;
use std::ops::Range;

/// Work of one blow, beside its modes, in modes.
const BLOW: usize = 60;

/// Work of adding a blow to another on the same body, beside a share of its modes.
const MERGE: usize = 4;
const MERGE_SHARE: usize = 16;

/// Work of anything else that happens.
const ADJUST: usize = 2;

/// Modes of the body by which [`Settings::max_events_per_block`](crate::Settings::max_events_per_block) counts blows.
const USUAL_MODES: usize = 100;

/// Events that are looked at, for each blow that can be served: most of a flood is merged.
const SEEN: usize = 16;

/// A blow that comes later than this is not heard.
const LATEST_S: f64 = 0.02;

/// Sites of blows on one body that are summed before mode shapes are looked up.
const SITES: usize = 8;

/// What a block may do, and the bodies that something happens to in it.
#[derive(Debug)]
pub(super) struct Crowd {
    max_blows: usize,
    groups: Vec<Group>,
}

/// All that is due for one body.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: usize,
    last: usize,
    modes: usize,
    /// Whether something else than blows happens.
    adjusted: bool,
    /// Impulse times gain at the listener.
    loudness: f32,
}

impl Crowd {
    pub fn new(max_blows: usize, max_bodies: usize) -> Self {
        Self { max_blows: max_blows.max(1), groups: Vec::with_capacity(max_bodies) }
    }

    /// Events that a block looks at.
    pub fn max_seen(&self) -> usize {
        self.max_blows.saturating_mul(SEEN)
    }

    fn max_work(&self) -> usize {
        self.max_blows.saturating_mul(blow_work(USUAL_MODES))
    }
}

fn blow_work(modes: usize) -> usize {
    BLOW + modes
}

fn merge_work(modes: usize) -> usize {
    MERGE + modes / MERGE_SHARE
}

fn work(what: &PendingKind, modes: usize) -> usize {
    match what {
        PendingKind::Act(Action::Blow { .. } | Action::Impulse { .. }) => blow_work(modes),
        PendingKind::Act(Action::Damping(_) | Action::Frequency(_) | Action::Strain(_)) => blow_work(modes) / 2,
        PendingKind::Remove | PendingKind::Act(Action::Silence) => blow_work(modes),
        PendingKind::Act(_) | PendingKind::Quality(_) => ADJUST,
    }
}

fn blow(what: &PendingKind) -> Option<(&SiteBlend, [f32; 3], f32)> {
    match what {
        PendingKind::Act(Action::Impulse { site, impulse_ns }) => Some((site, *impulse_ns, 0.0)),
        PendingKind::Act(Action::Blow { site, impulse_ns, duration_s }) => Some((site, *impulse_ns, *duration_s)),
        _ => None,
    }
}

fn size(v: [f32; 3]) -> f32 {
    v.iter().map(|x| x * x).sum::<f32>().sqrt()
}

impl Processor {
    /// Decides what of all that is due happens in this block. Says whether it is too much to be done one by one.
    pub(super) fn choose(&mut self) -> bool {
        if self.crowd.max_blows == usize::MAX {
            return false;
        }
        let due = self.waiting.due().iter().take_while(|due| due.slot != u32::MAX);
        let total: usize = due
            .enumerate()
            .map(|(i, due)| work(&self.waiting.event(i).what, self.places[due.slot as usize].modes))
            .sum();
        let most = self.crowd.max_work();
        if total <= most {
            return false;
        }
        self.group();
        let mut left = most;
        for g in 0..self.crowd.groups.len() {
            let group = self.crowd.groups[g];
            // One is served whatever it takes, so that all are in the end.
            left = self.allot(group, if g == 0 { left.max(blow_work(group.modes)) } else { left });
        }
        true
    }

    /// Finds the bodies to which something happens, in the order in which they are served.
    fn group(&mut self) {
        let mut groups = std::mem::take(&mut self.crowd.groups);
        groups.clear();
        let due = self.waiting.due();
        let mut first = 0;
        while let Some(slot) = due.get(first).map(|due| due.slot).filter(|slot| *slot != u32::MAX) {
            let place = &self.places[slot as usize];
            let gain = place.body.as_ref().map_or(0.0, |body| body.audibility().abs());
            let mut group = Group { first, last: first, modes: place.modes, adjusted: false, loudness: 0.0 };
            while due.get(group.last).is_some_and(|due| due.slot == slot) {
                let event = self.waiting.event(group.last);
                let factor = self.places[event.body.slot as usize].shares.map_or(1.0, |(_, factor)| factor);
                match blow(&event.what) {
                    Some((_, impulse, _)) => group.loudness += (size(impulse) * factor).abs() * gain,
                    None => group.adjusted = true,
                }
                group.last += 1;
            }
            // What is not a number is not heard.
            group.loudness = if group.loudness.is_nan() { 0.0 } else { group.loudness };
            first = group.last;
            groups.push(group);
        }
        let order = |a: &Group, b: &Group| b.adjusted.cmp(&a.adjusted).then(b.loudness.total_cmp(&a.loudness));
        groups.sort_unstable_by(|a, b| order(a, b).then(a.first.cmp(&b.first)));
        self.crowd.groups = groups;
    }

    /// Lets as much happen to one body as `left` is enough for; says what is left then.
    fn allot(&mut self, group: Group, mut left: usize) -> usize {
        let (mut last_site, mut stopped) = (None, false);
        for i in group.first..group.last {
            let event = self.waiting.event(i);
            let cost = match blow(&event.what) {
                Some(_) if last_site.is_none() => blow_work(group.modes),
                Some((site, ..)) if last_site == Some(*site) => MERGE,
                Some(_) => merge_work(group.modes),
                // Of many changes of one parameter, one is made.
                None => work(&event.what, group.modes) / 4 + 1,
            };
            if cost <= left && !stopped {
                left -= cost;
                last_site = blow(&event.what).map(|(site, ..)| *site).or(last_site);
                continue;
            }
            // What follows must not come before it.
            stopped = true;
            let too_late = self.clock.saturating_sub(event.time.sample) as f64 > LATEST_S * self.world.rate_hz;
            let given_up = too_late && event.put_off && blow(&event.what).is_some();
            if given_up {
                self.waiting.drop(i);
                self.stats.shed += 1;
            } else {
                self.stats.spread += u64::from(self.waiting.put_off(i));
            }
        }
        left
    }

    /// Lets all that was chosen of the events `due` happen to a body at once. Says up to which sample its sound has been computed.
    pub(super) fn act_together(&mut self, body: &mut Body, slot: usize, due: Range<usize>) -> Option<usize> {
        let (mut begin, mut removed, mut silent) = (due.start, false, false);
        let mut latest: [Option<Action>; 5] = [None; 5];
        let mut any = false;
        for i in due.clone() {
            if self.waiting.due()[i].fate != Fate::Now {
                continue;
            }
            let event = self.waiting.event(i);
            let (whose, what) = (event.body.slot as usize, &event.what);
            let own = whose == slot;
            if own && (removed || self.places[slot].leaving.is_some()) {
                continue;
            }
            any = true;
            match *what {
                PendingKind::Remove if !own => self.depart(whose, 0),
                // What came before a silence is not heard.
                PendingKind::Remove => (begin, removed) = (i, true),
                PendingKind::Act(Action::Silence) => (begin, silent) = (i, true),
                PendingKind::Act(action) => {
                    let kind = match action {
                        Action::Damping(_) => 0,
                        Action::Frequency(_) => 1,
                        Action::Strain(_) => 2,
                        Action::Gain(_) => 3,
                        Action::Emphasis(_) => 4,
                        _ => continue,
                    };
                    latest[kind] = Some(action);
                }
                PendingKind::Quality(_) => {}
            }
        }
        if !any {
            return None;
        }
        let before = body.mixed();
        if removed || silent {
            self.fall_silent(body, slot, self.clock);
        }
        for action in latest.into_iter().flatten() {
            self.adjust(body, slot, action, self.clock);
        }
        let at = if removed { 0 } else { self.hit_together(body, slot, begin..due.end) };
        if removed {
            self.depart(slot, 2);
        }
        self.mixed = self.mixed + body.mixed() - before;
        self.stats.mixed_most = self.stats.mixed_most.max(self.mixed as u64);
        Some(at)
    }

    /// One blow in place of many. Says at which sample it was.
    fn hit_together(&mut self, body: &mut Body, slot: usize, due: Range<usize>) -> usize {
        let mut sites: [(SiteBlend, [f32; 3]); SITES] = [(SiteBlend::single(0), [0.0; 3]); SITES];
        let (mut used, mut count) = (0, 0u64);
        let mut sum = Gathered::new(body, &mut self.scratch);
        let leaving = self.places[slot].leaving.is_some();
        for i in due.filter(|&i| self.waiting.due()[i].fate == Fate::Now) {
            let event = self.waiting.event(i);
            let through_other = event.body.slot as usize != slot;
            let Some((site, impulse, duration_s)) = blow(&event.what).filter(|_| through_other || !leaving) else {
                continue;
            };
            let factor = self.places[event.body.slot as usize].shares.map_or(1.0, |(_, factor)| factor);
            let at = (event.time.sample.saturating_sub(self.clock) as usize).min(BLOCK - 1);
            let hit = Hit { site, impulse_ns: impulse.map(|x| x * factor), duration_s, early: 0.0, at };
            let Some(vector) = body.weigh(&hit, &mut sum, &self.world) else { continue };
            count += 1;
            let known = sites[..used].iter().position(|(s, _)| s == site);
            let k = known.unwrap_or_else(|| {
                if used == SITES {
                    sites.iter().for_each(|(site, v)| body.gather(site, *v, &self.world, &mut self.scratch));
                    used = 0;
                }
                sites[used] = (*site, [0.0; 3]);
                used += 1;
                used - 1
            });
            (0..3).for_each(|axis| sites[k].1[axis] += vector[axis]);
        }
        sites[..used].iter().for_each(|(site, v)| body.gather(site, *v, &self.world, &mut self.scratch));
        if count == 0 {
            return 0;
        }
        let at = sum.at();
        self.render_up_to(body, None, at);
        let free = self.free_modes();
        let view = view(&self.quality, &self.perception.curve, self.perception.levels(body.account.energy));
        let before = body.account.energy;
        let now = self.clock + at as u64;
        body.strike(sum.duration_s(), 0.0, now, &view, free, &self.world, &mut self.scratch);
        self.perception.total += body.account.energy - before;
        self.stats.hits += count;
        self.stats.merged += count - 1;
        at
    }
}

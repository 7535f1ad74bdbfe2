//! Another model for a body that sounds.
//!
//! The control side says which modes of the new model continue which of the old one ([`match_modes`]) and where on it the old sites are. The audio side brings the old states to the present and hands amplitude and phase
//! of those modes over. States are sound pressures (the output gain is part of them), so that the sound is continuous whatever the two models make of a force. Forces that act go on: those with a place look it up on
//! the new model, blows that are under way go on with the modes they were driving. What has no counterpart stays with the old model and fades out over 20 ms.

use super::forces::EAGER_BLOCKS;
use super::{Account, Body, Scratch, Status, World};
use crate::BLOCK;
use crate::drive::{Feed, Source};
use crate::table::ModeTable;
use eigentone_core::model::SiteBlend;

/// Modes this far apart can be the same one, in octaves: half a semitone. A finer mesh moves modes by a few per cent at most, and a mode that moves by less than this is heard as one
/// that is retuned, not as another.
const NEAR_OCTAVES: f64 = 0.5 / 12.0;

/// How long what has no counterpart is heard.
const FADE_S: f64 = 0.02;

/// A mode without a counterpart.
pub(crate) const NONE: u32 = u32::MAX;

/// A new model for a body, and how it follows the old one.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The new body, until it is taken.
    pub body: Option<Box<Body>>,
    /// For each mode of the new model, the old mode that it continues.
    pub modes: Vec<u32>,
    /// For each site of the old model, the nearest of the new; empty if they are the same.
    pub sites: Vec<u32>,
    /// Bridges to the body, as they are on the new model.
    pub links: Vec<Relink>,
    /// What stays as it is, besides.
    pub same: Same,
}

/// What two models of a body have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Same {
    pub table: bool,
    pub diffuse: bool,
    pub sections: bool,
    pub tuning: bool,
}

/// A bridge on a new model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relink {
    pub number: u64,
    pub force_per_pa: f32,
}

impl Exchange {
    /// Moves a place on the old model to the new one.
    pub fn move_site(&self, site: &mut SiteBlend) {
        if !self.sites.is_empty() {
            site.sites = site.sites.map(|s| self.sites.get(s as usize).copied().unwrap_or(0));
        }
    }
}

/// Which old mode each mode of a new model continues: nearest in frequency, within half a semitone, one to one and without crossing. Of all such pairings the one with the most pairs, and of those
/// the one whose pairs are closest. (Frequencies decide alone: the shapes of two models are known at different places, and at a swap the ear follows pitches.)
pub(crate) fn match_modes(old: &ModeTable, new: &ModeTable) -> Vec<u32> {
    let rising = |table: &ModeTable| {
        let mut order: Vec<(f64, u32)> =
            (0..table.len).map(|k| (f64::from(table.frequency_hz[k]).max(1e-6).log2(), k as u32)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order
    };
    let (old, fresh) = (rising(old), rising(new));
    // The best sum of pairs that end at an old mode or before it, as a Fenwick tree over the old modes; and the pair it ends with.
    let mut best: Vec<(f64, u32)> = vec![(0.0, NONE); old.len() + 1];
    let mut pairs: Vec<Pair> = Vec::new();
    let mut ended: Vec<(usize, f64, u32)> = Vec::new();
    let mut first = 0;
    for (i, &(pitch, _)) in fresh.iter().enumerate() {
        while first < old.len() && old[first].0 < pitch - NEAR_OCTAVES {
            first += 1;
        }
        let near = old[first..].iter().take_while(|(other, _)| *other <= pitch + NEAR_OCTAVES);
        // All pairs of this mode are found before any of them counts: a mode is in one pair at most.
        ended.clear();
        for (j, &(other, _)) in near.enumerate().map(|(n, o)| (first + n, o)) {
            let (mut sum, mut before) = (0.0, NONE);
            let mut node = j;
            while node > 0 {
                if best[node].0 > sum {
                    (sum, before) = best[node];
                }
                node &= node - 1;
            }
            pairs.push(Pair { new: i as u32, old: j as u32, before });
            let worth = 1.0 + NEAR_OCTAVES - (pitch - other).abs();
            ended.push((j, sum + worth, pairs.len() as u32 - 1));
        }
        for &(j, sum, pair) in &ended {
            let mut node = j + 1;
            while node < best.len() {
                if sum > best[node].0 {
                    best[node] = (sum, pair);
                }
                node += node & node.wrapping_neg();
            }
        }
    }
    let mut matched = vec![NONE; new.len];
    let mut end = {
        let (mut sum, mut pair, mut node) = (0.0, NONE, old.len());
        while node > 0 {
            if best[node].0 > sum {
                (sum, pair) = best[node];
            }
            node &= node - 1;
        }
        pair
    };
    while end != NONE {
        let pair = pairs[end as usize];
        matched[fresh[pair.new as usize].1 as usize] = old[pair.old as usize].1;
        end = pair.before;
    }
    matched
}

#[derive(Clone, Copy)]
struct Pair {
    new: u32,
    old: u32,
    /// The pair before it in the best pairing that ends with it.
    before: u32,
}

impl Body {
    /// Takes noise, coupling and tuning from a body with the same modes, which keeps what this one had.
    pub fn refit(&mut self, other: &mut Body, exchange: &Exchange, now: u64, world: &World, scratch: &mut Scratch) {
        if !exchange.same.diffuse {
            std::mem::swap(&mut self.diffuse, &mut other.diffuse);
        }
        if !(exchange.same.sections && exchange.same.tuning) {
            self.settle(now, world);
            if !exchange.same.sections {
                std::mem::swap(&mut self.sections, &mut other.sections);
            }
            if !exchange.same.tuning {
                std::mem::swap(&mut self.modulation, &mut other.modulation);
                self.modulation.take_over(&other.modulation);
            }
            self.calm = false;
            self.eager = self.eager.max(1);
            self.account.asleep &= self.members.is_empty();
            self.load(now, world, scratch);
        }
        other.become_tail(self, now, world, scratch);
    }

    /// Takes over from another body, which keeps what has no counterpart.
    pub fn take_over(&mut self, old: &mut Body, exchange: &Exchange, now: u64, world: &World, scratch: &mut Scratch) {
        old.settle(now, world);
        self.modulation.take_over(&old.modulation);
        (self.settled, self.measured) = (now, now);
        self.since.fill(now as u32);
        (self.fade_left, self.makeup_rests) = (old.fade_left, old.makeup_rests);
        for (k, &j) in exchange.modes.iter().enumerate().filter(|(_, j)| **j != NONE) {
            let j = j as usize;
            (self.re[k], self.im[k]) = (old.re[j], old.im[j]);
            (self.energy[k], self.level[k]) = (old.energy[j], old.level[j]);
            (self.makeup[k], self.makeup_rate[k]) = (old.makeup[j], old.makeup_rate[j]);
            self.status[k] = old.status[j];
            if self.status[k] != Status::Off {
                self.members.push(k as u32);
            }
            (old.re[j], old.im[j], old.status[j]) = (0.0, 0.0, Status::Off);
        }
        let status = &old.status;
        old.members.retain(|&k| status[k as usize] != Status::Off);
        self.take_drives(old, exchange, world, scratch);
        if exchange.same.diffuse {
            std::mem::swap(&mut self.diffuse, &mut old.diffuse);
        }
        std::mem::swap(&mut self.spectrum, &mut old.spectrum);
        (self.tail, self.tail_at) = (old.tail, std::mem::replace(&mut old.tail_at, BLOCK));
        (self.ring, self.bus, self.sounded) = (old.ring, old.bus, old.sounded);
        (self.gain, self.gain_goal, self.emphasis) = (old.gain, old.gain_goal, old.emphasis);
        (self.heard, self.judged) = (old.heard, old.judged);
        let continuous = self.drives.iter().any(|d| d.is_continuous());
        self.eager = if continuous { EAGER_BLOCKS } else { old.eager.max(1) };
        let off = self.table.len - (self.members.len() - self.leaving());
        let asleep = old.account.asleep && !continuous;
        self.account = Account {
            wanted: old.account.wanted.min(self.table.len),
            truncated: if asleep { off } else { 0 },
            masked: if asleep { 0 } else { off },
            scaled: 0,
            asleep,
            ..old.account
        };
        self.calm = false;
        self.load(now, world, scratch);
        old.become_tail(self, now, world, scratch);
    }

    /// Forces that act go on, in the same drives.
    fn take_drives(&mut self, old: &mut Body, exchange: &Exchange, world: &World, scratch: &mut Scratch) {
        let n = self.table.padded;
        self.forced = old.forced;
        for d in 0..super::DRIVES {
            let [new, drive] = [&mut self.drives[d], &mut old.drives[d]];
            if drive.is_free() {
                continue;
            }
            new.follow(drive);
            for (k, &j) in exchange.modes.iter().enumerate() {
                new.weights[k] = if j == NONE { 0.0 } else { std::mem::take(&mut drive.weights[j as usize]) };
            }
            if let Source::Blow(blow) = &drive.source {
                // With the modes that have no counterpart, the old body hears it out.
                new.source = Source::Blow(*blow);
                continue;
            }
            new.source = std::mem::replace(&mut drive.source, Source::None);
            if !new.is_continuous() {
                continue;
            }
            drive.forget();
            std::mem::swap(&mut new.feed, &mut drive.feed);
            *drive.feed = Feed::SILENCE;
            if let Some(aim) = &mut new.aim {
                exchange.move_site(&mut aim.site);
                match self.table.excitation(&aim.site, aim.direction) {
                    Some((rows, factors)) => {
                        (world.kernels.wide.combine)(rows, factors, &mut scratch.push[..n]);
                        new.weigh(&scratch.push, world.rate_hz);
                    }
                    None => new.weights.fill(0.0),
                }
            }
        }
    }

    /// Fades out from now on, as loud as the body it was part of.
    fn become_tail(&mut self, of: &Body, now: u64, world: &World, scratch: &mut Scratch) {
        (self.gain, self.gain_goal, self.emphasis) = (of.gain, of.gain_goal, of.emphasis);
        self.fading = Some(0);
        self.account = Account { asleep: true, ..Account::default() };
        (self.settled, self.lanes.loaded) = (now, now);
        self.load(now, world, scratch);
    }

    /// Whether it was the tail of another body and is over.
    pub fn has_faded(&self) -> bool {
        self.fading.is_some_and(|done| done == u32::MAX) || !self.is_sounding()
    }

    /// Takes what of a tail remains in at once: a block's length of fading sound.
    pub fn swallow(&mut self, tail: &mut Body, now: u64, world: &World, scratch: &mut Scratch) {
        let level = tail.fade_level(world.rate_hz);
        tail.silence(now, world, scratch);
        let (left, at) = (self.tail, self.tail_at);
        self.tail = std::array::from_fn(|n| left.get(at + n).copied().unwrap_or(0.0) + level * tail.tail[n]);
        self.tail_at = 0;
    }

    fn fade_level(&self, rate_hz: f64) -> f32 {
        self.fading.map_or(1.0, |done| 1.0 - (done as f32 / (FADE_S * rate_hz) as f32).min(1.0))
    }

    /// The fade of a tail over a block of its sound.
    pub(super) fn fade_out(&mut self, rate_hz: f64) {
        let Some(done) = self.fading else { return };
        let length = (FADE_S * rate_hz) as f32;
        for (n, y) in self.bus.iter_mut().enumerate() {
            *y *= (1.0 - (done as f32 + (n + 1) as f32) / length).max(0.0);
        }
        let done = done.saturating_add(BLOCK as u32);
        self.fading = Some(if done as f32 >= length { u32::MAX } else { done });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::{Method, ModalModel, Mode, ModelInfo, Noise, ShapeTable, Surface, Vec3};

    fn table(hz: &[f64]) -> ModeTable {
        let modes: Vec<Mode> =
            hz.iter().map(|&frequency_hz| Mode { frequency_hz, decay_per_s: 1.0, output_gain: 1.0 }).collect();
        let model = ModalModel {
            info: ModelInfo::new("", Method::Manual, ""),
            surface: Surface { positions: vec![[0.0; 3]], normals: vec![[0.0, 0.0, 1.0]], triangles: vec![] },
            shapes: ShapeTable::from_fn(1, modes.len(), |_, _| Vec3::Z),
            modes,
            diffuse: vec![],
        };
        ModeTable::new(&model, 44_100.0)
    }

    fn pairs(old: &[f64], new: &[f64]) -> Vec<Option<usize>> {
        let matched = match_modes(&table(old), &table(new));
        matched.into_iter().map(|j| (j != NONE).then_some(j as usize)).collect()
    }

    #[test]
    fn modes_find_their_likes() {
        let hz = [100.0, 105.0, 400.0, 2000.0];
        assert_eq!(pairs(&hz, &hz), [Some(0), Some(1), Some(2), Some(3)]);
        // All two per cent sharper: each still finds its own, though 102 Hz is as near to 105 as to 100.
        assert_eq!(pairs(&hz, &hz.map(|f| 1.02 * f)), [Some(0), Some(1), Some(2), Some(3)]);
        // Half a semitone is 2.9 %.
        assert_eq!(pairs(&[1000.0], &[1028.0]), [Some(0)]);
        assert_eq!(pairs(&[1000.0], &[1031.0]), [None]);
        // One that is new, one that is gone.
        assert_eq!(pairs(&hz, &[100.0, 200.0, 401.0]), [Some(0), None, Some(2)]);
        assert_eq!(pairs(&[], &[100.0]), [None]);
        assert_eq!(pairs(&[100.0], &[]), []);
    }

    /// Against all pairings of small sets: none that is one to one, in order and within the limit has more pairs, or as many that are closer.
    #[test]
    fn no_pairing_is_better() {
        fn best(old: &[f64], new: &[f64]) -> (usize, f64) {
            let (Some((&a, old_rest)), Some((&b, new_rest))) = (old.split_first(), new.split_first()) else {
                return (0, 0.0);
            };
            let better = |x: (usize, f64), y: (usize, f64)| if (y.0, -y.1) > (x.0, -x.1) { y } else { x };
            let mut found = better(best(old_rest, new), best(old, new_rest));
            let apart = (a / b).log2().abs();
            if apart <= NEAR_OCTAVES {
                let rest = best(old_rest, new_rest);
                found = better(found, (rest.0 + 1, rest.1 + apart));
            }
            found
        }
        let mut noise = Noise::new(11);
        for _ in 0..300 {
            let mut set = || {
                let mut hz: Vec<f64> = (0..7).map(|_| 1000.0 * (1.0 + 0.2 * noise.uniform())).collect();
                hz.sort_by(f64::total_cmp);
                hz
            };
            let (old, new) = (set(), set());
            let found = pairs(&old, &new);
            assert!(found.iter().flatten().is_sorted_by(|a, b| a < b), "one to one and without crossing: {found:?}");
            let apart: f64 = found.iter().zip(&new).filter_map(|(j, b)| j.map(|j| (old[j] / b).log2().abs())).sum();
            let truth = best(&old, &new);
            assert_eq!(found.iter().flatten().count(), truth.0);
            assert!((apart - truth.1).abs() < 1e-5, "{apart} {truth:?}");
        }
    }
}

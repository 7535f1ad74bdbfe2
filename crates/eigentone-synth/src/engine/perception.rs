//! What the processor knows about hearing, and how it spreads the budget: both once per policy frame, for the frame to come.

use super::processor::Processor;
use crate::body::view::{BANDS, Bands, Hearing, View};
use crate::policy::masking::{Curve, Maskers};
use crate::policy::{Budget, Masking, Quality, quota};

/// Share of the budget that is kept for blows between two policy frames.
const RESERVE: usize = 8;

/// Level shift while nothing is known of how loud things are: everything counts as heard.
const UNKNOWN_DB: f32 = 300.0;

/// Largest gain that makes up for modes left out.
pub(super) const MAX_MAKEUP: f32 = 4.0;

/// What is known about hearing, from the last policy frame.
#[derive(Debug)]
pub(super) struct Perception {
    pub maskers: Maskers,
    pub curve: Curve,
    pub bands: Bands,
    /// Gains per Bark band that make up for what was left out.
    pub makeup: [f32; BANDS],
    /// From levels to dB SPL.
    shift_db: f32,
    /// Energy of all that sounds.
    pub total: f32,
    /// Energy from which on bodies get all the modes they want; zero if all do.
    served: f32,
}

impl Perception {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self {
            maskers: Maskers::default(),
            curve: Curve::default(),
            bands: Bands::default(),
            makeup: [1.0; BANDS],
            shift_db: UNKNOWN_DB,
            total: 0.0,
            served: 0.0,
        }
    }

    /// From levels to dB SPL, the energy of all but a body that has this one, and the energy from which on bodies are fully served.
    pub fn levels(&self, own: f32) -> (f32, f32, f32) {
        (self.shift_db, (self.total - own).max(0.0), self.served)
    }
}

impl Processor {
    /// The policy's frame begins: what the last one has collected becomes what this one goes by.
    pub(super) fn begin_frame(&mut self) {
        self.order.clear();
        let mut total = 0.0;
        for &slot in self.awake.slots() {
            let place = &self.places[slot as usize];
            if place.body.is_some() && !place.brief.asleep {
                total += place.brief.energy;
                self.order.push((place.brief.attention, slot));
            }
        }
        if let Some(masking) = self.quality.masking {
            self.hear(masking, total);
        }
        self.perception.served = 0.0;
        match self.budget() {
            Some(budget) => self.spread(budget),
            None => self.scratch.grants[..self.order.len()].fill(usize::MAX),
        }
        for (&(_, slot), &granted) in self.order.iter().zip(&self.scratch.grants) {
            self.places[slot as usize].granted = Some(granted);
        }
    }

    /// Draws the masking curve of all that sounded, and begins to collect anew.
    fn hear(&mut self, masking: Masking, total: f32) {
        let p = &mut self.perception;
        p.shift_db = masking.playback.shift_db(total).unwrap_or(UNKNOWN_DB);
        p.total = total;
        p.curve.rebuild(&p.maskers, p.shift_db, masking.offset_db.max(0.0), &self.world.kernels);
        p.maskers.clear();
        for (gain, (all, kept)) in p.makeup.iter_mut().zip(p.bands.all.iter().zip(&p.bands.kept)) {
            *gain = if *kept > 0.0 { (all / kept).sqrt().min(MAX_MAKEUP) } else { 1.0 };
        }
        p.bands = Bands::default();
    }

    /// Shares the budget out among the bodies, the loudest first: writes what each may have, in that order, to `scratch.grants`.
    fn spread(&mut self, budget: Budget) {
        let spread = budget.modes - budget.modes / RESERVE;
        let enough =
            self.order.iter().map(|&(_, slot)| self.places[slot as usize].brief.wants).sum::<usize>() <= spread;
        if enough {
            return self.scratch.grants[..self.order.len()].fill(usize::MAX);
        }
        self.order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let (order, places) = (&self.order, &self.places);
        let mut grants = quota::Sharing::new(spread, f64::from(budget.slope), order.len());
        for (rank, &(energy, slot)) in order.iter().enumerate() {
            let want = places[slot as usize].brief.wants;
            let granted = grants.next(want);
            if granted == want && want > 0 {
                self.perception.served = energy;
            }
            // Who gets all it wants may want a little more until the next frame; that the budget holds is seen to when modes are added.
            self.scratch.grants[rank] = if granted == want { want + want / 4 } else { granted };
        }
    }
}

/// What a body needs to know to decide which of its modes are worth computing.
pub(super) fn view<'a>(quality: &Quality, curve: &'a Curve, (shift_db, others, served): (f32, f32, f32)) -> View<'a> {
    View {
        served,
        hearing: quality.masking.map(|m| Hearing {
            curve,
            shift_db,
            offset_db: m.offset_db.max(0.0),
            playback: m.playback,
            others,
        }),
        // A mode of amplitude τ has the mean square τ²/2.
        truncation_db: 10.0 * (0.5 * quality.truncation_pa * quality.truncation_pa).log10(),
    }
}

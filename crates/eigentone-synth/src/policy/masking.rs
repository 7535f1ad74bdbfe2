//! Which modes are hidden by others (van den Doel, Knott & Pai 2004, corrected where levels tie).
//!
//! A mode at level `L` and critical-band rate `b` hides what lies below its curve: `L − a` at its own place, falling by 25 dB per Bark towards low
//! frequencies and by `max(22 − L/5, 1)` towards high ones. A mode is heard if it lies above the threshold of hearing and above the curves of
//! all others. Because the slopes flatten with level, the curve of a hidden mode lies below that of the mode that hides it; so the curves of
//! the heard modes are all that count.
//!
//! Three forms of the same:
//! - [`sequential`]: by its definition, from the loudest mode down; quadratic, the reference
//! - [`sweep`]: two passes in the order of frequency; the same answer
//! - [`Maskers`] and [`Curve`]: for the audio thread, where the modes of many bodies come in any order. Of the maskers within a twentieth of a
//!   Bark only the loudest is kept, and the curve is straight within such a cell: lower than it should be by up to 1.2 dB at a masker, which keeps a
//!   mode too many rather than one too few.

use crate::kernel::{Kernels, LANES};
use crate::policy::hearing;

/// Fall of the curve towards low frequencies, in dB per Bark.
const LOWER_SLOPE: f32 = 25.0;

/// Fall of the curve towards high frequencies, in dB per Bark.
fn upper_slope(level_db: f32) -> f32 {
    (22.0 - 0.2 * level_db).max(1.0)
}

/// A mode as the ear sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tone {
    /// Critical-band rate.
    pub bark: f32,
    /// Level in dB SPL.
    pub level_db: f32,
    /// Threshold of hearing at its frequency.
    pub threshold_db: f32,
}

/// Which tones are heard, by the definition: from the loudest down, each hides what lies below its curve.
pub fn sequential(tones: &[Tone], offset_db: f32) -> Vec<bool> {
    let mut order: Vec<usize> = (0..tones.len()).collect();
    order.sort_by(|&i, &j| tones[j].level_db.total_cmp(&tones[i].level_db));
    let mut heard: Vec<bool> = tones.iter().map(|t| t.level_db > t.threshold_db).collect();
    let mut masks = heard.clone();
    for (place, &i) in order.iter().enumerate() {
        if !masks[i] {
            continue;
        }
        for &k in &order[place + 1..] {
            let hidden_below = curve_at(tones[i], offset_db, tones[k].bark);
            if tones[k].level_db < hidden_below {
                (heard[k], masks[k]) = (false, false);
            } else if tones[k].level_db < hidden_below + offset_db {
                masks[k] = false;
            }
        }
    }
    heard
}

/// The curve of one tone at another place.
fn curve_at(masker: Tone, offset_db: f32, bark: f32) -> f32 {
    let away = bark - masker.bark;
    let fall = if away < 0.0 { -LOWER_SLOPE * away } else { upper_slope(masker.level_db) * away };
    masker.level_db - offset_db - fall
}

/// The common curve of tones that are above the threshold of hearing, at a frequency: what lies below it is hidden.
pub fn masking_curve_db(tones: &[Tone], offset_db: f64, frequency_hz: f64) -> f64 {
    let bark = hearing::bark(frequency_hz) as f32;
    let maskers = tones.iter().filter(|t| t.level_db > t.threshold_db);
    f64::from(maskers.map(|t| curve_at(*t, offset_db as f32, bark)).fold(f32::NEG_INFINITY, f32::max))
}

/// Which tones are heard; `tones` in rising order of Bark.
pub fn sweep(tones: &[Tone], offset_db: f32) -> Vec<bool> {
    // Downwards one running value suffices, because all curves fall alike.
    let mut from_above = vec![f32::NEG_INFINITY; tones.len()];
    let (mut run, mut last) = (f32::NEG_INFINITY, 0.0);
    for (k, tone) in tones.iter().enumerate().rev() {
        run -= LOWER_SLOPE * (last - tone.bark);
        from_above[k] = run;
        if tone.level_db > tone.threshold_db {
            run = run.max(tone.level_db - offset_db);
        }
        last = tone.bark;
    }
    // Upwards the lines that are not below others at every place still to come.
    let mut lines: Vec<Line> = Vec::new();
    tones
        .iter()
        .zip(from_above)
        .map(|(tone, above)| {
            let below = lines.iter().map(|line| line.at(tone.bark)).fold(f32::NEG_INFINITY, f32::max);
            if tone.level_db > tone.threshold_db {
                insert(&mut lines, Line::of(tone.level_db, tone.bark, offset_db), tone.bark);
            }
            tone.level_db > tone.threshold_db && tone.level_db >= above && tone.level_db >= below
        })
        .collect()
}

/// The part of a curve above its masker: `height − slope · bark`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    height: f32,
    slope: f32,
}

impl Line {
    fn of(level_db: f32, bark: f32, offset_db: f32) -> Self {
        let slope = upper_slope(level_db);
        Self { height: level_db - offset_db + slope * bark, slope }
    }

    fn at(&self, bark: f32) -> f32 {
        self.height - self.slope * bark
    }
}

/// Adds a line that begins at `bark`, unless another is above it from there on, and removes those it is above of from there on.
fn insert(lines: &mut Vec<Line>, new: Line, bark: f32) {
    let above = |a: &Line, b: &Line| a.at(bark) >= b.at(bark) && a.slope <= b.slope;
    if !lines.iter().any(|line| above(line, &new)) {
        lines.retain(|line| !above(&new, line));
        lines.push(new);
    }
}

/// Cells per Bark of the real-time form.
pub(crate) const CELLS_PER_BARK: f32 = 20.0;
/// Cells in all: up to 27 Bark.
pub(crate) const CELLS: usize = 540;
/// Room for the curve at the cells' edges, as a power of two so that any index can be masked into it.
pub(crate) const EDGES: usize = 1024;
/// Lines that can be alive at once in the real-time form. There are hardly ever more than nine; the lowest is left out, which prunes less.
const LINES: usize = 16;

/// The cell of a place on the Bark scale, and how far into it the place is, 0 to 1.
pub fn cell(bark: f32) -> (u16, f32) {
    let place = (bark * CELLS_PER_BARK).clamp(0.0, CELLS as f32 - 0.001);
    (place as u16, place.fract())
}

/// The loudest masker of every cell.
#[derive(Clone, Debug)]
pub struct Maskers {
    /// Its level; [`NOTHING`] where there is none.
    levels: Box<[f32; ROOM]>,
    /// Its place.
    barks: Box<[f32; ROOM]>,
}

/// Cells, in whole groups.
const ROOM: usize = CELLS.next_multiple_of(LANES);

impl Default for Maskers {
    fn default() -> Self {
        Self { levels: Box::new([NOTHING; ROOM]), barks: Box::new([0.0; ROOM]) }
    }
}

impl Maskers {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.levels.fill(NOTHING);
    }

    /// A mode that may hide others.
    #[inline]
    pub fn offer(&mut self, cell: u16, bark: f32, level_db: f32) {
        let i = usize::from(cell).min(CELLS - 1);
        if level_db > self.levels[i] {
            (self.levels[i], self.barks[i]) = (level_db, bark);
        }
    }
}

/// The common curve of all maskers, ready to be asked for any place in any order.
#[derive(Clone, Debug)]
pub struct Curve {
    /// At the lower edge of every cell.
    edges: Box<[f32; EDGES]>,
}

/// Largest shift of levels: far beyond all that is heard, and far from [`NOTHING`].
const MAX_SHIFT_DB: f32 = 1e4;

/// So low that nothing is below it, but finite, so that differences are.
const NOTHING: f32 = -1e6;

impl Default for Curve {
    fn default() -> Self {
        Self { edges: Box::new([NOTHING; EDGES]) }
    }
}

impl Curve {
    /// Computes the curve; `shift_db` is added to all levels. Does not allocate.
    pub fn rebuild(&mut self, maskers: &Maskers, shift_db: f32, offset_db: f32, kernels: &Kernels) {
        // A larger shift would lift cells without a masker to where maskers are.
        let [shift_db, offset_db] = [shift_db, offset_db].map(|db| db.clamp(-MAX_SHIFT_DB, MAX_SHIFT_DB));
        (kernels.wide.mask)(&mut self.edges, maskers, shift_db, offset_db);
    }

    /// Level below which a mode at this place is hidden, in a straight line between the edges of its cell.
    #[inline]
    pub fn at(&self, (cell, share): (u16, f32)) -> f32 {
        let i = usize::from(cell).min(CELLS - 1);
        self.edges[i] + share * (self.edges[i + 1] - self.edges[i])
    }

    pub(crate) fn edges(&self) -> &[f32; EDGES] {
        &self.edges
    }
}

/// The common curve of `maskers` at the cells' edges.
#[inline(always)]
pub(crate) fn mask(edges: &mut [f32; EDGES], maskers: &Maskers, shift_db: f32, offset_db: f32) {
    // Downwards, from the highest group of cells: the highest of all lines that begin further up. A masker below such a line is below it
    // everywhere, also further up, because the louder one's slope is flatter: it does not count.
    let mut counts = [0u8; ROOM / LANES];
    // Above every empty cell.
    let mut highest = 0.9 * NOTHING;
    let level_db = shift_db - offset_db;
    edges[ROOM..=ROOM + LANES].fill(NOTHING);
    for group in (0..ROOM / LANES).rev() {
        let cells = group * LANES..(group + 1) * LANES;
        let mut own = [NOTHING; LANES];
        for ((own, level), bark) in
            own.iter_mut().zip(&maskers.levels[cells.clone()]).zip(&maskers.barks[cells.clone()])
        {
            *own = level + level_db - LOWER_SLOPE * bark;
        }
        let mut line = own;
        for step in [1, 2, 4] {
            let before = line;
            for i in 0..LANES {
                line[i] = if i + step < LANES { before[i].max(before[i + step]) } else { before[i] };
            }
        }
        for line in &mut line {
            *line = line.max(highest);
        }
        let mut bits = 0;
        for i in 0..LANES {
            let further_up = if i + 1 < LANES { line[i + 1] } else { highest };
            bits |= u8::from(own[i] > further_up) << i;
        }
        counts[group] = bits;
        highest = line[0];
        for ((edge, line), bark) in edges[cells.clone()].iter_mut().zip(line).zip(&EDGE_BARK[cells]) {
            *edge = (line + LOWER_SLOPE * bark).max(NOTHING);
        }
    }

    // Upwards: each line from where it begins to where another is above it for good.
    let mut lines = Lines { heights: [NOTHING; LINES], slopes: [0.0; LINES], begins: [0; LINES], alive: 0 };
    for (group, &bits) in counts.iter().enumerate() {
        let mut left = bits;
        while left != 0 {
            let i = group * LANES + left.trailing_zeros() as usize;
            left &= left - 1;
            let (level, bark) = (maskers.levels[i], maskers.barks[i]);
            let new = Line::of(level + shift_db, bark, offset_db);
            if !lines.hide(new, bark) {
                lines.add(new, bark, i + 1, edges);
            }
        }
    }
    for k in 0..lines.alive {
        lines.raise(k, CELLS + 1, edges);
    }
}

/// Lines that are the highest somewhere ahead.
struct Lines {
    heights: [f32; LINES],
    slopes: [f32; LINES],
    /// The first edge of each.
    begins: [usize; LINES],
    alive: usize,
}

impl Lines {
    #[inline(always)]
    fn hide(&self, new: Line, bark: f32) -> bool {
        // All places, free ones too, which lie far below: no decision per line.
        let at = new.at(bark);
        let above = |(height, slope): (&f32, &f32)| (height - slope * bark >= at) & (*slope <= new.slope);
        self.heights.iter().zip(&self.slopes).map(above).fold(false, |any, above| any | above)
    }

    /// Raises the edges to line `k`, from where it begins to before `stop`.
    #[inline(always)]
    fn raise(&self, k: usize, stop: usize, edges: &mut [f32; EDGES]) {
        let range = self.begins[k]..stop;
        raise(&mut edges[range.clone()], &EDGE_BARK[range], self.heights[k], self.slopes[k]);
    }

    /// Puts a new line in that begins at the edge `first`, and takes those out that it is above of from `bark` on.
    #[inline(always)]
    fn add(&mut self, new: Line, bark: f32, first: usize, edges: &mut [f32; EDGES]) {
        let mut kept = 0;
        for k in 0..self.alive {
            let (h, s) = (self.heights[k], self.slopes[k]);
            if new.at(bark) >= h - s * bark && new.slope <= s {
                self.raise(k, first, edges);
            } else {
                (self.heights[kept], self.slopes[kept], self.begins[kept]) = (h, s, self.begins[k]);
                kept += 1;
            }
        }
        if kept == LINES {
            // The one that is lowest here makes room.
            let at = |k: &usize| self.heights[*k] - self.slopes[*k] * bark;
            kept = (0..LINES).min_by(|a, b| at(a).total_cmp(&at(b))).unwrap_or(0);
            self.raise(kept, first, edges);
            self.alive = LINES;
        } else {
            self.heights[kept..self.alive.max(kept)].fill(NOTHING);
            self.alive = kept + 1;
        }
        (self.heights[kept], self.slopes[kept], self.begins[kept]) = (new.height, new.slope, first);
    }
}

/// The places of the edges on the Bark scale.
static EDGE_BARK: [f32; EDGES] = {
    let mut places = [0.0; EDGES];
    let mut i = 0;
    while i < EDGES {
        places[i] = i as f32 / CELLS_PER_BARK;
        i += 1;
    }
    places
};

/// Raises some edges to `height − slope · bark`.
#[inline(always)]
fn raise(edges: &mut [f32], barks: &[f32], height: f32, slope: f32) {
    for (edge, bark) in edges.iter_mut().zip(barks) {
        // Not a choice, which would become masked stores, and those are slow.
        *edge = edge.max(height - slope * bark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::Noise;

    fn gauss(noise: &mut Noise) -> f64 {
        (-2.0 * noise.uniform().max(1e-300).ln()).sqrt() * (std::f64::consts::TAU * noise.uniform()).cos()
    }

    /// Modes spread evenly from 60 Hz to 10.5 kHz, −3 dB per octave, levels scattered by `sigma_db`, together at `total_db`; sorted.
    pub(crate) fn can(modes: usize, sigma_db: f64, total_db: f64, seed: u64) -> Vec<Tone> {
        let mut noise = Noise::new(seed);
        let raw: Vec<(f64, f64)> = (0..modes)
            .map(|_| {
                let hz = 60.0 + 10_440.0 * noise.uniform();
                (hz, -3.0 * (hz / 1000.0).log2() + sigma_db * gauss(&mut noise))
            })
            .collect();
        let sum: f64 = raw.iter().map(|r| 10f64.powf(r.1 / 10.0)).sum();
        let mut tones: Vec<Tone> = raw
            .iter()
            .map(|&(hz, db)| Tone {
                bark: hearing::bark(hz) as f32,
                level_db: (db - 10.0 * sum.log10() + total_db) as f32,
                threshold_db: hearing::threshold_db(hz) as f32,
            })
            .collect();
        tones.sort_by(|a, b| a.bark.total_cmp(&b.bark));
        tones
    }

    fn count(heard: &[bool]) -> usize {
        heard.iter().filter(|h| **h).count()
    }

    /// The definition and the two passes agree on every mode.
    #[test]
    fn two_sweeps_give_the_mask_of_the_definition() {
        for seed in 0..7 {
            let sigma = 4.0 + 2.0 * seed as f64;
            let tones = can(200 + 300 * seed as usize, sigma, 40.0 + 8.0 * seed as f64, seed);
            for offset in [0.0, 2.5, 5.0, 20.0] {
                assert_eq!(sequential(&tones, offset), sweep(&tones, offset), "seed {seed}, offset {offset} dB");
            }
        }
    }

    /// 1361 modes scattered by 12 dB at 70 dB; survivors at offsets of 0, 2.5, 5, 20 dB, the count at 5 dB between 40 and 120.
    #[test]
    fn a_garbage_can_keeps_a_twentieth_of_its_modes() {
        let tones = can(1361, 12.0, 70.0, 1361);
        let kept: Vec<usize> = [0.0, 2.5, 5.0, 20.0].map(|offset| count(&sweep(&tones, offset))).to_vec();
        assert!(kept.is_sorted() && (40..=120).contains(&kept[2]), "{kept:?}");
        let wider = count(&sweep(&can(1361, 14.0, 70.0, 1361), 5.0));
        let narrower = count(&sweep(&can(1361, 10.0, 70.0, 1361), 5.0));
        assert!(wider < kept[2] && kept[2] < narrower, "the spread of levels decides: {wider} {} {narrower}", kept[2]);
    }

    /// The real-time form keeps what the definition keeps, and few more.
    #[test]
    fn cells_keep_a_few_modes_too_many_rather_than_too_few() {
        for seed in 0..6 {
            let tones = can(1000 + 500 * seed as usize, 6.0 + seed as f64 * 2.0, 70.0, seed);
            for offset in [0.0, 5.0, 20.0] {
                let exact = sweep(&tones, offset);
                let (mut maskers, mut curve) = (Maskers::default(), Curve::default());
                for t in tones.iter().filter(|t| t.level_db > t.threshold_db) {
                    maskers.offer(cell(t.bark).0, t.bark, t.level_db - 30.0);
                }
                curve.rebuild(&maskers, 30.0, offset, &Kernels::best());
                let cells: Vec<bool> = tones
                    .iter()
                    .map(|t| t.level_db > t.threshold_db && t.level_db >= curve.at(cell(t.bark)) - 1e-3)
                    .collect();
                // In the valley between two maskers the straight line is a little above both their curves.
                let lost = (0..tones.len()).filter(|&k| exact[k] && !cells[k]);
                for t in lost.map(|k| tones[k]) {
                    let above = curve.at(cell(t.bark)) - t.level_db;
                    assert!(above < 0.6, "a mode was lost by {above} dB");
                }
                let (exact, cells) = (count(&exact), count(&cells));
                assert!(
                    cells as f64 <= 1.15 * exact as f64 + 2.0 && cells as f64 >= 0.98 * exact as f64 - 1.0,
                    "{exact} {cells}"
                );
            }
        }
    }
}

//! Decoded lines of cubes, those used last, within a number of bytes.

use super::{COUNT, DecoderStats};
use eigentone_core::Vec3;
use eigentone_core::acoustics::{Field, Lattice, Parameter, ProbePlace};

/// No slot.
const NONE: u32 = u32::MAX;
/// A sample without a value.
const EMPTY: i16 = i16::MIN;
/// Lines that are kept at least, whatever the budget: what a single query takes.
const LEAST: usize = 64;

/// Lines in slots of equal size, in the order of their last use.
#[derive(Debug)]
pub struct Lines {
    places: Vec<ProbePlace>,
    /// For each probe the number of its first line.
    first_line: Vec<usize>,
    /// For each line of the field its slot.
    slot_of: Vec<u32>,
    slots: Vec<Slot>,
    newest: u32,
    oldest: u32,
    /// Quantised levels: slots, in them cubes, in them parameters.
    levels: Vec<i16>,
    longest: usize,
    quantum: f32,
    scratch: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    line: usize,
    /// Cubes of it that have been decoded, from the first on.
    known: usize,
    newer: u32,
    older: u32,
}

/// A decoded line.
pub struct Line<'a> {
    levels: &'a [i16],
    first: i64,
    quantum: f32,
}

impl Line<'_> {
    /// The values of the cube with this x in the common lattice, in steps.
    pub fn at(&self, x: i64) -> Option<[f32; COUNT]> {
        let i = usize::try_from(x.checked_sub(self.first)?).ok()?;
        let cube = self.levels.get(i.checked_mul(COUNT)?..)?.first_chunk::<COUNT>()?;
        (cube[0] != EMPTY).then(|| cube.map(|level| f32::from(level) * self.quantum))
    }
}

impl Lines {
    pub fn new(field: &Field, bytes: usize) -> Self {
        let places: Vec<ProbePlace> = field.probes().copied().collect();
        let mut lines = 0;
        let first_line = places
            .iter()
            .map(|p| {
                let first = lines;
                lines += (p.size[1] as usize) * (p.size[2] as usize);
                first
            })
            .collect();
        let longest = places.iter().map(|p| p.size[0] as usize).max().unwrap_or(0).max(1);
        let slot_bytes = longest * COUNT * size_of::<i16>() + size_of::<Slot>();
        let count = (bytes / slot_bytes).max(LEAST).min(lines.max(1));
        let slots: Vec<Slot> = (0..count as u32)
            .map(|i| Slot {
                line: usize::MAX,
                known: 0,
                newer: if i == 0 { NONE } else { i - 1 },
                older: if i as usize + 1 == count { NONE } else { i + 1 },
            })
            .collect();
        Self {
            places,
            first_line,
            slot_of: vec![NONE; lines],
            slots,
            newest: 0,
            oldest: count as u32 - 1,
            levels: vec![EMPTY; count * longest * COUNT],
            longest,
            quantum: field.info().quantum,
            scratch: vec![0.0; longest],
        }
    }

    /// A cube's place in a probe's grid.
    fn local(&self, probe: usize, cube: [i64; 3]) -> Option<[u32; 3]> {
        let place = &self.places[probe];
        let mut local = [0; 3];
        for axis in 0..3 {
            let i = cube[axis].checked_sub(i64::from(place.first[axis]))?;
            local[axis] = u32::try_from(i).ok().filter(|&i| i < place.size[axis])?;
        }
        Some(local)
    }

    /// Whether a cube is in a probe's grid.
    pub fn covers(&self, probe: usize, cube: [i64; 3]) -> bool {
        self.local(probe, cube).is_some()
    }

    /// Whether a cube has values.
    pub fn is_valid(&self, field: &Field, probe: usize, cube: [i64; 3]) -> bool {
        let [nx, ny, _] = self.places[probe].size.map(|n| n as usize);
        self.local(probe, cube).is_some_and(|at| {
            let [x, y, z] = at.map(|i| i as usize);
            field.valid(probe).get((z * ny + y) * nx + x)
        })
    }

    /// The part of the way from a point that is in a probe's grid, as shares of it.
    pub fn crossed(&self, probe: usize, lattice: &Lattice, from: Vec3, way: Vec3) -> Option<[f64; 2]> {
        let place = &self.places[probe];
        let low = lattice.origin + lattice.step_m * Vec3::from_array(place.first.map(f64::from));
        let high = low + lattice.step_m * Vec3::from_array(place.size.map(f64::from));
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for axis in 0..3 {
            let (a, w) = (from.to_array()[axis], way.to_array()[axis]);
            let (low, high) = (low.to_array()[axis], high.to_array()[axis]);
            if w == 0.0 {
                if a < low || a > high {
                    return None;
                }
                continue;
            }
            let (t, u) = ((low - a) / w, (high - a) / w);
            enter = enter.max(t.min(u));
            leave = leave.min(t.max(u));
        }
        (enter <= leave).then_some([enter, leave])
    }

    /// The line with this cube's y and z; `None` if the probe's grid does not reach there.
    pub fn line(&mut self, field: &Field, probe: usize, cube: [i64; 3], stats: &mut DecoderStats) -> Option<Line<'_>> {
        let place = self.places[probe];
        // Any x will do: the second of two cubes may be in the grid while the first is not.
        let [_, y, z] = self.local(probe, [i64::from(place.first[0]), cube[1], cube[2]])?;
        let line = self.first_line[probe] + z as usize * place.size[1] as usize + y as usize;
        stats.lines += 1;
        let mut slot = self.slot_of[line];
        let whole = place.size[0] as usize;
        // This cube and the next, and what comes before them: the rest of a line is decoded when somebody comes back for it.
        let from = cube[0].saturating_sub(i64::from(place.first[0])).clamp(0, whole as i64) as usize;
        let need = (from + 2).next_multiple_of(8).min(whole);
        if slot != NONE && self.slots[slot as usize].known < need {
            self.decode(field, probe, [y, z], slot, whole);
            stats.decoded += 1;
        }
        if slot == NONE {
            slot = self.oldest;
            self.decode(field, probe, [y, z], slot, need);
            let before = std::mem::replace(&mut self.slots[slot as usize].line, line);
            if let Some(gone) = self.slot_of.get_mut(before) {
                *gone = NONE;
            }
            self.slot_of[line] = slot;
            stats.decoded += 1;
        }
        self.touch(slot);
        let from = slot as usize * self.longest * COUNT;
        let levels = &self.levels[from..from + self.slots[slot as usize].known * COUNT];
        Some(Line { levels, first: i64::from(place.first[0]), quantum: self.quantum })
    }

    /// The first `count` cubes of a line.
    fn decode(&mut self, field: &Field, probe: usize, [y, z]: [u32; 2], slot: u32, count: usize) {
        let [nx, ny, _] = self.places[probe].size.map(|n| n as usize);
        self.slots[slot as usize].known = count;
        let cubes = &mut self.levels[slot as usize * self.longest * COUNT..][..count * COUNT];
        let out = &mut self.scratch[..count];
        let per_step = self.quantum.recip();
        for parameter in Parameter::ALL {
            field.line(probe, parameter, y, z, out);
            for (cube, value) in cubes.chunks_exact_mut(COUNT).zip(&*out) {
                // Adding a half and cutting off is fast; levels are whole numbers already but for rounding.
                cube[parameter as usize] = (value * per_step + if *value < 0.0 { -0.5 } else { 0.5 }) as i16;
            }
        }
        let row = (z as usize * ny + y as usize) * nx;
        let valid = field.valid(probe);
        for (x, cube) in cubes.chunks_exact_mut(COUNT).enumerate() {
            if !valid.get(row + x) {
                cube[0] = EMPTY;
            }
        }
    }

    /// Makes a slot the newest.
    fn touch(&mut self, slot: u32) {
        if slot == self.newest {
            return;
        }
        let Slot { newer, older, .. } = self.slots[slot as usize];
        self.slots[newer as usize].older = older;
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
        self.slots[self.newest as usize].newer = slot;
        self.slots[slot as usize].older = self.newest;
        self.slots[slot as usize].newer = NONE;
        self.newest = slot;
    }
}

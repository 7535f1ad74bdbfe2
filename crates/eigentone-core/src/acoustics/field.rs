//! The field of parameters around probes, before it is compressed or after it was decompressed.

use super::{Bounds, Parameter};
use crate::Vec3;
use serde::{Deserialize, Serialize};

/// A set of cells, one bit each, in the order x fastest, then y, then z.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// So many cells, none in the set.
    pub fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a cell is in the set; those beyond the end are not.
    pub fn get(&self, at: usize) -> bool {
        at < self.len && self.words[at / 64] >> (at % 64) & 1 == 1
    }

    /// Puts a cell in or takes it out.
    ///
    /// # Panics
    /// Beyond the end.
    pub fn set(&mut self, at: usize, value: bool) {
        assert!(at < self.len, "cell {at} of {}", self.len);
        let bit = 1 << (at % 64);
        if value {
            self.words[at / 64] |= bit;
        } else {
            self.words[at / 64] &= !bit;
        }
    }

    /// 64 cells from one on, the first in the lowest bit; those beyond the end are not in the set.
    pub fn word(&self, at: usize) -> u64 {
        let (word, shift) = (at / 64, at % 64);
        let low = self.words.get(word).map_or(0, |w| w >> shift);
        let high = self.words.get(word + 1).map_or(0, |w| w.checked_shl(64 - shift as u32).unwrap_or(0));
        low | high
    }

    /// Adds those of up to 64 cells from one on whose bit is set, the first in the lowest bit.
    ///
    /// # Panics
    /// If one of them is beyond the end.
    pub fn insert_word(&mut self, at: usize, word: u64) {
        if word == 0 {
            return;
        }
        let last = at + word.ilog2() as usize;
        assert!(last < self.len, "cell {last} of {}", self.len);
        self.words[at / 64] |= word << (at % 64);
        if !at.is_multiple_of(64) && last / 64 > at / 64 {
            self.words[at / 64 + 1] |= word >> (64 - at % 64);
        }
    }

    /// How many are in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Eight cells to a byte, the first in the lowest bit.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|w| w.to_le_bytes()).take(self.len.div_ceil(8)).collect()
    }

    /// From [`to_bytes`](Self::to_bytes); `None` if their number does not fit.
    pub fn from_bytes(bytes: &[u8], len: usize) -> Option<Self> {
        if bytes.len() != len.div_ceil(8) {
            return None;
        }
        let mut bits = Self::new(len);
        for (i, byte) in bytes.iter().enumerate() {
            bits.words[i / 8] |= u64::from(*byte) << (8 * (i % 8));
        }
        if !len.is_multiple_of(64)
            && let Some(last) = bits.words.last_mut()
        {
            *last &= (1 << (len % 64)) - 1;
        }
        Some(bits)
    }
}

/// Cubes in rows, columns and layers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lattice {
    /// The corner of the first cube that is lowest in all axes.
    pub origin: Vec3,
    /// Side of a cube in m.
    pub step_m: f64,
    /// Cubes along x, y and z.
    pub size: [u32; 3],
}

impl Lattice {
    /// Cubes in all.
    pub fn len(&self) -> usize {
        self.size.iter().map(|&n| n as usize).product()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The middle of a cube, which may lie outside.
    pub fn centre(&self, at: [i64; 3]) -> Vec3 {
        self.origin + self.step_m * Vec3::from_array(at.map(|i| i as f64 + 0.5))
    }

    /// The cube around a point, which may lie outside. Far out it is the last that can be counted.
    pub fn cube(&self, point: Vec3) -> [i64; 3] {
        ((point - self.origin) / self.step_m).floor().to_array().map(|x| x as i64)
    }

    /// Place of a cube in the order x fastest, then y, then z; `None` outside.
    pub fn index(&self, at: [i64; 3]) -> Option<usize> {
        let inside = at.iter().zip(self.size).all(|(&i, n)| i >= 0 && i < i64::from(n));
        let [nx, ny, _] = self.size.map(|n| n as usize);
        inside.then(|| (at[2] as usize * ny + at[1] as usize) * nx + at[0] as usize)
    }

    /// The box around all cubes.
    pub fn bounds(&self) -> Bounds {
        let size = Vec3::from_array(self.size.map(f64::from));
        Bounds { min: self.origin, max: self.origin + self.step_m * size }
    }
}

/// Which cells of a scene are not air.
#[derive(Clone, Debug, PartialEq)]
pub struct Occupancy {
    /// The cells.
    pub lattice: Lattice,
    /// Those of them that are solid, as many as the lattice has cubes.
    pub solid: Bits,
}

impl Occupancy {
    /// Whether a cell is solid; those outside are not.
    pub fn is_solid(&self, cube: [i64; 3]) -> bool {
        self.lattice.index(cube).is_some_and(|at| self.solid.get(at))
    }

    /// Cells of air that are connected, face to face, with that of any of the points. Points in solids and outside count for nothing.
    pub fn connected(&self, from: impl IntoIterator<Item = Vec3>) -> Bits {
        let lattice = &self.lattice;
        let mut air = Bits::new(lattice.len());
        let mut waiting = Vec::new();
        let free = |cell: [i64; 3], air: &Bits| lattice.index(cell).filter(|&at| !self.solid.get(at) && !air.get(at));
        for start in from.into_iter().map(|point| lattice.cube(point)) {
            if let Some(at) = free(start, &air) {
                air.set(at, true);
                waiting.push(start);
            }
            while let Some(cell) = waiting.pop() {
                for (axis, step) in (0..3).flat_map(|axis| [(axis, -1), (axis, 1)]) {
                    let mut next = cell;
                    next[axis] += step;
                    if let Some(at) = free(next, &air) {
                        air.set(at, true);
                        waiting.push(next);
                    }
                }
            }
        }
        air
    }
}

/// What a field was made with and from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldInfo {
    /// Name of the scene.
    pub name: String,
    /// Highest frequency of the simulation, in Hz.
    pub f_max_hz: f64,
    /// Side of a simulated cell, in m.
    pub cell_m: f64,
    /// Steps that are just noticeable to one that is stored.
    pub quantum: f32,
    /// Hash of everything the field follows from.
    pub source_hash: String,
    /// Version of the engine.
    pub engine_version: String,
    /// All settings of the bake, as JSON.
    pub settings: String,
    /// What to beware of.
    pub warnings: Vec<String>,
    /// Which shard of how many it is, from 0; `None` for a whole field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<[u32; 2]>,
}

impl FieldInfo {
    /// Of a whole field of which nothing else is known.
    pub fn new(name: &str, f_max_hz: f64, cell_m: f64, quantum: f32) -> Self {
        Self {
            name: name.to_owned(),
            f_max_hz,
            cell_m,
            quantum,
            source_hash: String::new(),
            engine_version: String::new(),
            settings: String::new(),
            warnings: Vec::new(),
            shard: None,
        }
    }
}

/// What was simulated from one probe.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeField {
    /// Where the simulation's source was.
    pub position: Vec3,
    /// The cube of the common lattice that is the first here; may be negative.
    pub first: [i32; 3],
    /// Cubes along x, y and z.
    pub size: [u32; 3],
    /// Which cubes have values; in the others there is no air, or no sound arrives.
    pub valid: Bits,
    /// For each parameter the values in steps that are just noticeable, x fastest; what is not valid counts for nothing.
    pub values: [Vec<f32>; Parameter::COUNT],
}

impl ProbeField {
    /// One without any values.
    pub fn new(position: Vec3, first: [i32; 3], size: [u32; 3]) -> Self {
        let len = size.iter().map(|&n| n as usize).product();
        Self { position, first, size, valid: Bits::new(len), values: std::array::from_fn(|_| vec![0.0; len]) }
    }

    /// Place of a cube of the common lattice; `None` outside.
    pub fn index(&self, cube: [i64; 3]) -> Option<usize> {
        let mut at = [0usize; 3];
        for axis in 0..3 {
            let i = cube[axis].checked_sub(i64::from(self.first[axis]))?;
            if i < 0 || i >= i64::from(self.size[axis]) {
                return None;
            }
            at[axis] = i as usize;
        }
        let [nx, ny, _] = self.size.map(|n| n as usize);
        Some((at[2] * ny + at[1]) * nx + at[0])
    }

    /// The values of a cube in steps; `None` where there are none.
    pub fn steps(&self, cube: [i64; 3]) -> Option<[f32; Parameter::COUNT]> {
        let at = self.index(cube).filter(|&at| self.valid.get(at))?;
        Some(std::array::from_fn(|p| self.values[p][at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_survive_their_bytes() {
        for len in [0, 1, 7, 8, 63, 64, 65, 200] {
            let mut bits = Bits::new(len);
            (0..len).filter(|i| i % 3 == 1).for_each(|i| bits.set(i, true));
            let back = Bits::from_bytes(&bits.to_bytes(), len).expect("fits");
            assert_eq!(back, bits);
            assert_eq!(back.count(), (0..len).filter(|i| i % 3 == 1).count());
        }
        assert!(Bits::from_bytes(&[0; 3], 8).is_none());
    }

    #[test]
    fn words_are_the_cells_one_by_one() {
        let mut bits = Bits::new(200);
        (0..200).filter(|i| i * i % 7 == 2).for_each(|i| bits.set(i, true));
        let mut copy = Bits::new(200);
        for at in [0, 1, 63, 64, 100, 136, 137, 199, 200, 500] {
            let word = bits.word(at);
            assert!((0..64).all(|i| (word >> i & 1 == 1) == bits.get(at + i)), "{at}");
            copy.insert_word(at, word);
        }
        assert_eq!(copy, bits);
    }

    #[test]
    fn air_is_connected_through_openings_only() {
        let lattice = Lattice { origin: Vec3::ZERO, step_m: 1.0, size: [5, 3, 1] };
        let mut solid = Bits::new(15);
        // A wall at x = 2 with a hole at y = 1, and a cell at x = 4, y = 2 behind another.
        [2, 12, 9, 13].into_iter().for_each(|at| solid.set(at, true));
        let occupancy = Occupancy { lattice, solid };
        let air = occupancy.connected([Vec3::new(0.5, 0.5, 0.5), Vec3::new(-9.0, 0.0, 0.0)]);
        let open = |x: usize, y: usize| air.get(5 * y + x);
        assert!(open(0, 0) && open(2, 1) && open(4, 0), "through the hole");
        assert!(!open(2, 0) && !open(4, 2), "not into walls, nor into what they shut off");
        assert_eq!(air.count(), 10);
        assert_eq!(occupancy.connected([Vec3::new(2.5, 0.5, 0.5)]).count(), 0, "from inside a wall nothing is reached");
    }

    #[test]
    fn points_find_their_cube_and_back() {
        let lattice = Lattice { origin: Vec3::new(-1.0, 2.0, 0.0), step_m: 2.0, size: [3, 2, 2] };
        assert_eq!(lattice.cube(Vec3::new(-0.5, 5.9, 0.1)), [0, 1, 0]);
        assert_eq!(lattice.index([2, 1, 1]), Some(11));
        assert_eq!(lattice.index([-1, 0, 0]), None);
        assert_eq!(lattice.cube(lattice.centre([-3, 7, 1])), [-3, 7, 1]);
    }
}

//! What is kept of one probe: levels in the code of `line`, and where each line begins.

use super::{
    CodeLengths, FieldError,
    huffman::{Code, Counts},
    line::{self, SYMBOLS, Token, Walk},
    quantise::{self, bounds},
    stream::{BitWriter, PADDING, gamma, peek, unzigzag, zigzag},
};
use crate::{
    Vec3,
    acoustics::{Bits, Parameter, ProbeField},
};
use std::borrow::Cow;

pub(super) const PARAMETERS: usize = Parameter::COUNT;

/// One code for each parameter.
pub(super) type Codes = [Code; PARAMETERS];

/// Where a probe was, and which cubes of the common lattice it covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbePlace {
    /// Where the simulation's source was.
    pub position: Vec3,
    /// The cube of the common lattice that is the first here.
    pub first: [i32; 3],
    /// Cubes along x, y and z.
    pub size: [u32; 3],
}

impl ProbePlace {
    /// Cubes in all.
    pub fn cubes(&self) -> u64 {
        self.size.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul)
    }

    /// Lines along x.
    pub fn lines(&self) -> u64 {
        u64::from(self.size[1]) * u64::from(self.size[2])
    }
}

/// A probe as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeCode<'a> {
    /// Where it was and which cubes it covers.
    pub place: ProbePlace,
    /// Which cubes have values, as many as there are cubes.
    pub valid: Cow<'a, Bits>,
    /// Bytes of each layer, as many as the probe has layers.
    pub slices: Cow<'a, [u32]>,
    /// The coded values of all layers, one after the other.
    pub data: &'a [u8],
}

/// A line: for each parameter the bit with which its tokens begin, and its first level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Line {
    at: [u32; PARAMETERS],
    first: [i16; PARAMETERS],
}

/// The levels of a probe's valid samples, x fastest.
pub type Levels = [Vec<i16>; PARAMETERS];

/// One probe, coded, with an index of its lines. Whoever has one may decode it without checks: it was either coded here or
/// walked through once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Probe {
    pub place: ProbePlace,
    pub valid: Bits,
    /// Bytes of each layer.
    pub slices: Vec<u32>,
    /// The bytes of all layers, and padding.
    data: Vec<u8>,
    lines: Vec<Line>,
    /// How many bits each parameter takes.
    pub bits: [u64; PARAMETERS],
}

impl Probe {
    pub fn encode(place: ProbePlace, valid: Bits, levels: &Levels, codes: &Codes) -> Self {
        let [nx, ny, nz] = place.size.map(|n| n as usize);
        let mut writer = BitWriter::default();
        let (mut slices, mut lines) = (Vec::with_capacity(nz), Vec::new());
        let (mut bits, mut done) = ([0; PARAMETERS], 0);
        for z in 0..nz {
            let start = writer.bits();
            let mut above = [0i16; PARAMETERS];
            for y in 0..if nx == 0 { 0 } else { ny } {
                let count = valid_in(&valid, (z * ny + y) * nx, nx);
                let mut line = Line::default();
                for p in 0..if count > 0 { PARAMETERS } else { 0 } {
                    let begin = writer.bits();
                    let samples = &levels[p][done..done + count];
                    writer.gamma(1 + zigzag(i32::from(samples[0]) - i32::from(above[p])));
                    (above[p], line.first[p]) = (samples[0], samples[0]);
                    line.at[p] = writer.bits() as u32;
                    line::encode(samples, &codes[p], &mut writer);
                    bits[p] += (writer.bits() - begin) as u64;
                }
                done += count;
                lines.push(line);
            }
            writer.align();
            slices.push(((writer.bits() - start) / 8) as u32);
        }
        Self { place, valid, slices, data: writer.finish(), lines, bits }
    }

    /// Walks through coded bytes, so that decoding a line later cannot fail, and notes where each begins.
    pub fn open(code: ProbeCode<'_>, codes: &Codes, quantum: f32) -> Result<Self, FieldError> {
        let ProbeCode { place, valid, slices, data } = code;
        let (valid, slices) = (valid.into_owned(), slices.into_owned());
        let [nx, ny, nz] = place.size.map(|n| n as usize);
        if valid.len() as u64 != place.cubes() {
            return Err(FieldError::new(Some("mask"), format!("{} cubes", place.cubes()), valid.len().to_string()));
        }
        let bad = |expected: String, found: String| FieldError::new(Some("slice"), expected, found);
        let data = [data, &[0; PADDING]].concat();
        if data.len() as u64 * 8 > u64::from(u32::MAX) {
            return Err(bad("at most 512 MB of a probe".to_owned(), format!("{} bytes", data.len())));
        }
        let limits = Parameter::ALL.map(|p| bounds(p, quantum));
        // Without cubes there are no lines either, however many are declared.
        let (mut lines, mut bits, mut end) = (Vec::new(), [0; PARAMETERS], 0usize);
        for z in 0..if nx == 0 { 0 } else { nz } {
            let mut at = 8 * end;
            end = end.saturating_add(slices.get(z).map_or(0, |&n| n as usize));
            let mut above = [0i32; PARAMETERS];
            for y in 0..ny {
                let count = valid_in(&valid, (z * ny + y) * nx, nx);
                let mut line = Line::default();
                for p in 0..if count > 0 { PARAMETERS } else { 0 } {
                    let begin = at;
                    let known = first_level(&data, at, above[p]).and_then(|(first, at)| {
                        let end = walk_through(Walk::new(&data, at, &codes[p]), first, count, limits[p])?;
                        Some((first, at, end))
                    });
                    let Some((first, tokens, next)) =
                        known.filter(|k| k.2.div_ceil(8) <= end.min(data.len() - PADDING))
                    else {
                        let line = format!("the {} of line y = {y}, z = {z}", Parameter::ALL[p].name());
                        return Err(bad(line, "bits that do not give it".to_owned()));
                    };
                    above[p] = first;
                    (line.at[p], line.first[p]) = (tokens as u32, first as i16);
                    bits[p] += (next - begin) as u64;
                    at = next;
                }
                lines.push(line);
            }
            if at.div_ceil(8) != end {
                return Err(bad(format!("{} bytes up to layer {z}", at.div_ceil(8)), end.to_string()));
            }
        }
        if end != data.len() - PADDING || slices.len() != nz {
            return Err(bad(
                format!("{} bytes in {nz} layers", data.len() - PADDING),
                format!("{end} in {}", slices.len()),
            ));
        }
        Ok(Self { place, valid, slices, data, lines, bits })
    }

    /// The coded bytes.
    pub fn data(&self) -> &[u8] {
        &self.data[..self.data.len() - PADDING]
    }

    /// As it is stored.
    pub fn code(&self) -> ProbeCode<'_> {
        ProbeCode {
            place: self.place,
            valid: Cow::Borrowed(&self.valid),
            slices: Cow::Borrowed(&self.slices),
            data: self.data(),
        }
    }

    /// Decodes the first samples of a line, zero where there is no valid one. Returns how many are valid.
    pub fn line(&self, codes: &Codes, quantum: f32, parameter: Parameter, [y, z]: [u32; 2], out: &mut [f32]) -> usize {
        let [nx, ny, nz] = self.place.size.map(|n| n as usize);
        let (y, z, p) = (y as usize, z as usize, parameter as usize);
        assert!(y < ny && z < nz && out.len() <= nx, "line {y}, {z} of {} in {ny}, {nz} of {nx}", out.len());
        let row = z * ny + y;
        let count = valid_in(&self.valid, row * nx, out.len());
        let Some(line) = self.lines.get(row) else { return 0 };
        let walk = Walk::new(&self.data, line.at[p] as usize, &codes[p]);
        walk.expand(i32::from(line.first[p]), count, out, |level| quantise::value(level, quantum));
        // Spread them to their places, from the end so that none is overwritten.
        let (mut from, mut x) = (count, out.len());
        while from < x {
            x -= 1;
            out[x] = if self.valid.get(row * nx + x) {
                from -= 1;
                out[from]
            } else {
                0.0
            };
        }
        count
    }

    /// All levels.
    pub fn levels(&self, codes: &Codes) -> Levels {
        let nx = self.place.size[0] as usize;
        let mut levels: Levels = std::array::from_fn(|_| vec![0; self.valid.count()]);
        let mut done = 0;
        for (row, line) in self.lines.iter().enumerate() {
            let count = valid_in(&self.valid, row * nx, nx);
            for p in 0..PARAMETERS {
                let walk = Walk::new(&self.data, line.at[p] as usize, &codes[p]);
                walk.expand(i32::from(line.first[p]), count, &mut levels[p][done..], |level| level as i16);
            }
            done += count;
        }
        levels
    }

    /// How often each token occurs.
    pub fn count(place: &ProbePlace, valid: &Bits, levels: &Levels, counts: &mut [Counts; PARAMETERS]) {
        let [nx, ny, nz] = place.size.map(|n| n as usize);
        let mut done = 0;
        for row in 0..if nx == 0 { 0 } else { ny * nz } {
            let count = valid_in(valid, row * nx, nx);
            (0..PARAMETERS).for_each(|p| line::count(&levels[p][done..done + count], &mut counts[p]));
            done += count;
        }
    }

    /// Everything decoded, zero where there is nothing valid.
    pub fn decode(&self, codes: &Codes, quantum: f32) -> ProbeField {
        let ProbePlace { position, first, size } = self.place;
        let mut field = ProbeField::new(position, first, size);
        field.valid = self.valid.clone();
        for p in Parameter::ALL {
            let lines = field.values[p as usize].chunks_exact_mut((size[0] as usize).max(1));
            for (row, out) in lines.enumerate() {
                let row = row as u32;
                self.line(codes, quantum, p, [row % size[1], row / size[1]], out);
            }
        }
        field
    }
}

/// The codes that make such levels shortest.
pub(super) fn codes_of(counts: &[Counts; PARAMETERS]) -> Codes {
    std::array::from_fn(|p| Code::of(&counts[p]))
}

/// The codes of such lengths.
pub(super) fn codes_from_lengths(lengths: &CodeLengths) -> Result<Codes, FieldError> {
    let codes: Option<Vec<Code>> = lengths.iter().map(Code::from_lengths).collect();
    codes
        .and_then(|codes| codes.try_into().ok())
        .ok_or_else(|| FieldError::new(Some("code_length"), "lengths of Huffman codes up to 10 bits", "others"))
}

/// The inverse of [`codes_from_lengths`].
pub(super) fn lengths_of(codes: &Codes) -> CodeLengths {
    std::array::from_fn(|p| *codes[p].lengths())
}

/// Nothing counted yet.
pub(super) const NO_COUNTS: [Counts; PARAMETERS] = [[0; SYMBOLS]; PARAMETERS];

/// How many cells of so many from one on are valid.
fn valid_in(valid: &Bits, at: usize, count: usize) -> usize {
    let words = (0..count).step_by(64).map(|i| {
        let rest = count - i;
        let word = valid.word(at + i);
        if rest < 64 { word & ((1 << rest) - 1) } else { word }
    });
    words.map(|w| w.count_ones() as usize).sum()
}

/// The first level of a line, and the bit after it.
fn first_level(data: &[u8], at: usize, above: i32) -> Option<(i32, usize)> {
    let (number, bits) = gamma(peek(data, at))?;
    Some((above + unzigzag(number - 1), at + bits as usize))
}

/// The bit after a line of so many samples; `None` if its tokens are not those of such a line or a level is out of bounds.
fn walk_through(mut walk: Walk<'_>, first: i32, count: usize, [least, most]: [i32; 2]) -> Option<usize> {
    let (mut level, mut left) = (first, count - 1);
    let mut fits = (least..=most).contains(&level);
    while left > 0 && fits && !walk.broken {
        let Token { run, step } = walk.token();
        let covered = if run == usize::MAX { left } else { run + usize::from(step != 0) };
        level += step;
        fits = covered <= left && (least..=most).contains(&level);
        left -= covered.min(left);
    }
    (fits && !walk.broken).then_some(walk.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acoustics::encode_probe;

    /// Damage that a checksum would notice, had it not been made to fit.
    #[test]
    fn whatever_the_bits_a_probe_is_refused_or_decodes_within_bounds() {
        let mut field = ProbeField::new(Vec3::ZERO, [0; 3], [37, 4, 3]);
        for at in (0..field.valid.len()).filter(|at| at % 11 != 3) {
            field.valid.set(at, true);
            let wave = (at as f32 * 0.13).sin() * 8.0 + (at * at % 5) as f32;
            field.values.iter_mut().for_each(|values| values[at] = wave);
        }
        let coded = encode_probe(&field, 1.0);
        let (codes, probe) = (&coded.codes, &coded.probe);
        let open = |slices: &[u32], data: &[u8]| {
            let code = ProbeCode { slices: slices.into(), data, ..probe.code() };
            Probe::open(code, codes, 1.0)
        };
        assert_eq!(open(&probe.slices, probe.data()).expect("undamaged"), *probe);
        let mut accepted = 0;
        for at in 0..probe.data().len() {
            assert!(open(&probe.slices, &probe.data()[..at]).is_err());
            for bit in 0..8 {
                let mut data = probe.data().to_vec();
                data[at] ^= 1 << bit;
                let Ok(damaged) = open(&probe.slices, &data) else { continue };
                accepted += 1;
                let decoded = damaged.decode(codes, 1.0);
                for p in Parameter::ALL {
                    let [least, most] = p.range();
                    assert!(decoded.values[p as usize].iter().all(|v| (least..=most).contains(v)));
                }
            }
        }
        assert!(accepted > 0, "nothing was tested");
        let wrong: [&[u32]; 4] = [&[], &[1, 2], &[0, 0, 0], &[u32::MAX; 3]];
        wrong.iter().for_each(|slices| assert!(open(slices, probe.data()).is_err()));
    }
}

//! The residual code of one scan line.
//!
//! Of the levels of a line's valid samples the first is known; the others are given by tokens, each some samples like the last
//! and then a step:
//!
//! | symbol | samples like the last | then a sample that differs by |
//! | --- | --- | --- |
//! | 0 | all that are left | – |
//! | 1 | 16 | – |
//! | 2 + 5 r | r < 16 | 1 in the direction of the step before |
//! | 3 + 5 r | r | 1 in the other direction |
//! | 4 + 5 r | r | 2 in the direction of the step before |
//! | 5 + 5 r | r | 2 in the other direction |
//! | 6 + 5 r | r | more: one bit that says whether the direction is the other one, then the size less 2 in gamma code |
//!
//! Before the first step the direction is up. Samples that are not valid take no part.

use super::{
    huffman::Code,
    stream::{BitWriter, gamma, peek},
};

/// How many tokens there are.
pub(super) const SYMBOLS: usize = 2 + KINDS * LONGEST_RUN;
const LONGEST_RUN: usize = 16;
const KINDS: usize = 5;

const END: usize = 0;
const RUN: usize = 1;

/// In the table of a code: no step, and a run to the end of the line.
const TO_THE_END: u16 = 31;
/// In the table of a code: the kind of symbols with a step that is written out.
const LARGE: usize = 5;
/// For each kind how far the level goes, and whether the direction changes.
const STEP: [i32; LARGE] = [0, 1, -1, 2, -2];
const TURN: [i32; LARGE] = [1, 1, -1, 1, -1];

/// A symbol in the table of a code, above four bits for the length of its code: five bits of run, then three of kind. No symbol is
/// as the end of the line, so that nothing can run for ever.
pub(super) fn entry(symbol: Option<usize>) -> u16 {
    let (run, kind) = match symbol {
        None | Some(END) => (TO_THE_END, 0),
        Some(RUN) => (LONGEST_RUN as u16, 0),
        Some(s) => (((s - 2) / KINDS) as u16, ((s - 2) % KINDS) as u16 + 1),
    };
    run << 4 | kind << 9
}

/// The tokens of a line: each with the turn and size of a step that is written out.
fn tokens(levels: &[i16], mut emit: impl FnMut(usize, Option<(bool, u32)>)) {
    let (mut run, mut direction) = (0, 1);
    for pair in levels.windows(2) {
        let step = i32::from(pair[1]) - i32::from(pair[0]);
        if step == 0 {
            run += 1;
            continue;
        }
        while run >= LONGEST_RUN {
            emit(RUN, None);
            run -= LONGEST_RUN;
        }
        let turn = step.signum() != direction;
        let symbol = 2 + KINDS * run;
        match step.unsigned_abs() {
            1 => emit(symbol + usize::from(turn), None),
            2 => emit(symbol + 2 + usize::from(turn), None),
            size => emit(symbol + 4, Some((turn, size))),
        }
        direction = step.signum();
        run = 0;
    }
    if run > 0 {
        emit(END, None);
    }
}

/// Counts the tokens of a line.
pub(super) fn count(levels: &[i16], counts: &mut super::huffman::Counts) {
    tokens(levels, |symbol, _| counts[symbol] += 1);
}

/// Writes all but the first level.
pub(super) fn encode(levels: &[i16], code: &Code, writer: &mut BitWriter) {
    tokens(levels, |symbol, large| {
        let (bits, length) = code.get(symbol);
        debug_assert!(length > 0, "symbol {symbol} was not counted");
        writer.put(bits, length);
        if let Some((turn, size)) = large {
            writer.put(u64::from(turn), 1);
            writer.gamma(size - 2);
        }
    });
}

/// Some samples like the last, then a step unless it is zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub run: usize,
    pub step: i32,
}

/// The tokens of a line, read one by one.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a> {
    data: &'a [u8],
    /// The bit that is read next.
    pub at: usize,
    code: &'a Code,
    direction: i32,
    /// Whether something was read that is never written.
    pub broken: bool,
}

impl<'a> Walk<'a> {
    /// From a bit of padded data on.
    pub fn new(data: &'a [u8], at: usize, code: &'a Code) -> Self {
        Self { data, at, code, direction: 1, broken: false }
    }

    /// The next token. Each covers at least one sample, whatever the data.
    #[inline]
    pub fn token(&mut self) -> Token {
        let word = peek(self.data, self.at);
        let entry = self.code.table[word as usize % self.code.table.len()];
        let length = usize::from(entry & 15);
        self.at += length;
        self.broken |= length == 0;
        let run = match entry >> 4 & 31 {
            TO_THE_END => usize::MAX,
            run => usize::from(run),
        };
        let kind = usize::from(entry >> 9);
        if kind >= LARGE {
            return Token { run, step: self.large(word >> length) };
        }
        let step = self.direction * STEP[kind];
        self.direction *= TURN[kind];
        Token { run, step }
    }

    #[cold]
    fn large(&mut self, word: u64) -> i32 {
        let Some((size, bits)) = gamma(word >> 1) else {
            self.broken = true;
            return self.direction;
        };
        self.at += 1 + bits as usize;
        if word & 1 == 1 {
            self.direction = -self.direction;
        }
        self.direction * (size as i32 + 2)
    }

    /// The values of the first `count` samples, of which the first has the level `first`. What comes after them in `out` may be overwritten.
    #[inline]
    pub fn expand<T: Copy>(mut self, first: i32, count: usize, out: &mut [T], value: impl Fn(i32) -> T) {
        let mut level = first;
        let mut last = value(level);
        out[..count.min(1)].fill(last);
        let mut at = 1;
        while at < count {
            let Token { run, step } = self.token();
            let end = at.saturating_add(run).min(count);
            // How long runs are is not foreseen by any processor, so the short ones are all written alike.
            match out[at..].first_chunk_mut::<LONGEST_RUN>() {
                Some(block) if run <= LONGEST_RUN => *block = [last; LONGEST_RUN],
                _ => out[at..end].fill(last),
            }
            at = end;
            if step != 0 && at < count {
                level += step;
                last = value(level);
                out[at] = last;
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acoustics::coded::stream::PADDING;

    fn round_trip(levels: &[i16]) {
        let mut counts = [0; SYMBOLS];
        count(levels, &mut counts);
        let code = Code::of(&counts);
        let mut writer = BitWriter::default();
        encode(levels, &code, &mut writer);
        let bits = writer.bits();
        let data = writer.finish();
        let mut back = vec![0; levels.len()];
        let mut walk = Walk::new(&data, 0, &code);
        walk.clone().expand(i32::from(levels[0]), levels.len(), &mut back, |level| level as i16);
        assert_eq!(back, levels);
        let mut at = 1;
        while at < levels.len() {
            let token = walk.token();
            at = at.saturating_add(token.run).saturating_add(usize::from(token.step != 0));
        }
        assert_eq!((walk.at, walk.broken), (bits, false));
    }

    #[test]
    fn lines_come_back_whatever_is_in_them() {
        round_trip(&[5]);
        round_trip(&[-3; 100]);
        round_trip(&[0, 1, 2, 4, 3, 1, 0, 0, 7, -90, 8000, 8000, -128]);
        let mut state = 1u32;
        for density in [2, 5, 40] {
            let mut level = 0;
            let line: Vec<i16> = (0..500)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    level += if (state >> 8).is_multiple_of(density) { (state >> 20) as i16 % 9 - 4 } else { 0 };
                    level
                })
                .collect();
            round_trip(&line);
        }
    }

    #[test]
    fn bits_that_mean_nothing_end_a_line() {
        let code = Code::of(&[0; SYMBOLS]);
        let mut out = [9; 50];
        Walk::new(&[0xff; PADDING], 0, &code).expand(4, 50, &mut out, |level| level);
        assert_eq!(out, [4; 50]);
        let mut walk = Walk::new(&[], 77, &code);
        walk.token();
        assert!(walk.broken);
    }
}

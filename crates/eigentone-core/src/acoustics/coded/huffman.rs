//! Canonical Huffman codes of the tokens of a line, with lengths that a table of two kilobytes decodes in one step.
//!
//! Codes follow from their lengths as in RFC 1951 §3.2.2: those of one length rise with the symbol, shorter ones come first, and the
//! first bit of the code is the first in the stream.

use super::line::{SYMBOLS, entry};
use std::{cmp::Reverse, collections::BinaryHeap};

/// The longest code in bits. Tuned: 9 bits cost a few tenths of a percent in size, 11 double the tables for nothing.
pub(super) const LONGEST: u32 = 10;

/// How often each token occurs.
pub(super) type Counts = [u64; SYMBOLS];

/// A code, ready for both directions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Code {
    lengths: [u8; SYMBOLS],
    /// Reversed: the first bit is the lowest.
    codes: [u16; SYMBOLS],
    /// For the next [`LONGEST`] bits of a stream what they begin with: the length in the lowest four bits and the token above.
    pub table: Box<[u16; 1 << LONGEST]>,
}

impl Code {
    /// The shortest code for tokens that occur so often; the others have none.
    pub fn of(counts: &Counts) -> Self {
        let mut counts = *counts;
        loop {
            if let Some(code) = Self::from_lengths(&lengths(&counts)) {
                return code;
            }
            // Evens out the counts, so that the rarest come up in the tree.
            counts.iter_mut().filter(|n| **n > 0).for_each(|n| *n = *n / 2 + 1);
        }
    }

    /// The code of such lengths; `None` if one is too long or there is no such code.
    pub fn from_lengths(lengths: &[u8; SYMBOLS]) -> Option<Self> {
        let mut code =
            Self { lengths: *lengths, codes: [0; SYMBOLS], table: vec![entry(None); 1 << LONGEST].try_into().ok()? };
        let mut next = 0u32;
        for length in 1..=LONGEST {
            for symbol in (0..SYMBOLS).filter(|&s| u32::from(lengths[s]) == length) {
                if next >> length != 0 {
                    return None;
                }
                let reversed = next.reverse_bits() >> (32 - length);
                code.codes[symbol] = reversed as u16;
                let places = (reversed as usize..1 << LONGEST).step_by(1 << length);
                places.for_each(|at| code.table[at] = entry(Some(symbol)) | length as u16);
                next += 1;
            }
            next <<= 1;
        }
        lengths.iter().all(|&l| u32::from(l) <= LONGEST).then_some(code)
    }

    /// For each symbol the bits of its code; zero for those without.
    pub fn lengths(&self) -> &[u8; SYMBOLS] {
        &self.lengths
    }

    /// The code of a symbol and its bits.
    pub fn get(&self, symbol: usize) -> (u64, u32) {
        (u64::from(self.codes[symbol]), u32::from(self.lengths[symbol]))
    }
}

/// Huffman's lengths. A single symbol gets one bit.
fn lengths(counts: &Counts) -> [u8; SYMBOLS] {
    let mut heap: BinaryHeap<_> =
        counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(symbol, &n)| Reverse((n, symbol))).collect();
    let mut lengths = [0u8; SYMBOLS];
    if let [Reverse((_, only))] = heap.as_slice() {
        lengths[*only] = 1;
    }
    // Inner nodes have the numbers after those of the symbols.
    let mut parents = vec![0; 2 * SYMBOLS];
    let mut node = SYMBOLS;
    while heap.len() > 1 {
        let (Some(Reverse((n, a))), Some(Reverse((m, b)))) = (heap.pop(), heap.pop()) else { break };
        parents[a] = node;
        parents[b] = node;
        heap.push(Reverse((n + m, node)));
        node += 1;
    }
    let root = node - 1;
    for symbol in (0..SYMBOLS).filter(|&s| counts[s] > 0) {
        let mut at = symbol;
        while root >= SYMBOLS && at != root {
            at = parents[at];
            lengths[symbol] += 1;
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_complete_short_where_tokens_are_frequent_and_never_too_long() {
        for ratio in [1.0, 1.3, 2.0, 3.0] {
            let counts: Counts = std::array::from_fn(|s| (1e9 / f64::powi(ratio, s as i32)).max(1.0) as u64);
            let code = Code::of(&counts);
            let kraft: u32 = code.lengths().iter().map(|&l| 1 << (LONGEST - u32::from(l))).sum();
            assert_eq!(kraft, 1 << LONGEST);
            assert!(ratio == 1.0 || code.lengths().iter().min() == code.lengths().first());
            let (bits, length) = code.get(7);
            assert_eq!(code.table[bits as usize], entry(Some(7)) | length as u16);
        }
        let mut one = [0; SYMBOLS];
        assert_eq!(Code::of(&one).lengths(), &[0; SYMBOLS]);
        one[5] = 12;
        assert_eq!(Code::of(&one).get(5), (0, 1));
        assert!(Code::from_lengths(&[6; SYMBOLS]).is_none(), "82 codes of six bits");
        let mut long = [0; SYMBOLS];
        long[0] = 11;
        assert!(Code::from_lengths(&long).is_none());
    }
}

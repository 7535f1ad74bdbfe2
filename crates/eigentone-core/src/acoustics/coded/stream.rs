//! Bits one after the other, the first in the lowest bit of the first byte, as in DEFLATE.

/// Zero bytes after the last, so that eight can be read from anywhere.
pub(super) const PADDING: usize = 8;

/// The longest [gamma code](BitWriter::gamma): 15 zeros, a one, 15 bits.
const WIDEST_GAMMA: u32 = 15;

/// Bits being written.
#[derive(Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    held: u64,
    count: u32,
}

impl BitWriter {
    /// The lowest `count` bits of a number, at most 32; the others must be zero.
    pub fn put(&mut self, value: u64, count: u32) {
        debug_assert!(count <= 32 && value >> count == 0);
        self.held |= value << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    /// Elias' gamma code of a number from one on: as many zeros as it has bits after its first, a one, and those bits.
    pub fn gamma(&mut self, number: u32) {
        let width = number.ilog2();
        debug_assert!(width <= WIDEST_GAMMA);
        self.put(1 << width, width + 1);
        self.put(u64::from(number) & ((1 << width) - 1), width);
    }

    /// How many bits there are.
    pub fn bits(&self) -> usize {
        8 * self.bytes.len() + self.count as usize
    }

    /// Zeros up to the next byte.
    pub fn align(&mut self) {
        self.put(0, (8 - self.count) % 8);
    }

    /// All bytes, and the padding that readers need.
    pub fn finish(mut self) -> Vec<u8> {
        self.align();
        self.bytes.extend([0; PADDING]);
        self.bytes
    }
}

/// At least 57 bits from a place on; zeros beyond the end.
#[inline]
pub(super) fn peek(padded: &[u8], at: usize) -> u64 {
    let bytes = padded.get(at / 8..).and_then(|rest| rest.first_chunk());
    bytes.map_or(0, |b| u64::from_le_bytes(*b) >> (at % 8))
}

/// A number in gamma code and the bits it takes; `None` if it is longer than any that is written.
#[inline]
pub(super) fn gamma(word: u64) -> Option<(u32, u32)> {
    let width = word.trailing_zeros();
    if width > WIDEST_GAMMA {
        return None;
    }
    let rest = (word >> (width + 1)) as u32 & ((1 << width) - 1);
    Some((1 << width | rest, 2 * width + 1))
}

/// Numbers of both signs from zero on: 0, −1, 1, −2, …
pub(super) fn zigzag(number: i32) -> u32 {
    (number << 1 ^ number >> 31) as u32
}

/// The inverse of [`zigzag`].
pub(super) fn unzigzag(number: u32) -> i32 {
    (number >> 1) as i32 ^ -((number & 1) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_seen() {
        let mut writer = BitWriter::default();
        for n in 1..3000 {
            writer.gamma(n);
            writer.put(u64::from(n % 8), 3);
        }
        let bytes = writer.finish();
        let mut at = 0;
        for n in 1..3000 {
            let (number, bits) = gamma(peek(&bytes, at)).expect("a number");
            at += bits as usize;
            assert_eq!((number, peek(&bytes, at) & 7), (n, u64::from(n % 8)));
            at += 3;
        }
        assert_eq!(gamma(0), None);
        assert_eq!(peek(&bytes, usize::MAX), 0);
        assert!((-9000..9000).all(|n| unzigzag(zigzag(n)) == n));
    }
}

//! Base64 (RFC 4648 §4), as data URIs hold it.

use std::io::{self, Write};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Decodes, or `None` if a character is not of the alphabet. The alphabet of §5 and missing padding are accepted too.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.trim_ascii().split(|&b| b == b'=').next().unwrap_or_default();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for &digit in group {
            bits = bits << 6 | u32::from(value(digit)?);
        }
        bits <<= 6 * (4 - group.len());
        let [_, decoded @ ..] = bits.to_be_bytes();
        bytes.extend_from_slice(&decoded[..group.len().checked_sub(1).filter(|&n| n > 0)?]);
    }
    Some(bytes)
}

/// Encodes with padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let group = |group: &[u8]| {
        let mut padded = [0; 3];
        padded[..group.len()].copy_from_slice(group);
        digits(padded, group.len()).map(char::from)
    };
    bytes.chunks(3).flat_map(group).collect()
}

/// Encodes what is written to it as a stream. [`Base64::finish`] writes the last characters.
pub(crate) struct Base64<W: Write> {
    inner: W,
    pending: [u8; 3],
    count: usize,
}

impl<W: Write> Base64<W> {
    pub fn new(inner: W) -> Self {
        Self { inner, pending: [0; 3], count: 0 }
    }

    pub fn finish(mut self) -> io::Result<()> {
        if self.count > 0 {
            self.pending[self.count..].fill(0);
            self.inner.write_all(&digits(self.pending, self.count))?;
        }
        Ok(())
    }
}

impl<W: Write> Write for Base64<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            self.pending[self.count] = byte;
            self.count += 1;
            if self.count == 3 {
                self.inner.write_all(&digits(self.pending, 3))?;
                self.count = 0;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The four digits of three bytes, of which `count` are there.
fn digits([a, b, c]: [u8; 3], count: usize) -> [u8; 4] {
    let bits = u32::from_be_bytes([0, a, b, c]);
    let mut digits = [18, 12, 6, 0].map(|shift| ALPHABET[(bits >> shift) as usize & 63]);
    digits[count + 1..].fill(b'=');
    digits
}

fn value(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard_decode_and_encode() {
        for (plain, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(plain.as_bytes()));
            assert_eq!(encode(plain.as_bytes()), text);
            let mut out = Vec::new();
            let mut stream = Base64::new(&mut out);
            plain.bytes().try_for_each(|b| stream.write_all(&[b])).unwrap();
            stream.finish().unwrap();
            assert_eq!(out, text.as_bytes());
        }
        assert_eq!(decode(b"Zm9vYg").as_deref(), Some(b"foob".as_slice()));
        assert_eq!(decode(b"Zm9v!"), None);
        assert_eq!(decode(b"Zm9vA"), None);
    }
}

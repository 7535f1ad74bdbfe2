//! Base64 (RFC 4648 §4) of a stream.

use std::io::{self, Write};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Codes what is written to it. [`Base64::finish`] writes the last characters.
pub(super) struct Base64<W: Write> {
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
            let mut digits = digits(self.pending);
            digits[self.count + 1..].fill(b'=');
            self.inner.write_all(&digits)?;
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
                self.inner.write_all(&digits(self.pending))?;
                self.count = 0;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn digits([a, b, c]: [u8; 3]) -> [u8; 4] {
    let bits = u32::from_be_bytes([0, a, b, c]);
    [18, 12, 6, 0].map(|shift| ALPHABET[(bits >> shift) as usize & 63])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard_come_out() {
        for (plain, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            let mut out = Vec::new();
            let mut coded = Base64::new(&mut out);
            plain.bytes().try_for_each(|b| coded.write_all(&[b])).unwrap();
            coded.finish().unwrap();
            assert_eq!(out, text.as_bytes());
        }
    }
}

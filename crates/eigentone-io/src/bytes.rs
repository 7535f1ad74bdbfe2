//! A cursor over bytes that cannot run past their end.

use crate::error::{CUT_OFF, Fault};

/// The bytes not yet read, and where they start.
#[derive(Clone, Debug)]
pub(crate) struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub fn new(all: &'a [u8]) -> Self {
        Self { all, at: 0 }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn remaining(&self) -> usize {
        self.all.len() - self.at
    }

    pub fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], Fault> {
        if count > self.remaining() {
            return Err(self.short(count, what));
        }
        let taken = &self.all[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Fault> {
        let at = self.at;
        let found = self.take(N, what)?;
        found.try_into().map_err(|_| Fault::at_byte(at, what, "something else"))
    }

    pub fn u16_le(&mut self, what: &str) -> Result<u16, Fault> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub fn u32_le(&mut self, what: &str) -> Result<u32, Fault> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub fn u64_le(&mut self, what: &str) -> Result<u64, Fault> {
        self.array(what).map(u64::from_le_bytes)
    }

    fn short(&self, count: usize, what: &str) -> Fault {
        let found = match self.remaining() {
            0 => "the end of the file".to_owned(),
            n => format!("only {n} bytes before the end of the file"),
        };
        Fault::at_byte(self.at, format!("{what} ({count} bytes)"), found).hint(CUT_OFF)
    }
}

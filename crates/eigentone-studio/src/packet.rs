//! Binary messages to the page, little-endian: see `docs/studio-protocol.md`.

use axum::body::Bytes;

/// What a binary message holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Sound.
    Audio = 1,
    /// Where bodies are.
    State = 2,
    /// What touched.
    Contacts = 3,
    /// Levels and load.
    Meters = 4,
    /// Modes of one body.
    Modes = 5,
    /// Particles in flight.
    Hail = 6,
    /// The surface of a soft body.
    Soft = 12,
}

/// Version of the binary messages.
const VERSION: u8 = 1;

/// A message that is being written.
#[derive(Debug)]
pub struct Packet(Vec<u8>);

impl Packet {
    /// Begins a message, with room for so many bytes.
    pub fn new(kind: Kind, room: usize) -> Self {
        let mut bytes = Vec::with_capacity(8 + room);
        bytes.extend([kind as u8, VERSION, 0, 0, 0, 0, 0, 0]);
        Self(bytes)
    }

    /// Appends a number.
    pub fn u32(&mut self, x: u32) -> &mut Self {
        self.0.extend(x.to_le_bytes());
        self
    }

    /// Appends a number.
    pub fn u64(&mut self, x: u64) -> &mut Self {
        self.0.extend(x.to_le_bytes());
        self
    }

    /// Appends a number.
    pub fn f64(&mut self, x: f64) -> &mut Self {
        self.0.extend(x.to_le_bytes());
        self
    }

    /// Appends numbers.
    pub fn i16s(&mut self, xs: impl Iterator<Item = i16>) -> &mut Self {
        self.0.extend(xs.flat_map(i16::to_le_bytes));
        self
    }

    /// Appends numbers.
    pub fn f32s(&mut self, xs: &[f32]) -> &mut Self {
        self.0.extend(xs.iter().flat_map(|x| x.to_le_bytes()));
        self
    }

    /// The message.
    pub fn finish(self) -> Bytes {
        Bytes::from(self.0)
    }
}

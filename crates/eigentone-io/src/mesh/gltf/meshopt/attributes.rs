//! Mode 0: rows of `stride` bytes in blocks of at most 256 rows. A block holds, for each byte of the row, its differences to the row
//! before in groups of 16; a group takes 0, 1, 2, 4 or 8 bits for each, and those too large for their bits follow as whole bytes.

use super::{Broken, TOO_LONG, TOO_SHORT, take};

const GROUP: usize = 16;
const MAX_ROWS: usize = 256;

/// Bits of a difference by the two header bits of its group: version 0, then version 1 by the control bits of the byte.
const WIDTHS: [[u32; 4]; 3] = [[0, 2, 4, 8], [0, 1, 2, 4], [1, 2, 4, 8]];

/// How the differences of four bytes of a row are to be understood.
#[derive(Clone, Copy)]
enum Channel {
    /// Each byte for itself.
    Bytes,
    /// Two halves of 16 bits.
    Halves,
    /// Bits that changed, turned left by so many.
    Bits(u32),
}

impl Channel {
    fn new(code: u8) -> Result<Self, Broken> {
        match (code & 15, code >> 4) {
            (0, 0) => Ok(Self::Bytes),
            (1, 0) => Ok(Self::Halves),
            (2, turn) => Ok(Self::Bits(turn.into())),
            _ => Err(Broken("a channel of bytes, halves or bits")),
        }
    }

    fn next(self, before: [u8; 4], delta: [u8; 4]) -> [u8; 4] {
        match self {
            Self::Bytes => std::array::from_fn(|k| {
                let d = delta[k];
                before[k].wrapping_add((d >> 1) ^ (d & 1).wrapping_neg())
            }),
            Self::Halves => {
                let half = |k: usize| {
                    let d = u16::from_le_bytes([delta[k], delta[k + 1]]);
                    let before = u16::from_le_bytes([before[k], before[k + 1]]);
                    before.wrapping_add((d >> 1) ^ (d & 1).wrapping_neg()).to_le_bytes()
                };
                let ([a, b], [c, d]) = (half(0), half(2));
                [a, b, c, d]
            }
            Self::Bits(turn) => {
                (u32::from_le_bytes(before) ^ u32::from_le_bytes(delta).rotate_right(turn)).to_le_bytes()
            }
        }
    }
}

/// Rows, one after another.
pub(super) fn decode(stream: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, Broken> {
    let channels = stride / 4;
    let (version, tail, padded) = match stream.first() {
        Some(0xa0) => (0, stride, stride.max(32)),
        Some(0xa1) => (1, stride + channels, (stride + channels).max(24)),
        _ => return Err(Broken("attributes of version 0 or 1")),
    };
    let mut data = stream.get(1..stream.len().saturating_sub(padded)).ok_or(TOO_SHORT)?;
    let (first, modes) = stream[stream.len() - tail..].split_at(stride);
    let block = ((8192 / stride) & !(GROUP - 1)).min(MAX_ROWS);
    // A block without any difference takes a quarter of a byte (version 1), or two bits a group, for each byte of the row.
    let least = if version == 0 {
        count.div_ceil(4 * GROUP).max(count.div_ceil(block)) * stride
    } else {
        count.div_ceil(block) * channels
    };
    if data.len() < least {
        return Err(TOO_SHORT);
    }
    let kind = |c: usize| modes.get(c).map_or(Ok(Channel::Bytes), |&code| Channel::new(code));
    let kinds = (0..channels).map(kind).collect::<Result<Vec<_>, _>>()?;
    let mut before = first.to_vec();
    let mut rows = vec![0; count * stride];
    for rows in rows.chunks_mut(block * stride) {
        let count = rows.len() / stride;
        let controls = if version == 0 { &[][..] } else { take(&mut data, channels)? };
        for (c, &kind) in kinds.iter().enumerate() {
            let mut planes = [[0; MAX_ROWS]; 4];
            for (k, plane) in planes.iter_mut().enumerate() {
                let control = controls.get(c).map(|byte| byte >> (2 * k) & 3);
                plane_of(&mut data, control, count, plane)?;
            }
            let at = 4 * c..4 * c + 4;
            let mut last: [u8; 4] = std::array::from_fn(|k| before[4 * c + k]);
            for (n, row) in rows.chunks_exact_mut(stride).enumerate() {
                last = kind.next(last, planes.map(|plane| plane[n]));
                row[at.clone()].copy_from_slice(&last);
            }
            before[at].copy_from_slice(&last);
        }
    }
    if data.is_empty() { Ok(rows) } else { Err(TOO_LONG) }
}

/// The differences of one byte of the row over a block.
fn plane_of(data: &mut &[u8], control: Option<u8>, count: usize, plane: &mut [u8; MAX_ROWS]) -> Result<(), Broken> {
    let widths = match control {
        None => WIDTHS[0],
        Some(control @ (0 | 1)) => WIDTHS[1 + usize::from(control)],
        Some(2) => return Ok(()),
        Some(_) => {
            plane[..count].copy_from_slice(take(data, count)?);
            return Ok(());
        }
    };
    let groups = count.div_ceil(GROUP);
    let headers = take(data, groups.div_ceil(4))?;
    for (g, group) in plane.chunks_exact_mut(GROUP).take(groups).enumerate() {
        let bits = widths[usize::from(headers[g / 4] >> (2 * (g % 4)) & 3)];
        match bits {
            0 => {}
            8 => group.copy_from_slice(take(data, GROUP)?),
            _ => packed(data, bits, group)?,
        }
    }
    Ok(())
}

/// A group of differences of 1, 2 or 4 bits; all bits set say that a byte behind the group has it.
fn packed(data: &mut &[u8], bits: u32, group: &mut [u8]) -> Result<(), Broken> {
    let per_byte = (8 / bits) as usize;
    let codes = take(data, GROUP / per_byte)?;
    let outside = (1u8 << bits) - 1;
    for (n, delta) in group.iter_mut().enumerate() {
        // From the highest bits down, but single bits from the lowest up.
        let place = (n % per_byte) as u32;
        let shift = if bits == 1 { place } else { 8 - bits - place * bits };
        let code = codes[n / per_byte] >> shift & outside;
        *delta = if code == outside { take(data, 1)?[0] } else { code };
    }
    Ok(())
}

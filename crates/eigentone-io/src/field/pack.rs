//! Sets of cells and bytes in DEFLATE, unpacked only as far as was declared.

use super::store::DAMAGED;
use crate::error::Fault;
use eigentone_core::acoustics::Bits;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// The most that DEFLATE can compress: 258 bytes in two bits.
const STRONGEST: usize = 1032;

/// Raw DEFLATE, as small as it gets.
pub(super) fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut deflater = Compress::new(Compression::best(), false);
    let mut out = Vec::with_capacity(bytes.len() / 8 + 64);
    loop {
        let rest = &bytes[deflater.total_in() as usize..];
        match deflater.compress_vec(rest, &mut out, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => return out,
            _ => out.reserve(out.capacity().max(64)),
        }
    }
}

/// Exactly so many bytes from raw DEFLATE; `None` if there are more, fewer, or others after them. Nothing is allocated that so
/// few bytes cannot give.
pub(super) fn inflate(packed: &[u8], count: usize) -> Option<Vec<u8>> {
    if count > packed.len().saturating_mul(STRONGEST) {
        return None;
    }
    // One more, so that the end of the stream is seen even if all are there.
    let mut out = vec![0; count + 1];
    let mut inflater = Decompress::new(false);
    let status = inflater.decompress(packed, &mut out, FlushDecompress::Finish).ok()?;
    let whole = status == Status::StreamEnd
        && inflater.total_in() == packed.len() as u64
        && inflater.total_out() == count as u64;
    out.truncate(count);
    whole.then_some(out)
}

/// Rows of cells in DEFLATE, each row in whole bytes.
pub(super) fn pack_rows(bits: &Bits, first: usize, width: usize, rows: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rows * width.div_ceil(8));
    for row in 0..if width == 0 { 0 } else { rows } {
        for x in (0..width).step_by(64) {
            let count = (width - x).min(64);
            let word = bits.word(first + row * width + x) & (u64::MAX >> (64 - count));
            bytes.extend(&word.to_le_bytes()[..count.div_ceil(8)]);
        }
    }
    deflate(&bytes)
}

/// The inverse of [`pack_rows`], into a set that is large enough.
pub(super) fn unpack_rows(
    item: &str,
    packed: &[u8],
    bits: &mut Bits,
    first: usize,
    width: usize,
    rows: usize,
) -> Result<(), Fault> {
    let bytes = rows.checked_mul(width.div_ceil(8)).and_then(|count| inflate(packed, count)).ok_or_else(|| {
        let expected = format!("{rows} rows of {width} cells in DEFLATE");
        Fault::in_item(item, expected, format!("{} bytes that do not give them", packed.len())).hint(DAMAGED)
    })?;
    for (row, cells) in bytes.chunks_exact(width.div_ceil(8).max(1)).enumerate() {
        for (i, chunk) in cells.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let count = (width - 64 * i).min(64);
            bits.insert_word(first + row * width + 64 * i, u64::from_le_bytes(word) & (u64::MAX >> (64 - count)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_wrong_counts_do_not() {
        let noise = |n: u32| (0..n).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>();
        for bytes in [Vec::new(), vec![0; 100_000], noise(1), noise(70_000)] {
            let packed = deflate(&bytes);
            assert_eq!(inflate(&packed, bytes.len()).as_ref(), Some(&bytes));
            assert_eq!(inflate(&packed, bytes.len() + 1), None);
            assert_eq!(inflate(&packed[..packed.len() - 1], bytes.len()), None);
            assert_eq!(inflate(&[&packed[..], &[0]].concat(), bytes.len()), None);
            assert!(bytes.is_empty() || inflate(&packed, bytes.len() - 1).is_none());
            assert_eq!(inflate(&packed, usize::MAX), None);
        }
    }

    #[test]
    fn rows_of_any_width_come_back() {
        for width in [1, 7, 8, 63, 64, 65, 130] {
            let mut bits = Bits::new(5 + 9 * width);
            (5..bits.len()).filter(|i| i * i % 5 == 1).for_each(|i| bits.set(i, true));
            let packed = pack_rows(&bits, 5, width, 9);
            let mut back = Bits::new(bits.len());
            unpack_rows("mask", &packed, &mut back, 5, width, 9).expect("rows");
            assert_eq!(back, bits);
            assert!(unpack_rows("mask", &packed, &mut back, 5, width, 8).is_err());
        }
    }
}

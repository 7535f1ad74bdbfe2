//! Compressed buffer views: `EXT_meshopt_compression` and `KHR_meshopt_compression`, after the specifications of both extensions
//! (their appendices A, the streams, and B, the filters). The second has all of the first, and one more version of attributes.
//!
//! - [`attributes`]: any rows of numbers, byte by byte as differences to the row before
//! - [`indices`]: triangles that continue their neighbours, and lists of indices
//! - [`filters`]: what turns decoded rows into numbers

mod attributes;
mod filters;
mod indices;
#[cfg(test)]
mod tests;

use crate::error::{Fault, quote};
use serde::Deserialize;

/// Where a view's compressed bytes lie, and what they hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Compressed {
    pub buffer: usize,
    pub byte_offset: usize,
    pub byte_length: usize,
    byte_stride: usize,
    count: usize,
    mode: String,
    filter: Option<String>,
}

impl Compressed {
    /// Bytes when decoded; `None` if that is no number.
    pub fn decoded_bytes(&self) -> Option<usize> {
        self.count.checked_mul(self.byte_stride)
    }

    /// The rows that `stream` stands for. Their memory is asked for only after the stream has proved long enough to hold them at all.
    pub fn decode(&self, stream: &[u8], item: &str) -> Result<Vec<u8>, Fault> {
        let Self { byte_stride: stride, count, mode, .. } = self;
        let filter = self.filter.as_deref().unwrap_or("NONE");
        let wrong = |expected: &str, found: String| Fault::in_item(item, expected, found);
        if mode != "ATTRIBUTES" && filter != "NONE" {
            return Err(wrong("no filter on indices", quote(filter.as_bytes())));
        }
        let broken = |why: Broken| Fault::in_item(item, why.0, "a stream that is damaged");
        match mode.as_str() {
            "ATTRIBUTES" if *stride == 0 || stride % 4 != 0 || *stride > 256 => {
                Err(wrong("a stride of 4 to 256 bytes, a multiple of 4", stride.to_string()))
            }
            "TRIANGLES" | "INDICES" if ![2, 4].contains(stride) => {
                Err(wrong("indices of 2 or 4 bytes", stride.to_string()))
            }
            "ATTRIBUTES" => {
                let mut rows = attributes::decode(stream, *count, *stride).map_err(broken)?;
                let apply = filters::by_name(filter, *stride).ok_or_else(|| {
                    wrong("a filter that fits the stride", format!("{} for {stride} bytes", quote(filter.as_bytes())))
                })?;
                apply(&mut rows, *stride);
                Ok(rows)
            }
            "TRIANGLES" if count % 3 != 0 => Err(wrong("three indices for each triangle", count.to_string())),
            "TRIANGLES" => indices::decode_triangles(stream, *count, *stride).map_err(broken),
            "INDICES" => indices::decode_sequence(stream, *count, *stride).map_err(broken),
            other => Err(wrong("ATTRIBUTES, TRIANGLES or INDICES", quote(other.as_bytes()))),
        }
    }
}

/// What a stream should have had.
#[derive(Debug)]
struct Broken(&'static str);

const TOO_SHORT: Broken = Broken("a stream long enough for its rows");
const TOO_LONG: Broken = Broken("no bytes between data and tail");

/// Takes bytes off the front.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], Broken> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or(TOO_SHORT)?;
    *bytes = rest;
    Ok(taken)
}

//! The safetensors container: eight bytes with the length of a JSON header, the header, and the tensors' bytes without gaps.
//!
//! Written here rather than taken from the reference crate so that the same data always gives the same bytes (that crate
//! orders metadata at random), and so that no sum of lengths in a header can overflow.

use crate::{
    bytes::Bytes,
    error::{Fault, quote},
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Longest header that is read; the reference implementation has the same limit.
const LONGEST_HEADER: u64 = 100_000_000;

#[derive(Deserialize)]
struct Info {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

#[derive(Deserialize)]
struct Header {
    #[serde(default, rename = "__metadata__")]
    metadata: BTreeMap<String, String>,
    #[serde(flatten)]
    tensors: BTreeMap<String, Info>,
}

/// A container opened for reading.
pub(crate) struct Container<'a> {
    header: Header,
    data: &'a [u8],
}

/// One tensor's bytes.
pub(crate) struct Tensor<'a> {
    pub shape: &'a [usize],
    pub bytes: &'a [u8],
}

impl<'a> Container<'a> {
    pub fn open(file: &'a [u8]) -> Result<Self, Fault> {
        let mut bytes = Bytes::new(file);
        let length = bytes.u64_le("the length of the safetensors header")?;
        if length > LONGEST_HEADER {
            let found = format!("{length}: not a safetensors file");
            return Err(Fault::at_byte(0, format!("a header of at most {LONGEST_HEADER} bytes"), found));
        }
        let json = bytes.take(length as usize, "the safetensors header")?;
        let header: Header = serde_json::from_slice(json)
            .map_err(|e| Fault::at_byte(8, "a safetensors header in JSON", e.to_string()))?;
        let data = bytes.take(bytes.remaining(), "the tensors")?;
        let container = Self { header, data };
        let end = container.header.tensors.values().map(|info| info.data_offsets[1]).max().unwrap_or(0);
        if end != data.len() {
            let fault =
                Fault::at_byte(bytes.at() - data.len(), format!("{end} bytes of tensors"), data.len().to_string());
            return Err(if end > data.len() { fault.hint(crate::error::CUT_OFF) } else { fault });
        }
        Ok(container)
    }

    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.header.metadata.get(key).map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.header.tensors.contains_key(name)
    }

    /// A tensor of the given type, whose shape matches `shape` (`None` stands for any length), with as many bytes as that
    /// takes.
    pub fn tensor(&self, name: &str, dtype: &str, shape: &[Option<usize>]) -> Result<Tensor<'_>, Fault> {
        let wanted = || {
            let sizes: Vec<String> = shape.iter().map(|n| n.map_or("any".to_owned(), |n| n.to_string())).collect();
            format!("{dtype}[{}]", sizes.join(","))
        };
        let bad = |found: String| Fault::in_item(format!("tensor {name}"), wanted(), found);
        let info = self.header.tensors.get(name).ok_or_else(|| bad("no such tensor".to_owned()))?;
        let fits =
            info.shape.len() == shape.len() && info.shape.iter().zip(shape).all(|(n, w)| w.is_none_or(|w| w == *n));
        if info.dtype != dtype || !fits {
            let dtype = quote(info.dtype.as_bytes());
            let shape: Vec<_> = info.shape.iter().take(8).collect();
            return Err(bad(format!("{dtype} of shape {shape:?}")));
        }
        let size = match dtype {
            "F64" => 8,
            "F32" | "U32" | "I32" => 4,
            "F16" => 2,
            "U8" => 1,
            _ => return Err(bad("a type this reader does not know".to_owned())),
        };
        let [start, end] = info.data_offsets;
        let bytes = self.data.get(start..end).ok_or_else(|| bad(format!("bytes {start} to {end}")))?;
        let expected = info.shape.iter().try_fold(size, |n: usize, &k| n.checked_mul(k));
        if expected != Some(bytes.len()) {
            return Err(bad(format!("{} bytes of data for shape {:?}", bytes.len(), info.shape)));
        }
        Ok(Tensor { shape: &info.shape, bytes })
    }
}

impl Tensor<'_> {
    /// The numbers in little-endian order.
    pub fn numbers<const N: usize, T>(&self, decode: impl Fn([u8; N]) -> T) -> Vec<T> {
        self.bytes.chunks_exact(N).filter_map(|c| c.try_into().ok()).map(decode).collect()
    }

    /// Rows of three numbers in little-endian order.
    pub fn rows<const N: usize, T: Copy>(&self, decode: impl Fn([u8; N]) -> T) -> Vec<[T; 3]> {
        self.numbers(decode).chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect()
    }
}

/// A container being written.
#[derive(Default)]
pub(crate) struct Writer {
    header: serde_json::Map<String, serde_json::Value>,
    metadata: BTreeMap<String, String>,
    data: Vec<u8>,
}

impl Writer {
    pub fn metadata(&mut self, key: &str, value: impl Into<String>) {
        self.metadata.insert(key.to_owned(), value.into());
    }

    /// Appends a tensor. Larger types must come first, so that all are aligned.
    pub fn tensor<const N: usize>(
        &mut self,
        name: &str,
        dtype: &str,
        shape: &[usize],
        numbers: impl IntoIterator<Item = [u8; N]>,
    ) {
        let start = self.data.len();
        self.data.extend(numbers.into_iter().flatten());
        debug_assert_eq!(self.data.len() - start, N * shape.iter().product::<usize>());
        let info = serde_json::json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, self.data.len()] });
        self.header.insert(name.to_owned(), info);
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.header.insert("__metadata__".to_owned(), serde_json::json!(self.metadata));
        let mut json = serde_json::Value::Object(self.header).to_string().into_bytes();
        json.resize(json.len().next_multiple_of(8), b' ');
        let mut file = (json.len() as u64).to_le_bytes().to_vec();
        file.append(&mut json);
        file.append(&mut self.data);
        file
    }
}

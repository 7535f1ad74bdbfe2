//! Numbers out of glTF buffers (glTF 2.0 §3.6): views, plain or compressed, strides, component types, and sparse replacements.

use super::{meshopt::Compressed, missing};
use crate::{error::Fault, file::LARGEST_FILE_BYTES, mesh::scalar::Scalar};
use eigentone_core::Vec3;
use serde::Deserialize;
use std::{
    borrow::Cow,
    cell::{Cell, OnceCell},
};

/// Most elements of an accessor without a view, which stand for zeros that the file does not hold.
const MAX_ZEROS: usize = 1 << 20;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Buffer {
    pub uri: Option<String>,
    pub byte_length: u64,
    extensions: BufferExtensions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BufferExtensions {
    #[serde(alias = "EXT_meshopt_compression", alias = "KHR_meshopt_compression")]
    meshopt: Fallback,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Fallback {
    fallback: bool,
}

impl Buffer {
    /// Whether it is there only for readers that know no compression.
    pub fn is_fallback(&self) -> bool {
        self.extensions.meshopt.fallback
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct BufferView {
    buffer: usize,
    byte_offset: usize,
    byte_length: usize,
    byte_stride: Option<usize>,
    extensions: ViewExtensions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ViewExtensions {
    #[serde(alias = "EXT_meshopt_compression", alias = "KHR_meshopt_compression")]
    meshopt: Option<Compressed>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Accessor {
    buffer_view: Option<usize>,
    byte_offset: usize,
    component_type: u32,
    normalized: bool,
    count: usize,
    #[serde(rename = "type")]
    kind: String,
    sparse: Option<Sparse>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Sparse {
    count: usize,
    indices: SparsePart,
    values: SparsePart,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SparsePart {
    buffer_view: usize,
    byte_offset: usize,
    component_type: u32,
}

/// Everything that accessors refer to.
pub(super) struct Store<'a> {
    pub buffers: Vec<Cow<'a, [u8]>>,
    pub accessors: &'a [Accessor],
    pub views: &'a [BufferView],
    /// What compressed views hold, once it was needed.
    decoded: Vec<OnceCell<Vec<u8>>>,
    /// How much more may be decoded, in bytes: many views can name the same few compressed ones.
    budget_bytes: Cell<u64>,
}

impl<'a> Store<'a> {
    pub fn new(buffers: Vec<Cow<'a, [u8]>>, accessors: &'a [Accessor], views: &'a [BufferView]) -> Self {
        let decoded = views.iter().map(|_| OnceCell::new()).collect();
        Self { buffers, accessors, views, decoded, budget_bytes: Cell::new(LARGEST_FILE_BYTES) }
    }

    /// Vertex positions. Whole numbers occur with `KHR_mesh_quantization`.
    pub fn positions(&self, accessor: usize) -> Result<Vec<Vec3>, Fault> {
        let legal = [Scalar::F32, Scalar::I8, Scalar::U8, Scalar::I16, Scalar::U16];
        Ok(self.elements::<3>(accessor, "VEC3", &legal)?.into_iter().map(Vec3::from_array).collect())
    }

    /// Vertex indices, all below `vertices`.
    pub fn indices(&self, accessor: usize, vertices: u32) -> Result<Vec<u32>, Fault> {
        let elements = self.elements::<1>(accessor, "SCALAR", &[Scalar::U8, Scalar::U16, Scalar::U32])?;
        let indices: Vec<u32> = elements.into_iter().map(|[v]| v as u32).collect();
        match indices.iter().find(|&&v| v >= vertices) {
            Some(v) => {
                let item = format!("accessor {accessor}");
                Err(Fault::in_item(item, format!("vertices from 0 to below {vertices}"), format!("vertex {v}")))
            }
            None => Ok(indices),
        }
    }

    /// Rows of floats or of whole numbers that stand for 0 to 1, as instances have them.
    pub fn rows<const C: usize>(&self, accessor: usize, kind: &str) -> Result<Vec<[f64; C]>, Fault> {
        self.elements(accessor, kind, &[Scalar::F32, Scalar::I8, Scalar::I16])
    }

    /// Whether whole numbers of an accessor stand for 0 to 1.
    pub fn is_normalized(&self, accessor: usize) -> bool {
        self.accessors.get(accessor).is_some_and(|a| a.normalized)
    }

    fn elements<const C: usize>(&self, index: usize, kind: &str, legal: &[Scalar]) -> Result<Vec<[f64; C]>, Fault> {
        let accessor = self.accessors.get(index).ok_or_else(|| missing("accessor", index, self.accessors.len()))?;
        let item = || format!("accessor {index}");
        if accessor.kind != kind {
            return Err(Fault::in_item(item(), format!("type {kind}"), crate::error::quote(accessor.kind.as_bytes())));
        }
        let scalar = Scalar::from_gltf_code(accessor.component_type).filter(|s| legal.contains(s));
        let scalar = scalar.ok_or_else(|| {
            Fault::in_item(item(), format!("a component type for {kind}"), accessor.component_type.to_string())
        })?;
        let divisor = if accessor.normalized && kind != "SCALAR" { scalar.largest() } else { 1.0 };
        let mut elements = match accessor.buffer_view {
            Some(view) => self.run(view, accessor.byte_offset, accessor.count, scalar, divisor, &item())?,
            None if accessor.count <= MAX_ZEROS => vec![[0.0; C]; accessor.count],
            None => {
                let expected = format!("at most {MAX_ZEROS} elements without a buffer view");
                return Err(Fault::in_item(item(), expected, accessor.count.to_string()));
            }
        };
        if let Some(sparse) = &accessor.sparse {
            let code = sparse.indices.component_type;
            let index_scalar = Scalar::from_gltf_code(code)
                .ok_or_else(|| Fault::in_item(item(), "a component type for sparse indices", code.to_string()))?;
            let SparsePart { buffer_view, byte_offset, .. } = sparse.indices;
            let at: Vec<[f64; 1]> = self.run(buffer_view, byte_offset, sparse.count, index_scalar, 1.0, &item())?;
            let SparsePart { buffer_view, byte_offset, .. } = sparse.values;
            let values: Vec<[f64; C]> = self.run(buffer_view, byte_offset, sparse.count, scalar, divisor, &item())?;
            for ([at], value) in at.into_iter().zip(values) {
                // Negative and fractional indices are not in the specification, and hit nothing or the element before.
                let slot = elements.get_mut(at as usize).filter(|_| at >= 0.0);
                *slot.ok_or_else(|| Fault::in_item(item(), "sparse indices below the count", at.to_string()))? = value;
            }
        }
        Ok(elements)
    }

    /// `count` elements of `C` numbers each, in a view from `offset` on.
    fn run<const C: usize>(
        &self,
        view_index: usize,
        offset: usize,
        count: usize,
        scalar: Scalar,
        divisor: f64,
        item: &str,
    ) -> Result<Vec<[f64; C]>, Fault> {
        let (view, bytes) = self.view(view_index)?;
        let size = C * scalar.size();
        let stride = view.byte_stride.unwrap_or(size);
        if count == 0 {
            return Ok(Vec::new());
        }
        let end = (count - 1).checked_mul(stride).and_then(|n| n.checked_add(size)).and_then(|n| n.checked_add(offset));
        if stride < size || end.is_none_or(|end| end > bytes.len()) {
            let expected = format!("{count} elements of {size} bytes within buffer view {view_index}");
            let found = format!("{} bytes with a stride of {stride} from byte {offset}", bytes.len());
            return Err(Fault::in_item(item, expected, found));
        }
        let element = |k: usize| {
            let start = offset + k * stride;
            std::array::from_fn(|c| {
                let at = start + c * scalar.size();
                let mut padded = [0; 8];
                padded[..scalar.size()].copy_from_slice(&bytes[at..at + scalar.size()]);
                scalar.decode(padded) / divisor
            })
        };
        Ok((0..count).map(element).collect())
    }
    /// A view and its bytes.
    fn view(&self, index: usize) -> Result<(&BufferView, &[u8]), Fault> {
        let view = self.views.get(index).ok_or_else(|| missing("buffer view", index, self.views.len()))?;
        let Some(compressed) = &view.extensions.meshopt else {
            return Ok((view, self.range(index, view.buffer, view.byte_offset, view.byte_length)?));
        };
        if let Some(decoded) = self.decoded[index].get() {
            return Ok((view, decoded));
        }
        let item = format!("buffer view {index}");
        let size = compressed.decoded_bytes().map(|bytes| bytes as u64);
        let left = size.and_then(|size| self.budget_bytes.get().checked_sub(size)).ok_or_else(|| {
            Fault::in_item(&item, format!("at most {LARGEST_FILE_BYTES} bytes in all compressed views"), "more")
        })?;
        self.budget_bytes.set(left);
        let stream = self.range(index, compressed.buffer, compressed.byte_offset, compressed.byte_length)?;
        let decoded = compressed.decode(stream, &item)?;
        Ok((view, self.decoded[index].get_or_init(|| decoded)))
    }

    /// The bytes of a view.
    pub fn view_bytes(&self, index: usize) -> Result<&[u8], Fault> {
        self.view(index).map(|(_, bytes)| bytes)
    }

    fn range(&self, view: usize, buffer: usize, offset: usize, length: usize) -> Result<&[u8], Fault> {
        let bytes = self.buffers.get(buffer).ok_or_else(|| missing("buffer", buffer, self.buffers.len()))?;
        let range = offset.checked_add(length).and_then(|end| bytes.get(offset..end));
        range.ok_or_else(|| {
            let expected = format!("a range within the {} bytes of buffer {buffer}", bytes.len());
            let found = format!("{length} bytes from byte {offset}");
            Fault::in_item(format!("buffer view {view}"), expected, found)
        })
    }
}

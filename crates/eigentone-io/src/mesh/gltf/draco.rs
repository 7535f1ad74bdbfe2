//! Triangles that are compressed with Draco (`KHR_draco_mesh_compression`).

use super::accessor::Store;
use crate::{
    error::Fault,
    mesh::{MAX_TRIANGLES, MAX_VERTICES},
};
use draco_core::{DataType, DecodeLimits, DecoderBuffer, Mesh, MeshDecoder};
use eigentone_core::Vec3;
use std::{cell::RefCell, collections::HashMap, rc::Rc};

/// Memory that the attributes of one stream may take, in bytes: as many vertices as a mesh may have, with what is usual besides places.
const MAX_BYTES: u64 = 64 * MAX_VERTICES as u64;

/// The streams of a file, each decoded once.
#[derive(Default)]
pub(super) struct Streams {
    meshes: RefCell<HashMap<usize, Rc<Mesh>>>,
}

impl Streams {
    /// Vertices and corners of a view's stream, of which the places have this number. `accessor` describes the places.
    pub fn triangles(
        &self,
        store: &Store,
        view: usize,
        position: u32,
        accessor: usize,
    ) -> Result<(Vec<Vec3>, Vec<u32>), Fault> {
        let item = || format!("buffer view {view}");
        let mesh = self.mesh(store, view)?;
        let places = mesh.attribute_by_unique_id(position).filter(|a| a.num_components() == 3);
        let places = places
            .ok_or_else(|| Fault::in_item(item(), format!("places in attribute {position}"), "a stream without"))?;
        let divisor = if store.is_normalized(accessor) { largest(places.data_type()) } else { 1.0 };
        let numbers = places.read_f32s(mesh.num_points(), 3);
        let point = |p: &[f32]| Vec3::new(p[0].into(), p[1].into(), p[2].into()) / divisor;
        let points: Vec<Vec3> = numbers.chunks_exact(3).map(point).collect();
        let corners: Vec<u32> = mesh.faces().iter().flatten().map(|corner| corner.0).collect();
        match corners.iter().find(|&&v| v as usize >= points.len()) {
            Some(v) => {
                let expected = format!("vertices from 0 to below {}", points.len());
                Err(Fault::in_item(item(), expected, format!("vertex {v}")))
            }
            None => Ok((points, corners)),
        }
    }

    fn mesh(&self, store: &Store, view: usize) -> Result<Rc<Mesh>, Fault> {
        if let Some(mesh) = self.meshes.borrow().get(&view) {
            return Ok(mesh.clone());
        }
        let limits = DecodeLimits::default()
            .with_max_points(MAX_VERTICES as u64)
            .with_max_faces(MAX_TRIANGLES as u64)
            .with_max_decoded_bytes(MAX_BYTES);
        let mut mesh = Mesh::new();
        let mut buffer = DecoderBuffer::new(store.view_bytes(view)?).with_limits(limits);
        MeshDecoder::new().decode(&mut buffer, &mut mesh).map_err(|e| {
            Fault::in_item(format!("buffer view {view}"), "triangles compressed with Draco", e.to_string())
        })?;
        let mesh = Rc::new(mesh);
        self.meshes.borrow_mut().insert(view, mesh.clone());
        Ok(mesh)
    }
}

/// The largest value of a whole type.
fn largest(kind: DataType) -> f64 {
    match kind {
        DataType::Int8 => f64::from(i8::MAX),
        DataType::Uint8 => f64::from(u8::MAX),
        DataType::Int16 => f64::from(i16::MAX),
        DataType::Uint16 => f64::from(u16::MAX),
        _ => 1.0,
    }
}

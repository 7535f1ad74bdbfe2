//! The part of a glTF document that tells of triangles.

use super::accessor::{Accessor, Buffer, BufferView};
use eigentone_core::Vec3;
use glam::{DMat4, DQuat};
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Document {
    pub asset: Asset,
    pub scene: Option<usize>,
    pub scenes: Vec<Scene>,
    pub nodes: Vec<Node>,
    pub meshes: Vec<Mesh>,
    pub materials: Vec<Material>,
    pub accessors: Vec<Accessor>,
    pub buffer_views: Vec<BufferView>,
    pub buffers: Vec<Buffer>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Asset {
    pub version: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Scene {
    pub nodes: Vec<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub children: Vec<usize>,
    pub mesh: Option<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
    extensions: NodeExtensions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NodeExtensions {
    #[serde(rename = "EXT_mesh_gpu_instancing")]
    instancing: Option<Instancing>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Instancing {
    attributes: InstanceAttributes,
}

/// Accessors with a row for each copy of a node's mesh.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "UPPERCASE")]
pub(super) struct InstanceAttributes {
    pub translation: Option<usize>,
    pub rotation: Option<usize>,
    pub scale: Option<usize>,
}

impl Node {
    /// From the node's frame to its parent's.
    pub fn transform(&self) -> DMat4 {
        match &self.matrix {
            Some(columns) => DMat4::from_cols_array(columns),
            None => transform(self.translation, self.rotation, self.scale),
        }
    }

    /// What places copies of its mesh, if there are any (`EXT_mesh_gpu_instancing`).
    pub fn instances(&self) -> Option<InstanceAttributes> {
        self.extensions.instancing.as_ref().map(|i| i.attributes)
    }
}

/// Scales, then turns, then moves; what is not given does nothing.
pub(super) fn transform(translation: Option<[f64; 3]>, rotation: Option<[f64; 4]>, scale: Option<[f64; 3]>) -> DMat4 {
    DMat4::from_scale_rotation_translation(
        scale.map_or(Vec3::ONE, Vec3::from_array),
        rotation.map_or(DQuat::IDENTITY, DQuat::from_array),
        translation.map_or(Vec3::ZERO, Vec3::from_array),
    )
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Mesh {
    pub primitives: Vec<Primitive>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Primitive {
    pub attributes: Attributes,
    pub indices: Option<usize>,
    pub material: Option<usize>,
    pub mode: Option<u32>,
    extensions: PrimitiveExtensions,
}

impl Primitive {
    /// Where its triangles are, if they are compressed with Draco.
    pub fn draco(&self) -> Option<&Draco> {
        self.extensions.draco.as_ref()
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    draco: Option<Draco>,
}

/// `KHR_draco_mesh_compression`: a view with a Draco stream, and the attributes in it by their unique numbers.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Draco {
    pub buffer_view: usize,
    pub attributes: Attributes,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Material {
    pub name: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Attributes {
    #[serde(rename = "POSITION")]
    pub position: Option<usize>,
}

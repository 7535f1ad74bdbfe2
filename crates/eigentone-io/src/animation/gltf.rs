//! glTF 2.0 (Khronos, *glTF 2.0 Specification*, 2021): §3.7.2 morph targets, §3.11 animations, §4 the binary container.
//!
//! A root node turns z up to y up; below it each body is a node with a mesh of its own. Vertices are given about the centre of the body, so that
//! a viewer that interpolates between frames turns it about that. There are no normals: viewers must then shade each triangle flat (§3.7.2.1), which
//! is right for any deformation and needs no second set of shapes.

use super::{
    Mesh,
    deform::{Shapes, largest},
    pose::deformation,
    scratch::{BodyFrame, Scratch},
};
use crate::{atomic::write_atomic, base64::Base64, error::WriteError, file::extension};
use serde_json::{Value, json};
use std::{
    io::{self, Write},
    path::Path,
};

const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;

/// All that a file is made of.
pub(super) struct Content<'a> {
    pub meshes: &'a [Mesh],
    /// One per moving mesh.
    pub shapes: &'a [Shapes],
    pub scratch: &'a Scratch,
    pub frames_per_s: f64,
}

/// Writes the file; returns the largest distance of a vertex from its true place, for each moving mesh.
pub(super) fn write(path: &Path, content: &Content<'_>) -> Result<Vec<f64>, WriteError> {
    let impossible = |reason: &str| WriteError::Impossible { file: path.to_owned(), reason: reason.to_owned() };
    let frames = content.scratch.frames;
    if frames > 1 && content.time(frames - 1) <= content.time(frames - 2) {
        return Err(impossible("its times are too close for single precision: give fewer frames per second"));
    }
    let (mut document, data_bytes) = content.document();
    let mut errors = Vec::new();
    if extension(path) != "glb" {
        let text = document.to_string();
        write_atomic(path, |w| {
            errors = content.write_text(w, &text, data_bytes)?;
            Ok(())
        })?;
        return Ok(errors);
    }
    if data_bytes > 0 {
        document["buffers"] = json!([{ "byteLength": data_bytes }]);
    }
    let mut json = document.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    // A scene of nothing has no data, and then there must not be a chunk for them.
    let chunk = if data_bytes > 0 { 8 + data_bytes } else { 0 };
    let length = 12 + 8 + json.len() as u64 + chunk;
    let length = u32::try_from(length)
        .map_err(|_| impossible("a .glb holds at most 4 GiB: give fewer frames per second, or write a .gltf"))?;
    write_atomic(path, |w| {
        w.write_all(b"glTF")?;
        [2, length, json.len() as u32].iter().try_for_each(|x| w.write_all(&x.to_le_bytes()))?;
        w.write_all(b"JSON")?;
        w.write_all(&json)?;
        if data_bytes > 0 {
            w.write_all(&(data_bytes as u32).to_le_bytes())?;
            w.write_all(b"BIN\0")?;
        }
        errors = content.write_data(w)?;
        Ok(())
    })?;
    Ok(errors)
}

/// Accessors in the order of their data, each with a view of its own.
#[derive(Default)]
struct Layout {
    views: Vec<Value>,
    accessors: Vec<Value>,
    bytes: u64,
}

impl Layout {
    /// All elements are of four bytes, so everything is aligned.
    fn add(&mut self, numbers: usize, target: Option<u32>, mut accessor: Value) -> usize {
        let bytes = 4 * numbers as u64;
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes, "byteLength": bytes });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        accessor["bufferView"] = json!(self.views.len());
        self.views.push(view);
        self.accessors.push(accessor);
        self.bytes += bytes;
        self.accessors.len() - 1
    }

    fn positions(&mut self, numbers: &[f32]) -> usize {
        let bound =
            |k: usize, pick: fn(f32, f32) -> f32, start| numbers[k..].iter().step_by(3).copied().fold(start, pick);
        let low = [0, 1, 2].map(|k| bound(k, f32::min, f32::INFINITY));
        let high = [0, 1, 2].map(|k| bound(k, f32::max, f32::NEG_INFINITY));
        let accessor =
            json!({ "componentType": FLOAT, "type": "VEC3", "count": numbers.len() / 3, "min": low, "max": high });
        self.add(numbers.len(), Some(ARRAY_BUFFER), accessor)
    }

    fn floats(&mut self, kind: &str, width: usize, count: usize) -> usize {
        self.add(width * count, None, json!({ "componentType": FLOAT, "type": kind, "count": count }))
    }
}

impl Content<'_> {
    fn time(&self, frame: usize) -> f32 {
        (frame as f64 / self.frames_per_s) as f32
    }

    /// The node and the shapes of each body that moves.
    fn moving(&self) -> impl Iterator<Item = (usize, &Shapes)> {
        let nodes = self.meshes.iter().enumerate().filter(|(_, m)| m.body.is_some());
        nodes.map(|(node, _)| node).zip(self.shapes)
    }

    /// The document without its buffer, and the number of bytes of that.
    fn document(&self) -> (Value, u64) {
        let mut layout = Layout::default();
        let count = self.meshes.len();
        let meshes: Vec<Value> = self.meshes.iter().enumerate().map(|(i, m)| self.mesh(&mut layout, i, m)).collect();
        let mut nodes: Vec<Value> = self.meshes.iter().enumerate().map(|(i, m)| self.node(i, m)).collect();
        // A quarter turn about x: z becomes y.
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let mut root = json!({ "name": "z up", "rotation": [-half, 0.0, 0.0, half] });
        if count > 0 {
            root["children"] = json!((0..count).collect::<Vec<_>>());
        }
        nodes.push(root);
        let color = |m: &Mesh| [m.color[0], m.color[1], m.color[2], 1.0];
        let material = |m: &Mesh| {
            let surface = json!({ "baseColorFactor": color(m), "metallicFactor": 0.0, "roughnessFactor": 0.7 });
            json!({ "name": m.name, "pbrMetallicRoughness": surface, "doubleSided": true })
        };
        let mut document = json!({
            "asset": { "version": "2.0", "generator": concat!("eigentone ", env!("CARGO_PKG_VERSION")) },
            "scene": 0,
            "scenes": [{ "nodes": [count] }],
            "nodes": nodes,
        });
        if count > 0 {
            document["meshes"] = json!(meshes);
            document["materials"] = json!(self.meshes.iter().map(material).collect::<Vec<_>>());
        }
        if let Some(animation) = self.animation(&mut layout) {
            document["animations"] = json!([animation]);
        }
        if layout.bytes > 0 {
            document["accessors"] = json!(layout.accessors);
            document["bufferViews"] = json!(layout.views);
        }
        (document, layout.bytes)
    }

    fn mesh(&self, layout: &mut Layout, index: usize, mesh: &Mesh) -> Value {
        let position = layout.positions(self.base(mesh).as_flattened());
        let count = 3 * mesh.triangles.len();
        let accessor = json!({ "componentType": UNSIGNED_INT, "type": "SCALAR", "count": count });
        let indices = layout.add(count, Some(ELEMENT_ARRAY_BUFFER), accessor);
        let mut primitive =
            json!({ "attributes": { "POSITION": position }, "indices": indices, "material": index, "mode": 4 });
        let mut value = json!({ "name": mesh.name });
        if let Some(shapes) = self.shapes_of(mesh).filter(|s| !s.targets.is_empty()) {
            let targets: Vec<Value> =
                shapes.targets.iter().map(|t| json!({ "POSITION": layout.positions(t) })).collect();
            let names: Vec<String> = (1..=targets.len()).map(|k| format!("shape {k}")).collect();
            primitive["targets"] = json!(targets);
            value["weights"] = json!(shapes.first);
            value["extras"] = json!({ "targetNames": names });
        }
        value["primitives"] = json!([primitive]);
        value
    }

    /// What a mesh is about its centre with all weights zero.
    fn base<'a>(&'a self, mesh: &'a Mesh) -> &'a [[f32; 3]] {
        self.shapes_of(mesh).map_or(&mesh.rest.local, |shapes| &shapes.base)
    }

    fn shapes_of(&self, mesh: &Mesh) -> Option<&Shapes> {
        mesh.body.map(|body| &self.shapes[body])
    }

    /// Without its animation, a body is where it begins.
    fn node(&self, index: usize, mesh: &Mesh) -> Value {
        let pose = mesh.first;
        json!({ "name": mesh.name, "mesh": index, "translation": pose.translation, "rotation": pose.rotation })
    }

    fn animation(&self, layout: &mut Layout) -> Option<Value> {
        let frames = self.scratch.frames;
        if frames < 2 || self.shapes.is_empty() {
            return None;
        }
        let time = json!({ "componentType": FLOAT, "type": "SCALAR", "count": frames, "min": [self.time(0)], "max": [self.time(frames - 1)] });
        let input = layout.add(frames, None, time);
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        for (node, shapes) in self.moving() {
            let mut tracks =
                vec![("translation", layout.floats("VEC3", 3, frames)), ("rotation", layout.floats("VEC4", 4, frames))];
            if !shapes.targets.is_empty() {
                tracks.push(("weights", layout.floats("SCALAR", 1, frames * shapes.targets.len())));
            }
            for (path, output) in tracks {
                channels.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
                samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
            }
        }
        Some(json!({ "name": "motion", "samplers": samplers, "channels": channels }))
    }

    /// The document with the data in it. They may be larger than memory, so the buffer is put at its end by hand.
    fn write_text(&self, w: &mut dyn Write, document: &str, data_bytes: u64) -> io::Result<Vec<f64>> {
        let open = document.strip_suffix('}').unwrap_or(document);
        if data_bytes == 0 {
            w.write_all(document.as_bytes())?;
            return Ok(Vec::new());
        }
        write!(w, "{open},\"buffers\":[{{\"byteLength\":{data_bytes},\"uri\":\"data:application/octet-stream;base64,")?;
        let mut coded = Base64::new(&mut *w);
        let errors = self.write_data(&mut coded)?;
        coded.finish()?;
        w.write_all(b"\"}]}")?;
        Ok(errors)
    }

    /// In the order of the accessors. What a viewer will make of each frame is compared with it on the way.
    fn write_data(&self, w: &mut dyn Write) -> io::Result<Vec<f64>> {
        for mesh in self.meshes {
            write_floats(w, self.base(mesh).as_flattened())?;
            mesh.triangles.iter().flatten().try_for_each(|v| w.write_all(&v.to_le_bytes()))?;
            if let Some(shapes) = self.shapes_of(mesh) {
                shapes.targets.iter().try_for_each(|t| write_floats(w, t))?;
            }
        }
        let frames = self.scratch.frames;
        let animated = frames > 1 && !self.shapes.is_empty();
        if animated {
            (0..frames).try_for_each(|f| write_floats(w, &[self.time(f)]))?;
        }
        let mut errors = Vec::new();
        for (body, (_, shapes)) in self.moving().enumerate() {
            if animated {
                (0..frames).try_for_each(|f| write_floats(w, &self.scratch.pose(body, f)?.translation))?;
                (0..frames).try_for_each(|f| write_floats(w, &self.scratch.pose(body, f)?.rotation))?;
            }
            let (mut frame, mut left, mut weights) = (BodyFrame::default(), Vec::new(), Vec::new());
            let mut error = 0f64;
            for number in 0..frames {
                let pose = self.scratch.read(body, number, &mut frame)?;
                deformation(&shapes.base, &pose, &frame.positions, &mut left);
                shapes.weights(&mut left, &mut weights);
                error = error.max(largest(&left));
                if animated {
                    write_floats(w, &weights)?;
                }
            }
            errors.push(error);
        }
        Ok(errors)
    }
}

fn write_floats(w: &mut dyn Write, floats: &[f32]) -> io::Result<()> {
    floats.iter().try_for_each(|x| w.write_all(&x.to_le_bytes()))
}

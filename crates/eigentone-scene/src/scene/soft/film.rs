//! The animation that goes with the sound.

use super::Soft;
use super::make::turned;
use crate::Error;
use crate::scene::{Scene, Shape, make};
use eigentone_core::mesh::primitives;
use eigentone_core::{TriMesh, Vec3};
use eigentone_io::{AnimatedMesh, AnimationWriter, Recorded};
use eigentone_sim::soft::SoftWorld;
use std::path::Path;

/// Side of a floor in the picture, as a multiple of what stands on it.
const FLOOR: f64 = 6.0;

/// Colours of bodies that have none of their own, in turn.
const COLORS: [[f32; 3]; 6] = [
    [0.80, 0.20, 0.12],
    [0.10, 0.35, 0.70],
    [0.90, 0.60, 0.08],
    [0.15, 0.50, 0.25],
    [0.45, 0.20, 0.55],
    [0.10, 0.55, 0.60],
];
const SCENERY: [f32; 3] = [0.55, 0.55, 0.52];

/// Writes frames while the simulation runs.
pub struct Film {
    writer: AnimationWriter,
    /// Of each body the nodes at its surface.
    nodes: Vec<Vec<u32>>,
    frames_per_s: f64,
    frames: u64,
}

impl Film {
    pub fn new(path: &Path, scene: &Scene, softs: &[Soft], world: &SoftWorld) -> Result<Self, Error> {
        let mut meshes = Vec::new();
        let mut nodes = Vec::new();
        let mut size_m: f64 = 0.05;
        for (number, soft) in softs.iter().enumerate() {
            let (surface, node_of) = world.body(number).at_rest().surface();
            size_m = size_m.max(surface.diagonal());
            let color = soft.color.map_or(COLORS[number % COLORS.len()], |c| c.map(|x| x as f32));
            meshes.push(animated(&soft.name, color, &surface, true));
            nodes.push(node_of);
        }
        for body in scene.bodies.iter().filter(|b| b.fixed || b.shape == Shape::Plane) {
            let mut mesh = match body.shape {
                Shape::Plane => primitives::plate(FLOOR * size_m, FLOOR * size_m, 2, 2),
                _ => make::mesh_of(scene, &body.shape, body.scale)?,
            };
            mesh.transform(turned(&body.rotation), Vec3::from_array(body.position));
            meshes.push(animated(&body.name, SCENERY, &mesh, false));
        }
        let frames_per_s = scene.output.frames_per_s;
        let writer = AnimationWriter::create(path, &meshes, frames_per_s)?;
        Ok(Self { writer, nodes, frames_per_s, frames: 0 })
    }

    /// Adds a frame if it is time for one.
    pub fn look(&mut self, world: &SoftWorld) -> Result<(), Error> {
        // Half a step early is as near as half a step late.
        if world.time_s() + 0.5 * world.step_s() < self.frames as f64 / self.frames_per_s {
            return Ok(());
        }
        self.frames += 1;
        let frames: Vec<Vec<[f32; 3]>> = self
            .nodes
            .iter()
            .enumerate()
            .map(|(number, nodes)| {
                let positions: Vec<Vec3> = world.body(number).positions().collect();
                nodes.iter().map(|&n| positions[n as usize].as_vec3().to_array()).collect()
            })
            .collect();
        let slices: Vec<&[[f32; 3]]> = frames.iter().map(Vec::as_slice).collect();
        Ok(self.writer.frame(&slices)?)
    }

    pub fn finish(self) -> Result<Recorded, Error> {
        Ok(self.writer.finish()?)
    }
}

fn animated(name: &str, color: [f32; 3], mesh: &TriMesh, moves: bool) -> AnimatedMesh {
    AnimatedMesh {
        name: name.to_owned(),
        color,
        positions: mesh.positions.iter().map(|p| p.as_vec3().to_array()).collect(),
        triangles: mesh.triangles.clone(),
        moves,
    }
}

//! From a scene file to the bodies that will be there: copies and melodies written out, geometry made, pitches tuned, surfaces prepared.

use super::cache::ModelCache;
use super::make::{Made, Maker, WALL, mass_of};
use super::surfaces::Surfaces;
use super::{Body, Scene, Shape};
use crate::Error;
use eigentone_core::mesh::bounds_of;
use eigentone_core::texture::SurfaceMap;
use eigentone_core::{Material, ModalModel, Noise, TriMesh, Vec3};
use eigentone_modal::{MeshModelSettings, Progress};
use eigentone_synth::texture::SurfaceRuntime;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A body as it will be.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What the file says of it, with its own name, place and times.
    pub body: Body,
    /// Its form; of a floor, its top.
    pub mesh: Arc<TriMesh>,
    /// Factor by which tuning has scaled the form.
    pub scale: f64,
    /// Its modes; `None` if it is silent or sounds through another.
    pub model: Option<Arc<ModalModel>>,
    /// How its model is still to be made, if the plan is a [draft](Plan::draft) and `model` is only near to it.
    pub pending: Option<Arc<MeshModelSettings>>,
    /// In kg.
    pub mass_kg: f64,
    /// Its material.
    pub material: Material,
    /// What it is like to the touch.
    pub surface: Arc<SurfaceRuntime>,
    /// How rough it is from place to place.
    pub surface_map: Option<Arc<SurfaceMap>>,
}

/// Everything in a scene, ready to be built.
#[derive(Debug)]
pub struct Plan {
    /// In the order of the file; copies after their first, what melodies drop at the end.
    pub bodies: Vec<Planned>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

impl Plan {
    /// Writes a scene out and makes its models, or takes them from the cache.
    ///
    /// # Errors
    /// Names the file and the body.
    pub fn new(scene: &Scene, cache: &ModelCache, progress: &Progress<'_>) -> Result<Self, Error> {
        Self::made_by(&Maker::new(scene, cache, progress)?, scene)
    }

    /// The same without waiting for models: those that are not in the cache are left to be made while the scene plays, by a [source](super::CachedModels), and sound meanwhile as the nearest closed form.
    /// Bodies that are tuned to a pitch or compressed are made all the same.
    ///
    /// # Errors
    /// Names the file and the body.
    pub fn draft(scene: &Scene, cache: &ModelCache, progress: &Progress<'_>) -> Result<Self, Error> {
        let mut maker = Maker::new(scene, cache, progress)?;
        maker.draft = true;
        Self::made_by(&maker, scene)
    }

    fn made_by(maker: &Maker<'_>, scene: &Scene) -> Result<Self, Error> {
        let mut surfaces = Surfaces::new(scene)?;
        let bodies = written_out(scene)?;
        // Each different body once, several at a time; what comes out does not depend on how many.
        let mut different: BTreeMap<String, &Body> = BTreeMap::new();
        for body in &bodies {
            different.entry(maker.about(body)?).or_insert(body);
        }
        let made: Vec<Made> =
            different.values().collect::<Vec<_>>().par_iter().map(|body| maker.make(body)).collect::<Result<_, _>>()?;
        let made: BTreeMap<&String, &Made> = different.keys().zip(&made).collect();
        let mut plan = Self { bodies: Vec::new(), warnings: Vec::new() };
        for body in &bodies {
            let body = body.clone();
            let Made { mesh, scale, model, pending } = made[&maker.about(&body)?].clone();
            let material = maker.material(&body)?;
            let surface = surfaces.of(&body, &material, scene)?;
            let mass_kg = mass_of(&body, &mesh, &material, model.as_deref(), scale);
            let surface_map = surfaces.map_of(&body, &mesh, scene)?;
            for warning in model.iter().flat_map(|m| &m.info.warnings) {
                plan.warnings.push(format!("body `{}`: {warning}", body.name));
            }
            plan.bodies.push(Planned { body, mesh, scale, model, pending, mass_kg, material, surface, surface_map });
        }
        plan.warnings.dedup();
        plan.land(scene)?;
        Ok(plan)
    }

    /// Number of the body with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.bodies.iter().position(|b| b.body.name == name)
    }

    /// Puts bodies that shall land somewhere at some time to where they must begin: at the first step of the simulation after they were let go, with the
    /// speed they then have.
    fn land(&mut self, scene: &Scene) -> Result<(), Error> {
        let [gx, gy, gz] = scene.physics.gravity;
        let gravity = -gz;
        for i in 0..self.bodies.len() {
            let Some(lands) = self.bodies[i].body.lands.clone() else { continue };
            let bad = |message: String| Error::Scene { file: scene.file.clone(), message };
            let name = self.bodies[i].body.name.clone();
            let Some(target) = self.find(&lands.on) else {
                return Err(bad(format!("body `{name}` shall land on `{}`, which does not exist", lands.on)));
            };
            if !self.bodies[target].body.is_fixed() {
                return Err(bad(format!(
                    "body `{name}` shall land on `{}`, which may move; make it `fixed`, or give `position` and `appears_s` yourself",
                    lands.on
                )));
            }
            let top = self.top_of(target, lands.offset);
            let below = self.bodies[i].lowest_m();
            let fall_s = (2.0 * lands.height_m / gravity.max(1e-9)).sqrt();
            let let_go_s = lands.at_s - fall_s;
            if let_go_s < 0.0 {
                return Err(bad(format!(
                    "body `{name}` falls for {fall_s:.3} s and cannot land at {} s; let it land later, or from less than {:.3} m",
                    lands.at_s,
                    0.5 * gravity * lands.at_s * lands.at_s
                )));
            }
            let step_s = scene.physics.step_s;
            let appears_s = (let_go_s / step_s).ceil() * step_s;
            let fallen_s = appears_s - let_go_s;
            let height = lands.height_m - 0.5 * gravity * fallen_s * fallen_s;
            let body = &mut self.bodies[i].body;
            // Sideways it flies as fast as it is told, and starts so much earlier on its way.
            let [vx, vy, _] = body.velocity;
            let left_s = fall_s - fallen_s;
            let back = |v: f64, g: f64| v * left_s - 0.5 * g * left_s * left_s;
            body.position = [top.x - back(vx, gx), top.y - back(vy, gy), top.z - below + height];
            body.velocity = [vx - gx * left_s, vy - gy * left_s, -gravity * fallen_s];
            body.appears_s = Some(appears_s);
        }
        Ok(())
    }

    /// The highest point of a body in the world above its middle, or above a place beside it.
    fn top_of(&self, index: usize, offset: [f64; 2]) -> Vec3 {
        let target = &self.bodies[index];
        let origin = Vec3::from_array(target.body.position);
        let turn = glam_turn(&target.body);
        let world: Vec<Vec3> = target.mesh.positions.iter().map(|p| target.body.size * (turn * *p) + origin).collect();
        let [low, high] = bounds_of(world.iter().copied());
        let middle = 0.5 * (low + high);
        let (x, y) = (middle.x + offset[0], middle.y + offset[1]);
        // Straight down onto its triangles.
        let height = target
            .mesh
            .triangles
            .iter()
            .filter_map(|t| height_at(t.map(|v| world[v as usize]), x, y))
            .fold(f64::NEG_INFINITY, f64::max);
        // A plate is modelled by its middle, but struck on its top.
        Vec3::new(x, y, target.half_wall_m() + if height.is_finite() { height } else { high.z })
    }
}

impl Planned {
    /// How far below its origin its lowest point is (negative: above), as it is turned.
    fn lowest_m(&self) -> f64 {
        let turn = glam_turn(&self.body);
        let size = self.body.size;
        self.mesh.positions.iter().map(|p| size * (turn * *p).z).fold(f64::INFINITY, f64::min) - self.half_wall_m()
    }

    /// How far the surface of a plate or disc is above its middle, as it is turned.
    fn half_wall_m(&self) -> f64 {
        match self.body.shape {
            Shape::Plate(_) | Shape::Disc(_) => {
                0.5 * self.body.size * self.wall_m() * (glam_turn(&self.body) * Vec3::Z).z.abs()
            }
            _ => 0.0,
        }
    }

    /// Thickness of a plate or disc.
    pub(super) fn wall_m(&self) -> f64 {
        let size = match self.body.shape {
            Shape::Plate([x, y]) => x.max(y),
            Shape::Disc(radius) => 2.0 * radius,
            _ => 0.0,
        };
        self.scale * self.body.thickness_m.unwrap_or(WALL * size)
    }

    /// Whether it is there from the beginning.
    pub fn is_present(&self) -> bool {
        self.body.appears_s.is_none_or(|t| t <= 0.0)
    }
}

fn glam_turn(body: &Body) -> glam::DQuat {
    let [x, y, z, w] = body.rotation.quaternion();
    glam::DQuat::from_xyzw(x, y, z, w)
}

/// Height of a triangle above a place, if it is there.
fn height_at([a, b, c]: [Vec3; 3], x: f64, y: f64) -> Option<f64> {
    let area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
    let u = ((b.x - x) * (c.y - y) - (c.x - x) * (b.y - y)) / area;
    let v = ((c.x - x) * (a.y - y) - (a.x - x) * (c.y - y)) / area;
    let w = 1.0 - u - v;
    let inside = area.abs() > 1e-15 && [u, v, w].iter().all(|s| *s >= -1e-9);
    inside.then_some(u * a.z + v * b.z + w * c.z)
}

/// All bodies by themselves: copies, and one for each note of each melody.
pub(super) fn written_out(scene: &Scene) -> Result<Vec<Body>, Error> {
    let mut bodies = Vec::new();
    let mut noise = Noise::new(scene.seed ^ 0xC0B1_E500);
    for body in scene.bodies.iter().filter(|b| !b.template) {
        for copy in 0..body.count() {
            let mut one = Body { name: body.copy_name(copy), copies: None, copy_edits: Vec::new(), ..body.clone() };
            if let Some(copies) = &body.copies {
                let offset = copies.offset(copy);
                for (axis, place) in one.position.iter_mut().enumerate() {
                    *place += offset[axis] + copies.jitter_m * noise.bipolar();
                }
                let axis = Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar()).normalize_or(Vec3::Z);
                let turn = glam::DQuat::from_axis_angle(axis, (copies.turn_degrees * noise.bipolar()).to_radians());
                one.rotation = super::Rotation::Quaternion((turn * glam_turn(body)).to_array());
            }
            // After the noise was drawn, so that no other copy moves.
            body.copy_edits.iter().filter(|edit| edit.copy == copy + 1).for_each(|edit| edit.apply(&mut one));
            bodies.push(one);
        }
    }
    for melody in &scene.melodies {
        let bad = |message: String| Error::Scene { file: scene.file.clone(), message };
        let Some(template) = scene.body(&melody.body) else {
            return Err(bad(format!("a [[melody]] drops `{}`, which does not exist", melody.body)));
        };
        for (number, note) in melody.score().map_err(|e| bad(e.to_string()))?.iter().enumerate() {
            let Some(target) = scene.bodies.iter().find(|b| b.tune == Some(note.note)) else {
                let message = format!("no body has `tune = \"{}\"`, which a [[melody]] plays; add one", note.note);
                return Err(bad(message));
            };
            bodies.push(Body {
                name: format!("{} for note {} ({})", melody.body, number + 1, note.note),
                template: false,
                lands: Some(super::Lands {
                    on: target.name.clone(),
                    at_s: note.time_s,
                    height_m: melody.height_m,
                    offset: melody.offset,
                }),
                ..template.clone()
            });
        }
    }
    Ok(bodies)
}

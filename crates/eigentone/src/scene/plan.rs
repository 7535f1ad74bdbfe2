//! From a scene file to the bodies that will be there: copies and melodies written out, geometry made, pitches tuned, surfaces prepared.

use super::cache::{self, ModelCache};
use super::{Body, ColliderChoice, Edges, Method, Scene, Shape};
use crate::{Error, textures};
use eigentone_core::mesh::primitives;
use eigentone_core::texture::{Texture, TextureTable};
use eigentone_core::{Material, MaterialTable, ModalModel, Noise, TriMesh, Vec3};
use eigentone_modal::analytic::{self, AnalyticSettings, PlateSupport};
use eigentone_modal::{Compression, MeshModelError, MeshModelSettings, MethodChoice, Progress, model_from_mesh};
use eigentone_synth::texture::Prepared;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Half the side of a floor without end, in m, and its thickness.
const FLOOR_M: f64 = 50.0;
const FLOOR_DEPTH_M: f64 = 0.5;

/// Wall of a shell whose thickness is not given, as a share of its size.
const WALL: f64 = 0.01;

/// Pitches are tuned to this many cents.
const CENTS: f64 = 0.5;

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
    /// In kg.
    pub mass_kg: f64,
    /// Its material.
    pub material: Material,
    /// What it is like to the touch.
    pub surface: Arc<Prepared>,
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
        let maker = Maker { scene, cache, progress, materials: materials(scene)? };
        let surfaces = Surfaces::new(scene)?;
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
            let Made { mesh, scale, model } = made[&maker.about(&body)?].clone();
            let material = maker.material(&body)?;
            let surface = surfaces.of(&body, &material, scene)?;
            let mass_kg = mass_of(&body, &mesh, &material, model.as_deref(), scale);
            for warning in model.iter().flat_map(|m| &m.info.warnings) {
                plan.warnings.push(format!("body `{}`: {warning}", body.name));
            }
            plan.bodies.push(Planned { body, mesh, scale, model, mass_kg, material, surface });
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
        let world: Vec<Vec3> = target.mesh.positions.iter().map(|p| turn * *p + origin).collect();
        let (low, high) = bounds(&world);
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
        self.mesh.positions.iter().map(|p| (turn * *p).z).fold(f64::INFINITY, f64::min) - self.half_wall_m()
    }

    /// How far the surface of a plate or disc is above its middle, as it is turned.
    fn half_wall_m(&self) -> f64 {
        match self.body.shape {
            Shape::Plate(_) | Shape::Disc(_) => 0.5 * self.wall_m() * (glam_turn(&self.body) * Vec3::Z).z.abs(),
            _ => 0.0,
        }
    }

    /// Thickness of a plate or disc.
    fn wall_m(&self) -> f64 {
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

fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    points.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)))
}

/// The material table, with a `materials.toml` beside the scene if there is one.
fn materials(scene: &Scene) -> Result<MaterialTable, Error> {
    let mut table = MaterialTable::builtin();
    let own = scene.folder.join("materials.toml");
    if own.is_file() {
        crate::materials::add_from_file(&mut table, &own)?;
    }
    Ok(table)
}

/// All bodies by themselves: copies, and one for each note of each melody.
fn written_out(scene: &Scene) -> Result<Vec<Body>, Error> {
    let mut bodies = Vec::new();
    let mut noise = Noise::new(scene.seed ^ 0xC0B1_E500);
    for body in scene.bodies.iter().filter(|b| !b.template) {
        for copy in 0..body.count() {
            let mut one = Body { name: body.copy_name(copy), copies: None, ..body.clone() };
            if let Some(copies) = &body.copies {
                let offset = copies.offset(copy);
                for (axis, place) in one.position.iter_mut().enumerate() {
                    *place += offset[axis] + copies.jitter_m * noise.bipolar();
                }
                let axis = Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar()).normalize_or(Vec3::Z);
                let turn = glam::DQuat::from_axis_angle(axis, (copies.turn_degrees * noise.bipolar()).to_radians());
                one.rotation = super::Rotation::Quaternion((turn * glam_turn(body)).to_array());
            }
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

/// The textures of a scene, prepared as they are needed.
struct Surfaces {
    /// Those made ready: many bodies share one.
    ready: Mutex<BTreeMap<String, Arc<Prepared>>>,
    table: TextureTable,
    folder: std::path::PathBuf,
    rate_hz: f64,
    seed: u64,
}

impl Surfaces {
    fn new(scene: &Scene) -> Result<Self, Error> {
        let mut table = textures::builtin();
        // Those that others are like first, wherever they stand.
        let mut left: Vec<_> = scene.surfaces.iter().collect();
        let mut order = Vec::new();
        while !left.is_empty() {
            let waits = |s: &&super::Surface| left.iter().any(|l| Some(&l.name) == s.like.as_ref() && l.name != s.name);
            let (later, now): (Vec<_>, Vec<_>) = left.iter().copied().partition(waits);
            // A circle is refused by the reader; if one is left, the table says what is missing.
            order.extend(if now.is_empty() { std::mem::take(&mut left) } else { now });
            left = if left.is_empty() { left } else { later };
        }
        for surface in order {
            textures::add(&mut table, &surface.name, surface.like.as_deref(), surface.texture.clone()).map_err(
                |message| Error::Scene { file: scene.file.clone(), message: format!("[[surface]] {message}") },
            )?;
        }
        Ok(Self {
            ready: Mutex::default(),
            table,
            folder: scene.folder.clone(),
            rate_hz: scene.output.sample_rate_hz,
            seed: scene.seed,
        })
    }

    /// The texture of a body; without one, a smooth surface as stiff as its material.
    fn of(&self, body: &Body, material: &Material, scene: &Scene) -> Result<Arc<Prepared>, Error> {
        let texture = match &body.surface {
            Some(name) => {
                let found = self.table.get(name).map_err(|e| Error::Scene {
                    file: scene.file.clone(),
                    message: format!("body `{}`: {e}", body.name),
                })?;
                found.clone()
            }
            None => Texture { name: "smooth".to_owned(), stiffness_n_m: stiffness_of(material), ..Texture::default() },
        };
        let key = format!("{} {}", texture.name, texture.stiffness_n_m);
        let mut ready = self.ready.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(surface) = ready.get(&key) {
            return Ok(surface.clone());
        }
        let surface = textures::prepare(&texture, Some(&self.folder), self.seed, self.rate_hz)?;
        ready.insert(key, surface.clone());
        Ok(surface)
    }
}

/// Contact spring of a smooth surface: 1e8 N/m for steel, in proportion to Young's modulus (REFERENCE E.2: 1e4 soft to 1e8 steel on steel).
fn stiffness_of(material: &Material) -> f32 {
    (1e8 * material.young_pa / 2e11).clamp(1e4, 1e8) as f32
}

/// What a body is made of: its form, the factor by which tuning has scaled it, and its modes.
#[derive(Clone)]
struct Made {
    mesh: Arc<TriMesh>,
    scale: f64,
    model: Option<Arc<ModalModel>>,
}

/// Makes meshes and models.
struct Maker<'a> {
    scene: &'a Scene,
    cache: &'a ModelCache,
    progress: &'a Progress<'a>,
    materials: MaterialTable,
}

impl Maker<'_> {
    fn material(&self, body: &Body) -> Result<Material, Error> {
        let unknown = |e: eigentone_core::material::MaterialError| Error::Scene {
            file: self.scene.file.clone(),
            message: format!("body `{}`: {e}", body.name),
        };
        Ok(self.materials.get(&body.material).map_err(unknown)?.clone())
    }

    /// Everything that form and modes depend on.
    fn about(&self, body: &Body) -> Result<String, Error> {
        let silent = body.is_silent() || body.shares.is_some();
        Ok(format!(
            "{:?}{:?}{:?}{}{:?}{:?}{:?}{}{:?}{:?}{silent}",
            body.shape,
            body.edges,
            body.model,
            body.scale,
            body.thickness_m,
            body.method,
            body.modes,
            body.compress,
            body.pitch_hz(),
            self.material(body)?,
        ))
    }

    fn make(&self, body: &Body) -> Result<Made, Error> {
        let material = &self.material(body)?;
        if let Some(file) = &body.model {
            let model = eigentone_io::read_model(&self.scene.resolve(file)?)?;
            let mesh = if body.shape == Shape::OfModel { model.surface.to_mesh() } else { self.mesh(body, 1.0)? };
            return Ok(Made { mesh: Arc::new(mesh), scale: 1.0, model: Some(Arc::new(model)) });
        }
        let mesh = self.mesh(body, 1.0)?;
        if body.is_silent() || body.shares.is_some() {
            return Ok(Made { mesh: Arc::new(mesh), scale: 1.0, model: None });
        }
        let mut model = match self.model(body, &mesh, material, 1.0) {
            // Too small and stiff to be heard: it moves and collides in silence.
            Err(Error::Model { source: MeshModelError::Silent { .. }, .. }) => {
                return Ok(Made { mesh: Arc::new(mesh), scale: 1.0, model: None });
            }
            other => other?,
        };
        let Some(goal_hz) = body.pitch_hz() else {
            return Ok(Made { mesh: Arc::new(mesh), scale: 1.0, model: Some(model) });
        };
        // All lengths by s, all frequencies by 1/s; a second round makes good for what cells or meshes chose differently.
        let (mut mesh, mut scale) = (mesh, 1.0);
        for _ in 0..4 {
            let Some(first) = model.modes.first() else { break };
            let ratio = first.frequency_hz / goal_hz;
            if (1200.0 * ratio.log2()).abs() < CENTS {
                break;
            }
            scale *= ratio;
            mesh = self.mesh(body, scale)?;
            model = self.model(body, &mesh, material, scale)?;
        }
        Ok(Made { mesh: Arc::new(mesh), scale, model: Some(model) })
    }

    /// The form of a body, all lengths times `scale`.
    fn mesh(&self, body: &Body, scale: f64) -> Result<TriMesh, Error> {
        let mut mesh = match body.shape {
            Shape::Box(size) => {
                let size = Vec3::from_array(size);
                let longest = size.max_element();
                primitives::cuboid(size, size.to_array().map(|x| ((8.0 * x / longest).ceil() as usize).max(1)))
            }
            Shape::Sphere(radius) => primitives::sphere(radius, 24, 12),
            Shape::Cylinder { radius, height, facets, capped } => {
                let along = ((height / radius * facets as f64 / 6.0).ceil() as usize).clamp(2, 64);
                primitives::cylinder(radius, height, facets, along, capped)
            }
            Shape::Ring { radius, stock_radius, around, across } => {
                primitives::ring(radius, stock_radius, around, across)
            }
            Shape::Plate([x, y]) => {
                let cells = |a: f64| ((24.0 * a / x.max(y)).ceil() as usize).max(2);
                primitives::plate(x, y, cells(x) + 1, cells(y) + 1)
            }
            Shape::Disc(radius) => primitives::disc(radius, 14),
            Shape::Bar([length, width, thickness]) => primitives::bar(length, width, thickness),
            Shape::Bowl { radius, around, along } => primitives::bowl(radius, around, along),
            Shape::Bell { lip_radius, height, around, along } => primitives::bell(lip_radius, height, around, along),
            Shape::Tumbler { base_radius, rim_radius, height, around, along } => {
                primitives::tumbler(base_radius, rim_radius, height, around, along)
            }
            Shape::Mesh(ref file) => {
                let mut mesh = eigentone_io::read_mesh(&self.scene.resolve(file)?)?;
                mesh.scale(body.scale);
                mesh
            }
            Shape::Plane | Shape::OfModel => primitives::plate(2.0 * FLOOR_M, 2.0 * FLOOR_M, 2, 2),
        };
        mesh.scale(scale);
        Ok(mesh)
    }

    fn model(&self, body: &Body, mesh: &TriMesh, material: &Material, scale: f64) -> Result<Arc<ModalModel>, Error> {
        let open = matches!(body.shape, Shape::Plate(_) | Shape::Disc(_) | Shape::Bowl { .. } | Shape::Bell { .. });
        let (low, high) = bounds(&mesh.positions);
        let method = match body.method {
            Method::Auto => MethodChoice::Auto,
            Method::Shell => MethodChoice::Shell,
            Method::Solid => MethodChoice::Solid,
        };
        let settings = MeshModelSettings {
            // The same body under another name is the same model.
            name: body.shape.key().to_owned(),
            method,
            thickness_m: body.thickness_m.map(|t| t * scale).or(open.then(|| WALL * (high - low).max_element())),
            most_modes: body.modes.unwrap_or(MeshModelSettings::default().most_modes),
            ..MeshModelSettings::default()
        };
        if let (Shape::Plate([length, width]), Edges::Supported) = (&body.shape, body.edges) {
            let thickness = settings.thickness_m.unwrap_or(WALL * length.max(*width));
            return self.supported_plate(body, [scale * length, scale * width, thickness], material);
        }
        let key = cache::key(mesh, material, &settings) + if body.compress { "-compressed" } else { "" };
        let file = || std::path::PathBuf::from(format!("{} (body `{}`)", self.scene.file.display(), body.name));
        self.cache.get_or_make(&key, || {
            let model = model_from_mesh(mesh, material, &settings, self.progress)
                .map_err(|source| Error::Model { file: file(), source })?;
            Ok(if body.compress { Compression::default().apply(&model) } else { model })
        })
    }
}

impl Maker<'_> {
    /// A plate whose edges are held, in closed form.
    fn supported_plate(&self, body: &Body, size: [f64; 3], material: &Material) -> Result<Arc<ModalModel>, Error> {
        let [length, width, thickness] = size;
        let plate = analytic::Shape::Plate { length, width, thickness, support: PlateSupport::SimplySupported };
        let mut settings = AnalyticSettings::default();
        settings.max_modes = body.modes.unwrap_or(settings.max_modes);
        let model = analytic::model(&plate, material, &settings).map_err(|e| Error::Scene {
            file: self.scene.file.clone(),
            message: format!("body `{}`: {e}", body.name),
        })?;
        // In the precision of a stored model, as all others.
        Ok(Arc::new(eigentone_io::read_model_bytes(&eigentone_io::model_bytes(&model))?))
    }
}

/// The mass that a body moves with: its own, that of its model, or that of its volume; of an open surface, that of its wall.
fn mass_of(body: &Body, mesh: &TriMesh, material: &Material, model: Option<&ModalModel>, scale: f64) -> f64 {
    let density = material.density_kg_m3;
    let thickness_m = body.thickness_m.map(|t| t * scale);
    let wall = |thickness: f64| mesh.area() * thickness * density;
    let volume = mesh.signed_volume().abs();
    let by_shape = match (thickness_m, mesh.report().watertight) {
        (Some(thickness), _) if body.method != Method::Solid => wall(thickness),
        (_, true) => volume * density,
        _ => {
            let (low, high) = bounds(&mesh.positions);
            wall(WALL * (high - low).max_element())
        }
    };
    body.mass_kg.or(model.and_then(|m| m.info.mass_kg)).unwrap_or(by_shape).max(1e-6)
}

/// The form in which a body collides.
pub(super) fn rigid_shape(planned: &Planned) -> eigentone_sim::rigid::Shape<'_> {
    use eigentone_sim::rigid::{Part, Shape as Rigid};
    let (body, mesh, s) = (&planned.body, &*planned.mesh, planned.scale);
    let slab = |x: f64, y: f64, thickness: f64| Rigid::Box { half: Vec3::new(0.5 * x, 0.5 * y, 0.5 * thickness) };
    match (body.collider, &body.shape) {
        (_, Shape::Plane) => Rigid::Compound(vec![Part {
            offset: Vec3::new(0.0, 0.0, -0.5 * FLOOR_DEPTH_M),
            rotation: [0.0, 0.0, 0.0, 1.0],
            shape: slab(2.0 * FLOOR_M, 2.0 * FLOOR_M, FLOOR_DEPTH_M),
        }]),
        (ColliderChoice::Hull, _) => Rigid::Hull(mesh),
        (ColliderChoice::Decomposed, _) => Rigid::Decomposed(mesh),
        (ColliderChoice::Mesh, _) => Rigid::Mesh(mesh),
        (_, Shape::Box(size) | Shape::Bar(size)) => Rigid::Box { half: 0.5 * s * Vec3::from_array(*size) },
        (_, Shape::Sphere(radius)) => Rigid::Sphere { radius: s * radius },
        (_, Shape::Plate([x, y])) => slab(s * x, s * y, planned.wall_m()),
        (_, Shape::Disc(radius)) => Rigid::Cylinder { half_height: 0.5 * planned.wall_m(), radius: s * radius },
        (_, Shape::Ring { radius, stock_radius, .. }) => ring(s * radius, s * stock_radius),
        // Round, whatever the facets of its mesh: on those it would rattle. Who wants that asks for the hull.
        (_, &Shape::Cylinder { radius, height, capped: true, .. }) => {
            Rigid::Cylinder { half_height: 0.5 * s * height, radius: s * radius }
        }
        _ if body.is_fixed() => Rigid::Mesh(mesh),
        _ => Rigid::Decomposed(mesh),
    }
}

/// Links of round stock that a ring collides as.
const LINKS: usize = 12;

/// A ring as a chain of short cylinders, end to end.
fn ring(radius: f64, stock_radius: f64) -> eigentone_sim::rigid::Shape<'static> {
    use eigentone_sim::rigid::{Part, Shape as Rigid};
    let half_height = radius * (std::f64::consts::PI / LINKS as f64).tan();
    let link = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / LINKS as f64;
        let outward = Vec3::new(angle.cos(), angle.sin(), 0.0);
        let along = glam::DQuat::from_rotation_arc(Vec3::Z, Vec3::new(-outward.y, outward.x, 0.0));
        Part {
            offset: radius * outward,
            rotation: along.to_array(),
            shape: Rigid::Cylinder { half_height, radius: stock_radius },
        }
    };
    Rigid::Compound((0..LINKS).map(link).collect())
}

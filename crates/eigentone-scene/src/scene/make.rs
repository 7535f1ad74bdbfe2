//! Makes bodies: meshes from shapes, models from meshes, pitches by size, and what they weigh.

use super::cache::{self, ModelCache};
use super::{Body, Detail, Edges, Method, Scene, Shape};
use crate::Error;
use eigentone_core::mesh::{bounds_of, primitives};
use eigentone_core::{Grain, Material, MaterialTable, ModalModel, TriMesh, Vec3};
use eigentone_modal::analytic::{self, AnalyticSettings, PlateSupport};
use eigentone_modal::{
    Compression, MeshModelError, MeshModelSettings, MethodChoice, Progress, Supports, model_from_mesh,
};
use eigentone_world::{ModelRequest, closed_form};
use std::sync::Arc;

/// Half the side of a floor without end, in m.
pub(super) const FLOOR_M: f64 = 50.0;

/// Wall of a shell whose thickness is not given, as a share of its size.
pub(super) const WALL: f64 = 0.01;

/// Pitches are tuned to this many cents.
const CENTS: f64 = 0.5;

/// What a body is made of: its form, the factor by which tuning has scaled it, and its modes.
#[derive(Clone)]
pub(super) struct Made {
    pub mesh: Arc<TriMesh>,
    pub scale: f64,
    pub model: Option<Arc<ModalModel>>,
    /// How the model is to be made, if it has not been.
    pub pending: Option<Arc<MeshModelSettings>>,
}

/// Makes meshes and models.
pub(super) struct Maker<'a> {
    scene: &'a Scene,
    cache: &'a ModelCache,
    progress: &'a Progress<'a>,
    materials: MaterialTable,
    /// Leave models that are not in the cache to be made later.
    pub draft: bool,
}

impl<'a> Maker<'a> {
    /// # Errors
    /// If there is a `materials.toml` beside the scene that cannot be used.
    pub fn new(scene: &'a Scene, cache: &'a ModelCache, progress: &'a Progress<'a>) -> Result<Self, Error> {
        Ok(Self { scene, cache, progress, materials: materials(scene)?, draft: false })
    }

    pub fn material(&self, body: &Body) -> Result<Material, Error> {
        let unknown = |e: eigentone_core::material::MaterialError| Error::Scene {
            file: self.scene.file.clone(),
            message: format!("body `{}`: {e}", body.name),
        };
        Ok(self.materials.get(&body.material).map_err(unknown)?.clone())
    }

    /// Everything that form and modes depend on.
    pub fn about(&self, body: &Body) -> Result<String, Error> {
        let silent = body.is_silent() || body.shares.is_some();
        Ok(format!(
            "{:?}{:?}{:?}{}{:?}{:?}{:?}{:?}{:?}{:?}{}{:?}{:?}{silent}",
            body.shape,
            body.edges,
            body.model,
            body.scale,
            body.thickness_m,
            body.method,
            body.detail,
            body.support,
            body.grain,
            body.modes,
            body.compress,
            body.pitch_hz(),
            self.material(body)?,
        ))
    }

    pub fn make(&self, body: &Body) -> Result<Made, Error> {
        let material = &self.material(body)?;
        if let Some(file) = &body.model {
            let model = eigentone_io::read_model(&self.scene.resolve(file)?)?;
            let mesh = if body.shape == Shape::OfModel { model.surface.to_mesh() } else { self.mesh(body, 1.0)? };
            return Ok(Made { mesh: Arc::new(mesh), scale: 1.0, model: Some(Arc::new(model)), pending: None });
        }
        let mesh = self.mesh(body, 1.0)?;
        if body.is_silent() || body.shares.is_some() {
            return Ok(Made { mesh: Arc::new(mesh), scale: 1.0, model: None, pending: None });
        }
        if let Some(made) = self.left_for_later(body, &mesh, material) {
            return Ok(made);
        }
        let mut model = match self.model(body, &mesh, material, 1.0) {
            // Too small and stiff to be heard: it moves and collides in silence.
            Err(Error::Model { source: MeshModelError::Silent { .. }, .. }) => {
                return Ok(Made { mesh: Arc::new(mesh), scale: 1.0, model: None, pending: None });
            }
            other => other?,
        };
        let Some(goal_hz) = body.pitch_hz() else {
            return Ok(Made { mesh: Arc::new(mesh), scale: 1.0, model: Some(model), pending: None });
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
        Ok(Made { mesh: Arc::new(mesh), scale, model: Some(model), pending: None })
    }

    /// The form of a body, all lengths times `scale`.
    fn mesh(&self, body: &Body, scale: f64) -> Result<TriMesh, Error> {
        let mut mesh = mesh_of(self.scene, &body.shape, body.scale)?;
        mesh.scale(scale);
        Ok(mesh)
    }

    fn model(&self, body: &Body, mesh: &TriMesh, material: &Material, scale: f64) -> Result<Arc<ModalModel>, Error> {
        let settings = model_settings(body, mesh, scale);
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

    /// In a draft: a body whose model takes time, with the closed form that comes nearest to it. `None` if it is to be made now.
    fn left_for_later(&self, body: &Body, mesh: &TriMesh, material: &Material) -> Option<Made> {
        let tuned = body.pitch_hz().is_some() || body.compress || body.edges == Edges::Supported;
        if !self.draft || tuned {
            return None;
        }
        let settings = Arc::new(model_settings(body, mesh, 1.0));
        if self.cache.contains(&cache::key(mesh, material, &settings)) {
            return None;
        }
        let request = ModelRequest {
            name: body.name.clone(),
            mesh: Arc::new(mesh.clone()),
            material: Arc::new(material.clone()),
            thickness_m: settings.thickness_m,
            settings: Some(settings.clone()),
        };
        let model = Arc::new(closed_form(&request)?);
        Some(Made { mesh: request.mesh, scale: 1.0, model: Some(model), pending: Some(settings) })
    }

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

/// How the model of a body is made whose lengths were multiplied by `scale`.
pub(super) fn model_settings(body: &Body, mesh: &TriMesh, scale: f64) -> MeshModelSettings {
    let open = matches!(body.shape, Shape::Plate(_) | Shape::Disc(_) | Shape::Bowl { .. } | Shape::Bell { .. });
    let [low, high] = bounds_of(mesh.positions.iter().copied());
    let method = match body.method {
        Method::Auto => MethodChoice::Auto,
        Method::Shell => MethodChoice::Shell,
        Method::Walls => MethodChoice::Walls,
        Method::Solid => MethodChoice::Solid,
        Method::Springs => MethodChoice::Springs,
    };
    let detail = match body.detail {
        Detail::Draft => eigentone_modal::Detail::Draft,
        Detail::Normal => eigentone_modal::Detail::Normal,
        Detail::Fine => eigentone_modal::Detail::Fine,
    };
    let grain =
        body.grain.map_or(Grain::default(), |along| Grain { along: Vec3::from_array(along), ..Grain::default() });
    MeshModelSettings {
        // The same body under another name is the same model.
        name: body.shape.key().to_owned(),
        method,
        detail,
        supports: Supports { list: body.support.iter().filter_map(|how| how.parse().ok()).collect() },
        grain,
        thickness_m: body.thickness_m.map(|t| t * scale).or(open.then(|| WALL * (high - low).max_element())),
        max_modes: body.modes.unwrap_or(MeshModelSettings::default().max_modes),
        ..MeshModelSettings::default()
    }
}

/// The form of a shape. `file_scale` makes the lengths of a file metres.
pub(super) fn mesh_of(scene: &Scene, shape: &Shape, file_scale: f64) -> Result<TriMesh, Error> {
    Ok(match *shape {
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
        Shape::Ring { radius, stock_radius, around, across } => primitives::ring(radius, stock_radius, around, across),
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
            let mut mesh = eigentone_io::read_mesh(&scene.resolve(file)?)?;
            mesh.scale(file_scale);
            mesh
        }
        Shape::Plane | Shape::OfModel => primitives::plate(2.0 * FLOOR_M, 2.0 * FLOOR_M, 2, 2),
    })
}

/// The mass that a body moves with: its own, that of its model, or that of its volume; of an open surface, that of its wall.
pub(super) fn mass_of(body: &Body, mesh: &TriMesh, material: &Material, model: Option<&ModalModel>, scale: f64) -> f64 {
    let density = material.density_kg_m3;
    let thickness_m = body.thickness_m.map(|t| t * scale);
    let wall = |thickness: f64| mesh.area() * thickness * density;
    let volume = mesh.signed_volume().abs();
    let by_shape = match (thickness_m, mesh.report().watertight) {
        (Some(thickness), _) if body.method != Method::Solid => wall(thickness),
        (_, true) => volume * density,
        _ => {
            let [low, high] = bounds_of(mesh.positions.iter().copied());
            wall(WALL * (high - low).max_element())
        }
    };
    body.mass_kg.or(model.and_then(|m| m.info.mass_kg)).unwrap_or(by_shape).max(1e-6)
}

/// The material table, with a `materials.toml` beside the scene if there is one.
pub(super) fn materials(scene: &Scene) -> Result<MaterialTable, Error> {
    let mut table = MaterialTable::builtin();
    let own = scene.materials_file();
    if own.is_file() {
        crate::materials::add_from_file(&mut table, &own)?;
    }
    Ok(table)
}

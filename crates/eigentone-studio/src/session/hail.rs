//! Hail by mouse: a cloud over whatever is there.

use super::Session;
use crate::document::list;
use crate::fault::Fault;
use crate::request::HailChange;
use eigentone_core::Vec3;
use eigentone_sim::particles::{Cloud, Collider, EnergyLaw, Region, Shape};
use eigentone_world::{HailCollider, HailSettings, World};
use serde_json::{Value, json};

/// Particles that may be in flight at once.
const MAX_PARTICLES: usize = 20_000;

/// Density of ice, in kg/m³.
const ICE_KG_M3: f64 = 917.0;

/// What the page sees of the hail.
#[derive(Clone, Debug, PartialEq)]
pub struct HailState {
    /// Middle of the cloud.
    center: [f64; 3],
    /// Its sides, in m.
    size: [f64; 3],
    particles: usize,
    radius_m: f64,
    /// Whether it is the scene's own, with its own colliders.
    own: bool,
}

impl Default for HailState {
    /// A small cloud a metre above the table.
    fn default() -> Self {
        Self { center: [0.0, 0.0, 1.0], size: [0.6, 0.6, 0.2], particles: 60, radius_m: 0.004, own: false }
    }
}

impl HailState {
    /// As the world has it.
    pub fn of(world: &World) -> Self {
        let mut state = Self::default();
        if let Some(hail) = world.hail() {
            state.particles = hail.cloud.particles;
            state.own = hail.colliders.iter().all(|c| c.moves_with.is_none());
            if let Region::Box { low, high } = hail.cloud.region {
                state.center = (0.5 * (low + high)).to_array();
                state.size = (high - low).to_array();
            }
        }
        state
    }

    /// For the page.
    pub fn to_json(&self, world: &World) -> Value {
        json!({
            "on": world.hail().is_some(), "center": self.center, "size": self.size, "particles": self.particles,
            "radius_m": self.radius_m,
        })
    }

    /// Whether it is the scene's own.
    pub fn is_own(&self) -> bool {
        self.own
    }

    fn region(&self) -> Region {
        let (middle, half) = (Vec3::from_array(self.center), 0.5 * Vec3::from_array(self.size));
        Region::Box { low: middle - half, high: middle + half }
    }

    /// A ball of ice.
    fn mass_kg(&self) -> f64 {
        4.0 / 3.0 * std::f64::consts::PI * self.radius_m.powi(3) * ICE_KG_M3
    }
}

impl Session {
    pub(super) fn set_hail(&mut self, change: &HailChange) -> Result<Value, Fault> {
        let mut state = self.hail.clone();
        state.center = change.center.unwrap_or(state.center);
        state.size = change.size.unwrap_or(state.size);
        state.particles = change.particles.unwrap_or(state.particles);
        state.radius_m = change.radius_m.unwrap_or(state.radius_m);
        let far = state.center.iter().any(|x| !(x.is_finite() && x.abs() < 1e4));
        let flat = state.size.iter().any(|x| !(1e-3..=1e3).contains(x));
        if far || flat || state.particles > MAX_PARTICLES || !(1e-4..=0.1).contains(&state.radius_m) {
            let hint = format!("a cloud of 1 mm to 1 km, {MAX_PARTICLES} stones at most, of 0.1 mm to 10 cm");
            return Err(Fault::bad("a hail that cannot be", hint));
        }
        let falls = self.world.hail().is_some();
        match (falls, change.on.unwrap_or(falls)) {
            (true, false) => self.world.set_hail(None)?,
            (false, true) => self.begin_hail(&mut state)?,
            (true, true) => {
                if change.center.is_some() || change.size.is_some() {
                    self.world.place_cloud(state.region())?;
                }
                if change.particles.is_some() {
                    self.world.set_particles(state.particles)?;
                }
                if change.radius_m.is_some() {
                    let mass = state.mass_kg();
                    self.world.set_stones([mass, mass], EnergyLaw::Kinetic)?;
                }
            }
            (false, false) => {}
        }
        if state.own && self.text.has("particles") {
            self.write_cloud(&state);
        }
        self.hail = state;
        let event = json!({ "event": "hail", "hail": self.hail.to_json(&self.world) });
        self.hub.event(&event);
        Ok(json!({}))
    }

    /// Keeps where a scene's own hail falls and how much of it there is.
    fn write_cloud(&mut self, state: &HailState) {
        let Region::Box { low, high } = state.region() else { return };
        let mut sides = toml_edit::InlineTable::new();
        sides.insert("low", list(&low.to_array()));
        sides.insert("high", list(&high.to_array()));
        let mut region = toml_edit::InlineTable::new();
        region.insert("box", sides.into());
        self.text.set("particles", "region", Some(region.into()));
        self.text.set("particles", "particles", Some((state.particles as i64).into()));
        self.changed();
    }

    /// Lets it hail on everything that is there: bodies are struck as spheres, boxes or discs of their size, the floor as a square.
    fn begin_hail(&mut self, state: &mut HailState) -> Result<(), Fault> {
        let mut colliders = Vec::new();
        for (key, body) in self.world.bodies().filter(|(_, b)| b.present && b.soft.is_none()) {
            let scaled = body.shape.scaled(body.params.size);
            let sounds = self.world.model(key).is_some().then_some(key);
            for (shape, moves) in shapes(&scaled, self.world.pose(key)) {
                colliders.push(HailCollider {
                    collider: Collider::new(shape),
                    moves_with: moves.then_some(key),
                    parts: vec![sounds],
                });
            }
        }
        let mass = state.mass_kg();
        let cloud = Cloud {
            particles: state.particles,
            region: state.region(),
            velocity_m_s: Vec3::new(0.0, 0.0, -2.0),
            spread_m_s: 0.3,
            gravity_m_s2: self.world.settings().gravity,
            mass_kg: [mass, mass],
            energy: EnergyLaw::Kinetic,
            onset_s: 0.5,
            ..Cloud::default()
        };
        state.own = false;
        let settings = HailSettings { cloud, colliders, hardness_n_m: 2e6, duration_s: None };
        Ok(self.world.set_hail(Some(settings))?)
    }
}

/// What stones strike in place of a shape, and whether it moves with the body.
fn shapes(shape: &eigentone_world::Shape, pose: Option<&eigentone_core::contact::Pose>) -> Vec<(Shape, bool)> {
    use eigentone_world::Collider as Form;
    match shape.collider {
        Form::Floor => {
            let z = pose.map_or(0.0, |p| f64::from(p.position[2]));
            let corner = Vec3::new(-25.0, -25.0, z);
            vec![(Shape::Quad { corner, edges: [50.0 * Vec3::X, 50.0 * Vec3::Y] }, false)]
        }
        Form::Sphere { radius } => vec![(Shape::Sphere { centre: Vec3::ZERO, radius_m: radius }, true)],
        Form::Cylinder { half_height, radius } => {
            let top = half_height * Vec3::Z;
            vec![
                (Shape::Cylinder { base: -top, axis: 2.0 * top, radius_m: radius }, true),
                (Shape::disc(top, Vec3::Z, radius), true),
                (Shape::disc(-top, -Vec3::Z, radius), true),
            ]
        }
        _ => {
            let Some([low, high]) = shape.mesh.bounds() else { return Vec::new() };
            let size = (high - low).max(Vec3::splat(1e-3));
            let mut faces = Vec::new();
            for axis in 0..3 {
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let mut edges = [Vec3::ZERO; 2];
                (edges[0][u], edges[1][v]) = (size[u], size[v]);
                let mut far = low;
                far[axis] = high[axis];
                faces.push((Shape::Quad { corner: far, edges }, true));
                faces.push((Shape::Quad { corner: low, edges: [edges[1], edges[0]] }, true));
            }
            faces
        }
    }
}

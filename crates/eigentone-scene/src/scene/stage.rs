//! A scene on stage: its bodies in a live world, its script, its hail, its soft bodies.

use super::plan::Plan;
use super::report::{EventKind, EventRecord};
use super::{Body, Bridge, ColliderChoice, Scene, Shape, ShaperChoice, hail, rooms, script, soft};
use crate::Error;
use eigentone_core::units::Decibels;
use eigentone_core::{Vec3, contact::ContactFrame};
use eigentone_modal::Progress;
use eigentone_sim::particles::ImpactMap;
use eigentone_synth::{Budget, Gap, Glide, Masking, Nonlinear, Playback, Quality};
use eigentone_world::{
    AudioOut, Body as WorldBody, BodyKey, Collider, EditKind, EventKind as Heard, Kind, MaterialRef, ModeEdit,
    ModelSource, MotionSource, Params, Pose, Settings, Sound, Surface, Timing, Voicing, World, WorldError, WorldEvent,
};
use glam::DQuat;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Events that can wait in the engine.
const MAX_EVENTS: usize = 1 << 16;

/// A scene in a world, from its beginning.
pub struct Stage {
    /// The world: whatever can be done to one can be done to a scene.
    pub world: World,
    /// Key of each body of the [plan](Plan), in its order.
    pub keys: Vec<BodyKey>,
    /// Keys of the soft bodies, in the order of the file.
    pub softs: Vec<BodyKey>,
    /// Where and how hard particles have struck, if there are any.
    pub impact_map: Option<ImpactMap>,
    /// What a user should know.
    pub warnings: Vec<String>,
    names: BTreeMap<BodyKey, String>,
    scene: Scene,
    /// Sharpest angle of all tetrahedra.
    pub(super) least_dihedral_deg: Option<f64>,
}

/// How a scene is put on stage: its clock, its level, and room for what comes later.
#[derive(Clone)]
pub struct Room {
    /// How the two sides share time.
    pub timing: Timing,
    /// Sound pressure of full scale, in Pa.
    pub full_scale_pa: f64,
    /// Bodies that may be added.
    pub more_bodies: usize,
    /// Modes that a body added later may have.
    pub modes_per_body: usize,
    /// Makes the models that the plan has left to be made.
    pub models: Arc<dyn ModelSource>,
}

impl Default for Room {
    /// Offline, and for the scene alone.
    fn default() -> Self {
        Self {
            timing: Timing::Offline,
            full_scale_pa: crate::level::FULL_SCALE_PA,
            more_bodies: 0,
            modes_per_body: 0,
            models: Arc::new(eigentone_world::MeshModels::default()),
        }
    }
}

impl Stage {
    /// Puts a scene on stage, and gives the audio side that hears it. `full_scale_pa` is the sound pressure of full scale.
    ///
    /// # Errors
    /// Names the scene and the body that cannot be made.
    pub fn new(
        scene: &Scene,
        plan: &Plan,
        timing: Timing,
        full_scale_pa: f64,
        progress: &Progress<'_>,
    ) -> Result<(Self, AudioOut), Error> {
        Self::with_room(scene, plan, &Room { timing, full_scale_pa, ..Room::default() }, progress)
    }

    /// The same with room for more than the scene has: for whoever adds bodies while it plays.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_room(
        scene: &Scene,
        plan: &Plan,
        room: &Room,
        progress: &Progress<'_>,
    ) -> Result<(Self, AudioOut), Error> {
        let mut warnings = plan.warnings.clone();
        let field = rooms::field_of(scene, &mut warnings)?;
        let max_modes = plan.bodies.iter().filter_map(|b| b.model.as_ref()).map(|m| m.modes.len()).max();
        let settings = Settings {
            sample_rate_hz: scene.output.sample_rate_hz,
            timing: room.timing,
            max_bodies: (plan.bodies.len() + scene.softs.len() + room.more_bodies).max(1),
            max_modes_per_body: max_modes.unwrap_or(1).max(1).max(room.modes_per_body),
            max_events: MAX_EVENTS,
            max_bridges: scene.bridges.len().max(1),
            // Twice: what sounded fades while a scene that has gone back begins to sound.
            max_voices: 2 * scene.softs.len(),
            gravity: Vec3::from_array(scene.physics.gravity),
            step_s: scene.physics.step_s,
            soft_step_s: scene.soft_physics.step_s,
            quality: quality(scene),
            full_scale_pa: room.full_scale_pa,
            materials: super::make::materials(scene)?,
            surfaces: super::surfaces::table(scene)?,
            models: room.models.clone(),
            spatial: rooms::spatial_of(scene, field.is_some())?,
            doppler: scene.listener.doppler,
            rooms: field,
            seed: scene.seed,
            ..Settings::default()
        };
        let (world, out) = World::new(settings).map_err(|e| bad(scene, "the scene", &e))?;
        let mut stage = Self {
            world,
            keys: Vec::new(),
            softs: Vec::new(),
            impact_map: None,
            warnings,
            names: BTreeMap::new(),
            scene: scene.clone(),
            least_dihedral_deg: None,
        };
        stage.listen(0.0);
        stage.add_bodies(plan)?;
        for bridge in &scene.bridges {
            stage.bridge(plan, bridge)?;
        }
        script::schedule(scene, plan, &stage.keys, &mut stage.world)?;
        stage.impact_map = hail::begin(scene, plan, &stage.keys, &mut stage.world)?;
        stage.add_softs(progress)?;
        for (bodies, depth_m) in stage.world.initial_overlaps().into_iter().take(5) {
            let [a, b] = bodies.map(|key| stage.name(Some(key)));
            let depth = 1e3 * depth_m;
            let message = format!("`{a}` and `{b}` overlap by {depth:.1} mm at the beginning and will be pushed apart");
            stage.warnings.push(message);
        }
        Ok((stage, out))
    }

    fn add_bodies(&mut self, plan: &Plan) -> Result<(), Error> {
        for planned in &plan.bodies {
            let body = &planned.body;
            let world_body = planned.world_body();
            let key = self.world.insert(world_body).map_err(|e| self.bad(&body.name, &e))?;
            self.names.insert(key, body.name.clone());
            self.keys.push(key);
        }
        // Bodies that sound through others come after all those others.
        for (number, planned) in plan.bodies.iter().enumerate() {
            let Some(other) = &planned.body.shares else { continue };
            let silent = || Error::Scene {
                file: self.scene.file.clone(),
                message: format!("body `{}` shares `{other}`, which does not sound", planned.body.name),
            };
            let with = plan.find(other).filter(|&n| plan.bodies[n].model.is_some()).ok_or_else(silent)?;
            let sound = Sound::Shared { with: self.keys[with], factor: 1.0 };
            self.world.set_sound(self.keys[number], sound).map_err(|e| self.bad(&planned.body.name, &e))?;
        }
        Ok(())
    }

    fn bridge(&mut self, plan: &Plan, bridge: &Bridge) -> Result<(), Error> {
        let silent = |name: &str| Error::Scene {
            file: self.scene.file.clone(),
            message: format!("a [[bridge]] names `{name}`, which does not sound"),
        };
        let find = |name: &str| plan.find(name).map(|n| self.keys[n]).ok_or_else(|| silent(name));
        let (from, to) = (find(&bridge.from)?, find(&bridge.to)?);
        let settings = eigentone_world::Bridge {
            at: bridge.at.map(Vec3::from_array),
            direction: Vec3::from_array(bridge.direction),
            coupling: bridge.coupling as f32,
            low_pass_hz: bridge.low_pass_hz,
            gap: Gap { size_pa: bridge.gap_pa.unwrap_or(0.0) as f32, one_sided: bridge.one_sided },
            direct: bridge.direct as f32,
        };
        for (key, name) in [(from, &bridge.from), (to, &bridge.to)] {
            self.world.model(key).ok_or_else(|| silent(name))?;
        }
        self.world.bridge(from, to, &settings).map_err(|e| self.bad(&bridge.to, &e))?;
        Ok(())
    }

    fn add_softs(&mut self, progress: &Progress<'_>) -> Result<(), Error> {
        for soft in &self.scene.softs.clone() {
            let made = soft::make::body(&self.scene, soft, progress)?;
            let least = made.quality.least_dihedral_deg;
            self.least_dihedral_deg = Some(self.least_dihedral_deg.map_or(least, |l: f64| l.min(least)));
            self.warnings.extend(made.warnings);
            let spec = eigentone_world::SoftSpec {
                body: made.body,
                start: made.stretched,
                radiation: soft::law(self.scene.soft_physics.radiation),
            };
            let gain = if soft.silent { 0.0 } else { Decibels(soft.gain_db).amplitude() as f32 };
            let body = WorldBody::soft(spec).name(soft.name.clone()).gain(gain);
            let key = self.world.insert(body).map_err(|e| self.bad(&soft.name, &e))?;
            self.names.insert(key, soft.name.clone());
            self.softs.push(key);
        }
        Ok(())
    }

    fn bad(&self, name: &str, error: &WorldError) -> Error {
        bad(&self.scene, name, error)
    }

    /// The name of a body in the scene file; empty for none.
    pub fn name(&self, key: Option<BodyKey>) -> String {
        key.and_then(|key| self.names.get(&key).cloned()).unwrap_or_default()
    }

    pub(super) fn refused(&self, error: &WorldError) -> Error {
        Error::Scene { file: self.scene.file.clone(), message: error.to_string() }
    }

    /// Moves the listener to where the scene has it at a time.
    pub fn listen(&mut self, time_s: f64) {
        let (position, look) = self.scene.listener.at(time_s);
        self.world.set_listener(Pose::looking(position, look));
    }

    /// Plays contacts from elsewhere in place of the scene's own physics.
    pub(super) fn replay(&mut self, source: Box<dyn MotionSource>) {
        self.world.set_motion_source(Some(source));
    }

    /// What the scene does by itself before the step that ends at a time: it stops where it says so.
    pub fn direct(&mut self, end_s: f64) {
        let stop_s = self.scene.physics.stop_s.unwrap_or(f64::INFINITY).min(self.scene.duration_s);
        self.world.set_physics_enabled(end_s <= stop_s);
        if end_s > self.scene.duration_s + 0.5 * self.scene.physics.step_s && self.world.hail().is_some() {
            // It only ends: there is nothing that could be refused.
            let _ = self.world.set_hail(None);
        }
    }

    /// What has happened, in the words of a scene. Warnings of the world are kept.
    ///
    /// # Errors
    /// If what moves bodies broke down.
    pub fn events(&mut self) -> Result<Vec<EventRecord>, Error> {
        let mut records = Vec::new();
        for event in self.world.drain_events().collect::<Vec<_>>() {
            records.extend(self.record(event)?);
        }
        Ok(records)
    }

    fn record(&mut self, event: WorldEvent) -> Result<Option<EventRecord>, Error> {
        let (kind, bodies, position, impulse_ns, approach_m_s) = match event.kind {
            Heard::Impact { bodies, position, impulse_ns, approach_m_s, particle } => {
                if let (Some(impact), Some(map)) = (&particle, &mut self.impact_map) {
                    map.record(impact);
                }
                if particle.is_some() && bodies[1].is_none() {
                    return Ok(None);
                }
                (EventKind::Impact, bodies, position, Some(impulse_ns), approach_m_s)
            }
            Heard::ContactBegin { bodies, position } => (EventKind::ContactBegin, bodies, position, None, None),
            Heard::ContactEnd { bodies, position } => (EventKind::ContactEnd, bodies, position, None, None),
            Heard::MotionFailed { why } => {
                return Err(Error::Scene { file: self.scene.file.clone(), message: why });
            }
            Heard::Frozen { body } => {
                let name = self.name(Some(body));
                self.warnings.push(format!("body `{name}` flew out of the world and stands still now"));
                return Ok(None);
            }
            Heard::SoftFailed { body, why } => {
                let message = format!("soft bodies: {why}");
                return if self.softs.contains(&body) {
                    Err(Error::Scene { file: self.scene.file.clone(), message })
                } else {
                    Ok(None)
                };
            }
            Heard::Refused { body, why } => {
                let name = self.name(Some(body));
                self.warnings.push(format!("an [[event]] of body `{name}` was passed over: {why}"));
                return Ok(None);
            }
            _ => return Ok(None),
        };
        let [body_a, body_b] = bodies.map(|key| self.name(key));
        Ok(Some(EventRecord { time_s: event.time_s, kind, body_a, body_b, position, impulse_ns, approach_m_s }))
    }
}

fn bad(scene: &Scene, name: &str, error: &WorldError) -> Error {
    Error::Scene { file: scene.file.clone(), message: format!("body `{name}`: {error}") }
}

/// What may be left out. Unlike the engine's own default nothing is masked unless the scene says so: a file is listened to more than once.
fn quality(scene: &Scene) -> Quality {
    let q = &scene.quality;
    Quality {
        truncation_pa: q.truncation_pa as f32,
        masking: q.masking_offset_db().map(|offset_db| Masking {
            offset_db: offset_db as f32,
            playback: Playback::TotalAt(q.playback_db as f32),
            compensate: q.compensate,
        }),
        budget: q.budget.map(|modes| Budget { modes, slope: q.slope as f32 }),
    }
}

/// How its modes are changed by taste.
fn voicing(body: &Body) -> Voicing {
    let edit = |e: &super::ModeEdit| ModeEdit {
        mode: e.mode,
        frequency: e.frequency,
        decay: e.decay,
        gain: e.gain,
        kind: match (e.add, e.delete) {
            (true, _) => EditKind::Add,
            (_, true) => EditKind::Delete,
            _ => EditKind::Change,
        },
    };
    Voicing { brightness_db: body.brightness_db, edits: body.mode_edits.iter().map(edit).collect() }
}

/// How a body resonates beside its modes: pitch that follows loudness, modes that drive each other.
pub fn resonator(body: &Body) -> (Option<Glide>, Option<Nonlinear>) {
    let glide =
        |g: super::Glide| Glide { amount: g.amount as f32, energy_pa2: g.energy_pa2 as f32, focus: g.focus as f32 };
    (body.glide.map(glide), body.nonlinear.map(nonlinear))
}

fn nonlinear(n: super::Nonlinear) -> Nonlinear {
    Nonlinear {
        sections: n.sections,
        coupling: n.coupling as f32,
        reference_pa: n.reference_pa as f32,
        shaper: match n.shaper {
            ShaperChoice::Square => eigentone_synth::Shaper::Square,
            ShaperChoice::SignedSquare => eigentone_synth::Shaper::SignedSquare,
            ShaperChoice::Saturating => eigentone_synth::Shaper::Saturating,
        },
    }
}

/// How a body moves.
fn kind(body: &Body) -> Kind {
    let key = |k: &super::Key| eigentone_sim::rigid::Key {
        time_s: k.time_s,
        position: Vec3::from_array(k.position),
        rotation: k.rotation.quaternion(),
    };
    if body.collider == ColliderChoice::None || body.is_fixed() {
        Kind::Fixed
    } else if !body.path.is_empty() {
        Kind::Path(body.path.iter().map(key).collect())
    } else if body.kinematic {
        Kind::Kinematic
    } else {
        Kind::Dynamic
    }
}

impl super::Planned {
    /// It as a world takes it. Bodies that share another's resonator are silent until they are told whose.
    pub fn world_body(&self) -> WorldBody {
        let body = &self.body;
        WorldBody {
            name: body.name.clone(),
            kind: kind(body),
            material: MaterialRef::Material(Arc::new(self.material.clone())),
            sound: match (&self.pending, &self.model) {
                (Some(settings), _) => Sound::MadeWith(settings.clone()),
                (None, Some(model)) => Sound::Model(model.clone()),
                (None, None) => Sound::Silent,
            },
            surface: Surface::Ready(self.surface.clone()),
            surface_map: self.surface_map.clone(),
            mass_kg: Some(self.mass_kg),
            friction: body.friction,
            restitution: body.restitution,
            rolling_resistance: body.rolling_resistance,
            position: Vec3::from_array(body.position),
            rotation: DQuat::from_array(body.rotation.quaternion()),
            velocity: Vec3::from_array(body.velocity),
            spin: Vec3::from_array(body.spin),
            present: self.is_present(),
            params: Params {
                gain: Decibels(body.gain_db).amplitude() as f32,
                emphasis: body.emphasis as f32,
                damping: body.damping as f32,
                frequency: body.pitch as f32,
                size: body.size,
                ..Params::default()
            },
            voicing: voicing(body),
            strain_sensitivity: body.strain_sensitivity as f32,
            glide: resonator(body).0,
            nonlinear: resonator(body).1,
            diffuse: body.diffuse.clone(),
            directivity: body.directivity.map(|d| eigentone_space::directivity::Directivity {
                axis: Vec3::from_array(d.axis),
                pattern: d.pattern as f32,
                cutoff_hz: d.cutoff_hz as f32,
            }),
            ..WorldBody::dynamic(self.shape())
        }
    }

    /// Its form, and what collides in its place.
    pub(super) fn shape(&self) -> eigentone_world::Shape {
        let (body, s) = (&self.body, self.scale);
        let slab = |x: f64, y: f64| Collider::Box { half: 0.5 * Vec3::new(x, y, self.wall_m()) };
        let collider = match (body.collider, &body.shape) {
            (ColliderChoice::None, _) => Collider::None,
            (_, Shape::Plane) => Collider::Floor,
            (ColliderChoice::Hull, _) => Collider::Hull,
            (ColliderChoice::Decomposed, _) => Collider::Decomposed,
            (ColliderChoice::Mesh, _) => Collider::Triangles,
            (_, Shape::Box(size) | Shape::Bar(size)) => Collider::Box { half: 0.5 * s * Vec3::from_array(*size) },
            (_, Shape::Sphere(radius)) => Collider::Sphere { radius: s * radius },
            (_, Shape::Plate([x, y])) => slab(s * x, s * y),
            (_, Shape::Disc(radius)) => Collider::Cylinder { half_height: 0.5 * self.wall_m(), radius: s * radius },
            (_, Shape::Ring { radius, stock_radius, .. }) => {
                Collider::Ring { radius: s * radius, stock_radius: s * stock_radius }
            }
            // Round, whatever the facets of its mesh: on those it would rattle. Who wants that asks for the hull.
            (_, &Shape::Cylinder { radius, height, capped: true, .. }) => {
                Collider::Cylinder { half_height: 0.5 * s * height, radius: s * radius }
            }
            _ if body.is_fixed() => Collider::Triangles,
            _ => Collider::Decomposed,
        };
        eigentone_world::Shape { mesh: self.mesh.clone(), collider, thickness_m: body.thickness_m.map(|t| t * s) }
    }
}

/// Contacts from a recorded stream, as what moves a scene.
pub(super) struct Recorded {
    pub stream: super::stream::Replay,
    pub step_s: f64,
}

impl MotionSource for Recorded {
    fn frames(&mut self, _begin_s: f64, end_s: f64) -> Result<Vec<ContactFrame>, String> {
        let nothing = ContactFrame { time_s: end_s, step_s: self.step_s, ..ContactFrame::default() };
        self.stream.until(end_s - 1e-6 * self.step_s, nothing).map_err(|e| e.to_string())
    }
}

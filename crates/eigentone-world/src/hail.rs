//! Hail: a cloud of particles over bodies, and the blows they give.

use crate::body::Kind;
use crate::error::WorldError;
use crate::events::{EventKind, WorldEvent};
use crate::key::BodyKey;
use crate::world::World;
use eigentone_core::contact::Pose;
use eigentone_core::event::{Action, Event, Moment};
use eigentone_core::{ModalModel, SiteTree, Vec3};
use eigentone_sim::particles::{self, Cloud, Collider, EnergyLaw, Impact, ParticleError, Region, Simulation};
use eigentone_synth::ContactTime;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A cloud of particles, and what it strikes: see [`World::set_hail`].
#[derive(Clone, Debug, PartialEq)]
pub struct HailSettings {
    /// Where particles come from, how many and how heavy.
    pub cloud: Cloud,
    /// What they strike.
    pub colliders: Vec<HailCollider>,
    /// Stiffness of a particle's contact, in N/m.
    pub hardness_n_m: f64,
    /// Length of a blow in s; from hardness and masses if not given.
    pub duration_s: Option<f64>,
}

/// A surface that particles strike.
#[derive(Clone, Debug, PartialEq)]
pub struct HailCollider {
    /// Its form: in the frame of the body it moves with, or in the world.
    pub collider: Collider,
    /// The body it moves with.
    pub moves_with: Option<BodyKey>,
    /// Which body sounds at each of its parts; part 0 is all that no other part claims.
    pub parts: Vec<Option<BodyKey>>,
}

/// Hail that falls.
#[derive(Clone, Debug)]
pub(crate) struct Hail {
    pub settings: HailSettings,
    pub simulation: Simulation,
    impacts: Vec<Impact>,
    /// Places on models, sorted once each.
    sites: BTreeMap<BodyKey, (Arc<ModalModel>, Arc<SiteTree>)>,
    /// Game time at which the cloud's own clock began.
    pub began_s: f64,
}

impl Hail {
    fn new(settings: HailSettings, began_s: f64) -> Result<Self, ParticleError> {
        let colliders = settings.colliders.iter().map(|c| c.collider.clone()).collect();
        let simulation = Simulation::new(settings.cloud.clone(), colliders)?;
        Ok(Self { settings, simulation, impacts: Vec::new(), sites: BTreeMap::new(), began_s })
    }
}

impl World {
    /// Lets it hail from now on, or stops it.
    ///
    /// # Errors
    /// If the cloud or a collider makes no sense.
    pub fn set_hail(&mut self, settings: Option<HailSettings>) -> Result<(), WorldError> {
        self.hail = match settings {
            Some(settings) => Some(Hail::new(settings, self.time.now_s)?),
            None => None,
        };
        Ok(())
    }

    /// The hail that falls.
    pub fn hail(&self) -> Option<&HailSettings> {
        self.hail.as_ref().map(|hail| &hail.settings)
    }

    /// Where the particles in flight are, for pictures.
    pub fn hail_positions(&self) -> impl Iterator<Item = Vec3> {
        self.hail.iter().flat_map(|hail| hail.simulation.positions())
    }

    /// Moves the cloud: from now on particles start there.
    ///
    /// # Errors
    /// If it does not hail, or the place makes no sense.
    pub fn place_cloud(&mut self, region: Region) -> Result<(), WorldError> {
        let hail = self.hailing()?;
        hail.simulation.place_cloud(region)?;
        hail.settings.cloud.region = region;
        Ok(())
    }

    /// Changes how many particles are in flight.
    ///
    /// # Errors
    /// If it does not hail, or they are too many.
    pub fn set_particles(&mut self, particles: usize) -> Result<(), WorldError> {
        let hail = self.hailing()?;
        hail.simulation.set_particles(particles)?;
        hail.settings.cloud.particles = particles;
        Ok(())
    }

    /// Changes how heavy particles are, from and to in kg, and how their energies are spread.
    ///
    /// # Errors
    /// If it does not hail, or a number makes no sense.
    pub fn set_stones(&mut self, mass_kg: [f64; 2], energy: EnergyLaw) -> Result<(), WorldError> {
        let hail = self.hailing()?;
        let cloud = Cloud { mass_kg, energy, ..hail.settings.cloud.clone() };
        hail.simulation.set_cloud(cloud.clone())?;
        hail.settings.cloud = cloud;
        Ok(())
    }

    fn hailing(&mut self) -> Result<&mut Hail, WorldError> {
        self.hail.as_mut().ok_or(WorldError::Unfit("it does not hail; `set_hail` begins it"))
    }

    /// Particles fall until a game time, and strike.
    pub(crate) fn run_hail(&mut self, until_s: f64) {
        let Some(mut hail) = self.hail.take() else { return };
        for (index, collider) in hail.settings.colliders.iter().enumerate() {
            let Some(key) = collider.moves_with else { continue };
            let spin = self.rigid.get().spin(key.number()).unwrap_or_default();
            if let Some(pose) = self.pose(key) {
                let position = Vec3::from_array(pose.position.map(f64::from));
                let velocity = Vec3::from_array(pose.velocity.map(f64::from));
                // What makes no sense leaves the collider where it is.
                let _ = hail.simulation.set_collider_pose(
                    index,
                    particles::Pose { position, rotation: pose.rotation.map(f64::from) },
                    velocity,
                    spin,
                );
            }
        }
        hail.impacts.clear();
        let (simulation, impacts) = (&mut hail.simulation, &mut hail.impacts);
        simulation.advance(until_s - hail.began_s, impacts);
        let (rate_hz, hardness_n_m, fixed_s) =
            (self.settings.sample_rate_hz, hail.settings.hardness_n_m, hail.settings.duration_s);
        for impact in std::mem::take(&mut hail.impacts) {
            let time_s = impact.time_s + hail.began_s;
            let parts = hail.settings.colliders.get(impact.collider as usize).map(|c| &c.parts);
            let struck = parts.and_then(|parts| parts.get(impact.part as usize).copied().flatten());
            let at = Moment::at(self.clock.audio_s(time_s), rate_hz);
            if let Some(key) = struck {
                self.strike_with(&impact, key, at, hardness_n_m, fixed_s, &mut hail.sites);
            }
            self.say(WorldEvent {
                time_s,
                kind: EventKind::Impact {
                    bodies: [None, struck],
                    position: impact.position.to_array().map(|x| x as f32),
                    impulse_ns: impact.impulse_ns.length() as f32,
                    approach_m_s: None,
                    particle: Some(impact),
                },
            });
        }
        self.hail = Some(hail);
    }

    fn strike_with(
        &mut self,
        impact: &Impact,
        key: BodyKey,
        at: Moment,
        hardness_n_m: f64,
        fixed_s: Option<f64>,
        sites: &mut BTreeMap<BodyKey, (Arc<ModalModel>, Arc<SiteTree>)>,
    ) {
        let Some((id, model, mass_kg, pose)) = self.struck(key) else { return };
        let known = sites.get(&key).filter(|(of, _)| Arc::ptr_eq(of, &model)).map(|(_, tree)| tree.clone());
        let tree = known.unwrap_or_else(|| {
            let tree = Arc::new(SiteTree::new(&model.surface));
            sites.insert(key, (model, tree.clone()));
            tree
        });
        let place = impact.position.to_array().map(|x| x as f32);
        let Some(site) = tree.on_triangle(pose.to_local(place)) else { return };
        let mass_kg = 1.0 / (1.0 / impact.mass_kg + 1.0 / mass_kg);
        let contact = ContactTime { mass_kg, stiffness_n_m: hardness_n_m };
        let action = Action::Blow {
            site,
            impulse_ns: pose.direction_to_local(impact.impulse_ns).to_array().map(|x| x as f32),
            duration_s: fixed_s.unwrap_or_else(|| contact.seconds()) as f32,
        };
        self.wake(key);
        self.send(Event { time: at, body: id, action });
    }

    /// What a blow needs to know of a body that sounds.
    fn struck(&self, key: BodyKey) -> Option<(eigentone_core::event::BodyId, Arc<ModalModel>, f64, Pose)> {
        let state = self.bodies.get(key)?;
        let mass_kg = if *state.body.moved_by() == Kind::Fixed { f64::INFINITY } else { state.mass_kg };
        Some((state.engine?, self.model(key)?.clone(), mass_kg, state.pose))
    }
}

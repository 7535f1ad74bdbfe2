//! `[particles]`: from impacts of particles to blows on bodies.

use super::plan::Plan;
use super::report::EventRecord;
use super::{ColliderShape, Energy, Region, Scene};
use crate::Error;
use eigentone_core::contact::Pose;
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::{SiteTree, Vec3};
use eigentone_sim::particles::{
    self, Cloud, Collider, EnergyLaw, Frame, Impact, ImpactMap, Quadric, Shape, Simulation,
};
use eigentone_synth::{ContactTime, Handle};

/// Cells of the impact map along each side of a collider.
const CELLS: usize = 64;

/// A body that hail strikes.
#[derive(Debug)]
struct Target {
    name: String,
    body: BodyId,
    sites: SiteTree,
    pose: Pose,
    mass_kg: f64,
}

/// Hail, and what it strikes.
#[derive(Debug)]
pub(super) struct Hail {
    simulation: Simulation,
    /// Which body sounds at each part of each collider; part 0 is all that no other part claims.
    parts: Vec<Vec<Option<usize>>>,
    targets: Vec<Target>,
    impacts: Vec<Impact>,
    map: ImpactMap,
    hardness_n_m: f64,
    duration_s: Option<f64>,
    rate_hz: f64,
}

impl Hail {
    pub fn new(scene: &Scene, plan: &Plan, ids: &[Option<BodyId>]) -> Result<Option<Self>, Error> {
        let Some(settings) = &scene.particles else { return Ok(None) };
        let bad = |message: String| Error::Scene { file: scene.file.clone(), message };
        let mut targets: Vec<Target> = Vec::new();
        let mut target = |name: &str| -> Result<usize, Error> {
            if let Some(known) = targets.iter().position(|t| t.name == name) {
                return Ok(known);
            }
            let number =
                plan.find(name).ok_or_else(|| bad(format!("a [[collider]] names `{name}`, which does not exist")))?;
            let planned = &plan.bodies[number];
            let (Some(body), Some(model)) = (ids[number], &planned.model) else {
                return Err(bad(format!("a [[collider]] names `{name}`, which makes no sound")));
            };
            targets.push(Target {
                name: name.to_owned(),
                body,
                sites: SiteTree::new(&model.surface),
                pose: planned.pose(number as u32),
                mass_kg: planned.blow_mass_kg(),
            });
            Ok(targets.len() - 1)
        };
        let (mut colliders, mut parts) = (Vec::new(), Vec::new());
        for collider in &scene.colliders {
            let mut built = Collider::new(shape(&collider.shape));
            let mut sounding = vec![collider.body.as_deref().map(&mut target).transpose()?];
            for part in &collider.parts {
                built = built.with_part(part.u, part.v, sounding.len() as u32);
                sounding.push(Some(target(&part.body)?));
            }
            colliders.push(built);
            parts.push(sounding);
        }
        let cloud = cloud(scene, settings);
        let count = colliders.len();
        let mut simulation = Simulation::new(cloud.clone(), colliders.clone()).map_err(|e| bad(e.to_string()))?;
        if let Some(rate) = settings.rate {
            // How many impacts a second come of this many particles is tried on a copy of the scene, for two seconds from when all have begun to arrive.
            let (mut trial, mut impacts) = (simulation, Vec::new());
            while impacts.is_empty() && trial.now_s() < cloud.onset_s + cloud.longest_flight_s {
                trial.advance(trial.now_s() + 1.0, &mut impacts);
            }
            let from_s = trial.now_s() + cloud.onset_s;
            trial.advance(from_s + 2.0, &mut impacts);
            let sounds = |i: &&Impact| {
                let part = parts[i.collider as usize].get(i.part as usize).copied().flatten();
                i.time_s > from_s && part.is_some()
            };
            let late = impacts.iter().filter(sounds).count() as f64 / 2.0;
            if late == 0.0 {
                return Err(bad(
                    "[particles] `rate`: no particle strikes a body that sounds; check the region".to_owned()
                ));
            }
            let wanted = (cloud.particles as f64 * rate / late).round().clamp(1.0, 1e6) as usize;
            let cloud = Cloud { particles: wanted, ..cloud };
            simulation = Simulation::new(cloud, colliders).map_err(|e| bad(e.to_string()))?;
        }
        let map = ImpactMap::new(count, CELLS, CELLS).map_err(|e| bad(e.to_string()))?.with_totals();
        Ok(Some(Self {
            simulation,
            parts,
            targets,
            impacts: Vec::new(),
            map,
            hardness_n_m: settings.hardness,
            duration_s: settings.duration_s,
            rate_hz: scene.output.sample_rate_hz,
        }))
    }

    /// The impacts until this time.
    pub fn step(&mut self, until_s: f64, handle: &mut Handle, events: &mut Vec<EventRecord>) -> Result<(), Error> {
        self.impacts.clear();
        self.simulation.advance(until_s, &mut self.impacts);
        for impact in &self.impacts {
            self.map.record(impact);
            let sounding = self.parts[impact.collider as usize].get(impact.part as usize).copied().flatten();
            let Some(target) = sounding.map(|t| &self.targets[t]) else { continue };
            let place = impact.position.to_array().map(|x| x as f32);
            let Some(site) = target.sites.on_triangle(target.pose.to_local(place)) else { continue };
            let mass_kg = 1.0 / (1.0 / impact.mass_kg + 1.0 / target.mass_kg);
            let contact = ContactTime { mass_kg, stiffness_n_m: self.hardness_n_m };
            let impulse = target.pose.direction_to_local(impact.impulse_ns);
            let action = Action::Blow {
                site,
                impulse_ns: impulse.to_array().map(|x| x as f32),
                duration_s: self.duration_s.unwrap_or_else(|| contact.seconds()) as f32,
            };
            handle.send(Event { time: Moment::at(impact.time_s, self.rate_hz), body: target.body, action })?;
            events.push(EventRecord::struck(impact.time_s, &target.name, place, impact.impulse_ns));
        }
        Ok(())
    }

    /// Where and how hard it has struck.
    pub fn into_map(self) -> ImpactMap {
        self.map
    }
}

fn cloud(scene: &Scene, settings: &super::Particles) -> Cloud {
    let v = Vec3::from_array;
    Cloud {
        particles: settings.particles,
        region: match settings.region {
            Region::Box { low, high } => particles::Region::Box { low: v(low), high: v(high) },
            Region::Disc { centre, normal, radius } => {
                particles::Region::Disc { centre: v(centre), normal: v(normal), radius_m: radius }
            }
        },
        velocity_m_s: v(settings.velocity),
        spread_m_s: settings.spread_m_s,
        gravity_m_s2: v(settings.gravity.unwrap_or(scene.physics.gravity)),
        mass_kg: settings.mass_kg,
        energy: match settings.energy {
            Energy::InverseE { most_j, ratio } => EnergyLaw::InverseE { most_j, ratio },
            Energy::Box { most_j, ratio } => EnergyLaw::Box { most_j, ratio },
            Energy::Kinetic => EnergyLaw::Kinetic,
        },
        restitution: settings.restitution,
        slide: settings.slide,
        bounces: settings.bounces,
        regenerate: settings.regenerate,
        onset_s: settings.onset_s,
        longest_flight_s: settings.longest_flight_s,
        seed: settings.seed.unwrap_or(scene.seed),
    }
}

fn shape(shape: &ColliderShape) -> Shape {
    let v = Vec3::from_array;
    match *shape {
        ColliderShape::Quad { corner, edges } => Shape::Quad { corner: v(corner), edges: edges.map(v) },
        ColliderShape::Disc { centre, normal, radius } => Shape::disc(v(centre), v(normal), radius),
        ColliderShape::Ellipse { centre, axes } => Shape::Disc { centre: v(centre), axes: axes.map(v) },
        ColliderShape::Sphere { centre, radius } => Shape::Sphere { centre: v(centre), radius_m: radius },
        ColliderShape::Cylinder { base, axis, radius } => {
            Shape::Cylinder { base: v(base), axis: v(axis), radius_m: radius }
        }
        ColliderShape::Quadric { origin, axes, a, b, c, low, high } => Shape::Quadric {
            frame: Frame { origin: v(origin), axes: axes.map(v) },
            surface: Quadric { a: a.map(v), b: v(b), c, low: v(low), high: v(high) },
        },
    }
}

//! `[particles]`: hail over the bodies of a scene.

use super::plan::Plan;
use super::{ColliderShape, Energy, Region, Scene};
use crate::Error;
use eigentone_core::Vec3;
use eigentone_sim::particles::{
    self, Cloud, Collider, EnergyLaw, Frame, Impact, ImpactMap, Quadric, Shape, Simulation,
};
use eigentone_world::{BodyKey, HailCollider, HailSettings, World};

/// Cells of the impact map along each side of a collider.
const CELLS: usize = 64;

/// Lets it hail as the scene says, and gives the map of where it will strike.
pub(super) fn begin(
    scene: &Scene,
    plan: &Plan,
    keys: &[BodyKey],
    world: &mut World,
) -> Result<Option<ImpactMap>, Error> {
    let Some(settings) = &scene.particles else { return Ok(None) };
    let bad = |message: String| Error::Scene { file: scene.file.clone(), message };
    let target = |name: &str| {
        let number =
            plan.find(name).ok_or_else(|| bad(format!("a [[collider]] names `{name}`, which does not exist")))?;
        if plan.bodies[number].model.is_none() {
            return Err(bad(format!("a [[collider]] names `{name}`, which makes no sound")));
        }
        Ok(keys[number])
    };
    let mut colliders = Vec::new();
    for collider in &scene.colliders {
        let mut built = Collider::new(shape(&collider.shape));
        let mut parts = vec![collider.body.as_deref().map(target).transpose()?];
        for part in &collider.parts {
            built = built.with_part(part.u, part.v, parts.len() as u32);
            parts.push(Some(target(&part.body)?));
        }
        colliders.push(HailCollider { collider: built, moves_with: None, parts });
    }
    let mut cloud = cloud(scene, settings);
    if let Some(rate) = settings.rate {
        cloud.particles = particles_for(rate, &cloud, &colliders).map_err(bad)?;
    }
    let map = ImpactMap::new(colliders.len(), CELLS, CELLS).map_err(|e| bad(e.to_string()))?.with_totals();
    let hail = HailSettings { cloud, colliders, hardness_n_m: settings.hardness, duration_s: settings.duration_s };
    world.set_hail(Some(hail)).map_err(|e| bad(e.to_string()))?;
    Ok(Some(map))
}

/// How many particles make so many impacts a second: tried on a copy of the scene, for two seconds from when all have begun to arrive.
fn particles_for(rate: f64, cloud: &Cloud, colliders: &[HailCollider]) -> Result<usize, String> {
    let shapes = colliders.iter().map(|c| c.collider.clone()).collect();
    let mut trial = Simulation::new(cloud.clone(), shapes).map_err(|e| e.to_string())?;
    let mut impacts = Vec::new();
    while impacts.is_empty() && trial.now_s() < cloud.onset_s + cloud.longest_flight_s {
        trial.advance(trial.now_s() + 1.0, &mut impacts);
    }
    let from_s = trial.now_s() + cloud.onset_s;
    trial.advance(from_s + 2.0, &mut impacts);
    let sounds = |i: &&Impact| {
        let part = colliders[i.collider as usize].parts.get(i.part as usize).copied().flatten();
        i.time_s > from_s && part.is_some()
    };
    let late = impacts.iter().filter(sounds).count() as f64 / 2.0;
    if late == 0.0 {
        return Err("[particles] `rate`: no particle strikes a body that sounds; check the region".to_owned());
    }
    Ok((cloud.particles as f64 * rate / late).round().clamp(1.0, 1e6) as usize)
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

//! Plays the soft bodies of a scene.

use super::air::Air;
use super::film::Film;
use super::make;
use crate::Error;
use crate::scene::report::{EventKind, EventRecord, SoftCounts};
use crate::scene::{RenderOptions, Scene};
use eigentone_core::Vec3;
use eigentone_io::Recorded;
use eigentone_modal::Progress;
use eigentone_sim::soft::{SoftError, SoftWorld, Touch, WorldSettings};
use std::sync::Arc;
use std::time::Instant;

/// What is heard and seen of soft bodies.
pub struct SoftSound {
    pub events: Vec<EventRecord>,
    pub counts: SoftCounts,
    pub simulation_s: f64,
    pub animation: Option<Arc<Recorded>>,
    pub warnings: Vec<String>,
}

/// Steps after which the listener is moved and progress is told.
const TOLD_EVERY: u64 = 256;

/// Simulates and listens, from beginning to end. `hear` gets the samples of both ears one after the other, in Pa: nothing here grows with the duration.
pub fn play(
    scene: &Scene,
    options: &RenderOptions,
    progress: &Progress<'_>,
    hear: &mut (dyn FnMut([f32; 2]) -> Result<(), Error> + Send),
) -> Result<SoftSound, Error> {
    let bad = |e: SoftError| Error::Scene { file: scene.file.clone(), message: format!("soft bodies: {e}") };
    let (colliders, others) = make::colliders(scene);
    let mut warnings: Vec<String> = others
        .into_iter()
        .map(|name| {
            format!(
                "soft bodies do not feel `{name}`: they collide with planes, and with boxes and spheres that are fixed"
            )
        })
        .collect();
    let (mut bodies, mut stretched, mut counts) = (Vec::new(), Vec::new(), SoftCounts::default());
    counts.bodies = scene.softs.len();
    for soft in &scene.softs {
        let made = make::body(scene, soft, progress)?;
        counts.elements += made.body.mesh.tets.len();
        let least = made.quality.least_dihedral_deg;
        counts.least_dihedral_deg = if bodies.is_empty() { least } else { counts.least_dihedral_deg.min(least) };
        warnings.extend(made.warnings);
        stretched.push(made.stretched);
        bodies.push(made.body);
    }
    let settings = WorldSettings {
        gravity_m_s2: Vec3::from_array(scene.physics.gravity),
        step_s: scene.soft_physics.step_s,
        sample_rate_hz: scene.output.sample_rate_hz,
        colliders,
    };
    let names: Vec<String> =
        bodies.iter().map(|b| b.name.clone()).chain(settings.colliders.iter().map(|c| c.name.clone())).collect();
    let mut world = SoftWorld::new(bodies, &settings).map_err(bad)?;
    for (number, to) in stretched.iter().enumerate() {
        if let Some(to) = to {
            world.displace_to(number, to);
        }
    }
    let begin = Instant::now();
    let mut air = Air::new(scene, &scene.softs, &world, &mut warnings)?;
    let mut film = options.animation.as_deref().map(|path| Film::new(path, scene, &scene.softs, &world)).transpose()?;

    let end_s = scene.duration_s + scene.output.tail_s.unwrap_or(0.0);
    let length = (end_s * scene.output.sample_rate_hz) as usize;
    let latency = air.latency();
    let mut sound = SoftSound { events: Vec::new(), counts, simulation_s: 0.0, animation: None, warnings };
    let (mut steps, mut heard) = (0u64, 0);
    let mut fresh: [Vec<f32>; 2] = Default::default();
    while heard < length + latency {
        if steps.is_multiple_of(TOLD_EVERY) {
            let (position, look) = scene.listener.at(world.time_s());
            air.listen(position, look);
            progress.report("simulating soft bodies", (world.time_s() / end_s).min(1.0));
        }
        if let Some(film) = &mut film
            && world.time_s() <= end_s
        {
            film.look(&world)?;
        }
        world.step().map_err(bad)?;
        air.hear(&world, &mut fresh);
        for (left, right) in fresh[0].iter().zip(&fresh[1]) {
            if (latency..length + latency).contains(&heard) {
                hear([*left, *right])?;
            }
            heard += 1;
        }
        fresh.iter_mut().for_each(Vec::clear);
        steps += 1;
    }
    sound.events = world.drain_touches(true).iter().map(|touch| event(touch, &names)).collect();
    sound.counts.steps_per_s = 1.0 / world.step_s();
    sound.counts.divided_most = world.divided_most();
    sound.animation = film.map(Film::finish).transpose()?.map(Arc::new);
    sound.simulation_s = begin.elapsed().as_secs_f64();
    Ok(sound)
}

fn event(touch: &Touch, names: &[String]) -> EventRecord {
    EventRecord {
        time_s: touch.time_s,
        kind: EventKind::Impact,
        body_a: names[touch.body].clone(),
        body_b: names[touch.other].clone(),
        position: touch.position.as_vec3().to_array(),
        impulse_ns: Some(touch.impulse_ns.length() as f32),
        approach_m_s: None,
    }
}

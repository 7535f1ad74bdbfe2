//! What a scene file makes happen by itself, as changes of the world at their times: `[[event]]`, strain, bodies that come, go and are pulled.

use super::plan::Plan;
use super::{Action, ColliderChoice, Event, Impulse, Scene};
use crate::Error;
use eigentone_core::Vec3;
use eigentone_core::units::Decibels;
use eigentone_sim::rigid::Drive;
use eigentone_world::{Blow, BodyKey, Change, Mallet, Strike, Target, World};

/// Strain is sent this often, in s; the engine smooths it over 10 ms.
const STRAIN_EVERY_S: f64 = 0.005;

/// Schedules all of it.
pub(super) fn schedule(scene: &Scene, plan: &Plan, keys: &[BodyKey], world: &mut World) -> Result<(), Error> {
    for event in &scene.events {
        let bad = |message: String| Error::Scene {
            file: scene.file.clone(),
            message: format!("an [[event]] at {} s: {message}", event.time_s),
        };
        let number = plan.find(&event.body).ok_or_else(|| bad(format!("there is no body `{}`", event.body)))?;
        let moves = matches!(event.action, Action::PushNs(_) | Action::Velocity(_));
        if !moves && world.model(keys[number]).is_none() {
            return Err(bad(format!("body `{}` makes no sound", event.body)));
        }
        world.schedule(event.time_s, keys[number], change(event)).map_err(|e| bad(e.to_string()))?;
    }
    let end_s = scene.duration_s + scene.output.tail_s.unwrap_or(0.0);
    for (planned, &key) in plan.bodies.iter().zip(keys) {
        let body = &planned.body;
        let bad = |e: eigentone_world::WorldError| Error::Scene {
            file: scene.file.clone(),
            message: format!("body `{}`: {e}", body.name),
        };
        if planned.model.is_some() {
            for (time_s, strain) in strains(&body.strain, end_s) {
                world.schedule(time_s, key, Change::Strain(strain)).map_err(bad)?;
            }
        }
        if body.collider == ColliderChoice::None {
            continue;
        }
        // At the step whose beginning is nearest.
        let step_s = scene.physics.step_s;
        let mut at =
            |time_s: f64, change: Change| world.schedule((time_s / step_s).round() * step_s, key, change).map_err(bad);
        if let Some(time_s) = body.appears_s.filter(|t| *t > 0.0) {
            at(time_s, Change::Present(true))?;
        }
        if let Some(lives_s) = body.lives_s {
            at(body.appears_s.unwrap_or(0.0).max(0.0) + lives_s, Change::Present(false))?;
        }
        if let Some(drive) = &body.drive {
            let pull = Drive { velocity: Vec3::from_array(drive.velocity), max_force_n: drive.force_n };
            at(drive.from_s.max(0.0), Change::Drive(Some(pull)))?;
            if let Some(to_s) = drive.to_s {
                at(to_s, Change::Drive(None))?;
            }
        }
    }
    Ok(())
}

fn change(event: &Event) -> Change {
    match event.action {
        Action::ImpulseNs(impulse) => {
            let usual = Mallet::default();
            Change::Strike(Strike {
                target: event.at.map_or(Target::Top, |at| Target::Local(Vec3::from_array(at))),
                blow: match impulse {
                    Impulse::Inward(size) => Blow::Inward(size),
                    Impulse::Vector(vector) => Blow::Local(Vec3::from_array(vector)),
                },
                mallet: Mallet {
                    mass_kg: event.mass_kg.unwrap_or(usual.mass_kg),
                    stiffness_n_m: event.hardness.unwrap_or(usual.stiffness_n_m),
                },
                duration_s: event.duration_s,
                pushes: false,
            })
        }
        Action::PushNs(push) => Change::Push { impulse_ns: Vec3::from_array(push), at: event.at.map(Vec3::from_array) },
        Action::Velocity(velocity) => Change::Velocity { velocity: Vec3::from_array(velocity), spin: None },
        Action::Frequency(x) => Change::Frequency(x as f32),
        Action::Strain(x) => Change::Strain(x as f32),
        Action::Emphasis(x) => Change::Emphasis(x as f32),
        Action::Damping(x) => Change::Damping(x as f32),
        Action::GainDb(db) => Change::Gain(Decibels(db).amplitude() as f32),
        Action::Silence => Change::Silence,
    }
}

/// The strain of a body over time, often enough that it moves smoothly.
fn strains(keys: &[[f64; 2]], end_s: f64) -> impl Iterator<Item = (f64, f32)> {
    let first = keys.first().map(|k| (k[0].max(0.0), k[1] as f32));
    let between = keys.windows(2).flat_map(move |pair| {
        let [[from_s, from], [to_s, to]] = [pair[0], pair[1]];
        let steps = ((to_s - from_s) / STRAIN_EVERY_S).ceil().clamp(1.0, 1e9) as usize;
        let at = move |i: usize| from_s + (to_s - from_s) * i as f64 / steps as f64;
        let heard = (1..=steps).take_while(move |&i| at(i - 1) <= end_s);
        heard.map(move |i| (at(i), (from + (to - from) * i as f64 / steps as f64) as f32))
    });
    first.into_iter().chain(between)
}

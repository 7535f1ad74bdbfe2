//! What a scene file makes happen by itself: `[[event]]`, and the strain and damping of bodies.

use super::plan::Plan;
use super::report::EventRecord;
use super::{Action as Scripted, Event as ScriptedEvent, Impulse, Scene};
use crate::Error;
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::units::Decibels;
use eigentone_core::{ModalModel, Vec3};
use eigentone_sim::rigid::{RigidError, World};
use eigentone_synth::contact::Tracker;
use eigentone_synth::{ContactTime, Handle};

/// A blow's stiffness and the mass behind it where the scene does not say: a wooden mallet.
const HARDNESS_N_M: f64 = 1e6;
const MALLET_KG: f64 = 0.05;

/// Strain is sent this often, in s; the engine smooths it over 10 ms.
const STRAIN_EVERY_S: f64 = 0.005;

/// Everything that is scripted, in the order of time.
#[derive(Debug)]
pub(super) struct Script {
    events: Vec<(f64, BodyId, Action)>,
    /// Names of bodies and where they are struck, for the list of what happened.
    blows: Vec<EventRecord>,
    next: usize,
    pushes: Vec<(f64, u32, Push)>,
    /// Loudness that events have given bodies in place of their own.
    gains: Vec<Option<f64>>,
    gain_events: Vec<(f64, usize, f64)>,
    dampings: Vec<(f64, usize, f32)>,
    rate_hz: f64,
}

#[derive(Clone, Copy, Debug)]
enum Push {
    Impulse(Vec3, Option<Vec3>),
    Velocity(Vec3),
}

impl Script {
    pub fn new(
        scene: &Scene,
        plan: &Plan,
        ids: &[Option<BodyId>],
        handle: &mut Handle,
        tracker: &mut Tracker,
    ) -> Result<Self, Error> {
        let rate_hz = scene.output.sample_rate_hz;
        let mut script = Self {
            events: Vec::new(),
            blows: Vec::new(),
            next: 0,
            pushes: Vec::new(),
            gains: vec![None; ids.len()],
            gain_events: Vec::new(),
            dampings: Vec::new(),
            rate_hz,
        };
        for event in &scene.events {
            script.add(event, scene, plan, ids)?;
        }
        for (number, planned) in plan.bodies.iter().enumerate() {
            let Some(id) = ids[number] else { continue };
            if planned.body.damping > 1.0 {
                script.dampings.push((0.0, number, planned.body.damping as f32));
            }
            if planned.body.emphasis != 1.0 {
                script.events.push((0.0, id, Action::Emphasis(planned.body.emphasis as f32)));
            }
            let end_s = scene.duration_s + scene.output.tail_s.unwrap_or(0.0);
            let strains = strains(&planned.body.strain, end_s);
            script.events.extend(strains.map(|(t, strain)| (t, id, Action::Strain(strain))));
        }
        script.events.sort_by(|a, b| a.0.total_cmp(&b.0));
        script.gain_events.sort_by(|a, b| a.0.total_cmp(&b.0));
        script.dampings.sort_by(|a, b| a.0.total_cmp(&b.0));
        script.step(0.0, handle, tracker, &mut Vec::new())?;
        Ok(script)
    }

    fn add(&mut self, event: &ScriptedEvent, scene: &Scene, plan: &Plan, ids: &[Option<BodyId>]) -> Result<(), Error> {
        let bad = |message: String| Error::Scene {
            file: scene.file.clone(),
            message: format!("an [[event]] at {} s: {message}", event.time_s),
        };
        let number = plan.find(&event.body).ok_or_else(|| bad(format!("there is no body `{}`", event.body)))?;
        match event.action {
            Scripted::PushNs(push) => {
                let at = event.at.map(Vec3::from_array);
                self.pushes.push((event.time_s, number as u32, Push::Impulse(Vec3::from_array(push), at)));
                return Ok(());
            }
            Scripted::Velocity(velocity) => {
                self.pushes.push((event.time_s, number as u32, Push::Velocity(Vec3::from_array(velocity))));
                return Ok(());
            }
            _ => {}
        }
        let id = ids[number].ok_or_else(|| bad(format!("body `{}` makes no sound", event.body)))?;
        let action = match event.action {
            Scripted::ImpulseNs(impulse) => {
                let model = plan.model_of(number).ok_or_else(|| bad("it has no model".to_owned()))?;
                let (action, record) =
                    blow(event, impulse, model).ok_or_else(|| bad("its model has no surface to strike".to_owned()))?;
                self.blows.push(record);
                action
            }
            Scripted::Frequency(x) => Action::Frequency(x as f32),
            Scripted::Strain(x) => Action::Strain(x as f32),
            Scripted::Emphasis(x) => Action::Emphasis(x as f32),
            Scripted::Damping(x) => {
                self.dampings.push((event.time_s, number, x as f32));
                return Ok(());
            }
            Scripted::GainDb(db) => {
                self.gain_events.push((event.time_s, number, Decibels(db).amplitude()));
                return Ok(());
            }
            _ => Action::Silence,
        };
        self.events.push((event.time_s, id, action));
        Ok(())
    }

    /// Sends what happens until this time.
    pub fn step(
        &mut self,
        until_s: f64,
        handle: &mut Handle,
        tracker: &mut Tracker,
        happened: &mut Vec<EventRecord>,
    ) -> Result<(), Error> {
        happened.extend(self.blows.extract_if(.., |blow| blow.time_s <= until_s));
        while let Some(&(time_s, body, action)) = self.events.get(self.next).filter(|e| e.0 <= until_s) {
            handle.send(Event { time: Moment::at(time_s, self.rate_hz), body, action })?;
            self.next += 1;
        }
        for (_, number, gain) in self.gain_events.extract_if(.., |e| e.0 <= until_s) {
            self.gains[number] = Some(gain);
        }
        for (_, number, damping) in self.dampings.extract_if(.., |e| e.0 <= until_s) {
            tracker.set_damping(number as u32, damping);
        }
        Ok(())
    }

    /// Loudness that the script has given a body.
    pub fn gain(&self, number: usize) -> Option<f64> {
        self.gains[number]
    }

    /// Pushes bodies of the simulation in this step, counted from one.
    pub fn push(&self, world: &mut World, step: u64, step_s: f64) -> Result<(), RigidError> {
        // By the number of the step: sums of times would count some twice and miss others.
        let in_step = |time_s: f64| (time_s / step_s + 1e-9).floor() as u64 + 1 == step;
        for &(_, body, push) in self.pushes.iter().filter(|p| in_step(p.0)) {
            match push {
                Push::Velocity(velocity) => {
                    let spin = world.spin(body).unwrap_or_default();
                    world.set_velocity(body, velocity, spin)?;
                }
                Push::Impulse(impulse, at) => {
                    let pose = world.pose(body);
                    let place = at.zip(pose).map(|(at, pose)| pose.to_world(at)).or(world.centre_of_mass(body));
                    world.push(body, impulse, place.unwrap_or_default())?;
                }
            }
        }
        Ok(())
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

/// The highest point of a model: where something that falls would strike it.
pub(super) fn top(model: &ModalModel) -> Vec3 {
    let positions = model.surface.positions.iter().map(|p| Vec3::from_array(p.map(f64::from)));
    let count = model.surface.positions.len().max(1) as f64;
    let middle = positions.clone().sum::<Vec3>() / count;
    let highest = positions.map(|p| p.z).fold(f64::NEG_INFINITY, f64::max);
    Vec3::new(middle.x, middle.y, if highest.is_finite() { highest } else { 0.0 })
}

fn blow(event: &ScriptedEvent, impulse: Impulse, model: &ModalModel) -> Option<(Action, EventRecord)> {
    let contact = model.nearest_contact(event.at.map_or_else(|| top(model), Vec3::from_array))?;
    let vector = match impulse {
        Impulse::Inward(size) => -contact.normal * size,
        Impulse::Vector(vector) => Vec3::from_array(vector),
    };
    let duration_s = event.duration_s.unwrap_or_else(|| {
        let mass_kg = ContactTime::effective_mass_kg(event.mass_kg.unwrap_or(MALLET_KG), model.info.mass_kg);
        ContactTime { mass_kg, stiffness_n_m: event.hardness.unwrap_or(HARDNESS_N_M) }.seconds()
    });
    let action = Action::Blow {
        site: contact.blend,
        impulse_ns: vector.to_array().map(|x| x as f32),
        duration_s: duration_s as f32,
    };
    let position = contact.position.to_array().map(|x| x as f32);
    let record = EventRecord::struck(event.time_s, &event.body, position, vector);
    Some((action, record))
}

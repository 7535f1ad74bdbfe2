//! What is done to bodies, at once or at a moment.

use super::insert::{mass_of, rigid_kind};
use super::{Dirty, World, finite};
use crate::body::{Kind, Sound};
use crate::change::Change;
use crate::error::{WorldError, check};
use crate::key::BodyKey;
use eigentone_core::Vec3;
use eigentone_core::event::{Action, Event, Moment};
use glam::DQuat;

/// Changes that wait at most.
const MAX_SCHEDULED: usize = 1 << 20;

impl World {
    /// Does something to a body, now. What the way to the audio side has no room for is sent later; of several changes of the same thing the last one counts.
    ///
    /// # Errors
    /// If the body is gone, or what is asked makes no sense for it.
    pub fn change(&mut self, key: BodyKey, change: Change) -> Result<(), WorldError> {
        self.act(key, change, Moment::NOW, self.time.now_s)
    }

    /// Does something to a body at a game time, to the sample where it is heard. Times that have passed are now. If the body is gone by then, nothing happens.
    ///
    /// # Errors
    /// If the body is gone already, the time is not a number, or a million changes wait.
    pub fn schedule(&mut self, time_s: f64, key: BodyKey, change: Change) -> Result<(), WorldError> {
        self.live(key)?;
        check("the time", time_s, -1e9..=1e9, "finite")?;
        if self.script.len() >= MAX_SCHEDULED {
            return Err(WorldError::Unfit("a million changes wait for their time; schedule them later"));
        }
        self.script.add(time_s, key, change);
        Ok(())
    }

    /// Does something that sounds at a moment of the audio clock and happens at a game time.
    pub(super) fn act(&mut self, key: BodyKey, change: Change, at: Moment, time_s: f64) -> Result<(), WorldError> {
        self.live(key)?;
        match change {
            Change::Strike(strike) => self.strike_at(key, &strike, at, time_s),
            Change::Gain(x) => self.param("the gain", key, x, at, -1e6..=1e6, Param::Gain),
            Change::Emphasis(x) => self.param("the emphasis", key, x, at, 0.0..=1e6, Param::Emphasis),
            Change::Frequency(x) => self.param("the frequency factor", key, x, at, 0.01..=100.0, Param::Frequency),
            Change::Strain(x) => self.param("the strain", key, x, at, -10.0..=10.0, Param::Strain),
            Change::Damping(x) => {
                check("the damping", f64::from(x), 0.0..=1e6, "a factor, 1 to 50")?;
                self.live_mut(key)?.body.params.damping = x;
                self.tracker.set_damping(key.number(), x);
                Ok(())
            }
            Change::Silence => {
                if let Some(id) = self.live(key)?.engine {
                    self.send(Event { time: at, body: id, action: Action::Silence });
                }
                Ok(())
            }
            Change::Sound(sound) => self.set_sound(key, sound),
            Change::Material(stuff) => self.set_stuff(key, stuff),
            Change::Surface(surface) => self.set_surface_of(key, surface),
            other => self.act_on_motion(key, other),
        }
    }

    fn act_on_motion(&mut self, key: BodyKey, change: Change) -> Result<(), WorldError> {
        let number = key.number();
        let is_rigid = self.live(key)?.rigid;
        match change {
            Change::Push { impulse_ns, at } => {
                finite("the push", impulse_ns)?;
                let pose = self.live(key)?.pose;
                self.need_rigid(key)?;
                let rigid = self.rigid.get();
                let place = match at {
                    Some(at) => pose.to_world(finite("the place of the push", at)?),
                    None => rigid.centre_of_mass(number).unwrap_or_default(),
                };
                rigid.push(number, impulse_ns, place)?;
            }
            Change::Pose { position, rotation } => self.move_to(key, position, rotation)?,
            Change::Velocity { velocity, spin } => {
                finite("the velocity", velocity)?;
                if is_rigid {
                    let rigid = self.rigid.get();
                    let spin = spin.or(rigid.spin(number)).unwrap_or_default();
                    rigid.set_velocity(number, velocity, finite("the spin", spin)?)?;
                }
                let body = &mut self.live_mut(key)?.body;
                (body.velocity, body.spin) = (velocity, spin.unwrap_or(body.spin));
            }
            Change::Drive(drive) => {
                self.need_rigid(key)?;
                self.rigid.get().set_drive(number, drive)?;
                self.live_mut(key)?.body.drive = drive;
            }
            Change::Kind(kind) => self.set_kind_of(key, kind)?,
            Change::Present(present) => {
                if is_rigid {
                    self.rigid.get().set_present(number, present)?;
                }
                self.live_mut(key)?.body.present = present;
            }
            Change::Mass(mass_kg) => {
                check("the mass", mass_kg, 1e-9..=1e9, "positive, in kg")?;
                if is_rigid {
                    self.rigid.get().set_mass(number, mass_kg)?;
                }
                let live = self.live_mut(key)?;
                (live.mass_kg, live.body.mass_kg) = (mass_kg, Some(mass_kg));
                self.tell_tracker(key);
            }
            Change::Friction(friction) => {
                check("the friction", friction, 0.0..=100.0, "0 to 100")?;
                if is_rigid {
                    self.rigid.get().set_friction(number, friction)?;
                }
                self.live_mut(key)?.body.friction = Some(friction);
            }
            Change::Restitution(restitution) => {
                check("the restitution", restitution, 0.0..=1.0, "0 to 1")?;
                if is_rigid {
                    self.rigid.get().set_restitution(number, restitution)?;
                }
                self.live_mut(key)?.body.restitution = Some(restitution);
            }
            Change::Size(factor) => self.resize(key, factor)?,
            _ => {}
        }
        Ok(())
    }

    fn need_rigid(&self, key: BodyKey) -> Result<(), WorldError> {
        if self.live(key)?.rigid {
            Ok(())
        } else {
            Err(WorldError::Unfit("the body is not part of the world's own physics: it collides with nothing, or another engine moves it"))
        }
    }

    fn move_to(&mut self, key: BodyKey, position: Vec3, rotation: DQuat) -> Result<(), WorldError> {
        finite("the position", position)?;
        let length = rotation.length();
        check("the length of the rotation's quaternion", length, 1e-3..=1e3, "near one")?;
        let rotation = rotation.normalize();
        if self.live(key)?.rigid {
            self.rigid.get().set_pose(key.number(), position, rotation.to_array())?;
        }
        let live = self.live_mut(key)?;
        (live.body.position, live.body.rotation) = (position, rotation);
        live.pose.position = position.to_array().map(|x| x as f32);
        live.pose.rotation = rotation.to_array().map(|x| x as f32);
        live.excited = true;
        let pose = live.pose;
        self.tracker.set_pose(pose);
        Ok(())
    }

    pub(super) fn set_kind_of(&mut self, key: BodyKey, kind: Kind) -> Result<(), WorldError> {
        let external = [&self.live(key)?.body.kind, &kind].iter().any(|k| **k == Kind::External);
        if external {
            return Err(WorldError::Unfit("a body that another engine moves stays so; remove it and insert another"));
        }
        if self.live(key)?.rigid {
            self.rigid.get().set_kind(key.number(), rigid_kind(&kind))?;
        }
        self.live_mut(key)?.body.kind = kind;
        self.tell_tracker(key);
        Ok(())
    }

    /// All lengths times a factor: frequencies go with its inverse, masses with its cube.
    fn resize(&mut self, key: BodyKey, factor: f64) -> Result<(), WorldError> {
        check("the factor of size", factor, 1e-3..=1e3, "a factor, 0.001 to 1000")?;
        let live = self.live(key)?;
        let shape = live.body.shape.scaled(factor);
        let given = live.body.mass_kg.is_some();
        let mass_kg = live.mass_kg * factor.powi(3);
        check("the mass", mass_kg, 1e-9..=1e9, "positive, in kg")?;
        if live.rigid {
            let moves = live.body.moves();
            let rigid = self.rigid.get();
            if let Some(collider) = shape.rigid(moves) {
                rigid.set_shape(key.number(), &collider)?;
            }
            rigid.set_mass(key.number(), mass_kg)?;
        }
        let live = self.live_mut(key)?;
        live.body.shape = shape;
        live.mass_kg = mass_kg;
        live.body.mass_kg = given.then_some(mass_kg);
        if let Some(model) = live.model.clone() {
            // The sites move with the surface; the modes go with one over the size.
            let scaled = std::sync::Arc::new(super::exchange::scaled(&model, factor));
            if matches!(live.body.sound, Sound::Model(_)) {
                live.body.sound = Sound::Model(scaled.clone());
            }
            live.next = Some(scaled);
            self.exchange(key);
        }
        self.tell_tracker(key);
        Ok(())
    }

    /// Changes one of the parameters of the engine.
    fn param(
        &mut self,
        what: &'static str,
        key: BodyKey,
        x: f32,
        at: Moment,
        range: std::ops::RangeInclusive<f64>,
        which: Param,
    ) -> Result<(), WorldError> {
        check(what, f64::from(x), range, "in range")?;
        let live = self.live_mut(key)?;
        let params = &mut live.body.params;
        let (value, action) = match which {
            Param::Gain => (&mut params.gain, Action::Gain(x)),
            Param::Emphasis => (&mut params.emphasis, Action::Emphasis(x)),
            Param::Frequency => (&mut params.frequency, Action::Frequency(x)),
            Param::Strain => (&mut params.strain, Action::Strain(x)),
        };
        *value = x;
        if let Some(voice) = live.voice
            && which == Param::Gain
        {
            self.voice_gain(voice, x);
            return Ok(());
        }
        let Some(id) = live.engine else { return Ok(()) };
        if self.engine.get().send(Event { time: at, body: id, action }).is_err() {
            let dirty = &mut self.live_mut(key)?.dirty;
            match which {
                Param::Gain => dirty.gain = true,
                Param::Emphasis => dirty.emphasis = true,
                Param::Frequency => dirty.frequency = true,
                Param::Strain => dirty.strain = true,
            }
        }
        Ok(())
    }

    /// Sends what the engine has not been told yet, as far as there is room.
    pub(super) fn flush(&mut self, key: BodyKey) {
        let Some(live) = self.bodies.get_mut(key) else { return };
        let (Some(id), params, dirty) = (live.engine, live.body.params, live.dirty) else { return };
        if dirty == Dirty::default() {
            return;
        }
        let engine = self.engine.get();
        let mut send = |wanted: bool, action: Action| {
            wanted && engine.send(Event { time: Moment::NOW, body: id, action }).is_err()
        };
        live.dirty = Dirty {
            gain: send(dirty.gain, Action::Gain(params.gain)),
            emphasis: send(dirty.emphasis, Action::Emphasis(params.emphasis)),
            frequency: send(dirty.frequency, Action::Frequency(params.frequency)),
            strain: send(dirty.strain, Action::Strain(params.strain)),
        };
    }

    /// Sends something that cannot wait; what finds no room is counted.
    pub(crate) fn send(&mut self, event: Event) {
        self.counts.shed += u64::from(self.engine.get().send(event).is_err());
    }

    /// The tracker learns what has changed of a body.
    pub(super) fn tell_tracker(&mut self, key: BodyKey) {
        if let Some(live) = self.bodies.get(key).cloned() {
            let partner = self.partner(&live);
            self.tracker.replace(key.number(), partner, self.time.now_s, self.engine.get());
        }
    }

    /// The mass of a body changes with what it is made of, unless it was given.
    pub(super) fn weigh(&mut self, key: BodyKey) -> Result<(), WorldError> {
        let live = self.live(key)?;
        if live.body.mass_kg.is_some() {
            return Ok(());
        }
        let mass_kg = mass_of(&live.body, &live.material);
        if live.rigid {
            self.rigid.get().set_mass(key.number(), mass_kg)?;
        }
        self.live_mut(key)?.mass_kg = mass_kg;
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Param {
    Gain,
    Emphasis,
    Frequency,
    Strain,
}

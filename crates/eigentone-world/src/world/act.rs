//! What is done to bodies, at once or at a time.

use super::insert::{mass_of, rigid_kind};
use super::{World, finite};
use crate::body::{Kind, Sound};
use crate::change::Change;
use crate::error::{WorldError, check};
use crate::key::BodyKey;
use crate::settings::Timing;
use eigentone_core::Vec3;
use eigentone_core::event::{Action, Event, Moment};
use glam::DQuat;

/// Changes that wait at most.
const MAX_SCHEDULED: usize = 1 << 20;

impl World {
    /// Does something to a body, now. Parameters are told to the audio side once per advance: of several changes of the same thing the last one counts, and none is lost.
    ///
    /// # Errors
    /// If the body is gone, or what is asked makes no sense for it.
    pub fn change(&mut self, key: BodyKey, change: Change) -> Result<(), WorldError> {
        let at = match self.settings.timing {
            Timing::Live { .. } => Moment::NOW,
            // While time stands still the sound goes on, and what is done then is heard at once.
            Timing::Offline if self.time.paused => Moment::NOW,
            Timing::Offline => self.moment(self.time.now_s),
        };
        self.apply(key, change, at, self.time.now_s, false)
    }

    /// Does something to a body at a game time. Blows and parameters are heard at their sample; what exchanges models or surfaces, or moves bodies, happens at the beginning of the step that the time falls into. If the
    /// body is gone by then, nothing happens.
    ///
    /// # Errors
    /// If the body is gone already, the time is not a number, or a million changes wait.
    pub fn schedule(&mut self, time_s: f64, key: BodyKey, change: Change) -> Result<(), WorldError> {
        self.state(key)?;
        check("the time", time_s, -1e9..=1e9, "finite")?;
        if self.script.len() >= MAX_SCHEDULED {
            return Err(WorldError::Unfit("a million changes wait for their time; schedule them later"));
        }
        self.script.add(time_s, key, change);
        Ok(())
    }

    /// Does something that sounds at a moment of the audio clock and happens at a game time; to its sample if it was scheduled.
    pub(super) fn apply(
        &mut self,
        key: BodyKey,
        change: Change,
        at: Moment,
        time_s: f64,
        scheduled: bool,
    ) -> Result<(), WorldError> {
        self.state(key)?;
        match change {
            Change::Strike(strike) => self.strike_at(key, &strike, at, time_s),
            Change::Gain(x) => self.set_param(key, Param::Gain, x, scheduled.then_some(at)),
            Change::Emphasis(x) => self.set_param(key, Param::Emphasis, x, scheduled.then_some(at)),
            Change::Frequency(x) => self.set_param(key, Param::Frequency, x, scheduled.then_some(at)),
            Change::Strain(x) => self.set_param(key, Param::Strain, x, scheduled.then_some(at)),
            Change::Damping(x) => {
                Param::Damping.check(x)?;
                let body = &mut self.state_mut(key)?.body;
                body.params.damping = x;
                let damping = body.damping_now();
                self.tracker.set_damping(key.number(), damping);
                Ok(())
            }
            Change::Silence => {
                if let Some(id) = self.state(key)?.engine {
                    self.send(Event { time: at, body: id, action: Action::Silence });
                }
                Ok(())
            }
            Change::Sound(sound) => self.set_sound_now(key, sound),
            Change::Material(material) => self.set_material_now(key, material),
            Change::Surface(surface) => self.set_surface_now(key, surface),
            other => self.apply_to_motion(key, other),
        }
    }

    fn apply_to_motion(&mut self, key: BodyKey, change: Change) -> Result<(), WorldError> {
        let number = key.number();
        let is_rigid = self.state(key)?.rigid;
        match change {
            Change::Push { impulse_ns, at } => {
                finite("the push", impulse_ns)?;
                let pose = self.state(key)?.pose;
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
                let body = &mut self.state_mut(key)?.body;
                (body.velocity, body.spin) = (velocity, spin.unwrap_or(body.spin));
            }
            Change::Drive(drive) => {
                self.need_rigid(key)?;
                self.rigid.get().set_drive(number, drive)?;
                self.state_mut(key)?.body.drive = drive;
            }
            Change::Kind(kind) => {
                let external = [&self.state(key)?.body.kind, &kind].iter().any(|k| **k == Kind::External);
                if external {
                    return Err(WorldError::Unfit(
                        "a body that another engine moves stays so; remove it and insert another",
                    ));
                }
                self.set_moved_by(key, kind, self.state(key)?.body.held)?;
            }
            Change::Hold(held) => {
                let kind = self.state(key)?.body.kind.clone();
                if kind == Kind::External {
                    return Err(WorldError::Unfit("a body that another engine moves is held by that engine"));
                }
                self.set_moved_by(key, kind, held)?;
                let damping = self.state(key)?.body.damping_now();
                self.tracker.set_damping(number, damping);
            }
            Change::Present(present) => {
                if is_rigid {
                    self.rigid.get().set_present(number, present)?;
                }
                self.state_mut(key)?.body.present = present;
                self.tell_soft(key);
            }
            Change::Mass(mass_kg) => {
                check("the mass", mass_kg, 1e-9..=1e9, "positive, in kg")?;
                self.state_mut(key)?.body.mass_kg = Some(mass_kg);
                self.weigh(key)?;
            }
            Change::Friction(friction) => {
                check("the friction", friction, 0.0..=100.0, "0 to 100")?;
                if is_rigid {
                    self.rigid.get().set_friction(number, friction)?;
                }
                self.state_mut(key)?.body.friction = Some(friction);
            }
            Change::Restitution(restitution) => {
                check("the restitution", restitution, 0.0..=1.0, "0 to 1")?;
                if is_rigid {
                    self.rigid.get().set_restitution(number, restitution)?;
                }
                self.state_mut(key)?.body.restitution = Some(restitution);
            }
            Change::Size(size) => {
                check("the size", size, 1e-3..=1e3, "a factor, 0.001 to 1000")?;
                self.state_mut(key)?.body.params.size = size;
                self.reshape(key)?;
                self.retune(key);
            }
            _ => {}
        }
        Ok(())
    }

    fn need_rigid(&self, key: BodyKey) -> Result<(), WorldError> {
        if self.state(key)?.rigid {
            Ok(())
        } else {
            Err(WorldError::Unfit(
                "the body is not part of the world's own physics: it collides with nothing, or another engine moves it",
            ))
        }
    }

    fn move_to(&mut self, key: BodyKey, position: Vec3, rotation: DQuat) -> Result<(), WorldError> {
        finite("the position", position)?;
        check("the length of the rotation's quaternion", rotation.length(), 1e-3..=1e3, "near one")?;
        let rotation = rotation.normalize();
        if self.state(key)?.rigid {
            self.rigid.get().set_pose(key.number(), position, rotation.to_array())?;
        }
        let state = self.state_mut(key)?;
        (state.body.position, state.body.rotation) = (position, rotation);
        state.pose.position = position.to_array().map(|x| x as f32);
        state.pose.rotation = rotation.to_array().map(|x| x as f32);
        (state.placed, state.excited) = (false, true);
        let pose = state.pose;
        self.tracker.set_pose(pose);
        Ok(())
    }

    /// Changes what moves a body, and whether it is held.
    fn set_moved_by(&mut self, key: BodyKey, kind: Kind, held: bool) -> Result<(), WorldError> {
        let mut body = self.state(key)?.body.clone();
        (body.kind, body.held) = (kind, held);
        if self.state(key)?.rigid {
            self.rigid.get().set_kind(key.number(), rigid_kind(body.moved_by()))?;
        }
        self.state_mut(key)?.body = body;
        self.tell_tracker(key);
        self.tell_soft(key);
        Ok(())
    }

    /// What collides takes on the body's present shape and size.
    pub(super) fn reshape(&mut self, key: BodyKey) -> Result<(), WorldError> {
        let state = self.state(key)?;
        let (shape, moves, is_rigid) = (state.body.sized(), state.body.moves(), state.rigid);
        if is_rigid && let Some(collider) = shape.rigid(moves) {
            self.rigid.get().set_shape(key.number(), &collider)?;
        }
        self.weigh(key)
    }

    /// The mass of a body, from what was given or what it is made of, at its size.
    pub(super) fn weigh(&mut self, key: BodyKey) -> Result<(), WorldError> {
        let state = self.state(key)?;
        let (mass_kg, is_rigid) = (mass_of(&state.body, &state.material), state.rigid);
        if is_rigid {
            self.rigid.get().set_mass(key.number(), mass_kg)?;
        }
        self.state_mut(key)?.mass_kg = mass_kg;
        self.tell_tracker(key);
        self.tell_soft(key);
        Ok(())
    }

    /// Changes one of the parameters of the engine: at a moment, or with the next advance.
    fn set_param(&mut self, key: BodyKey, param: Param, x: f32, at: Option<Moment>) -> Result<(), WorldError> {
        param.check(x)?;
        let state = self.state_mut(key)?;
        if matches!(state.body.sound, Sound::Shared { .. }) {
            return Err(WorldError::Unfit(
                "a body that sounds through another has no parameters of its own; change the other",
            ));
        }
        param.set(&mut state.body.params, x);
        let (id, voice) = (state.engine, state.voice);
        let sent = match (id, at) {
            (Some(id), Some(time)) => {
                let action = param.action(&self.state(key)?.body.params);
                self.engine.get().send(Event { time, body: id, action }).is_ok()
            }
            (None, _) if voice.is_none() => true,
            _ => false,
        };
        if !sent {
            self.state_mut(key)?.dirty.insert(param);
            self.dirty.insert(key);
        }
        Ok(())
    }

    /// Tells the audio side what it has not been told yet, as far as there is room.
    pub(super) fn flush(&mut self, key: BodyKey) {
        let Some(state) = self.bodies.get_mut(key) else { return };
        let (params, engine, to_audio) = (state.body.params, self.engine.get(), self.to_audio.get());
        for param in Param::ALL {
            let sent = match (state.engine, state.voice) {
                _ if !state.dirty.contains(param) => continue,
                (Some(id), _) => {
                    let action = param.action(&params);
                    engine.send(Event { time: Moment::NOW, body: id, action }).is_ok()
                }
                (None, Some(voice)) if param == Param::Gain => {
                    to_audio.push(crate::out::VoiceMessage::Gain(voice, params.gain)).is_ok()
                }
                _ => true,
            };
            if !sent {
                self.dirty.insert(key);
                return;
            }
            state.dirty.remove(param);
        }
    }

    /// Sends something that cannot wait; what finds no room is counted.
    pub(crate) fn send(&mut self, event: Event) {
        self.counts.shed += u64::from(self.engine.get().send(event).is_err());
    }

    /// The tracker learns what has changed of a body.
    pub(super) fn tell_tracker(&mut self, key: BodyKey) {
        if let Some(state) = self.bodies.get(key).cloned() {
            let partner = self.partner(&state);
            self.tracker.add(key.number(), partner);
        }
    }
}

/// What the engine can be told of a body at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Param {
    Gain,
    Emphasis,
    Frequency,
    Strain,
    Damping,
}

impl Param {
    /// Those that are told as they are; damping goes by way of the tracker.
    pub const ALL: [Self; 4] = [Self::Gain, Self::Emphasis, Self::Frequency, Self::Strain];

    /// Refuses what makes no sense, wherever it comes from.
    pub fn check(self, x: f32) -> Result<(), WorldError> {
        let (what, range, wanted) = match self {
            Self::Gain => ("the gain", -1e6..=1e6, "a factor below a million"),
            Self::Emphasis => ("the emphasis", 0.0..=1e6, "a factor from 0 to a million"),
            Self::Frequency => ("the frequency factor", 0.01..=100.0, "0.01 to 100"),
            Self::Strain => ("the strain", -10.0..=10.0, "−10 to 10"),
            Self::Damping => ("the damping", 0.0..=1000.0, "a factor, 0.1 to 50"),
        };
        check(what, f64::from(x), range, wanted)
    }

    pub fn get(self, params: &crate::body::Params) -> f32 {
        match self {
            Self::Gain => params.gain,
            Self::Emphasis => params.emphasis,
            Self::Frequency => params.frequency,
            Self::Strain => params.strain,
            Self::Damping => params.damping,
        }
    }

    fn set(self, params: &mut crate::body::Params, x: f32) {
        match self {
            Self::Gain => params.gain = x,
            Self::Emphasis => params.emphasis = x,
            Self::Frequency => params.frequency = x,
            Self::Strain => params.strain = x,
            Self::Damping => params.damping = x,
        }
    }

    fn action(self, params: &crate::body::Params) -> Action {
        match self {
            Self::Gain => Action::Gain(params.gain),
            Self::Emphasis => Action::Emphasis(params.emphasis),
            Self::Frequency => Action::Frequency(params.frequency),
            Self::Strain => Action::Strain(params.strain),
            Self::Damping => Action::Damping(params.damping),
        }
    }
}

/// A set of parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Dirty(u8);

impl Dirty {
    pub fn insert(&mut self, param: Param) {
        self.0 |= 1 << param as u8;
    }

    fn remove(&mut self, param: Param) {
        self.0 &= !(1 << param as u8);
    }

    fn contains(self, param: Param) -> bool {
        self.0 & 1 << param as u8 != 0
    }
}

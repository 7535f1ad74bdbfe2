//! Things done by hand: striking, dragging, holding.

use super::{World, finite};
use crate::body::Kind;
use crate::change::Change;
use crate::error::{WorldError, check};
use crate::events::{EventKind, WorldEvent};
use crate::key::BodyKey;
use crate::strike::{Blow, Strike, Target};
use eigentone_core::event::{Action, Event, Moment};
use eigentone_core::{ModalModel, Vec3};
use eigentone_sim::rigid::Drag;
use eigentone_synth::ContactTime;

/// A hand that pulls a body: see [`World::drag`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grab {
    body: BodyKey,
    serial: u64,
}

impl Grab {
    /// Whom it pulls.
    pub fn body(self) -> BodyKey {
        self.body
    }
}

/// Damping of a body that is held in the hand.
const HAND_DAMPING: f32 = 20.0;

impl World {
    /// Strikes a body, now.
    ///
    /// # Errors
    /// If it is gone or makes no sound, or a number makes no sense.
    pub fn strike(&mut self, key: BodyKey, strike: Strike) -> Result<(), WorldError> {
        self.change(key, Change::Strike(strike))
    }

    /// A blow at a moment.
    pub(super) fn strike_at(
        &mut self,
        key: BodyKey,
        strike: &Strike,
        at: Moment,
        time_s: f64,
    ) -> Result<(), WorldError> {
        let live = self.live(key)?;
        let silent = WorldError::Unfit("the body makes no sound; give it a material or a model");
        let (Some(id), Some(model)) = (live.engine, self.model(key)) else { return Err(silent) };
        let pose = live.pose;
        let local = match strike.target {
            Target::World(p) => pose.to_local(finite("the place of a blow", p)?.to_array().map(|x| x as f32)),
            Target::Local(p) => finite("the place of a blow", p)?,
            Target::Top => top(model),
        };
        let unfit = WorldError::Unfit("the body's model has no surface to strike");
        let contact = model.nearest_contact(local).ok_or(unfit)?;
        let impulse = match strike.blow {
            Blow::Inward(ns) => -contact.normal * ns,
            Blow::World(ns) => pose.direction_to_local(ns),
            Blow::Local(ns) => ns,
        };
        finite("the impulse of a blow", impulse)?;
        check("the mass of the mallet", strike.mallet.mass_kg, 1e-9..=1e6, "positive, in kg")?;
        check("the stiffness of the mallet", strike.mallet.stiffness_n_m, 1e-3..=1e12, "positive, in N/m")?;
        let duration_s = strike.duration_s.unwrap_or_else(|| {
            let mass_kg = ContactTime::effective_mass_kg(strike.mallet.mass_kg, model.info.mass_kg);
            ContactTime { mass_kg, stiffness_n_m: strike.mallet.stiffness_n_m }.seconds()
        });
        check("the duration of a blow", duration_s, 0.0..=1.0, "0 to 1 s")?;
        let action = Action::Blow {
            site: contact.blend,
            impulse_ns: impulse.to_array().map(|x| x as f32),
            duration_s: duration_s as f32,
        };
        self.wake(key);
        self.send(Event { time: at, body: id, action });
        if strike.pushes && self.live(key)?.rigid {
            let push = Change::Push { impulse_ns: pose.direction_to_world(impulse), at: Some(contact.position) };
            self.change(key, push)?;
        }
        self.say(WorldEvent {
            time_s,
            kind: EventKind::Impact {
                bodies: [None, Some(key)],
                position: pose.to_world(contact.position).to_array().map(|x| x as f32),
                impulse_ns: impulse.length() as f32,
                approach_m_s: None,
                particle: None,
            },
        });
        Ok(())
    }

    /// Takes hold of a point of a body, given in the world, with a spring that follows [`drag_to`](Self::drag_to): the mouse. It may be dragged over tables, thrown, and spun. A second grab takes over.
    ///
    /// # Errors
    /// If the body is gone, is not moved by forces, or is not part of the world's own physics.
    pub fn drag(&mut self, key: BodyKey, point: Vec3) -> Result<Grab, WorldError> {
        finite("the point", point)?;
        let live = self.live(key)?;
        if !(live.rigid && live.body.moves()) {
            return Err(WorldError::Unfit("only a body that forces move can be dragged"));
        }
        let local = live.pose.to_local(point.to_array().map(|x| x as f32));
        self.rigid.get().set_drag(key.number(), Some(Drag { local, target: point, ..Drag::default() }))?;
        self.grabs += 1;
        let serial = self.grabs;
        self.live_mut(key)?.grab = Some(serial);
        Ok(Grab { body: key, serial })
    }

    /// Moves the hand of a grab to a point of the world.
    ///
    /// # Errors
    /// If the body is gone, or another grab has taken over.
    pub fn drag_to(&mut self, grab: Grab, target: Vec3) -> Result<(), WorldError> {
        finite("the target", target)?;
        self.held_by(grab)?;
        let rigid = self.rigid.get();
        if let Some(drag) = rigid.drag(grab.body.number()) {
            rigid.set_drag(grab.body.number(), Some(Drag { target, ..drag }))?;
        }
        Ok(())
    }

    /// How stiffly a grab pulls: the frequency of its spring in Hz, and the strongest pull in N.
    ///
    /// # Errors
    /// If the body is gone, another grab has taken over, or a number makes no sense.
    pub fn set_drag_spring(&mut self, grab: Grab, frequency_hz: f64, max_force_n: f64) -> Result<(), WorldError> {
        self.held_by(grab)?;
        let rigid = self.rigid.get();
        if let Some(drag) = rigid.drag(grab.body.number()) {
            let drag = Drag { frequency_hz, most_force_n: max_force_n, ..drag };
            rigid.set_drag(grab.body.number(), Some(drag))?;
        }
        Ok(())
    }

    /// Lets go: the body keeps the velocity it has.
    ///
    /// # Errors
    /// If the body is gone, or another grab has taken over.
    pub fn release(&mut self, grab: Grab) -> Result<(), WorldError> {
        self.held_by(grab)?;
        self.rigid.get().set_drag(grab.body.number(), None)?;
        self.live_mut(grab.body)?.grab = None;
        Ok(())
    }

    fn held_by(&self, grab: Grab) -> Result<(), WorldError> {
        if self.live(grab.body)?.grab == Some(grab.serial) {
            Ok(())
        } else {
            Err(WorldError::Unfit("the body has been let go, or another grab has taken over"))
        }
    }

    /// Holds a body in the hand: it stays where it is and rings briefly, until [`let_loose`](Self::let_loose).
    ///
    /// # Errors
    /// If it is gone or another engine moves it.
    pub fn hold(&mut self, key: BodyKey) -> Result<(), WorldError> {
        let live = self.live(key)?;
        if live.held.is_some() {
            return Ok(());
        }
        let before = (live.body.kind.clone(), live.body.params.damping);
        let damping = before.1.max(1.0) * HAND_DAMPING;
        self.set_kind_of(key, Kind::Fixed)?;
        self.change(key, Change::Damping(damping))?;
        self.live_mut(key)?.held = Some(before);
        Ok(())
    }

    /// Lets a held body go. Nothing happens if it is not held.
    ///
    /// # Errors
    /// If it is gone.
    pub fn let_loose(&mut self, key: BodyKey) -> Result<(), WorldError> {
        if let Some((kind, damping)) = self.live_mut(key)?.held.take() {
            self.set_kind_of(key, kind)?;
            self.change(key, Change::Damping(damping))?;
        }
        Ok(())
    }
}

/// The highest point of a model: where something that falls would strike it.
pub(crate) fn top(model: &ModalModel) -> Vec3 {
    let positions = model.surface.positions.iter().map(|p| Vec3::from_array(p.map(f64::from)));
    let count = model.surface.positions.len().max(1) as f64;
    let middle = positions.clone().sum::<Vec3>() / count;
    let highest = positions.map(|p| p.z).fold(f64::NEG_INFINITY, f64::max);
    Vec3::new(middle.x, middle.y, if highest.is_finite() { highest } else { 0.0 })
}

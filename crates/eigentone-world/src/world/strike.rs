//! A blow becomes a force on a resonator.

use super::{World, finite};
use crate::change::Change;
use crate::error::{WorldError, check};
use crate::events::{EventKind, WorldEvent};
use crate::key::BodyKey;
use crate::strike::{Blow, Strike, Target};
use eigentone_core::event::{Action, Event, Moment};
use eigentone_core::{ModalModel, Vec3};
use eigentone_synth::ContactTime;

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
        let live = self.state(key)?;
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
        if strike.pushes && self.state(key)?.rigid {
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
}

/// The highest point of a model: where something that falls would strike it.
pub(crate) fn top(model: &ModalModel) -> Vec3 {
    let positions = model.surface.positions.iter().map(|p| Vec3::from_array(p.map(f64::from)));
    let count = model.surface.positions.len().max(1) as f64;
    let middle = positions.clone().sum::<Vec3>() / count;
    let highest = positions.map(|p| p.z).fold(f64::NEG_INFINITY, f64::max);
    Vec3::new(middle.x, middle.y, if highest.is_finite() { highest } else { 0.0 })
}

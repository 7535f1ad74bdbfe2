//! Things taken in the hand: dragged with a spring, or held still.

use super::{World, finite};
use crate::change::Change;
use crate::error::WorldError;
use crate::key::BodyKey;
use eigentone_core::Vec3;
use eigentone_sim::rigid::Drag;

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

impl World {
    /// Takes hold of a point of a body, given in the world, with a spring that follows [`drag_to`](Self::drag_to): the mouse. It may be dragged over tables, thrown, and spun. A second grab takes over.
    ///
    /// # Errors
    /// If the body is gone, is not moved by forces, or is not part of the world's own physics.
    pub fn drag(&mut self, key: BodyKey, point: Vec3) -> Result<Grab, WorldError> {
        finite("the point", point)?;
        let state = self.state(key)?;
        if !(state.rigid && state.body.moves()) {
            return Err(WorldError::Unfit("only a body that forces move can be dragged"));
        }
        let local = state.pose.to_local(point.to_array().map(|x| x as f32));
        self.rigid.get().set_drag(key.number(), Some(Drag { local, target: point, ..Drag::default() }))?;
        self.grabs += 1;
        let serial = self.grabs;
        self.state_mut(key)?.grab = Some(serial);
        Ok(Grab { body: key, serial })
    }

    /// Moves the hand of a grab to a point of the world.
    ///
    /// # Errors
    /// If the body is gone, or another grab has taken over.
    pub fn drag_to(&mut self, grab: Grab, target: Vec3) -> Result<(), WorldError> {
        finite("the target", target)?;
        self.change_drag(grab, |drag| Drag { target, ..drag })
    }

    /// How stiffly a grab pulls: the frequency of its spring in Hz, and the strongest pull in N.
    ///
    /// # Errors
    /// If the body is gone, another grab has taken over, or a number makes no sense.
    pub fn set_drag_spring(&mut self, grab: Grab, frequency_hz: f64, max_force_n: f64) -> Result<(), WorldError> {
        self.change_drag(grab, |drag| Drag { frequency_hz, max_force_n, ..drag })
    }

    /// Lets go: the body keeps the velocity it has.
    ///
    /// # Errors
    /// If the body is gone, or another grab has taken over.
    pub fn end_drag(&mut self, grab: Grab) -> Result<(), WorldError> {
        self.dragged_by(grab)?;
        self.rigid.get().set_drag(grab.body.number(), None)?;
        self.state_mut(grab.body)?.grab = None;
        Ok(())
    }

    fn change_drag(&mut self, grab: Grab, change: impl FnOnce(Drag) -> Drag) -> Result<(), WorldError> {
        self.dragged_by(grab)?;
        let rigid = self.rigid.get();
        if let Some(drag) = rigid.drag(grab.body.number()) {
            rigid.set_drag(grab.body.number(), Some(change(drag)))?;
        }
        Ok(())
    }

    fn dragged_by(&self, grab: Grab) -> Result<(), WorldError> {
        if self.state(grab.body)?.grab == Some(grab.serial) {
            Ok(())
        } else {
            Err(WorldError::Unfit("the body has been let go, or another grab has taken over"))
        }
    }

    /// Holds a body in the hand: it stays where it is and rings briefly, until [`release`](Self::release).
    ///
    /// # Errors
    /// If it is gone or another engine moves it.
    pub fn hold(&mut self, key: BodyKey) -> Result<(), WorldError> {
        self.change(key, Change::Hold(true))
    }

    /// Lets a held body go. Nothing happens if it is not held.
    ///
    /// # Errors
    /// If it is gone.
    pub fn release(&mut self, key: BodyKey) -> Result<(), WorldError> {
        self.change(key, Change::Hold(false))
    }
}

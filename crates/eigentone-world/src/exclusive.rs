//! Parts that only one thread may touch, in a whole that several may look at.

use std::sync::{Mutex, PoisonError};

/// Reached through `&mut` only, so never locked: what is not `Sync` by itself may be part of what is.
#[derive(Debug)]
pub(crate) struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub fn get(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

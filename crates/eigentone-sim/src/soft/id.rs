//! Names of bodies and colliders that hold while others come and go.

/// A body of a [`SoftWorld`](super::SoftWorld). No other body of that world ever gets the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SoftId(pub(super) u64);

/// A collider of a [`SoftWorld`](super::SoftWorld). No other collider of that world ever gets the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColliderId(pub(super) u64);

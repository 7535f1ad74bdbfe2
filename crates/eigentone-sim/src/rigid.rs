//! Rigid bodies: a world of rapier, read as a contact stream.

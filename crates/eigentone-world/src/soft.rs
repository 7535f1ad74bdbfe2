//! Soft bodies.

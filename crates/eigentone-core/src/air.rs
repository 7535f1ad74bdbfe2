//! The air and the listener that all crates agree on: one speed of sound, one impedance, one nearest distance, one head.
//!
//! A source keeps its level and its moment of arrival when a room is baked around it, or when it is simulated as a soft body instead of modes, only if every path to the ear counts with
//! the same numbers.

/// Speed of sound in dry air at 20 °C, in m/s (343.2 by the ideal gas; 343 is the figure of handbooks). Wave simulations, delays, Doppler shifts and radiation all use it.
pub const SOUND_M_S: f64 = 343.0;

/// Density of air times speed of sound at 20 °C, ρ₀c in Pa·s/m: the pressure of a plane wave per unit of velocity.
pub const AIR_IMPEDANCE_PA_S_PER_M: f64 = 413.3;

/// Sources are not nearer than this to an ear, in m: the sound `1/r` of a point would grow without end. Chosen as about the size of what sounds: closer than 0.25 m a struck bowl or bar
/// is not a point any more. It is the same in free field, in rooms and for soft bodies, so that baking a room does not change the level of what is close.
pub const NEAREST_M: f64 = 0.25;

/// Radius of the head, from its middle to an ear, in m: the usual mean of adults (Brown and Duda 1998).
pub const HEAD_RADIUS_M: f64 = 0.0875;

//! How a scene is simulated.

/// Settings of simulations. The defaults are those of the wave-field paper. Where they start from: [`probe::Settings`](crate::probe::Settings).
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Highest frequency that is simulated, in Hz. Time and memory grow with its third and fourth power.
    pub f_max_hz: f64,
    /// Radius of what is simulated around a probe, in m.
    pub radius_m: f64,
    /// Height of what is simulated around a probe, in m.
    pub height_m: f64,
    /// Air around that in which sound is absorbed, in m.
    pub padding_m: f64,
    /// Air around the scene's geometry that is simulated, in m; beyond it sound goes on as in free field.
    pub margin_m: f64,
    /// Side of the cubes in which parameters are told, in m.
    pub grid_m: f64,
    /// How long what follows the onset is direct sound, in s.
    pub direct_s: f64,
    /// How long what follows that is early sound, in s.
    pub early_s: f64,
    /// How long the late decay is observed, in s.
    pub late_s: f64,
    /// Level at which sound begins, in dB of the pulse's peak at 1 m.
    pub onset_db: f64,
    /// Steps that are just noticeable to one that is stored.
    pub quantum: f32,
    /// Ground under everything.
    pub ground: Option<Ground>,
}

/// A level ground without end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Its height in m.
    pub z_m: f64,
    /// What it absorbs of sound from all directions.
    pub absorption: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            f_max_hz: 500.0,
            radius_m: 45.0,
            height_m: 20.0,
            padding_m: 5.0,
            margin_m: 10.0,
            grid_m: 2.0,
            direct_s: 0.005,
            early_s: 0.2,
            late_s: 0.6,
            onset_db: -90.0,
            quantum: 3.0,
            ground: None,
        }
    }
}

//! `[[body]]`: what rings, collides and moves.

use super::{CopyEdit, Note, Shape};
use eigentone_core::DiffuseBand;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// More facets than this in one direction are refused.
pub const MAX_FACETS: usize = 512;

/// One `[[body]]`, or many equal ones by [`copies`](Self::copies).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Body {
    /// Unique in the scene. If it is not given, the key of the shape, numbered from the second on: `sphere`, `sphere 2`.
    pub name: String,
    /// Does not exist by itself: a [`Melody`](super::Melody) drops one for each note.
    pub template: bool,
    /// Its form, by one of the keys that [`Shape`] lists. Only a body with a `model` may do without.
    #[serde(skip)]
    pub shape: Shape,
    /// Factor that makes the lengths of a `mesh` metres.
    pub scale: f64,
    /// A name of the material table.
    pub material: String,
    /// Wall of a shell in m. If not given, what the mesh shows.
    pub thickness_m: Option<f64>,
    /// How its modes are computed.
    pub method: Method,
    /// How finely they are computed.
    pub detail: Detail,
    /// How it is held while it rings: `"clamped-border"`, `"pinned-border"`, `"feet"`, `"feet:4"`, `"hang:X,Y,Z"`, `"point:X,Y,Z"`.
    pub support: Vec<String>,
    /// Direction of the grain in its own frame, for woods.
    pub grain: Option<[f64; 3]>,
    /// How the edges of a `plate` are held.
    pub edges: Edges,
    /// At most this many modes, the lowest.
    pub modes: Option<usize>,
    /// Merge modes whose difference nobody can hear.
    pub compress: bool,
    /// A `.modal.safetensors` file beside the scene, used instead of computing the modes.
    pub model: Option<String>,
    /// Moves and collides, but makes no sound of its own. A `plane` is silent unless this is `false`.
    pub silent: Option<bool>,
    /// Texture of its surface: a `[[surface]]` of this file, or a built-in one.
    pub surface: Option<String>,
    /// How rough it is from place to place, by a picture.
    pub surface_map: Option<MapFile>,
    /// What it collides as.
    pub collider: ColliderChoice,
    /// Nothing moves it.
    pub fixed: bool,
    /// Its velocity and spin move it, whatever is in the way.
    pub kinematic: bool,
    /// In kg. If not given, by volume and the density of its material.
    pub mass_kg: Option<f64>,
    /// Of its mesh's origin, in m.
    pub position: [f64; 3],
    /// How it is turned.
    pub rotation: Rotation,
    /// In m/s.
    pub velocity: [f64; 3],
    /// Angular velocity in rad/s.
    pub spin: [f64; 3],
    /// Coulomb's coefficient, in place of its surface's.
    pub friction: Option<f64>,
    /// Share of the speed that a bounce keeps, in place of its surface's.
    pub restitution: Option<f64>,
    /// Coefficient of rolling resistance.
    pub rolling_resistance: f64,
    /// Loudness, in dB.
    pub gain_db: f64,
    /// How much more important than others it is when modes are left out; also a factor of its sound.
    pub emphasis: f64,
    /// Directions into which it is louder, where there are rooms or a head to hear that.
    pub directivity: Option<Directivity>,
    /// Noise bands beside the modes. If not given, those of the model.
    #[serde(deserialize_with = "bands")]
    pub diffuse: Option<Vec<DiffuseBand>>,
    /// Pitch that follows loudness.
    pub glide: Option<Glide>,
    /// Modes that drive each other.
    pub nonlinear: Option<Nonlinear>,
    /// Shift of all frequencies per unit of strain, as a share.
    pub strain_sensitivity: f64,
    /// `[time in s, strain]`, linear between rising times and constant beyond them.
    pub strain: Vec<[f64; 2]>,
    /// Factor of all decay rates, 0.1 to 50; 1 leaves them alone, about 20 is held in the hand.
    pub damping: f64,
    /// All lengths as a factor of its shape: higher and lighter when smaller, as modes of a scaled body are.
    pub size: f64,
    /// Factor of all frequencies, whatever its size.
    pub pitch: f64,
    /// Tilt of its modes' loudness around 1 kHz, in dB per octave: positive is brighter.
    pub brightness_db: f64,
    /// Single modes that are retuned, damped, made louder, added or deleted.
    pub mode_edits: Vec<ModeEdit>,
    /// A pull that holds a speed.
    pub drive: Option<Drive>,
    /// Where it is at which times, whatever is in the way.
    pub path: Vec<Key>,
    /// The geometry is scaled so that the first mode has this frequency.
    pub tune_hz: Option<f64>,
    /// The same as a note, for instance `"C5"`. Melodies find the body by it.
    pub tune: Option<Note>,
    /// When it enters the world, in s.
    pub appears_s: Option<f64>,
    /// How long it stays from then on, in s.
    pub lives_s: Option<f64>,
    /// Falls from rest onto another body at a given time; position and appearance follow from it.
    pub lands: Option<Lands>,
    /// Many of the same, on a grid.
    pub copies: Option<Copies>,
    /// What single copies are otherwise than the others.
    pub copy_edits: Vec<CopyEdit>,
    /// Name of a body through whose resonator this one sounds.
    pub shares: Option<String>,
}

impl Default for Body {
    fn default() -> Self {
        Self {
            name: String::new(),
            template: false,
            shape: Shape::default(),
            scale: 1.0,
            material: "steel".to_owned(),
            thickness_m: None,
            method: Method::default(),
            detail: Detail::default(),
            support: Vec::new(),
            grain: None,
            edges: Edges::default(),
            modes: None,
            compress: false,
            model: None,
            silent: None,
            surface: None,
            surface_map: None,
            collider: ColliderChoice::default(),
            fixed: false,
            kinematic: false,
            mass_kg: None,
            position: [0.0; 3],
            rotation: Rotation::default(),
            velocity: [0.0; 3],
            spin: [0.0; 3],
            friction: None,
            restitution: None,
            rolling_resistance: 0.0,
            gain_db: 0.0,
            emphasis: 1.0,
            directivity: None,
            diffuse: None,
            glide: None,
            nonlinear: None,
            strain_sensitivity: 0.0,
            strain: Vec::new(),
            damping: 1.0,
            size: 1.0,
            pitch: 1.0,
            brightness_db: 0.0,
            mode_edits: Vec::new(),
            drive: None,
            path: Vec::new(),
            tune_hz: None,
            tune: None,
            appears_s: None,
            lives_s: None,
            lands: None,
            copies: None,
            copy_edits: Vec::new(),
            shares: None,
        }
    }
}

impl Body {
    /// Whether it makes no sound of its own.
    pub fn is_silent(&self) -> bool {
        self.silent.unwrap_or(self.shape == Shape::Plane)
    }

    /// Whether nothing moves it.
    pub fn is_fixed(&self) -> bool {
        self.fixed || self.shape == Shape::Plane
    }

    /// The pitch that its first mode is to have, if any.
    pub fn pitch_hz(&self) -> Option<f64> {
        self.tune_hz.or(self.tune.map(Note::hz))
    }

    /// How many there are of it. A template counts as none.
    pub fn count(&self) -> usize {
        if self.template { 0 } else { self.copies.as_ref().map_or(1, Copies::total) }
    }

    /// Name of a copy, counted from 0: `pea`, `pea 2`, `pea 3`. Copies run along x first, then y, then z.
    pub fn copy_name(&self, copy: usize) -> String {
        if copy == 0 { self.name.clone() } else { format!("{} {}", self.name, copy + 1) }
    }
}

/// How modes are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Chosen by the mesh.
    #[default]
    Auto,
    /// As a thin wall along the surface.
    Shell,
    /// As a thin wall along the middle of the walls that the surface closes around.
    Walls,
    /// As a solid.
    Solid,
    /// As point masses and springs along the surface.
    Springs,
}

/// How finely modes are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// About a second.
    Draft,
    /// A few seconds.
    #[default]
    Normal,
    /// As many modes as there are.
    Fine,
}

/// How the edges of a plate are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edges {
    /// Not at all: a hung sheet.
    #[default]
    Free,
    /// On all sides, but free to turn: a table top on its frame, a pane. In closed form.
    Supported,
}

/// What a body collides as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColliderChoice {
    /// Boxes, spheres and closed cylinders as such; convex shapes as hulls; other meshes decomposed if they move, as triangles if they are fixed.
    #[default]
    Auto,
    /// The convex hull.
    Hull,
    /// Convex parts.
    Decomposed,
    /// Triangles: for fixed bodies.
    Mesh,
    /// Not at all: sounds only by scripted events, bridges, particles and bodies that share it.
    None,
}

/// A turn, by `{ axis = [x, y, z], degrees = a }` or a quaternion `[x, y, z, w]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rotation {
    /// About an axis of any length, counter-clockwise when it points at you.
    Axis {
        /// The axis.
        axis: [f64; 3],
        /// How far.
        degrees: f64,
    },
    /// `[x, y, z, w]`, of any length but zero.
    Quaternion([f64; 4]),
}

impl Default for Rotation {
    fn default() -> Self {
        Self::Quaternion([0.0, 0.0, 0.0, 1.0])
    }
}

impl Rotation {
    /// As a unit quaternion `[x, y, z, w]`; no turn if it has no direction.
    pub fn quaternion(&self) -> [f64; 4] {
        let unit = |v: &[f64]| {
            let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            (length > 0.0 && length.is_finite()).then_some(length)
        };
        match self {
            Self::Axis { axis, degrees } => unit(axis).map_or([0.0, 0.0, 0.0, 1.0], |length| {
                let (sin, cos) = (0.5 * degrees.to_radians()).sin_cos();
                [axis[0] * sin / length, axis[1] * sin / length, axis[2] * sin / length, cos]
            }),
            Self::Quaternion(q) => unit(q).map_or([0.0, 0.0, 0.0, 1.0], |length| q.map(|x| x / length)),
        }
    }
}

impl<'de> Deserialize<'de> for Rotation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct AxisAngle {
            axis: [f64; 3],
            degrees: f64,
        }
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Rotation;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("{ axis = [x, y, z], degrees = a } or a quaternion [x, y, z, w]")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Rotation, A::Error> {
                <[f64; 4]>::deserialize(SeqAccessDeserializer::new(seq)).map(Rotation::Quaternion)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Rotation, A::Error> {
                let AxisAngle { axis, degrees } = AxisAngle::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Rotation::Axis { axis, degrees })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Pitch that follows loudness: see [`eigentone_synth::Glide`].
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Glide {
    /// Largest shift, as a share of the frequency, −0.3 to 0.3.
    pub amount: f64,
    /// Mean square pressure at which half of it is reached, in Pa².
    pub energy_pa2: f64,
    /// 0 shifts all modes alike, 1 the lowest most.
    pub focus: f64,
}

impl Default for Glide {
    /// Up by 2 % at 0.1 Pa: a small gong.
    fn default() -> Self {
        Self { amount: 0.02, energy_pa2: 0.01, focus: 0.0 }
    }
}

/// Modes that drive each other: see [`eigentone_synth::Nonlinear`].
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Nonlinear {
    /// How many sections, 2 to 4.
    pub sections: usize,
    /// How strongly each drives the next, 0 to 1.
    pub coupling: f64,
    /// Sound pressure at which the coupling counts, in Pa.
    pub reference_pa: f64,
    /// The curve.
    pub shaper: ShaperChoice,
}

impl Default for Nonlinear {
    fn default() -> Self {
        Self { sections: 3, coupling: 0.8, reference_pa: 1.0, shaper: ShaperChoice::default() }
    }
}

/// See [`eigentone_synth::Shaper`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShaperChoice {
    /// `y²`: sums and differences of frequencies.
    #[default]
    Square,
    /// `y|y|`: odd multiples.
    SignedSquare,
    /// `tanh³ y`: odd multiples that saturate.
    Saturating,
}

/// What is done to one mode of a body: `mode_edits = [{ mode = 3, frequency = 1.01, decay = 0.5, gain = 2 }]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModeEdit {
    /// Number of the mode, the lowest is 0.
    pub mode: usize,
    /// Factor of its frequency.
    pub frequency: f64,
    /// Factor of its decay rate.
    pub decay: f64,
    /// Factor of its loudness; zero mutes it.
    pub gain: f64,
    /// The mode itself stays as it is: the factors are those of another one that has its shape.
    pub add: bool,
    /// The mode is taken out.
    pub delete: bool,
}

impl Default for ModeEdit {
    fn default() -> Self {
        Self { mode: 0, frequency: 1.0, decay: 1.0, gain: 1.0, add: false, delete: false }
    }
}

/// A picture laid over a body along its own z axis: `surface_map = { image = "worn.png", dark = 0, bright = 2 }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapFile {
    /// A PNG file beside the scene.
    pub image: String,
    /// Factor of the surface's roughness where it is black.
    #[serde(default)]
    pub dark: f64,
    /// Factor where it is white.
    #[serde(default = "one")]
    pub bright: f64,
}

fn one() -> f64 {
    1.0
}

/// A pull that holds a speed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Drive {
    /// The velocity to hold, in m/s.
    pub velocity: [f64; 3],
    /// The strongest pull, in N.
    pub force_n: f64,
    /// From when, in s.
    pub from_s: f64,
    /// Until when; to the end if not given.
    pub to_s: Option<f64>,
}

impl Default for Drive {
    /// 0.2 m/s along x, with up to 50 N.
    fn default() -> Self {
        Self { velocity: [0.2, 0.0, 0.0], force_n: 50.0, from_s: 0.0, to_s: None }
    }
}

/// `directivity = { axis = [0, 0, 1], pattern = 1, cutoff_hz = 500 }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Directivity {
    /// Where it is loudest, in the frame of its mesh; any length.
    pub axis: [f64; 3],
    /// 0: alike into all directions; 1: nothing behind.
    pub pattern: f64,
    /// Below this it radiates alike into all directions, in Hz.
    pub cutoff_hz: f64,
}

impl Default for Directivity {
    /// A cardioid along x, from 500 Hz on.
    fn default() -> Self {
        Self { axis: [1.0, 0.0, 0.0], pattern: 1.0, cutoff_hz: 500.0 }
    }
}

/// Where a body on a path is at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Key {
    /// When, in s.
    pub time_s: f64,
    /// Of its mesh's origin, in m.
    pub position: [f64; 3],
    /// How it is turned.
    pub rotation: Rotation,
}

/// Where and when a body comes down.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lands {
    /// On top of which body.
    pub on: String,
    /// When it strikes, in s.
    pub at_s: f64,
    /// How deep it falls, in m.
    pub height_m: f64,
    /// Where, in m along x and y from the middle of the other body.
    pub offset: [f64; 2],
}

impl Default for Lands {
    fn default() -> Self {
        Self { on: String::new(), at_s: 1.0, height_m: 0.2, offset: [0.0; 2] }
    }
}

/// Equal bodies on a grid that begins at the body's own position.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Copies {
    /// How many along x, y and z.
    pub count: [usize; 3],
    /// From one to the next, in m.
    pub spacing: [f64; 3],
    /// Each is off its place by up to this in every direction, by the scene's seed.
    pub jitter_m: f64,
    /// Each is turned about a random axis by up to this.
    pub turn_degrees: f64,
}

impl Default for Copies {
    fn default() -> Self {
        Self { count: [1; 3], spacing: [0.1; 3], jitter_m: 0.0, turn_degrees: 0.0 }
    }
}

impl Copies {
    /// How many there are in all.
    pub fn total(&self) -> usize {
        self.count.iter().fold(1, |total: usize, &n| total.saturating_mul(n))
    }

    /// Where a copy is from the first, before jitter. Copies run along x first, then y, then z.
    pub fn offset(&self, copy: usize) -> [f64; 3] {
        let [nx, ny, _] = self.count.map(|n| n.max(1));
        let place = [copy % nx, copy / nx % ny, copy / nx / ny];
        std::array::from_fn(|i| place[i] as f64 * self.spacing[i])
    }
}

/// The type of the core takes keys that it does not know; a scene must not.
fn bands<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<DiffuseBand>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Band {
        low_hz: f64,
        high_hz: f64,
        gain: f64,
        t60_s: f64,
    }
    let bands = Vec::<Band>::deserialize(deserializer)?;
    let plain = |b: Band| DiffuseBand { low_hz: b.low_hz, high_hz: b.high_hz, gain: b.gain, t60_s: b.t60_s };
    Ok(Some(bands.into_iter().map(plain).collect()))
}

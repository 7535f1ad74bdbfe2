//! A blow with something in the hand.

use eigentone_core::Vec3;

/// What strikes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mallet {
    /// Its mass, in kg.
    pub mass_kg: f64,
    /// Stiffness of its contact, in N/m: 1e4 soft felt to 1e8 steel.
    pub stiffness_n_m: f64,
}

impl Mallet {
    /// A felt beater.
    pub const FELT: Self = Self::of(1e4);
    /// A rubber mallet.
    pub const RUBBER: Self = Self::of(1e5);
    /// A wooden stick.
    pub const WOOD: Self = Self::of(1e6);
    /// Hard plastic.
    pub const PLASTIC: Self = Self::of(5e6);
    /// A steel hammer.
    pub const METAL: Self = Self::of(1e8);

    const fn of(stiffness_n_m: f64) -> Self {
        Self { mass_kg: 0.05, stiffness_n_m }
    }
}

impl Default for Mallet {
    fn default() -> Self {
        Self::WOOD
    }
}

/// Where a blow lands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At the place of the surface nearest to this point of the world.
    World(Vec3),
    /// The same in the body's own frame.
    Local(Vec3),
    /// On its highest point, in its own frame.
    Top,
}

/// How hard a blow is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Blow {
    /// Into the surface, against its normal, in N·s.
    Inward(f64),
    /// In the world, in N·s.
    World(Vec3),
    /// In the body's own frame, in N·s.
    Local(Vec3),
}

/// A blow by hand: `Strike::at(point).impulse(0.05).mallet(Mallet::FELT)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strike {
    /// Where.
    pub target: Target,
    /// How hard.
    pub blow: Blow,
    /// With what.
    pub mallet: Mallet,
    /// How long, in s; from the mallet if not given.
    pub duration_s: Option<f64>,
    /// Whether it also moves the body.
    pub pushes: bool,
}

impl Strike {
    /// A blow of 0.05 N·s into the surface, with a wooden stick, that moves nothing.
    pub fn on(target: Target) -> Self {
        Self { target, blow: Blow::Inward(0.05), mallet: Mallet::default(), duration_s: None, pushes: false }
    }

    /// At the place nearest to a point of the world.
    pub fn at(point: Vec3) -> Self {
        Self::on(Target::World(point))
    }

    /// At the place nearest to a point in the body's own frame.
    pub fn at_local(point: Vec3) -> Self {
        Self::on(Target::Local(point))
    }

    /// So hard, in N·s, into the surface.
    pub fn impulse(self, impulse_ns: f64) -> Self {
        Self { blow: Blow::Inward(impulse_ns), ..self }
    }

    /// So hard and in this direction of the world, in N·s.
    pub fn impulse_vector(self, impulse_ns: Vec3) -> Self {
        Self { blow: Blow::World(impulse_ns), ..self }
    }

    /// With this.
    pub fn mallet(self, mallet: Mallet) -> Self {
        Self { mallet, ..self }
    }

    /// For so long, in s, whatever the mallet.
    pub fn duration(self, duration_s: f64) -> Self {
        Self { duration_s: Some(duration_s), ..self }
    }

    /// Moves the body as well.
    pub fn pushing(self) -> Self {
        Self { pushes: true, ..self }
    }
}

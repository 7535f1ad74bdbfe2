//! An acoustic field for the eye: what arrives from one source at the points of a horizontal slice.
//!
//! Every value is an answer of the [`Decoder`] that the sound goes through as well, so that what is seen is what is heard.

use crate::fault::Fault;
use eigentone_core::acoustics::{Bits, Bounds, Field, Parameter};
use eigentone_core::{NEAREST_M, Vec3};
use eigentone_space::decode::{Answer, Decoder, DecoderSettings};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// Points of a slice if nobody says how fine it should be, about.
const POINTS: f64 = 6000.0;

/// Points of a slice at most.
const MAX_POINTS: f64 = 40_000.0;

/// Cells of a scene of which it is found out which are connected with a probe.
const MAX_CELLS: usize = 1 << 27;

/// Probes whose places are told.
const MAX_PROBES: usize = 4096;

/// What a slice shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Direct and early sound together, in dB of the direct sound at 1 m in free field.
    Level,
    /// One of the field's parameters.
    One(Parameter),
}

impl Shown {
    /// All of them, in the order of the menu.
    pub const ALL: [Self; 1 + Parameter::COUNT] = [
        Self::Level,
        Self::One(Parameter::Direct),
        Self::One(Parameter::Early),
        Self::One(Parameter::EarlyDecay),
        Self::One(Parameter::LateDecay),
        Self::One(Parameter::Tilt),
    ];

    /// By its name in requests.
    ///
    /// # Errors
    /// Names what there is.
    pub fn named(name: &str) -> Result<Self, Fault> {
        Self::ALL.into_iter().find(|s| s.name() == name).ok_or_else(|| {
            let all = Self::ALL.map(Self::name).join(", ");
            Fault::bad(format!("a field has no parameter `{}`", crate::request::short(name)), format!("it has {all}"))
        })
    }

    /// Its name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Level => "level",
            Self::One(parameter) => parameter.name(),
        }
    }

    /// For people, what the numbers are relative to, and their unit.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Level => ["Level", "direct and early sound, relative to the direct sound at 1 m", "dB"],
            Self::One(Parameter::Direct) => ["Direct sound", "relative to the free field at that distance", "dB"],
            Self::One(Parameter::Early) => ["Early reflections", "relative to the direct sound at 1 m", "dB"],
            Self::One(Parameter::EarlyDecay) => ["Early decay", "reverberation time", "s"],
            Self::One(Parameter::LateDecay) => ["Late decay", "reverberation time", "s"],
            Self::One(Parameter::Tilt) => ["Tilt", "slope of the direct sound over frequency", "dB/octave"],
        }
    }

    fn of(self, answer: &Answer) -> f64 {
        match self {
            Self::Level => level_db(answer),
            Self::One(parameter) => answer.parameters.to_array()[parameter as usize],
        }
    }
}

/// Direct and early sound together, in dB of the direct sound at 1 m in free field.
pub fn level_db(answer: &Answer) -> f64 {
    let direct_db = answer.parameters.direct_db - 20.0 * answer.distance_m.max(NEAREST_M).log10();
    let power = |db: f64| 10f64.powf(0.1 * db);
    10.0 * (power(direct_db) + power(answer.parameters.early_db)).log10()
}

/// A horizontal cut through a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Points along x and y.
    pub size: [u32; 2],
    /// The corner that is lowest in x and y, half a step from the first point, in m.
    pub corner: [f64; 2],
    /// Distance of points, in m.
    pub step_m: f64,
    /// Height of all points, in m.
    pub height_m: f64,
    /// x fastest; not a number in solids and where nothing is known.
    pub values: Vec<f32>,
}

impl Slice {
    /// As it is sent: `u32` columns and rows, `f32` corner x and y, step, height, then the values.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(24 + 4 * self.values.len());
        bytes.extend(self.size.iter().flat_map(|n| n.to_le_bytes()));
        let head = [self.corner[0], self.corner[1], self.step_m, self.height_m];
        bytes.extend(head.iter().flat_map(|x| (*x as f32).to_le_bytes()));
        bytes.extend(self.values.iter().flat_map(|x| x.to_le_bytes()));
        bytes
    }
}

/// A field, and where in it something is known.
#[derive(Debug)]
pub struct FieldView {
    field: Arc<Field>,
    air: OnceLock<Known>,
}

/// Air that is connected with a probe.
#[derive(Debug)]
struct Known {
    /// By cell of the scene; `None` if there are too many.
    cells: Option<Bits>,
    bounds: Bounds,
}

impl FieldView {
    /// Of a field.
    pub fn new(field: Arc<Field>) -> Self {
        Self { field, air: OnceLock::new() }
    }

    /// The field.
    pub fn field(&self) -> &Arc<Field> {
        &self.field
    }

    /// A decoder of its own.
    pub fn decoder(&self) -> Decoder {
        Decoder::new(self.field.clone(), DecoderSettings::default())
    }

    fn known(&self) -> &Known {
        self.air.get_or_init(|| {
            let occupancy = self.field.occupancy();
            let lattice = &occupancy.lattice;
            if lattice.len() > MAX_CELLS {
                return Known { cells: None, bounds: lattice.bounds() };
            }
            let cells = occupancy.connected(self.field.probes().map(|p| p.position));
            let [nx, ny, _] = lattice.size.map(|n| n as usize);
            let corners = (0..cells.len()).filter(|&at| cells.get(at)).flat_map(|at| {
                let cell = [at % nx, at / nx % ny, at / nx / ny].map(|i| i as i64);
                let middle = lattice.centre(cell);
                [middle - 0.5 * lattice.step_m, middle + 0.5 * lattice.step_m]
            });
            let bounds = Bounds::of(corners).unwrap_or_else(|| lattice.bounds());
            Known { cells: Some(cells), bounds }
        })
    }

    /// Whether a point is in air that is connected with a probe. Takes time when it is asked first.
    fn is_known(&self, point: Vec3) -> bool {
        let lattice = &self.field.occupancy().lattice;
        let cell = lattice.index(lattice.cube(point));
        match &self.known().cells {
            Some(cells) => cell.is_some_and(|at| cells.get(at)),
            None => cell.is_some_and(|at| !self.field.occupancy().solid.get(at)),
        }
    }

    /// The same if it has been found out, so that nobody waits.
    pub fn is_surely_known(&self, point: Vec3) -> Option<bool> {
        self.air.get().map(|_| self.is_known(point))
    }

    /// What there is, for the page.
    pub fn describe(&self) -> Value {
        let (info, field) = (self.field.info(), &self.field);
        let bounds = self.known().bounds;
        let row = |shown: Shown| {
            let [title, relative_to, unit] = shown.words();
            json!({ "name": shown.name(), "title": title, "about": relative_to, "unit": unit })
        };
        json!({
            "name": info.name,
            "f_max_hz": info.f_max_hz,
            "cell_m": info.cell_m,
            "grid_m": field.lattice().step_m,
            "bounds": { "min": bounds.min.to_array(), "max": bounds.max.to_array() },
            "probes": field.probes().take(MAX_PROBES).map(|p| p.position.to_array()).collect::<Vec<_>>(),
            "stored_bytes": field.stored_bytes(),
            "parameters": Shown::ALL.map(row),
            // Fields of version 1 have none.
            "directions": false,
            "warnings": info.warnings,
        })
    }

    /// What arrives from a source at a height.
    ///
    /// # Errors
    /// If that makes no sense, or would be too fine.
    pub fn slice(&self, shown: Shown, source: Vec3, height_m: f64, step_m: Option<f64>) -> Result<Slice, Fault> {
        let bounds = self.known().bounds;
        if !(source.is_finite() && (bounds.min.z..=bounds.max.z).contains(&height_m)) {
            let hint = format!("give a height from {:.2} to {:.2} m, and a source", bounds.min.z, bounds.max.z);
            return Err(Fault::bad("there is nothing at this height", hint));
        }
        let [width, depth, _] = (bounds.max - bounds.min).to_array();
        let coarse = (width * depth / POINTS).sqrt().max(0.5 * self.field.info().cell_m);
        let step_m = step_m.unwrap_or(coarse);
        if !(step_m.is_finite() && step_m > 0.0 && (width / step_m + 1.0) * (depth / step_m + 1.0) <= MAX_POINTS) {
            let least = (width * depth / MAX_POINTS).sqrt() * 1.1;
            return Err(Fault::bad("this slice would be too fine", format!("give a step_m of {least:.3} or more")));
        }
        let size = [width, depth].map(|side| (side / step_m).ceil().max(1.0) as u32);
        let mut decoder = self.decoder();
        let mut values = Vec::with_capacity(size[0] as usize * size[1] as usize);
        for row in 0..size[1] {
            for column in 0..size[0] {
                let part = Vec3::new(f64::from(column) + 0.5, f64::from(row) + 0.5, 0.0) * step_m;
                let point = Vec3::new(bounds.min.x, bounds.min.y, height_m) + part;
                let answer = self.is_known(point).then(|| decoder.query(source, point)).filter(|a| a.confidence > 0.0);
                values.push(answer.map_or(f32::NAN, |answer| shown.of(&answer) as f32));
            }
        }
        Ok(Slice { size, corner: [bounds.min.x, bounds.min.y], step_m, height_m, values })
    }
}

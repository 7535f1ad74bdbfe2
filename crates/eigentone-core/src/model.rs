//! The modal model: a sounding object as a set of damped oscillators.
//!
//! With mass-normalised mode shapes `u_n` (`UᵀMU = I`) an impulse `J` (N·s) at contact site `s` sets each mode in motion
//! with velocity `u_n(s)·J`; the mode then rings as `e^{−d t} cos(2πf t)` and the sound is
//!
//! ```text
//! y(t) = Σ_n  output_gain_n · (u_n(s)·J) · e^{−d_n t} cos(2π f_n t)
//! ```
//!
//! in pascals at one metre, for models made from meshes and shapes: `output_gain_n = ρ₀c/√(4π) · √(Σ_j a_j (n_j·u_jn)²)`
//! is the pressure of a source that radiates `ρ₀c ∫ v_n² dA` evenly in all directions (radiation efficiency one).
//! The sign is that of the net volume velocity, so that the product of gain and shape does not depend on the arbitrary
//! sign of an eigenvector.
//!
//! A model fitted to a recording has `output_gain = 1` and shapes along the normal, in the recording's own unit.

mod site;

pub use site::{SiteBlend, SiteTree};

use crate::{
    Vec3,
    mesh::TriMesh,
    units::{Hertz, Seconds},
};
use half::f16;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// How a model was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// A thin shell along a surface mesh.
    Shell,
    /// A thin shell along the middle of the walls that a closed mesh has.
    Walls,
    /// Point masses and springs along a surface mesh.
    Springs,
    /// Finite elements filling a closed surface, or imported tetrahedra.
    Solid,
    /// A closed-form shape.
    Analytic,
    /// Fitted to recordings.
    Fit,
    /// Modes written by hand.
    Manual,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::Shell => "shell",
            Method::Walls => "walls",
            Method::Springs => "springs",
            Method::Solid => "solid",
            Method::Analytic => "analytic",
            Method::Fit => "fit",
            Method::Manual => "manual",
        })
    }
}

/// One damped oscillator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Damped frequency in Hz.
    pub frequency_hz: f64,
    /// Amplitude decay rate `d` in 1/s.
    pub decay_per_s: f64,
    /// Sound pressure per unit of modal velocity; see the [module](self).
    pub output_gain: f64,
}

impl Mode {
    /// Damped frequency.
    pub fn frequency(&self) -> Hertz {
        Hertz(self.frequency_hz)
    }

    /// Time to fall by 60 dB: ln(1000)/d.
    pub fn t60(&self) -> Seconds {
        Seconds(1000f64.ln() / self.decay_per_s)
    }
}

/// Where a model comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// A name for people, usually the source file's stem.
    pub name: String,
    /// How the model was made.
    pub method: Method,
    /// Material name; empty if unknown.
    pub material: String,
    /// Hash of what the model was made from (hexadecimal); empty if unknown.
    pub source_hash: String,
    /// Version of the engine that made it.
    pub engine_version: String,
    /// Mass of the body in kg, if known.
    pub mass_kg: Option<f64>,
    /// The frequency in Hz above which the body has modes that the model has not: either they are so dense that the ear hears bands
    /// and no single ones, or there are too many to compute. `None` if the model reaches the end of its band.
    pub tail_from_hz: Option<f64>,
    /// What was decided on the way, such as the method and why.
    pub notes: Vec<String>,
    /// What the user should worry about.
    pub warnings: Vec<String>,
}

impl ModelInfo {
    /// Information with this engine's version and nothing else known.
    pub fn new(name: impl Into<String>, method: Method, material: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            method,
            material: material.into(),
            source_hash: String::new(),
            engine_version: crate::ENGINE_VERSION.to_owned(),
            mass_kg: None,
            tail_from_hz: None,
            notes: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// The surface on which a model can be touched. Its vertices are the contact sites, one row of the [`ShapeTable`] each.
///
/// It need not be the mesh the model was made from: coarse faces are refined so that a strike in their middle is
/// heard there, and fine meshes are thinned to at most about a thousand sites. Without triangles the sites are
/// isolated points, as after fitting recordings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Positions in metres.
    pub positions: Vec<[f32; 3]>,
    /// Outward unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Triangles over the positions; may be empty.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// The surface of a mesh, with area-weighted vertex normals.
    pub fn from_mesh(mesh: &TriMesh) -> Self {
        Self {
            positions: mesh.positions.iter().map(|p| p.as_vec3().to_array()).collect(),
            normals: mesh.vertex_normals().iter().map(|n| n.as_vec3().to_array()).collect(),
            triangles: mesh.triangles.clone(),
        }
    }

    /// The same as a mesh in double precision.
    pub fn to_mesh(&self) -> TriMesh {
        TriMesh { positions: self.positions.iter().map(|p| vec3(*p)).collect(), triangles: self.triangles.clone() }
    }
}

/// Mode shapes at the contact sites: `sites × modes` vectors, in 1/√kg.
///
/// Values are held in the precision in which they are stored on disk (half floats with one scale per mode), so that a
/// model sounds the same before and after a round trip through a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShapeTable {
    sites: usize,
    modes: usize,
    scale: Vec<f32>,
    values: Vec<[f16; 3]>,
}

impl ShapeTable {
    /// Builds the table from `shape(site, mode)`, rounding to the stored precision.
    pub fn from_fn(sites: usize, modes: usize, shape: impl Fn(usize, usize) -> Vec3) -> Self {
        let scale: Vec<f32> = (0..modes)
            .map(|n| (0..sites).map(|s| shape(s, n).abs().max_element()).fold(0.0, f64::max) as f32)
            .collect();
        let values = (0..sites)
            .flat_map(|s| (0..modes).map(move |n| (s, n)))
            .map(|(s, n)| {
                let unit = if scale[n] > 0.0 { 1.0 / f64::from(scale[n]) } else { 0.0 };
                (shape(s, n) * unit).to_array().map(f16::from_f64)
            })
            .collect();
        Self { sites, modes, scale, values }
    }

    /// Rebuilds a table from its stored parts: `scale[N]` and `values[S·N]`, site by site.
    ///
    /// # Errors
    /// [`ModelError::Shape`] if the lengths do not fit.
    pub fn from_stored(modes: usize, scale: Vec<f32>, values: Vec<[f16; 3]>) -> Result<Self, ModelError> {
        let sites = values.len().checked_div(modes).unwrap_or(0);
        if scale.len() != modes || values.len() != sites * modes {
            return Err(ModelError::Shape { modes, scale: scale.len(), values: values.len() });
        }
        Ok(Self { sites, modes, scale, values })
    }

    /// Number of contact sites.
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// Number of modes.
    pub fn modes(&self) -> usize {
        self.modes
    }

    /// Scale of each mode: the largest component of its shape.
    pub fn scale(&self) -> &[f32] {
        &self.scale
    }

    /// Stored values, site by site.
    pub fn values(&self) -> &[[f16; 3]] {
        &self.values
    }

    /// The same with all shapes times a factor.
    pub fn scaled(mut self, factor: f32) -> Self {
        self.scale.iter_mut().for_each(|scale| *scale *= factor);
        self
    }

    /// The shape of `mode` at `site`.
    pub fn get(&self, site: usize, mode: usize) -> Vec3 {
        let scale = f64::from(self.scale[mode]);
        Vec3::from_array(self.values[site * self.modes + mode].map(f16::to_f64)) * scale
    }
}

/// One band of the part of a sound that is not worth modelling mode by mode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiffuseBand {
    /// Lower edge in Hz.
    pub low_hz: f64,
    /// Upper edge in Hz.
    pub high_hz: f64,
    /// Root-mean-square amplitude of the band at the moment of a unit impulse.
    pub gain: f64,
    /// Decay time in s.
    pub t60_s: f64,
}

impl DiffuseBand {
    /// Checks that it can be.
    ///
    /// # Errors
    /// If not.
    pub fn validate(&self) -> Result<(), ModelError> {
        let good = self.low_hz >= 0.0
            && self.high_hz > self.low_hz
            && self.high_hz <= HIGHEST_HZ
            && self.gain.abs() <= 1e12
            && self.t60_s > 0.0
            && self.t60_s < 1e4;
        if good { Ok(()) } else { Err(ModelError::Inconsistent(format!("impossible diffuse band {self:?}"))) }
    }
}

/// A sounding object.
#[derive(Clone, Debug, PartialEq)]
pub struct ModalModel {
    /// Where it comes from.
    pub info: ModelInfo,
    /// Modes in rising order of frequency.
    pub modes: Vec<Mode>,
    /// Where it can be touched.
    pub surface: Surface,
    /// How strongly each site moves each mode.
    pub shapes: ShapeTable,
    /// Diffuse remainder; empty for most models.
    pub diffuse: Vec<DiffuseBand>,
}

/// Why a model is not one.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// Array lengths that contradict each other.
    #[error("shape table of {modes} modes has {scale} scales and {values} values")]
    Shape {
        /// Modes.
        modes: usize,
        /// Scales.
        scale: usize,
        /// Values.
        values: usize,
    },
    /// A mode that cannot sound.
    #[error("mode {index}: {what} is {value}, but must be {expected}")]
    Mode {
        /// Index in the list.
        index: usize,
        /// The field.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// Anything else that does not fit together.
    #[error("{0}")]
    Inconsistent(String),
}

/// Highest frequency that any model may hold, in Hz: half of 192 kHz, the highest sample rate in common use.
const HIGHEST_HZ: f64 = 96_000.0;

impl ModalModel {
    /// Checks that every number is finite and every array fits the others.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), ModelError> {
        let sites = self.surface.positions.len();
        if self.shapes.modes() != self.modes.len() || (!self.modes.is_empty() && self.shapes.sites() != sites) {
            return Err(ModelError::Inconsistent(format!(
                "{} modes at {sites} sites, but mode shapes for {} modes at {} sites",
                self.modes.len(),
                self.shapes.modes(),
                self.shapes.sites()
            )));
        }
        if sites == 0 && !self.modes.is_empty() {
            return Err(ModelError::Inconsistent("the model has modes but no contact site".to_owned()));
        }
        if self.surface.normals.len() != sites {
            return Err(ModelError::Inconsistent(format!(
                "{sites} positions, but {} normals",
                self.surface.normals.len()
            )));
        }
        for (index, mode) in self.modes.iter().enumerate() {
            let bad = |what, value, expected| Err(ModelError::Mode { index, what, value, expected });
            if !(mode.frequency_hz > 0.0 && mode.frequency_hz <= HIGHEST_HZ) {
                return bad("frequency_hz", mode.frequency_hz, "above 0 and at most 96000 Hz");
            }
            if !(mode.decay_per_s > 0.0 && mode.decay_per_s <= 1e6) {
                return bad("decay_per_s", mode.decay_per_s, "above 0 and at most 1e6 1/s");
            }
            if !(mode.output_gain.is_finite() && mode.output_gain.abs() <= 1e12) {
                return bad("output_gain", mode.output_gain, "finite and at most 1e12");
            }
        }
        let finite = |v: &[f32; 3]| v.iter().all(|x| x.is_finite());
        if !self.surface.positions.iter().chain(&self.surface.normals).all(finite) {
            return Err(ModelError::Inconsistent("a position or normal is not finite".to_owned()));
        }
        let finite_shapes = self.shapes.values.iter().flatten().all(|x| x.is_finite())
            && self.shapes.scale.iter().all(|s| s.is_finite());
        if !finite_shapes {
            return Err(ModelError::Inconsistent("a mode shape is not finite".to_owned()));
        }
        if self.surface.triangles.iter().flatten().any(|&v| v as usize >= sites) {
            return Err(ModelError::Inconsistent("a triangle names a vertex that does not exist".to_owned()));
        }
        self.diffuse.iter().try_for_each(DiffuseBand::validate)
    }

    /// The contact nearest to `point`: the nearest place on the surface, blended over its triangle; for isolated sites
    /// (fitted models) a blend of the three nearest by inverse squared distance. `None` for a model without sites. For many
    /// places there is [`SiteTree`].
    pub fn nearest_contact(&self, point: Vec3) -> Option<Contact> {
        let (blend, position) = self.surface.nearest(point)?;
        let normal =
            (0..3).map(|k| vec3(self.surface.normals[blend.sites[k] as usize]) * blend.weights[k]).sum::<Vec3>();
        Some(Contact { blend, position, normal: normal.normalize_or(Vec3::Z) })
    }

    /// How far an impulse (N·s) at `blend` sets each mode in motion, in modal velocity: `u_n·J`.
    pub fn excitation(&self, blend: &SiteBlend, impulse: Vec3) -> Vec<f64> {
        let shape = |n| (0..3).map(|k| self.shapes.get(blend.sites[k] as usize, n) * blend.weights[k]).sum::<Vec3>();
        (0..self.modes.len()).map(|n| shape(n).dot(impulse)).collect()
    }

    /// The model with only those modes for which `keep` says so.
    pub fn with_modes(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.modes.len()).filter(|&n| keep(n)).collect();
        self.of_modes(&kept)
    }

    /// The model with the modes of these numbers, in this order; a number may be there more than once. Those that the model does not have are passed over.
    pub fn of_modes(&self, numbers: &[usize]) -> Self {
        let kept: Vec<usize> = numbers.iter().copied().filter(|&n| n < self.modes.len()).collect();
        let modes = kept.iter().map(|&n| self.modes[n]).collect();
        let shapes = ShapeTable {
            sites: self.shapes.sites,
            modes: kept.len(),
            scale: kept.iter().map(|&n| self.shapes.scale[n]).collect(),
            values: (0..self.shapes.sites)
                .flat_map(|s| kept.iter().map(move |&n| (s, n)))
                .map(|(s, n)| self.shapes.values[s * self.shapes.modes + n])
                .collect(),
        };
        Self { modes, shapes, ..self.clone() }
    }

    /// Loudness of each mode independent of where it is struck: `|output gain|` times the root mean square over all
    /// sites of the shape along the normal. This is the `gain` that `inspect` prints.
    pub fn overall_gains(&self) -> Vec<f64> {
        let sites = self.shapes.sites().max(1) as f64;
        (0..self.modes.len())
            .map(|n| {
                let square = |s: usize| self.shapes.get(s, n).dot(vec3(self.surface.normals[s])).powi(2);
                let mean = (0..self.shapes.sites()).map(square).sum::<f64>() / sites;
                self.modes[n].output_gain.abs() * mean.sqrt()
            })
            .collect()
    }
}

/// A place on a model's surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Sites and weights.
    pub blend: SiteBlend,
    /// Position on the surface.
    pub position: Vec3,
    /// Outward unit normal.
    pub normal: Vec3,
}

fn vec3(v: [f32; 3]) -> Vec3 {
    Vec3::from_array(v.map(f64::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::primitives;

    fn model() -> ModalModel {
        let mesh = primitives::plate(1.0, 1.0, 3, 3);
        let sites = mesh.positions.len();
        ModalModel {
            info: ModelInfo::new("plate", Method::Shell, "steel"),
            modes: vec![
                Mode { frequency_hz: 100.0, decay_per_s: 1.0, output_gain: 1.0 },
                Mode { frequency_hz: 200.0, decay_per_s: 2.0, output_gain: -2.0 },
            ],
            shapes: ShapeTable::from_fn(sites, 2, |s, n| Vec3::Z * (s as f64 + 0.123) * (n as f64 + 1.0)),
            surface: Surface::from_mesh(&mesh),
            diffuse: Vec::new(),
        }
    }

    #[test]
    fn stored_precision_is_a_fixed_point() {
        let table = model().shapes;
        let again = ShapeTable::from_fn(table.sites(), table.modes(), |s, n| table.get(s, n));
        assert_eq!(table, again);
    }

    #[test]
    fn half_floats_keep_shapes_to_a_two_thousandth_of_their_value() {
        let table = model().shapes;
        for s in 0..table.sites() {
            let truth = s as f64 + 0.123;
            assert!((table.get(s, 0).z / truth - 1.0).abs() < 1.0 / 2048.0);
        }
    }

    #[test]
    fn a_strike_between_vertices_blends_them() {
        let model = model();
        let contact = model.nearest_contact(Vec3::new(0.2, 0.1, 5.0)).unwrap();
        assert!((contact.blend.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((contact.position - Vec3::new(0.2, 0.1, 0.0)).length() < 1e-7);
        let at_vertex = model.nearest_contact(vec3(model.surface.positions[4])).unwrap();
        let push = model.excitation(&at_vertex.blend, Vec3::Z);
        assert!((push[0] - model.shapes.get(4, 0).z).abs() < 1e-6);
    }

    #[test]
    fn modes_can_be_taken_out() {
        let model = model();
        let second = model.with_modes(|n| n == 1);
        second.validate().unwrap();
        assert_eq!(second.modes, &model.modes[1..]);
        assert!((0..model.shapes.sites()).all(|s| second.shapes.get(s, 0) == model.shapes.get(s, 1)));
    }

    #[test]
    fn isolated_sites_blend_by_distance() {
        let mut model = model();
        model.surface.triangles.clear();
        let on = model.nearest_contact(vec3(model.surface.positions[2])).unwrap();
        assert_eq!(on.blend, SiteBlend::single(2));
        let between = model.nearest_contact(Vec3::new(0.1, 0.2, 0.0)).unwrap();
        assert!((between.blend.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_model_that_does_not_fit_together_is_refused() {
        model().validate().unwrap();
        let mut bad = model();
        bad.modes[1].decay_per_s = f64::NAN;
        assert!(bad.validate().unwrap_err().to_string().starts_with("mode 1: decay_per_s is NaN"));
        let mut bad = model();
        bad.surface.triangles[0][1] = 99;
        bad.validate().unwrap_err();
        let mut bad = model();
        bad.modes.pop();
        bad.validate().unwrap_err();
    }
}

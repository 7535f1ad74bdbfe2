//! What rooms do to sound, as data: wall materials, the parameters between two points, and the field of them around many probes.
//!
//! A bake simulates the wave equation from each *probe* and describes what arrives at the points of a *lattice* around it by five numbers, [`Parameters`]. All
//! probes share one lattice, so that fields of neighbours can be blended sample by sample. Numbers are stored in steps of what is just noticeable; see
//! [`Parameter`].

mod coded;
mod field;

pub use coded::{
    CODE_SYMBOLS, CodeLengths, EncodedProbe, Field, FieldError, FieldSizes, ProbeCode, ProbePlace, QUANTUM_RANGE,
    check_lattice, check_places, encode_probe, is_quantum,
};
pub use field::{Bits, FieldInfo, Lattice, Occupancy, ProbeField};

use crate::{TriMesh, Vec3};
use serde::{Deserialize, Serialize};

/// A material of walls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WallMaterial {
    /// Its name in tables and messages.
    pub name: String,
    /// Share of the energy that does not come back, for sound from all directions (random incidence), at 250 to 500 Hz; 0 to 1. One is an opening.
    pub absorption: f64,
    /// Where the number comes from.
    #[serde(default)]
    pub origin: String,
}

/// Triangles with names of materials: the geometry of a scene as it comes from a file. Nothing is assumed of its topology.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MaterialMesh {
    /// The triangles.
    pub mesh: TriMesh,
    /// Names of materials as the file has them.
    pub names: Vec<String>,
    /// For each triangle an index into `names`.
    pub of_triangle: Vec<u16>,
}

impl MaterialMesh {
    /// All triangles of one material.
    pub fn of(mesh: TriMesh, name: &str) -> Self {
        let of_triangle = vec![0; mesh.triangles.len()];
        Self { mesh, names: vec![name.to_owned()], of_triangle }
    }

    /// Adds other triangles; materials of the same name become one.
    pub fn append(&mut self, other: &Self) {
        let first = self.mesh.positions.len() as u32;
        self.mesh.positions.extend(&other.mesh.positions);
        self.mesh.triangles.extend(other.mesh.triangles.iter().map(|t| t.map(|v| v + first)));
        let names: Vec<u16> = other
            .names
            .iter()
            .map(|name| {
                let at = self.names.iter().position(|n| n == name).unwrap_or_else(|| {
                    self.names.push(name.clone());
                    self.names.len() - 1
                });
                at as u16
            })
            .collect();
        self.of_triangle.extend(other.of_triangle.iter().map(|&m| names[usize::from(m)]));
    }
}

/// What arrives at a listener from a source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Level of the direct sound relative to the free field at that distance, in dB.
    pub direct_db: f64,
    /// Level of early reflections relative to the direct sound at 1 m in free field, in dB.
    pub early_db: f64,
    /// Reverberation time of the early decay, in s.
    pub early_decay_s: f64,
    /// Reverberation time of the late decay, in s.
    pub late_decay_s: f64,
    /// Slope of the direct sound's level over frequency relative to the free field, in dB per octave: negative behind obstacles.
    pub tilt_db: f64,
}

/// One of the [`Parameters`], in the order in which they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// [`Parameters::direct_db`].
    Direct,
    /// [`Parameters::early_db`].
    Early,
    /// [`Parameters::early_decay_s`].
    EarlyDecay,
    /// [`Parameters::late_decay_s`].
    LateDecay,
    /// [`Parameters::tilt_db`].
    Tilt,
}

impl Parameter {
    /// How many there are.
    pub const COUNT: usize = 5;
    /// All of them in order.
    pub const ALL: [Self; Self::COUNT] = [Self::Direct, Self::Early, Self::EarlyDecay, Self::LateDecay, Self::Tilt];

    /// Its name in files and messages.
    pub fn name(self) -> &'static str {
        ["direct", "early", "early_decay", "late_decay", "tilt"][self as usize]
    }

    /// The least and the greatest number of steps that are stored.
    pub fn range(self) -> [f32; 2] {
        match self {
            Self::Direct | Self::Early => [-70.0, 20.0],
            Self::EarlyDecay | Self::LateDecay => [-64.0, 63.0],
            Self::Tilt => [-30.0, 30.0],
        }
    }

    /// From dB, seconds or dB per octave to steps that are just noticeable (1 dB; 5 %; 1 dB per octave), within [`range`](Self::range). What is
    /// not a number becomes the least.
    pub fn to_steps(self, value: f64) -> f32 {
        let steps = match self {
            Self::Direct | Self::Early | Self::Tilt => value,
            Self::EarlyDecay | Self::LateDecay => value.max(1e-9).ln() / 1.05f64.ln(),
        };
        let [least, most] = self.range();
        (steps as f32).max(least).min(most)
    }

    /// The inverse of [`to_steps`](Self::to_steps).
    pub fn from_steps(self, steps: f32) -> f64 {
        match self {
            Self::Direct | Self::Early | Self::Tilt => f64::from(steps),
            Self::EarlyDecay | Self::LateDecay => 1.05f64.powf(f64::from(steps)),
        }
    }
}

impl Parameters {
    /// In the order of [`Parameter::ALL`].
    pub fn to_array(self) -> [f64; Parameter::COUNT] {
        [self.direct_db, self.early_db, self.early_decay_s, self.late_decay_s, self.tilt_db]
    }

    /// From the order of [`Parameter::ALL`].
    pub fn from_array(values: [f64; Parameter::COUNT]) -> Self {
        let [direct_db, early_db, early_decay_s, late_decay_s, tilt_db] = values;
        Self { direct_db, early_db, early_decay_s, late_decay_s, tilt_db }
    }

    /// In steps that are just noticeable.
    pub fn to_steps(self) -> [f32; Parameter::COUNT] {
        let values = self.to_array();
        Parameter::ALL.map(|p| p.to_steps(values[p as usize]))
    }

    /// From steps.
    pub fn from_steps(steps: [f32; Parameter::COUNT]) -> Self {
        Self::from_array(Parameter::ALL.map(|p| p.from_steps(steps[p as usize])))
    }
}

/// A box along the axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Its lowest corner.
    pub min: Vec3,
    /// Its highest corner.
    pub max: Vec3,
}

impl Bounds {
    /// The smallest box with all points in it; `None` without any.
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Option<Self> {
        points.into_iter().fold(None, |all, p| {
            Some(all.map_or(Self { min: p, max: p }, |b: Self| Self { min: b.min.min(p), max: b.max.max(p) }))
        })
    }

    /// Whether a point is in it or on its surface.
    pub fn contains(&self, p: Vec3) -> bool {
        p.cmpge(self.min).all() && p.cmple(self.max).all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_values_are_each_others_inverse_within_the_range() {
        for p in Parameter::ALL {
            let [least, most] = p.range();
            for steps in [least, -3.25, 0.0, 7.5, most] {
                assert!((p.to_steps(p.from_steps(steps)) - steps).abs() < 1e-3, "{p:?} {steps}");
            }
            assert_eq!(p.to_steps(f64::NAN), least);
            assert_eq!(p.to_steps(f64::INFINITY), most);
        }
        assert!((Parameter::LateDecay.from_steps(63.0) - 21.6).abs() < 0.1, "up to 21.6 s");
    }

    #[test]
    fn appended_meshes_share_materials_by_name() {
        let plate = crate::mesh::primitives::plate(1.0, 1.0, 2, 2);
        let mut all = MaterialMesh::of(plate.clone(), "brick");
        all.append(&MaterialMesh::of(plate.clone(), "wood"));
        all.append(&MaterialMesh::of(plate.clone(), "brick"));
        let each = plate.triangles.len();
        assert_eq!(all.names, ["brick", "wood"]);
        assert_eq!(all.of_triangle, [vec![0; each], vec![1; each], vec![0; each]].concat());
        assert_eq!(all.mesh.triangles[each][0], plate.triangles[0][0] + plate.positions.len() as u32);
    }
}

//! `[acoustics]`: the rooms of a scene, and how they are baked.

use serde::Deserialize;
use std::collections::BTreeMap;

/// `[acoustics]`. Numbers that are not given are those of [`eigentone_wave::Settings`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Acoustics {
    /// The field that `bake` made of these rooms, to be heard by `render`. If not given, the file beside the scene that is called as the scene, with
    /// `.field.safetensors` for `.toml`.
    pub field: Option<String>,
    /// A file with the walls: OBJ, glTF, PLY, OFF or STL, in m, z up (glTF is turned). Any triangles do.
    pub mesh: Option<String>,
    /// Or one of the rooms made by rule: `shoebox`, `two-rooms`, `apartment`, `abbey`, `deck`.
    pub room: Option<String>,
    /// Size of a `shoebox`, in m.
    pub size: Option<[f64; 3]>,
    /// Factor for the coordinates of `mesh`.
    pub scale: Option<f64>,
    /// What names of materials in the mesh mean: a wall material, or the share that is absorbed.
    pub materials: BTreeMap<String, Absorption>,
    /// A level ground under everything.
    pub ground: Option<Ground>,
    /// Where listeners may be. Without any, all of the scene.
    pub region: Vec<Region>,
    /// More probes.
    pub probes: Vec<[f64; 3]>,
    /// Points from which all air that counts can be reached.
    pub seeds: Vec<[f64; 3]>,
    /// Probes so high above floors, in m, instead of on a level grid.
    pub above_floor_m: Option<f64>,
    /// Highest frequency, in Hz.
    pub f_max_hz: Option<f64>,
    /// Radius around a probe, in m.
    pub radius_m: Option<f64>,
    /// Height around a probe, in m.
    pub height_m: Option<f64>,
    /// Air around that which absorbs, in m.
    pub padding_m: Option<f64>,
    /// Air around the geometry that is simulated, in m.
    pub margin_m: Option<f64>,
    /// Side of the cubes in which parameters are told, in m.
    pub grid_m: Option<f64>,
    /// Distance of probes in x and y, in m.
    pub spacing_m: Option<f64>,
    /// Distance of probes in z, in m.
    pub spacing_z_m: Option<f64>,
    /// How long sound is direct, in s.
    pub direct_s: Option<f64>,
    /// How long it is early, in s.
    pub early_s: Option<f64>,
    /// How long the late decay is observed, in s.
    pub late_s: Option<f64>,
    /// Level at which sound begins, in dB.
    pub onset_db: Option<f64>,
    /// Steps that are just noticeable to one that is stored.
    pub quantum: Option<f64>,
}

/// What a wall absorbs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Absorption {
    /// As much as a wall material of this name.
    Like(String),
    /// This share, 0 to 1.
    Share(f64),
}

/// `[acoustics.ground]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ground {
    /// Its height in m.
    #[serde(default)]
    pub z_m: f64,
    /// Its material, or what it absorbs.
    pub material: Absorption,
}

/// `[[acoustics.region]]`: a box, or a closed mesh.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Region {
    /// Lowest corner.
    pub min: Option<[f64; 3]>,
    /// Highest corner.
    pub max: Option<[f64; 3]>,
    /// A file with a closed mesh.
    pub mesh: Option<String>,
}

//! Acoustic fields: how much they know, and what that takes.

use eigentone::core::Vec3;
use eigentone::core::acoustics::{Bounds, Field, Parameter, ProbePlace};
use eigentone::io::deflate_baseline;
use serde::Serialize;

/// An acoustic field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldInspection {
    /// Name of the scene.
    pub name: String,
    /// Points from which sound was simulated.
    pub probes: usize,
    /// Lowest and highest corner of the box around all cubes with values, in m.
    pub bounds: [[f64; 3]; 2],
    /// Highest frequency of the simulation, in Hz.
    pub f_max_hz: f64,
    /// Side of a simulated cell, in m.
    pub cell_m: f64,
    /// Side of a cube in which parameters are told, in m.
    pub grid_m: f64,
    /// Steps that are just noticeable to one that is stored.
    pub quantum: f32,
    /// Cubes around a probe, with values or not, on average.
    pub cells_per_probe: u64,
    /// Of the cubes of all probes, those with values.
    pub samples: u64,
    /// At one byte for each parameter of each cube.
    pub raw_bytes: u64,
    /// Of the file.
    pub stored_bytes: u64,
    /// `raw_bytes` over `stored_bytes`.
    pub ratio: f64,
    /// The same without cubes that have no values: what compression of the values alone brings.
    pub sample_ratio: f64,
    /// `stored_bytes` over `samples`: all five parameters.
    pub bytes_per_sample: f64,
    /// What the values of each parameter take.
    pub parameters: Vec<ParameterSize>,
    /// For which cubes have values.
    pub mask_bytes: u64,
    /// For which cells of the scene are solid.
    pub occupancy_bytes: u64,
    /// For everything else.
    pub index_bytes: u64,
    /// Which shard of how many, from 0; `null` for a whole field.
    pub shard: Option<[u32; 2]>,
    /// Settings of the bake.
    pub settings: serde_json::Value,
    /// Hash of everything it follows from.
    pub source_hash: String,
    /// Engine that made it.
    pub engine_version: String,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// What the values of one parameter take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ParameterSize {
    /// Its name.
    pub name: &'static str,
    /// In the file.
    pub stored_bytes: u64,
    /// With DEFLATE per layer instead, as the wave-field paper does it.
    pub deflate_bytes: u64,
    /// `stored_bytes` over the samples.
    pub bytes_per_sample: f64,
}

/// The probe nearest to a point; without one, nearest to the middle of all probes. `None` without probes.
pub fn nearest_probe(field: &Field, to: Option<Vec3>) -> Option<usize> {
    let middle = || field.probes().map(|p| p.position).sum::<Vec3>() / field.probes().len().max(1) as f64;
    let to = to.unwrap_or_else(middle);
    let away = field.probes().map(|p| (p.position - to).length_squared());
    away.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(number, _)| number)
}

/// Looks into a field.
pub(super) fn inspect_field(field: &Field) -> FieldInspection {
    let (info, sizes) = (field.info(), field.sizes());
    let probes = field.probes().len();
    let samples: u64 = (0..probes).map(|i| field.valid(i).count() as u64).sum();
    let per_sample = |bytes: u64| bytes as f64 / samples.max(1) as f64;
    let parameters = Parameter::ALL.into_iter().zip(sizes.parameters).zip(deflate_baseline(field));
    let parameters = parameters
        .map(|((parameter, stored_bytes), deflate_bytes)| ParameterSize {
            name: parameter.name(),
            stored_bytes,
            deflate_bytes,
            bytes_per_sample: per_sample(stored_bytes),
        })
        .collect();
    let mut warnings = info.warnings.clone();
    if let Some([i, n]) = info.shard {
        warnings.push(format!(
            "it is shard {i} of {n}, with only a part of the probes: `eigentone merge` makes one field of all"
        ));
    }
    let deaf = (0..probes).filter(|&i| field.valid(i).count() == 0).count();
    if deaf > 0 {
        warnings.push(format!("probes around which nothing is heard: {deaf}"));
    }
    let bounds = bounds(field).unwrap_or_default();
    FieldInspection {
        name: info.name.clone(),
        probes,
        bounds: [bounds.min.to_array(), bounds.max.to_array()],
        f_max_hz: info.f_max_hz,
        cell_m: info.cell_m,
        grid_m: field.lattice().step_m,
        quantum: info.quantum,
        cells_per_probe: field.raw_bytes() / Parameter::COUNT as u64 / probes.max(1) as u64,
        samples,
        raw_bytes: field.raw_bytes(),
        stored_bytes: field.stored_bytes(),
        ratio: field.raw_bytes() as f64 / field.stored_bytes().max(1) as f64,
        sample_ratio: (samples * Parameter::COUNT as u64) as f64 / field.stored_bytes().max(1) as f64,
        bytes_per_sample: per_sample(field.stored_bytes()),
        parameters,
        mask_bytes: sizes.masks,
        occupancy_bytes: sizes.occupancy,
        index_bytes: sizes.index,
        shard: info.shard,
        settings: serde_json::from_str(&info.settings).unwrap_or_else(|_| info.settings.clone().into()),
        source_hash: info.source_hash.clone(),
        engine_version: info.engine_version.clone(),
        warnings,
    }
}

/// The box around all cubes with values.
fn bounds(field: &Field) -> Option<Bounds> {
    let lattice = field.lattice();
    let cube = |place: &ProbePlace, at: usize| {
        let [nx, ny, _] = place.size.map(|n| n as usize);
        let local = [at % nx, at / nx % ny, at / nx / ny];
        std::array::from_fn(|axis| i64::from(place.first[axis]) + local[axis] as i64)
    };
    let cubes = field.probes().enumerate().flat_map(|(i, place)| {
        let valid = field.valid(i);
        (0..valid.len()).filter(|&at| valid.get(at)).map(move |at| cube(place, at))
    });
    let middles = Bounds::of(cubes.map(|at: [i64; 3]| lattice.centre(at)))?;
    Some(Bounds { min: middles.min - 0.5 * lattice.step_m, max: middles.max + 0.5 * lattice.step_m })
}

//! Modes of one model that it hides itself (van den Doel, Knott & Pai 2004, Table 1).

use super::hearing;
use super::masking::{self, Tone};
use eigentone_core::ModalModel;

/// What the ear makes of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskedModel {
    /// Whether each mode is heard from at least one place of a blow.
    pub heard: Vec<bool>,
    /// The modes as tones, each at the level it has in a blow at an average place.
    pub tones: Vec<Tone>,
}

/// Finds the modes that are heard when the model is struck along its normal, at whatever place, so hard that all modes together are at `total_db`.
pub fn self_mask(model: &ModalModel, offset_db: f64, total_db: f64) -> MaskedModel {
    let tone = |mode: usize, energy: f64, total: f64| {
        let hz = model.modes[mode].frequency_hz;
        Tone {
            bark: hearing::bark(hz) as f32,
            level_db: (10.0 * (energy / total).max(1e-30).log10() + total_db) as f32,
            threshold_db: hearing::threshold_db(hz) as f32,
        }
    };
    let tones_of = |energies: Vec<f64>| -> Vec<Tone> {
        let total = energies.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        energies.into_iter().enumerate().map(|(k, e)| tone(k, e, total)).collect()
    };
    let mut heard = vec![false; model.modes.len()];
    for site in 0..model.shapes.sites() {
        let normal = eigentone_core::Vec3::from_array(model.surface.normals[site].map(f64::from));
        let energy = |k: usize| (model.modes[k].output_gain * model.shapes.get(site, k).dot(normal)).powi(2);
        let tones = tones_of((0..model.modes.len()).map(energy).collect());
        for (any, here) in heard.iter_mut().zip(masking::sweep(&tones, offset_db as f32)) {
            *any |= here;
        }
    }
    let tones = tones_of(model.overall_gains().iter().map(|g| g * g).collect());
    MaskedModel { heard, tones }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::{Method, Mode, ModelInfo, ShapeTable, Surface, Vec3};

    /// A loud mode hides a weak neighbour 20 dB below it wherever both are struck alike, but not where it has a node.
    #[test]
    fn a_mode_is_kept_if_one_place_brings_it_out() {
        let modes: Vec<Mode> =
            [1000.0, 1020.0].map(|frequency_hz| Mode { frequency_hz, decay_per_s: 3.0, output_gain: 1.0 }).to_vec();
        let model = |second: f64| ModalModel {
            info: ModelInfo::new("", Method::Manual, ""),
            modes: modes.clone(),
            surface: Surface { positions: vec![[0.0; 3]; 2], normals: vec![[0.0, 0.0, 1.0]; 2], triangles: vec![] },
            shapes: ShapeTable::from_fn(2, 2, |site, mode| Vec3::Z * [[1.0, 0.1], [second, 0.1]][site][mode]),
            diffuse: vec![],
        };
        assert_eq!(self_mask(&model(1.0), 5.0, 60.0).heard, [true, false]);
        assert_eq!(self_mask(&model(0.001), 5.0, 60.0).heard, [true, true]);
    }
}

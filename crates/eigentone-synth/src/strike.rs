//! One blow on one object.

use crate::BLOCK;
use crate::engine::engine;
use crate::exciter::ContactTime;
use crate::policy::Quality;
use crate::settings::{BodySettings, EngineError, Settings};
use eigentone_core::ModalModel;
use eigentone_core::event::{Action, Event, Moment};
use eigentone_core::model::Contact;
use std::sync::Arc;

/// A blow against the outward normal of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strike {
    /// Where.
    pub contact: Contact,
    /// How hard, in N·s.
    pub impulse_ns: f64,
    /// Stiffness of the contact in N/m: how hard the mallet is.
    pub stiffness_n_m: f64,
    /// Mass of the mallet in kg.
    pub mallet_kg: f64,
}

impl Strike {
    /// A medium blow: 0.05 N·s with a 20 g mallet of hard plastic.
    pub fn new(contact: Contact) -> Self {
        Self { contact, impulse_ns: 0.05, stiffness_n_m: 1e6, mallet_kg: 0.02 }
    }

    /// How long mallet and body touch, in s.
    pub fn contact_time_s(&self, model: &ModalModel) -> f64 {
        let mass_kg = ContactTime::effective_mass_kg(self.mallet_kg, model.info.mass_kg);
        ContactTime { mass_kg, stiffness_n_m: self.stiffness_n_m }.seconds()
    }
}

/// The sound of a blow, in pascals at one metre for models made from meshes and shapes (see [`eigentone_core::model`]). Rendered by the
/// [engine](mod@crate::engine) with nothing left out.
///
/// # Errors
/// If the sample rate is not one the engine runs at, or the model contradicts itself.
pub fn strike(
    model: &Arc<ModalModel>,
    blow: &Strike,
    sample_rate_hz: f64,
    duration_s: f64,
) -> Result<Vec<f32>, EngineError> {
    let settings = Settings {
        sample_rate_hz,
        max_bodies: 1,
        max_modes_per_body: model.modes.len(),
        max_events: 64,
        max_messages_per_block: usize::MAX,
        max_events_per_block: usize::MAX,
        max_bridges: 0,
        max_contacts: 0,
        max_impulse_ns: f32::MAX.sqrt(),
        max_force_n: f32::MAX,
        quality: Quality::FULL,
    };
    let (mut handle, mut processor) = engine(settings)?;
    let body = handle.add(&BodySettings::new(model.clone()))?;
    // Against the outward normal.
    let impulse_ns = (-blow.contact.normal * blow.impulse_ns).as_vec3().to_array();
    let action = Action::Blow { site: blow.contact.blend, impulse_ns, duration_s: blow.contact_time_s(model) as f32 };
    handle.send(Event { time: Moment::NOW, body, action })?;
    let samples = (duration_s * sample_rate_hz).round().max(0.0) as usize;
    let mut sound = Vec::with_capacity(samples.next_multiple_of(BLOCK));
    while sound.len() < samples {
        processor.next_block();
        sound.extend(processor.buses().next().map_or([0.0; BLOCK], |(_, bus)| *bus));
    }
    sound.truncate(samples);
    Ok(sound)
}

/// How long a blow is heard, in s: until every mode and band has fallen `range_db` below the loudest mode's start.
pub fn ring_time_s(model: &ModalModel, blow: &Strike, range_db: f64) -> f64 {
    let excitation = model.excitation(&blow.contact.blend, blow.contact.normal);
    let levels: Vec<f64> = model.modes.iter().zip(excitation).map(|(m, g)| (m.output_gain * g).abs()).collect();
    let loudest = levels.iter().fold(0.0, |a: f64, &b| a.max(b));
    let floor = loudest * 10f64.powf(-range_db / 20.0);
    let modal = model.modes.iter().zip(&levels).map(|(m, &level)| (level / floor).ln() / m.decay_per_s);
    let noise = model.diffuse.iter().map(|b| b.t60_s * range_db / 60.0);
    modal.chain(noise).filter(|t| t.is_finite()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::{Method, ModalModel, Mode, ModelInfo, ShapeTable, Surface, Vec3};

    fn model() -> Arc<ModalModel> {
        Arc::new(ModalModel {
            info: ModelInfo::new("test", Method::Manual, ""),
            modes: [300.0, 6000.0].map(|f| Mode { frequency_hz: f, decay_per_s: 5.0, output_gain: 1.0 }).to_vec(),
            surface: Surface { positions: vec![[0.0; 3]], normals: vec![[0.0, 0.0, 1.0]], triangles: vec![] },
            shapes: ShapeTable::from_fn(1, 2, |_, _| Vec3::Z),
            diffuse: vec![],
        })
    }

    fn level(sound: &[f32], frequency_hz: f64) -> f64 {
        let (mut re, mut im) = (0.0, 0.0);
        for (n, &y) in sound.iter().enumerate() {
            let phase = std::f64::consts::TAU * frequency_hz * n as f64 / 44_100.0;
            re += f64::from(y) * phase.cos();
            im += f64::from(y) * phase.sin();
        }
        20.0 * re.hypot(im).log10()
    }

    /// A half-sine of length T weakens a mode at f by `cos(πfT)/(1 − (2fT)²)`: soft mallets take the treble away.
    #[test]
    fn a_soft_mallet_takes_the_treble_away_by_the_half_sines_spectrum() {
        let model = model();
        let contact = model.nearest_contact(Vec3::ZERO).unwrap();
        let sound = |stiffness_n_m: f64| {
            let blow = Strike { stiffness_n_m, ..Strike::new(contact) };
            let t = blow.contact_time_s(&model);
            (strike(&model, &blow, 44_100.0, 1.0).unwrap(), t)
        };
        let (hard, _) = sound(1e12);
        let (soft, t) = sound(2e7);
        for f in [300.0, 6000.0] {
            let x = f * t;
            let theory = 20.0 * ((std::f64::consts::PI * x).cos() / (1.0 - 4.0 * x * x)).abs().log10();
            let found = level(&soft, f) - level(&hard, f);
            assert!((found - theory).abs() < 0.2, "{f} Hz: {found} dB against {theory} dB");
        }
    }

    #[test]
    fn twice_the_impulse_is_six_decibels() {
        let model = model();
        let blow = Strike::new(model.nearest_contact(Vec3::ZERO).unwrap());
        let one = strike(&model, &blow, 44_100.0, 0.5).unwrap();
        let two = strike(&model, &Strike { impulse_ns: 2.0 * blow.impulse_ns, ..blow }, 44_100.0, 0.5).unwrap();
        assert!(one.iter().zip(&two).all(|(a, b)| (2.0 * a - b).abs() <= 1e-6 * b.abs()));
        assert!((ring_time_s(&model, &blow, 60.0) - 1000f64.ln() / 5.0).abs() < 1e-9);
    }
}

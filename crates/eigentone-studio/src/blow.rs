//! One blow on one body, rendered offline with the model it has now: to compare versions at equal loudness, and a model with a recording.
//!
//! What comes out is the pressure one metre away in Pa, without room, listener and limiter.

use crate::fault::Fault;
use crate::request::MalletChoice;
use eigentone_core::{ModalModel, Vec3};
use eigentone_synth::{Strike, ring_time_s, strike};
use serde::Deserialize;
use std::sync::Arc;

/// Longest sound, in s.
const LONGEST_S: f64 = 8.0;

/// A sound has died away when all modes are so far down, in dB.
const RANGE_DB: f64 = 70.0;

/// What is asked for.
#[derive(Clone, Debug, Deserialize)]
pub struct BlowRequest {
    /// Which body.
    pub body: u64,
    /// Where, in the body's own frame; its highest point if not given.
    pub at: Option<[f64; 3]>,
    /// How hard, in N·s.
    #[serde(default = "tap")]
    pub impulse_ns: f64,
    /// With what.
    pub mallet: Option<MalletChoice>,
}

fn tap() -> f64 {
    0.05
}

/// Renders it, times the body's gain.
///
/// # Errors
/// If a number makes no sense or the model cannot be struck.
pub fn render(wanted: &BlowRequest, model: &Arc<ModalModel>, gain: f64, rate_hz: f64) -> Result<Vec<f32>, Fault> {
    if !(1e-6..=100.0).contains(&wanted.impulse_ns) || wanted.at.iter().flatten().any(|x| !x.is_finite()) {
        return Err(Fault::bad("a blow that cannot be", "give impulse_ns up to 100 and a place in metres"));
    }
    let mallet = wanted.mallet.as_ref().map_or(Ok(eigentone_world::Mallet::default()), MalletChoice::mallet)?;
    if !(mallet.mass_kg > 0.0 && mallet.stiffness_n_m > 0.0) {
        return Err(Fault::bad("a mallet without mass or stiffness", "give positive numbers"));
    }
    let places = model.surface.positions.iter().map(|p| Vec3::from_array(p.map(f64::from)));
    let top = places.reduce(|top, p| if p.z > top.z { p } else { top });
    let at = wanted.at.map(Vec3::from_array).or(top).unwrap_or_default();
    let no_surface = || Fault::bad("this model has no surface to strike", "");
    let blow = Strike {
        contact: model.nearest_contact(at).ok_or_else(no_surface)?,
        impulse_ns: wanted.impulse_ns,
        stiffness_n_m: mallet.stiffness_n_m,
        mallet_kg: mallet.mass_kg,
    };
    let duration_s = ring_time_s(model, &blow, RANGE_DB).clamp(0.5, LONGEST_S);
    let mut sound = strike(model, &blow, rate_hz, duration_s).map_err(|e| Fault::bad(e.to_string(), ""))?;
    sound.iter_mut().for_each(|x| *x *= gain as f32);
    Ok(sound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::MaterialTable;
    use eigentone_modal::analytic::{AnalyticSettings, BarSupport, Shape, model};

    /// The world is linear below the limiter: twice the impulse, or twice the gain, is twice the pressure.
    #[test]
    fn twice_the_impulse_or_the_gain_is_twice_the_pressure() {
        let steel = MaterialTable::builtin().get("steel").unwrap().clone();
        let shape = Shape::Bar { length: 0.2, width: 0.03, thickness: 0.01, support: BarSupport::Free, tuning: None };
        let bar = Arc::new(model(&shape, &steel, &AnalyticSettings::default()).unwrap());
        let peak = |impulse_ns, gain| {
            let wanted = BlowRequest { body: 1, at: None, impulse_ns, mallet: None };
            render(&wanted, &bar, gain, 48_000.0).unwrap().iter().fold(0.0f32, |peak, x| peak.max(x.abs()))
        };
        let one = peak(0.01, 1.0);
        assert!(one > 0.0);
        for two in [peak(0.02, 1.0), peak(0.01, 2.0)] {
            assert!((two / one - 2.0).abs() < 1e-3, "{one} and {two} Pa");
        }
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        let steel = MaterialTable::builtin().get("steel").unwrap().clone();
        let shape = Shape::Bar { length: 0.2, width: 0.03, thickness: 0.01, support: BarSupport::Free, tuning: None };
        let bar = Arc::new(model(&shape, &steel, &AnalyticSettings::default()).unwrap());
        let own = |mass_kg| Some(MalletChoice::Own { mass_kg, stiffness_n_m: 1e6 });
        for (at, impulse_ns, mallet) in [
            (None, f64::NAN, None),
            (None, -1.0, None),
            (None, 1e9, None),
            (Some([f64::INFINITY, 0.0, 0.0]), 0.01, None),
            (None, 0.01, own(0.0)),
            (None, 0.01, own(f64::NAN)),
        ] {
            let wanted = BlowRequest { body: 1, at, impulse_ns, mallet };
            assert!(render(&wanted, &bar, 1.0, 48_000.0).is_err(), "{wanted:?}");
        }
    }
}

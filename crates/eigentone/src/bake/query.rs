//! The parameters between two points, from the nearest data.

use eigentone_core::Vec3;
use eigentone_core::acoustics::{Parameter, Parameters};
use eigentone_io::Field;
use serde::Serialize;

/// What is known about sound from one point to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The parameters.
    #[serde(flatten)]
    pub parameters: Parameters,
    /// Distance of the two points.
    pub distance_m: f64,
    /// One where there is data at both points, less the farther it is away, zero where the free field stands in.
    pub confidence: f64,
}

/// Probes that are looked at, the nearest first.
const PROBES: usize = 8;
/// Cubes around the source in which data is looked for.
const AROUND: i64 = 1;

/// Parameters from `source` to `listener`. There is always an answer: where nothing is known it is the free field, with no confidence.
pub fn query(field: &Field, source: Vec3, listener: Vec3) -> Answer {
    let distance_m = (source - listener).length();
    let lattice = field.lattice();
    let mut order: Vec<(f64, usize)> =
        field.probes().enumerate().map(|(i, p)| ((p.position - listener).length(), i)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let cube = lattice.cube(source);
    let mut best: Option<(f64, [f32; Parameter::COUNT])> = None;
    for &(away, i) in order.iter().take(PROBES) {
        let probe = field.probe(i);
        for dz in -AROUND..=AROUND {
            for dy in -AROUND..=AROUND {
                for dx in -AROUND..=AROUND {
                    let near = [cube[0].saturating_add(dx), cube[1].saturating_add(dy), cube[2].saturating_add(dz)];
                    let Some(steps) = probe.steps(near) else { continue };
                    let beside = ((dx * dx + dy * dy + dz * dz) as f64).sqrt() * lattice.step_m;
                    // Half at the usual distance of probes, and at a cube beside the right one.
                    let confidence = 0.5f64.powf(away / 3.0 + beside / lattice.step_m);
                    if best.is_none_or(|b| confidence > b.0) {
                        best = Some((confidence, steps));
                    }
                }
            }
        }
        if best.is_some() {
            break;
        }
    }
    let free = Parameters {
        direct_db: 0.0,
        early_db: Parameter::Early.from_steps(Parameter::Early.range()[0]),
        early_decay_s: Parameter::EarlyDecay.from_steps(Parameter::EarlyDecay.range()[0]),
        late_decay_s: Parameter::LateDecay.from_steps(Parameter::LateDecay.range()[0]),
        tilt_db: 0.0,
    };
    match best {
        Some((confidence, steps)) => Answer { parameters: Parameters::from_steps(steps), distance_m, confidence },
        None => Answer { parameters: free, distance_m, confidence: 0.0 },
    }
}

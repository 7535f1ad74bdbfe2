//! Mode compression: modes that the ear cannot tell apart become one (Raghuvanshi & Lin 2006, section 4.1).
//!
//! Two frequencies closer than the difference limen Δ(f) sound alike. Modes are taken in rising order; a group begins at its
//! lowest member `f_a` and takes in all modes below `f_a + Δ(f_a)`. Its frequency and decay are means weighted with the energy
//! `E_k = o_k² Σ_j|u_jk|² / 4d_k` that each member radiates over its life. Its shape is `Σ_k o_k u_k` with the (signed) output gain folded
//! in before summing, so that the arbitrary sign of an eigenvector does not matter.

use eigentone_core::{ModalModel, Mode, ShapeTable, Vec3};

/// What counts as indistinguishable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compression {
    /// Three points `(frequency, limen)` in Hz of the piecewise linear difference limen. The default gives 899 groups over the
    /// audible band: fewer than a thousand whatever the model.
    pub limen_hz: [(f64, f64); 3],
    /// Keep two modes apart if their beating can be heard: if it completes a cycle within the shorter decay time.
    pub keep_beats: bool,
}

impl Default for Compression {
    fn default() -> Self {
        Self { limen_hz: [(20.0, 1.5), (2000.0, 5.5), (22_000.0, 330.0)], keep_beats: false }
    }
}

impl Compression {
    /// The smallest frequency difference that can be heard at `frequency_hz`.
    pub fn limen(&self, frequency_hz: f64) -> f64 {
        let [a, b, c] = self.limen_hz;
        let (p, q) = if frequency_hz < b.0 { (a, b) } else { (b, c) };
        (p.1 + (q.1 - p.1) * (frequency_hz - p.0) / (q.0 - p.0)).max(0.0)
    }

    /// Cuts modes, given in rising frequency, into groups.
    pub fn groups(&self, modes: &[Mode]) -> Vec<std::ops::Range<usize>> {
        let mut groups = Vec::new();
        let mut start = 0;
        for k in 1..=modes.len() {
            if k < modes.len() && self.joins(&modes[start..k], &modes[k]) {
                continue;
            }
            groups.push(start..k);
            start = k;
        }
        groups
    }

    fn joins(&self, group: &[Mode], mode: &Mode) -> bool {
        let anchor = group[0].frequency_hz;
        let near = mode.frequency_hz - anchor < self.limen(anchor);
        let beats = |other: &Mode| {
            let spacing = mode.frequency_hz - other.frequency_hz;
            spacing * mode.t60().get().min(other.t60().get()) > 1.0
        };
        near && !(self.keep_beats && group.iter().any(beats))
    }

    /// Merges the modes of a model.
    pub fn apply(&self, model: &ModalModel) -> ModalModel {
        let groups = self.groups(&model.modes);
        let sites = model.shapes.sites();
        let energies: Vec<f64> = model
            .modes
            .iter()
            .enumerate()
            .map(|(k, m)| {
                let square: f64 = (0..sites).map(|s| model.shapes.get(s, k).length_squared()).sum();
                m.output_gain * m.output_gain * square / (4.0 * m.decay_per_s)
            })
            .collect();
        let merged = groups.iter().map(|g| merge(&model.modes, &energies, g.clone())).collect();
        let shapes = ShapeTable::from_fn(sites, groups.len(), |s, g| match groups[g].len() {
            1 => model.shapes.get(s, groups[g].start),
            _ => groups[g].clone().map(|k| model.shapes.get(s, k) * model.modes[k].output_gain).sum::<Vec3>(),
        });
        ModalModel { modes: merged, shapes, ..model.clone() }
    }
}

fn merge(modes: &[Mode], energies: &[f64], group: std::ops::Range<usize>) -> Mode {
    if group.len() == 1 {
        return modes[group.start];
    }
    let total: f64 = energies[group.clone()].iter().sum();
    let mean = |value: fn(&Mode) -> f64| -> f64 {
        if total > 0.0 {
            group.clone().map(|k| energies[k] * value(&modes[k])).sum::<f64>() / total
        } else {
            value(&modes[group.start])
        }
    };
    Mode { frequency_hz: mean(|m| m.frequency_hz), decay_per_s: mean(|m| m.decay_per_s), output_gain: 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A comb of modes every 0.01 Hz from 20 Hz to 22 kHz merges to fewer than a thousand, but not to nothing.
    #[test]
    fn no_spectrum_needs_a_thousand_modes() {
        let comb: Vec<Mode> = (2000..=2_200_000)
            .map(|k| Mode { frequency_hz: f64::from(k) * 0.01, decay_per_s: 5.0, output_gain: 1.0 })
            .collect();
        let groups = Compression::default().groups(&comb);
        assert!(groups.len() < 1000 && groups.len() > 800, "{}", groups.len());
        assert_eq!(groups.iter().map(|g| g.len()).sum::<usize>(), comb.len());
    }

    #[test]
    fn slow_beats_of_a_bell_are_kept_if_asked() {
        let pair = [440.0, 441.0].map(|frequency_hz| Mode { frequency_hz, decay_per_s: 0.7, output_gain: 1.0 });
        assert_eq!(Compression::default().groups(&pair).len(), 1);
        assert_eq!(Compression { keep_beats: true, ..Default::default() }.groups(&pair).len(), 2);
    }
}

//! How much work a model is worth.

use crate::audible::{MODES_PER_BAND, ModeCount, erb_hz};
use std::f64::consts::TAU;

/// How finely a body is modelled. Drafts are for trying out; their first twenty modes lie within about 2 % of those of the finer
/// models. All limits adapt to the body: a small one has few modes and costs little at any detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Detail {
    /// About a second: coarse cells, the lowest modes.
    Draft,
    /// A few seconds: all modes that can be told apart, and more.
    #[default]
    Normal,
    /// As many modes and unknowns as the settings allow.
    Fine,
}

/// Where the modes of a model end, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeLimit {
    /// The highest frequency to be solved, in Hz.
    pub highest_hz: f64,
    /// About how many modes lie below it.
    pub modes: f64,
    /// At most so many are taken, from the lowest: half as many again as expected, since the count is an estimate.
    pub most: usize,
    /// The frequency above which the ear no longer tells modes apart, in Hz, if that is within the band.
    pub dense_from_hz: Option<f64>,
    /// Whether the modes end before the band that was asked for does.
    pub cut: bool,
}

impl Detail {
    /// Modes that are solved at least (if the body has them), and at most, for a reach of one.
    fn modes(self) -> [f64; 2] {
        match self {
            Self::Draft => [57.0, 100.0],
            Self::Normal => [130.0, 215.0],
            Self::Fine => [f64::INFINITY; 2],
        }
    }

    /// Unknowns of a solid that are aimed at; thin walls may need more.
    pub fn target_unknowns(self) -> usize {
        match self {
            Self::Draft => 8_000,
            Self::Normal => 20_000,
            Self::Fine => usize::MAX,
        }
    }

    /// Cells in a solid's volume at least: enough for the first modes of a compact body.
    pub fn fewest_cells(self) -> f64 {
        match self {
            Self::Draft => 64.0,
            Self::Normal | Self::Fine => 150.0,
        }
    }

    /// 27-node cells per shear wave at the highest frequency. With 3.5 the worst of a hundred modes is off by 1.3 %, with 2.3
    /// by 6.5 % (a steel cube of 6³ and 4³ cells against a Ritz method).
    pub fn cells_per_wave(self) -> f64 {
        match self {
            Self::Draft => 2.5,
            Self::Normal | Self::Fine => 3.5,
        }
    }

    /// Where the modes of a body end: at `highest_hz`, or where no single mode is heard any more, or where there are too many. The count is an estimate of the
    /// mean; `reach` times as many modes per band of hearing are waited for.
    pub fn limit(self, count: &ModeCount, highest_hz: f64, max_modes: usize, reach: f64) -> ModeLimit {
        let dense = count.denser_from_hz(reach, highest_hz);
        let [least, most] = self.modes().map(|modes| reach * modes);
        let wanted = count.below(dense).clamp(least, most).min(max_modes as f64);
        let end = count.frequency_hz(wanted, highest_hz);
        let modes = count.below(end);
        ModeLimit {
            highest_hz: end,
            modes,
            most: ((1.5 * modes + 20.0).max(least).min(1e5) as usize).min(max_modes),
            dense_from_hz: (dense < highest_hz).then_some(dense),
            cut: end < highest_hz,
        }
    }
}

impl ModeLimit {
    /// What was solved in the end: all modes up to the limit, or, if there were more than could be taken, up to the last of them.
    pub fn solved(self, values: &[f64], most: usize) -> Self {
        match values.last() {
            Some(last) if values.len() >= most => {
                Self { highest_hz: last.max(0.0).sqrt() / TAU, modes: values.len() as f64, cut: true, ..self }
            }
            _ => self,
        }
    }

    /// Whether the modes end where each could still be heard: fewer than ten in the last band of hearing, though the body has more above.
    pub fn ends_sparsely(&self, values: &[f64]) -> bool {
        let from = (TAU * (self.highest_hz - erb_hz(self.highest_hz)).max(0.0)).powi(2);
        self.cut && values.iter().filter(|&&v| v > from).count() < MODES_PER_BAND as usize
    }

    /// A sentence for the model's notes, if the modes end before the band does.
    pub fn note(&self) -> Option<String> {
        self.cut.then(|| {
            let why = match self.dense_from_hz {
                Some(dense) if dense <= self.highest_hz => {
                    format!(
                        "above {dense:.0} Hz more than ten fall into one band of hearing and are not heard one by one"
                    )
                }
                _ => "there are more than this detail or the number of modes allows".to_owned(),
            };
            format!("modes end at {:.0} Hz, where about {:.0} lie below: {why}", self.highest_hz, self.modes)
        })
    }
}

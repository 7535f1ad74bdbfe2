//! A model prepared for the audio thread: everything about its modes that does not change while it sounds.

use crate::BLOCK;
use crate::kernel::{LANES, Poles};
use crate::policy::{self, hearing, masking};
use eigentone_core::ModalModel;
use eigentone_core::model::SiteBlend;
use std::f64::consts::{LOG2_E, TAU};

/// Two-pole filters are used where `sin θ` is at least this: towards 0 and half the sample rate rounding errors grow as `1/sin θ`.
/// At 44.1 kHz that is from 2.9 to 19.2 kHz.
const TWO_POLE_SINE: f64 = 0.4;

/// Modes above this share of the sample rate are left out: they could only alias.
const HIGHEST_SHARE: f64 = 0.49;

/// Two numbers per mode.
pub(crate) type Pair = [Vec<f32>; 2];

/// Constants of a model's modes at one sample rate, and its shapes with the output gain multiplied in. Shared by all bodies made of it.
#[derive(Debug, PartialEq)]
pub(crate) struct ModeTable {
    /// Modes.
    pub len: usize,
    /// The same, rounded up to whole groups of lanes; all arrays are this long. What was added is silent.
    pub padded: usize,
    pub turn: Vec<u32>,
    pub fade: Vec<f32>,
    /// `d/ω`: a unit of velocity is `1 + j d/ω` in the state, so that the real part is the velocity exactly.
    pub slant: Vec<f32>,
    /// `P`.
    pub rotation: Pair,
    /// `P` to the power of half a block.
    pub jump: Pair,
    /// `2R cos θ`, `−R²`.
    pub two_pole: Pair,
    /// What one sample of each recurrence lacks to the true pole, because its coefficients are rounded: `ln(P/P′)`.
    pub rotation_drift: Pair,
    pub two_pole_drift: Pair,
    /// `P⁻¹`.
    pub back: Pair,
    /// Whether the two-pole form is exact enough.
    pub plain: Vec<bool>,
    /// Gain of a force in the two-pole form, to make up for decay between the two differenced samples.
    pub two_pole_push: Vec<f32>,
    pub bark: Vec<f32>,
    pub threshold: Vec<f32>,
    /// Place on the grid of the masking curve.
    pub cell: Vec<u16>,
    pub share: Vec<f32>,
    /// Fall of the level and factor of the energy in a policy frame.
    pub frame_fall: Vec<f32>,
    pub frame_shrink: Vec<f32>,
    /// Expected energy over the square of the excitation, under a force of unit variance per sample: `1/(4 d fs)`.
    pub build_up: Vec<f32>,
    /// Root mean square over all sites of the excitation by a unit force along the normal, output gain included.
    pub typical: Vec<f32>,
    /// `[site][axis][mode]`.
    rows: Vec<f32>,
    pub frequency_hz: Vec<f32>,
    /// Where the sites are, in m.
    pub positions: Vec<[f32; 3]>,
}

impl ModeTable {
    /// Prepares a model. Takes milliseconds for thousands of modes.
    pub fn new(model: &ModalModel, sample_rate_hz: f64) -> Self {
        let kept: Vec<usize> =
            (0..model.modes.len()).filter(|&k| model.modes[k].frequency_hz < HIGHEST_SHARE * sample_rate_hz).collect();
        let len = kept.len();
        let padded = len.next_multiple_of(LANES);
        let blank = || vec![0.0f32; padded];
        let mut t = Self {
            len,
            padded,
            turn: vec![0; padded],
            fade: blank(),
            slant: blank(),
            rotation: [blank(), blank()],
            jump: [blank(), blank()],
            two_pole: [blank(), blank()],
            rotation_drift: [blank(), blank()],
            two_pole_drift: [blank(), blank()],
            back: [blank(), blank()],
            plain: vec![false; padded],
            two_pole_push: blank(),
            bark: blank(),
            threshold: blank(),
            cell: vec![0; padded],
            share: blank(),
            frame_fall: blank(),
            frame_shrink: blank(),
            build_up: blank(),
            typical: blank(),
            rows: Vec::new(),
            frequency_hz: blank(),
            positions: model.surface.positions.clone(),
        };
        for (i, &k) in kept.iter().enumerate() {
            t.set_mode(i, model.modes[k].frequency_hz, model.modes[k].decay_per_s, sample_rate_hz);
        }
        let sites = if len > 0 { model.shapes.sites() } else { 0 };
        t.rows = vec![0.0; sites * 3 * padded];
        for site in 0..sites {
            let normal = model.surface.normals[site].map(f64::from);
            for (i, &k) in kept.iter().enumerate() {
                let shape = (model.shapes.get(site, k) * model.modes[k].output_gain).to_array();
                for (axis, &x) in shape.iter().enumerate() {
                    t.rows[(site * 3 + axis) * padded + i] = x.clamp(-1e12, 1e12) as f32;
                }
                let along: f64 = (0..3).map(|a| shape[a] * normal[a]).sum();
                t.typical[i] += (along * along / sites as f64) as f32;
            }
        }
        t.typical.iter_mut().for_each(|x| *x = x.sqrt());
        t
    }

    fn set_mode(&mut self, i: usize, frequency_hz: f64, decay_per_s: f64, sample_rate_hz: f64) {
        let turns = frequency_hz / sample_rate_hz;
        let (theta, d) = (TAU * turns, decay_per_s / sample_rate_hz);
        let shrink = (-d).exp();
        let pole = [shrink * theta.cos(), shrink * theta.sin()];
        let set = |pair: &mut Pair, x: [f64; 2]| (0..2).for_each(|k| pair[k][i] = x[k] as f32);
        self.turn[i] = (turns * 4_294_967_296.0).round() as u32;
        self.fade[i] = (-d * LOG2_E) as f32;
        self.slant[i] = (decay_per_s / (TAU * frequency_hz)).min(1e6) as f32;
        set(&mut self.rotation, pole);
        let half = (BLOCK / 2) as f64;
        let (far, turned) = ((-half * d).exp(), half * theta);
        set(&mut self.jump, [far * turned.cos(), far * turned.sin()]);
        set(&mut self.two_pole, [2.0 * shrink * theta.cos(), -shrink * shrink]);
        let rounded = self.rotation.each_ref().map(|c| f64::from(c[i]));
        let drift = |size: f64, angle: f64| {
            let lack = [-d - size.ln(), theta - angle];
            // Modes that are gone within a few samples have nothing to lose.
            if lack.iter().all(|x| x.abs() < 1e-3) { lack } else { [0.0; 2] }
        };
        set(&mut self.rotation_drift, drift(rounded[0].hypot(rounded[1]), rounded[1].atan2(rounded[0])));
        let [a1, a2] = self.two_pole.each_ref().map(|c| f64::from(c[i]));
        let size = (-a2).sqrt();
        set(&mut self.two_pole_drift, drift(size, (0.5 * a1 / size).clamp(-1.0, 1.0).acos()));
        set(&mut self.back, [theta.cos() / shrink, -theta.sin() / shrink]);
        self.plain[i] = theta.sin() >= TWO_POLE_SINE && shrink > 0.5;
        // An impulse through the differenced two-pole has the amplitude |1 − P⁻²| / (2 sin θ).
        let (re, im) = (1.0 - (2.0 * theta).cos() / (shrink * shrink), (2.0 * theta).sin() / (shrink * shrink));
        self.two_pole_push[i] = (2.0 * theta.sin() / re.hypot(im)) as f32;
        let bark = hearing::bark(frequency_hz) as f32;
        self.bark[i] = bark;
        self.threshold[i] = hearing::threshold_db(frequency_hz) as f32;
        (self.cell[i], self.share[i]) = masking::cell(bark);
        let frame = (policy::frame_blocks(sample_rate_hz) * BLOCK) as f64;
        self.frame_fall[i] = (20.0 * d * frame * std::f64::consts::LOG10_E) as f32;
        self.frame_shrink[i] = (-2.0 * d * frame).exp() as f32;
        self.build_up[i] = (1.0 / (4.0 * decay_per_s * sample_rate_hz)) as f32;
        self.frequency_hz[i] = frequency_hz as f32;
    }

    /// Largest gain from a force at a place to the sound, over all frequencies, in Pa/N: the response `Σ w/fs · Re 1/(1 − P e^{−jω})` at each
    /// mode's own frequency, where its peaks are.
    pub fn peak_gain_at(&self, site: &SiteBlend, direction: [f32; 3], sample_rate_hz: f64) -> f32 {
        let Some((rows, factors)) = self.excitation(site, direction) else { return 0.0 };
        let weight = |i: usize| (0..9).map(|k| f64::from(rows[k][i] * factors[k])).sum::<f64>() / sample_rate_hz;
        let weights: Vec<f64> = (0..self.len).map(weight).collect();
        let response = |theta: f64| {
            let (mut re, mut im) = (0.0, 0.0);
            for (i, w) in weights.iter().enumerate() {
                let (c, s) = (f64::from(self.rotation[0][i]), f64::from(self.rotation[1][i]));
                // Both poles of the pair.
                for s in [s, -s] {
                    let (pr, pi) = (c * theta.cos() + s * theta.sin(), s * theta.cos() - c * theta.sin());
                    let norm = ((1.0 - pr).powi(2) + pi * pi).max(1e-30);
                    re += 0.5 * w * (1.0 - pr) / norm;
                    im += 0.5 * w * pi / norm;
                }
            }
            re.hypot(im)
        };
        (0..self.len).map(|i| response(TAU * f64::from(self.frequency_hz[i]) / sample_rate_hz)).fold(0.0, f64::max)
            as f32
    }

    /// The poles under a modulation.
    pub fn poles(&self, scale: f32, damping: f32) -> Poles<'_> {
        Poles { turn: &self.turn, fade: &self.fade, scale, damping }
    }

    /// The nine rows and factors whose sum is the excitation by `vector` at `site`; `None` if there is no such site.
    pub fn excitation(&self, site: &SiteBlend, vector: [f32; 3]) -> Option<([&[f32]; 9], [f32; 9])> {
        let sites = self.rows.len() / (3 * self.padded).max(1);
        if self.padded == 0 || site.sites.iter().any(|&s| s as usize >= sites) {
            return None;
        }
        let row = |k: usize| {
            let start = (site.sites[k / 3] as usize * 3 + k % 3) * self.padded;
            &self.rows[start..start + self.padded]
        };
        let factors: [f32; 9] = std::array::from_fn(|k| site.weights[k / 3] as f32 * vector[k % 3]);
        factors.iter().all(|f| f.is_finite()).then(|| (std::array::from_fn(row), factors))
    }
}

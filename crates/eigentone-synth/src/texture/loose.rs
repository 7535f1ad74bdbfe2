//! Loose particles and foil (Menzies 2011, §6.2.3, after Cook 1997).
//!
//! Events come at a rate of `events_per_m · e`, with `e` the agitation of the surface in m/s. Each adds `(s (0.5 + u))²`, `s = e/(1 + e)`, to an energy that decays within `burst_s`; the square root of it
//! is the level of noise in a band. (Independent bursts add up in energy; adding amplitudes, as PhISEM does, makes dense streams too loud.) In foil each event also draws the band and the decay anew.

use super::Motion;
use super::filter::BandPass;
use eigentone_core::Noise;
use eigentone_core::texture;

pub(super) const MAX_VOICES: usize = 6;

/// Samples over which a new resonance replaces the old one.
const FADE: u32 = 16;

/// Energy at which a burst is over: 1e-5 of a full one's level.
const OVER: f32 = 1e-10;

/// What an event draws: centre as a share of the sample rate, quality, decay in samples.
#[derive(Clone, Copy, Debug)]
struct Draw {
    centre: [f32; 2],
    q: [f32; 2],
    decay_samples: [f32; 2],
}

impl Draw {
    fn band_and_decay(&self, noise: &mut Noise) -> (BandPass, f32) {
        // Even on a logarithmic scale.
        let mut between = |[low, high]: [f32; 2]| low * (high / low).powf(noise.uniform() as f32);
        let band = BandPass::tuned(between(self.centre), between(self.q));
        (band, (-2.0 / between(self.decay_samples).max(1.0)).exp())
    }
}

#[derive(Clone, Copy, Debug)]
struct Voice {
    draw: Draw,
    band: BandPass,
    /// The band before this one, and for how many samples it is still heard.
    old: BandPass,
    fading: u32,
    energy: f32,
    shrink: f32,
}

/// All voices.
#[derive(Clone, Debug)]
pub(super) struct Grains {
    voices: [Voice; MAX_VOICES],
    used: usize,
    redraws: bool,
    /// Events per sample of each voice and m/s.
    rate: f32,
    noise: Noise,
}

impl Grains {
    pub fn loose(shape: &texture::Loose, start: u64, period_s: f32) -> Self {
        let used = usize::from(shape.voices).clamp(1, MAX_VOICES);
        let [low, high] = shape.band_hz;
        Self::new(used, false, shape.events_per_m, start, period_s, |i| {
            let place = (i as f32 + 0.5) / used as f32;
            let centre = low * (high / low).powf(place) * period_s;
            // Decays of several generators are spread by ±30 %.
            let decay = shape.burst_s / period_s * (1.3 - 0.6 * place);
            Draw { centre: [centre; 2], q: [shape.q; 2], decay_samples: [decay; 2] }
        })
    }

    pub fn foil(shape: &texture::Foil, start: u64, period_s: f32) -> Self {
        let used = usize::from(shape.voices).clamp(1, MAX_VOICES);
        Self::new(used, true, shape.events_per_m, start, period_s, |_| Draw {
            centre: shape.band_hz.map(|f| f * period_s),
            q: shape.q,
            decay_samples: shape.burst_s.map(|t| t / period_s),
        })
    }

    fn new(used: usize, redraws: bool, per_m: f32, start: u64, period_s: f32, draw: impl Fn(usize) -> Draw) -> Self {
        let mut noise = Noise::new(start);
        let voices = std::array::from_fn(|i| {
            let draw = draw(i.min(used - 1));
            let (band, shrink) = draw.band_and_decay(&mut noise);
            Voice { draw, band, old: band, fading: 0, energy: 0.0, shrink }
        });
        Self { voices, used, redraws, rate: per_m * period_s / used as f32, noise }
    }

    pub fn fill(&mut self, motion: &Motion, out: &mut [f32]) {
        out.fill(0.0);
        for voice in &mut self.voices[..self.used] {
            for (n, y) in out.iter_mut().enumerate() {
                let agitation = motion.drive(n);
                if (self.noise.uniform() as f32) < agitation * self.rate {
                    voice.event(agitation, self.redraws, &mut self.noise);
                }
                *y += voice.step(&mut self.noise);
            }
        }
    }

    pub fn rest(&mut self) {
        for voice in &mut self.voices {
            voice.energy = 0.0;
            voice.band.reset();
        }
    }
}

impl Voice {
    fn event(&mut self, agitation: f32, redraw: bool, noise: &mut Noise) {
        let level = agitation / (1.0 + agitation) * (0.5 + noise.uniform() as f32);
        self.energy += level * level;
        if redraw && self.fading == 0 {
            self.old = self.band;
            (self.band, self.shrink) = self.draw.band_and_decay(noise);
            self.fading = FADE;
        }
    }

    #[inline]
    fn step(&mut self, noise: &mut Noise) -> f32 {
        if self.energy == 0.0 {
            return 0.0;
        }
        let white = 3f32.sqrt() * noise.bipolar() as f32;
        let mut heard = self.band.step(white);
        if self.fading > 0 {
            let left = self.fading as f32 / FADE as f32;
            heard += left * (self.old.step(white) - heard);
            self.fading -= 1;
        }
        let y = self.energy.sqrt() * heard;
        self.energy *= self.shrink;
        if self.energy < OVER {
            self.energy = 0.0;
        }
        y
    }
}

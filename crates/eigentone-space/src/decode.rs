//! What a field says about a source and a listener, wherever they are.
//!
//! A field has parameters from each probe to the cubes around it. Sound goes both ways alike, so the *listener* is looked for among the probes and the *source* among the
//! cubes: all sources of a frame then share one choice of probes. A query blends up to eight probes with up to eight cubes of each, in steps that are just
//! noticeable:
//!
//! - Probes and cubes that cannot be seen, through the fine cells of the scene, do not count, so that nothing leaks through walls. The weights of the others make up for them.
//! - Who is inside a wall is moved to the nearest air.
//! - Beyond the last cube along the way from the listener to the source, the last one counts: direct sound falls with distance as in free field, early sound as well.
//! - Where no sound arrives there is silence.
//!
//! There is always an answer, and a confidence that says how much of it was there. Nothing allocates after [`Decoder::new`], but decoding a line takes some
//! microseconds: this belongs on a thread of its own, not on the audio thread.

mod lines;
mod probes;
mod sight;

use eigentone_core::Vec3;
use eigentone_core::acoustics::{Field, Parameter, Parameters};
use lines::Lines;
use probes::Probes;
use std::sync::Arc;

/// Numbers per cube.
const COUNT: usize = Parameter::COUNT;

/// How a decoder is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecoderSettings {
    /// Bytes that decoded lines may take.
    pub cache_bytes: usize,
}

impl Default for DecoderSettings {
    fn default() -> Self {
        Self { cache_bytes: 1 << 20 }
    }
}

/// What is known about sound from one point to another.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Answer {
    /// The parameters.
    #[serde(flatten)]
    pub parameters: Parameters,
    /// Distance of the two points.
    pub distance_m: f64,
    /// One where there was data all around both points, less where some was missing, zero where the free field stands in.
    pub confidence: f64,
}

/// What a decoder has been doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecoderStats {
    /// Queries answered.
    pub queries: u64,
    /// Of these, beyond what was simulated.
    pub beyond: u64,
    /// Lines that were asked for.
    pub lines: u64,
    /// Of these, decoded because they were not there.
    pub decoded: u64,
}

/// Answers queries about a field.
#[derive(Debug)]
pub struct Decoder {
    field: Arc<Field>,
    probes: Probes,
    lines: Lines,
    stats: DecoderStats,
    /// Where the listener is, moved into air, and the probes there.
    listener: Vec3,
    heard_from: Vec3,
    chosen: probes::Chosen,
}

/// What a probe says about a source: the sum of steps times weights, and the weights that counted.
#[derive(Clone, Copy, Default)]
struct Sum {
    steps: [f32; COUNT],
    weight: f32,
}

/// A cube near a source and its weight.
#[derive(Clone, Copy)]
struct Near {
    cube: [i64; 3],
    weight: f32,
}

/// How many cubes away data is looked for around a source that sees none.
const AROUND: i64 = 2;

impl Decoder {
    /// For a field; all memory is allocated here.
    pub fn new(field: Arc<Field>, settings: DecoderSettings) -> Self {
        let probes = Probes::new(&field);
        let lines = Lines::new(&field, settings.cache_bytes);
        let mut decoder = Self {
            field,
            probes,
            lines,
            stats: DecoderStats::default(),
            listener: Vec3::NAN,
            heard_from: Vec3::ZERO,
            chosen: probes::Chosen::default(),
        };
        decoder.listen(Vec3::ZERO);
        decoder
    }

    /// The field.
    pub fn field(&self) -> &Arc<Field> {
        &self.field
    }

    /// What it has been doing.
    pub fn stats(&self) -> DecoderStats {
        self.stats
    }

    /// From a source to a listener.
    ///
    /// ```no_run
    /// use eigentone_core::Vec3;
    /// use eigentone_space::decode::Decoder;
    ///
    /// let field = eigentone_io::read_field("abbey.field.safetensors".as_ref())?;
    /// let mut decoder = Decoder::new(field.into(), Default::default());
    /// let answer = decoder.query(Vec3::new(20.0, 9.0, 1.6), Vec3::new(20.0, -13.0, 1.6));
    /// println!("{:.1} dB of free field", answer.parameters.direct_db);
    /// # Ok::<(), eigentone_io::ReadError>(())
    /// ```
    pub fn query(&mut self, source: Vec3, listener: Vec3) -> Answer {
        self.listen(listener);
        self.ask(source)
    }

    /// Moves the listener. Sources that are asked for afterwards are heard from there.
    pub fn listen(&mut self, listener: Vec3) {
        let listener = made_finite(listener);
        if listener == self.listener {
            return;
        }
        self.listener = listener;
        self.heard_from = sight::nearest_air(self.field.occupancy(), listener);
        self.chosen = self.probes.around(self.heard_from, self.field.occupancy());
    }

    /// From a source to where the listener is.
    pub fn ask(&mut self, source: Vec3) -> Answer {
        let source = made_finite(source);
        self.stats.queries += 1;
        let distance_m = source.distance(self.listener);
        let heard = sight::nearest_air(self.field.occupancy(), source);
        let near = self.near(heard);
        let (mut sum, mut possible) = (Sum::default(), 0.0);
        let chosen = self.chosen;
        for &(probe, weight) in chosen.list() {
            let one = self.blend(probe, &near);
            possible += weight;
            sum.steps.iter_mut().zip(one.steps).for_each(|(sum, x)| *sum += weight * x);
            sum.weight += weight * one.weight;
        }
        if sum.weight > 0.0 {
            let steps = sum.steps.map(|x| x / sum.weight);
            let confidence = f64::from((sum.weight / possible).min(1.0) * self.chosen.confidence);
            return Answer { parameters: Parameters::from_steps(steps), distance_m, confidence };
        }
        self.elsewhere(heard, distance_m)
    }

    /// The eight cubes around a point that can be seen from it, with weights that add up to at most one.
    fn near(&self, point: Vec3) -> [Near; 8] {
        let lattice = self.field.lattice();
        let at = (point - lattice.origin) / lattice.step_m - 0.5;
        let base = at.floor();
        let part = at - base;
        std::array::from_fn(|corner| {
            let bit = [corner & 1, corner >> 1 & 1, corner >> 2];
            let cube = [0, 1, 2].map(|a| (base.to_array()[a] as i64).saturating_add(bit[a] as i64));
            let weight: f64 = [0, 1, 2]
                .map(|a| if bit[a] == 1 { part.to_array()[a] } else { 1.0 - part.to_array()[a] })
                .iter()
                .product();
            let seen = weight > 0.0 && sight::is_clear(self.field.occupancy(), point, lattice.centre(cube));
            Near { cube, weight: if seen { weight as f32 } else { 0.0 } }
        })
    }

    /// The mean over those of the cubes that have values.
    fn blend(&mut self, probe: usize, near: &[Near; 8]) -> Sum {
        let mut sum = Sum::default();
        // Two cubes that follow each other are in one line.
        for pair in near.chunks_exact(2) {
            if pair.iter().all(|n| n.weight == 0.0) {
                continue;
            }
            let Some(line) = self.lines.line(&self.field, probe, pair[0].cube, &mut self.stats) else { continue };
            for n in pair {
                if n.weight > 0.0
                    && let Some(steps) = line.at(n.cube[0])
                {
                    sum.weight += n.weight;
                    sum.steps.iter_mut().zip(steps).for_each(|(sum, x)| *sum += n.weight * x);
                }
            }
        }
        sum
    }

    /// Where none of the cubes around the source has been seen and has values.
    fn elsewhere(&mut self, source: Vec3, distance_m: f64) -> Answer {
        let lattice = *self.field.lattice();
        let own = lattice.cube(source);
        let chosen = self.chosen;
        for &(probe, _) in chosen.list() {
            // The source's own cube, though its middle may be inside something; then those that are seen farther out.
            if let Some(steps) = self.value(probe, own) {
                let confidence = 0.5 * f64::from(self.chosen.confidence);
                return Answer { parameters: Parameters::from_steps(steps), distance_m, confidence };
            }
            let mut best: Option<(f64, [i64; 3])> = None;
            for offset in 0..(2 * AROUND + 1).pow(3) {
                let n = 2 * AROUND + 1;
                let step = [offset % n - AROUND, offset / n % n - AROUND, offset / n / n - AROUND];
                let cube = [0, 1, 2].map(|a| own[a].saturating_add(step[a]));
                let away = lattice.centre(cube).distance(source);
                if best.is_none_or(|b| away < b.0)
                    && self.has_value(probe, cube)
                    && sight::is_clear(self.field.occupancy(), source, lattice.centre(cube))
                {
                    best = Some((away, cube));
                }
            }
            if let Some(steps) = best.and_then(|(_, cube)| self.value(probe, cube)) {
                let confidence = 0.25 * f64::from(self.chosen.confidence);
                return Answer { parameters: Parameters::from_steps(steps), distance_m, confidence };
            }
        }
        // Air that was simulated but in which nothing arrived is silent.
        let simulated = self.chosen.list().iter().any(|&(probe, _)| self.lines.covers(probe, own));
        let cells = &self.field.occupancy().lattice;
        if simulated && cells.index(cells.cube(source)).is_some() {
            return Answer { parameters: silence(), distance_m, confidence: 0.25 * f64::from(self.chosen.confidence) };
        }
        self.stats.beyond += 1;
        self.beyond(source, distance_m)
    }

    /// Along the way from the source to the listener the first cube with values.
    fn beyond(&mut self, source: Vec3, distance_m: f64) -> Answer {
        let lattice = *self.field.lattice();
        let way = self.heard_from - source;
        let chosen = self.chosen;
        for &(probe, _) in chosen.list() {
            let Some([from, to]) = self.lines.crossed(probe, &lattice, source, way) else { continue };
            let steps = ((to - from) * way.length() / (0.5 * lattice.step_m)).ceil().clamp(1.0, 4096.0) as usize;
            for i in 0..=steps {
                let at = source + way * (from + (to - from) * i as f64 / steps as f64);
                if let Some(steps) = self.value(probe, lattice.cube(at)) {
                    let mut parameters = Parameters::from_steps(steps);
                    let edge_m = at.distance(self.heard_from).max(1.0);
                    parameters.early_db -= 20.0 * (distance_m.max(edge_m) / edge_m).log10();
                    // Half at twice the distance to which it is known.
                    let confidence = 0.5 * f64::from(self.chosen.confidence) * (edge_m / distance_m.max(edge_m));
                    return Answer { parameters, distance_m, confidence };
                }
            }
        }
        Answer { parameters: free_field(), distance_m, confidence: 0.0 }
    }

    fn has_value(&self, probe: usize, cube: [i64; 3]) -> bool {
        self.lines.is_valid(&self.field, probe, cube)
    }

    fn value(&mut self, probe: usize, cube: [i64; 3]) -> Option<[f32; COUNT]> {
        self.lines.line(&self.field, probe, cube, &mut self.stats)?.at(cube[0])
    }
}

/// As if there were nothing but air.
pub fn free_field() -> Parameters {
    let least = |p: Parameter| p.from_steps(p.range()[0]);
    Parameters {
        direct_db: 0.0,
        early_db: least(Parameter::Early),
        early_decay_s: least(Parameter::EarlyDecay),
        late_decay_s: least(Parameter::LateDecay),
        tilt_db: 0.0,
    }
}

/// As behind walls without any opening.
pub fn silence() -> Parameters {
    Parameters { direct_db: Parameter::Direct.from_steps(Parameter::Direct.range()[0]), ..free_field() }
}

/// Within what can be counted in cubes.
fn made_finite(point: Vec3) -> Vec3 {
    Vec3::from_array(point.to_array().map(|x| if x.is_finite() { x.clamp(-1e9, 1e9) } else { 0.0 }))
}

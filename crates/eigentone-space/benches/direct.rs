//! What the direct sound of many sources costs.
//!
//! `cargo bench -p eigentone-space --bench direct [-- --quick]`. A thousand sources, all in motion, all tilted, all with six sends, at 44.1 kHz: percent of one core, targets included.
//! Then one more source against what its room would cost as a convolution of its own: two channels, one second, uniform partitions of one block.

use eigentone_core::Noise;
use eigentone_space::BLOCK;
use eigentone_space::direct::{BUSES, Direct, Spatial, Target};
use eigentone_space::hrtf::{Hrtf, Measurement};
use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const RATE_HZ: f64 = 44_100.0;
const SOURCES: usize = 1000;

fn target(source: usize, block: usize) -> Target {
    let angle = source as f32 * 0.7 + block as f32 * 0.01;
    Target {
        gain: 0.01 + 0.001 * (angle * 0.3).sin(),
        tilt_db: -2.0 + (angle * 0.2).sin(),
        direction: [angle.sin(), angle.cos(), 0.2],
        early: [0.1 + 0.01 * angle.cos(); 3],
        late: [0.1 - 0.01 * angle.cos(); 3],
        ..Target::default()
    }
}

/// Seconds per block of some sources, the best of several rounds.
fn seconds_per_block(spatial: &Spatial, sources: usize, directed: bool, quick: bool) -> f64 {
    let mut direct = Direct::new(RATE_HZ, sources, spatial.clone());
    let mut noise = Noise::new(1);
    let sounds: Vec<[f32; BLOCK]> = (0..sources).map(|_| std::array::from_fn(|_| noise.bipolar() as f32)).collect();
    // Short rounds: other programs on the machine interrupt long ones.
    let blocks = 2;
    let rounds = if quick { 200 } else { 1000 } * (SOURCES / sources).min(10);
    let (mut best, mut block) = (f64::INFINITY, 0);
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..blocks {
            let (mut out, mut buses) = ([[0.0; BLOCK]; 2], [[0.0; BLOCK]; BUSES]);
            block += 1;
            for (slot, x) in sounds.iter().enumerate() {
                let directivity_gain = if directed { 0.5 } else { 1.0 };
                direct.aim(slot, Target { directivity_gain, ..target(slot, block) });
                direct.add(slot, black_box(x), &mut out, &mut buses);
            }
            black_box((&out, &buses));
        }
        best = best.min(start.elapsed().as_secs_f64() / blocks as f64);
    }
    best
}

/// Two channels of uniformly partitioned convolution.
struct Convolution {
    forward: Arc<dyn RealToComplex<f32>>,
    back: Arc<dyn ComplexToReal<f32>>,
    past: Vec<Vec<Complex<f32>>>,
    filters: [Vec<Vec<Complex<f32>>>; 2],
    at: usize,
    last: [f32; BLOCK],
    time: Vec<f32>,
    sum: Vec<Complex<f32>>,
    scratch: [Vec<Complex<f32>>; 2],
}

impl Convolution {
    fn new(seconds: f64) -> Self {
        let mut planner = RealFftPlanner::new();
        let (forward, back) = (planner.plan_fft_forward(2 * BLOCK), planner.plan_fft_inverse(2 * BLOCK));
        let partitions = (seconds * RATE_HZ / BLOCK as f64).ceil() as usize;
        let mut noise = Noise::new(2);
        let mut spectra = || -> Vec<Vec<Complex<f32>>> {
            let mut number = || noise.bipolar() as f32 * 1e-3;
            (0..partitions).map(|_| (0..=BLOCK).map(|_| Complex::new(number(), number())).collect()).collect()
        };
        Self {
            past: spectra(),
            filters: [spectra(), spectra()],
            at: 0,
            last: [0.0; BLOCK],
            time: forward.make_input_vec(),
            sum: forward.make_output_vec(),
            scratch: [forward.make_scratch_vec(), back.make_scratch_vec()],
            forward,
            back,
        }
    }

    fn block(&mut self, x: &[f32; BLOCK], out: &mut [[f32; BLOCK]; 2]) {
        self.time[..BLOCK].copy_from_slice(&self.last);
        self.time[BLOCK..].copy_from_slice(x);
        self.last = *x;
        let n = self.past.len();
        self.at = (self.at + n - 1) % n;
        let spectrum = &mut self.past[self.at];
        self.forward.process_with_scratch(&mut self.time, spectrum, &mut self.scratch[0]).expect("sizes");
        for (filter, out) in self.filters.iter().zip(out) {
            self.sum.fill(Complex::default());
            for (k, part) in filter.iter().enumerate() {
                let past = &self.past[(self.at + k) % n];
                for ((s, a), b) in self.sum.iter_mut().zip(part).zip(past) {
                    *s += a * b;
                }
            }
            (self.sum[0].im, self.sum[BLOCK].im) = (0.0, 0.0);
            self.back.process_with_scratch(&mut self.sum, &mut self.time, &mut self.scratch[1]).expect("sizes");
            for (y, t) in out.iter_mut().zip(&self.time[BLOCK..]) {
                *y += t / (2 * BLOCK) as f32;
            }
        }
    }
}

fn seconds_of_convolution(quick: bool) -> f64 {
    let mut convolution = Convolution::new(1.0);
    let x: [f32; BLOCK] = std::array::from_fn(|n| (n as f32 * 0.1).sin());
    let mut best = f64::INFINITY;
    for _ in 0..if quick { 100 } else { 400 } {
        let start = Instant::now();
        for _ in 0..20 {
            let mut out = [[0.0; BLOCK]; 2];
            convolution.block(black_box(&x), &mut out);
            black_box(&out);
        }
        best = best.min(start.elapsed().as_secs_f64() / 20.0);
    }
    best
}

/// Noise that decays, for a few directions: only the cost matters here.
fn a_head() -> Arc<Hrtf> {
    let mut noise = Noise::new(3);
    let measurements: Vec<Measurement> = (0..24)
        .map(|i| {
            let (right, forward) = (i as f32 * std::f32::consts::TAU / 24.0).sin_cos();
            let mut response = || (0..256).map(|n| noise.bipolar() as f32 * (-0.05 * n as f32).exp()).collect();
            Measurement { direction: [right, forward, 0.0], responses: [response(), response()], delays_s: [0.0; 2] }
        })
        .collect();
    Arc::new(Hrtf::from_measurements(&measurements, RATE_HZ, RATE_HZ).expect("a head"))
}

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let block_s = BLOCK as f64 / RATE_HZ;
    let percent = |seconds: f64| 100.0 * seconds / block_s;
    let head = seconds_per_block(&Spatial::Head, SOURCES, false, quick);
    let directed = seconds_per_block(&Spatial::Head, SOURCES, true, quick);
    let pan = seconds_per_block(&Spatial::Pan, SOURCES, false, quick);
    let hrtf = seconds_per_block(&Spatial::Hrtf(a_head(), 16), 16, false, quick);
    let convolution = seconds_of_convolution(quick);
    println!("figure space.head_core = {:.1} percent", percent(head));
    println!("figure space.head_directed_core = {:.1} percent", percent(directed));
    println!("figure space.pan_core = {:.1} percent", percent(pan));
    println!("figure space.hrtf_core = {:.2} percent", percent(hrtf));
    println!("figure space.source_block = {:.0} ns", 1e9 * head / SOURCES as f64);
    println!("figure space.hrtf_source_block = {:.0} ns", 1e9 * hrtf / 16.0);
    println!("figure space.convolution_block = {:.0} ns", 1e9 * convolution);
    println!("figure space.convolution_ratio = {:.1} ratio", convolution * SOURCES as f64 / head);
}

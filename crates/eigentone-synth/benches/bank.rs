//! The banks against the plain scalar loop of the same run.
//!
//! `cargo bench -p eigentone-synth --bench bank [-- --quick]`. The plain loop is what one would write first: for every sample, for every
//! mode, a two-pole filter in single precision. Printed are ratios of modes per second, smallest over 1,000, 16,000 and 100,000 modes, and how many modes
//! the free-ringing bank carries in real time at 44.1 kHz on one core.

use eigentone_synth::BLOCK;
use eigentone_synth::kernel::{Bank, Kernels, Partial};
use std::hint::black_box;
use std::time::Instant;

/// The plain loop's state.
struct Plain {
    a1: Vec<f32>,
    a2: Vec<f32>,
    b: Vec<f32>,
    y1: Vec<f32>,
    y2: Vec<f32>,
}

impl Plain {
    #[inline(never)]
    fn process(&mut self, force: &[f32], out: &mut [f32]) {
        for (sample, x) in out.iter_mut().zip(force) {
            let mut sum = 0.0;
            for i in 0..self.a1.len() {
                let y = self.b[i] * x + self.a1[i] * self.y1[i] + self.a2[i] * self.y2[i];
                self.y2[i] = self.y1[i];
                self.y1[i] = y;
                sum += y;
            }
            *sample = sum;
        }
    }
}

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let kernels = Kernels::best();
    println!("instruction set: {}", kernels.name);
    let rounds = if quick { 5 } else { 15 };
    let mut worst = [f64::INFINITY; 3];
    let mut realtime = f64::INFINITY;
    for modes in [1_000usize, 16_000, 100_000] {
        let padded = modes.next_multiple_of(8);
        let hz = |i: usize| 2000.0 + 8.0e4 * ((i as f64 * 0.618_034) % 1.0) / 5.0;
        let pole = |i: usize| (std::f64::consts::TAU * hz(i) / 44_100.0, (-(3.0 + hz(i) / 500.0) / 44_100.0f64).exp());
        let two_pole: Vec<(f32, f32)> = (0..padded)
            .map(|i| (2.0 * pole(i).1 * pole(i).0.cos(), -pole(i).1 * pole(i).1))
            .map(|(a, b)| (a as f32, b as f32))
            .collect();
        let rotation: Vec<(f32, f32)> = (0..padded)
            .map(|i| (pole(i).1 * pole(i).0.cos(), pole(i).1 * pole(i).0.sin()))
            .map(|(a, b)| (a as f32, b as f32))
            .collect();
        let weights: Vec<f32> = (0..padded).map(|i| 1e-3 * ((i % 7) as f32 - 3.0)).collect();
        let force: Vec<f32> = (0..BLOCK).map(|n| ((n * n) % 13) as f32 / 13.0 - 0.5).collect();
        let mut plain = Plain {
            a1: two_pole[..modes].iter().map(|c| c.0).collect(),
            a2: two_pole[..modes].iter().map(|c| c.1).collect(),
            b: weights[..modes].to_vec(),
            y1: vec![0.1; modes],
            y2: vec![0.1; modes],
        };
        let fast = |coefficients: &[(f32, f32)], kind: usize, blocks: usize| {
            let (c0, c1): (Vec<f32>, Vec<f32>) = coefficients.iter().copied().unzip();
            let (mut s0, mut s1) = (vec![0.1f32; padded], vec![0.1f32; padded]);
            let mut out = [Partial::default(); BLOCK];
            let start = Instant::now();
            for _ in 0..blocks {
                out.fill(Partial::default());
                let bank = Bank { s0: &mut s0, s1: &mut s1, c0: &c0, c1: &c1 };
                match kind {
                    0 => (kernels.two_pole_driven)(bank, &weights, black_box(&force), &mut out),
                    1 => (kernels.two_pole_free)(bank, &mut out),
                    _ => (kernels.rotation_free)(bank, &mut out),
                }
                black_box(out.iter().map(Partial::sum).sum::<f32>());
            }
            start.elapsed().as_secs_f64()
        };
        // Interleaved rounds, best of each: other programs on the machine slow both alike.
        let blocks = (4_000_000 / (modes * BLOCK) * if quick { 1 } else { 4 }).max(2);
        let mut best = [f64::INFINITY; 4];
        for _ in 0..rounds {
            let mut out = [0.0; BLOCK];
            let start = Instant::now();
            for _ in 0..blocks {
                plain.process(black_box(&force), &mut out);
                black_box(&out);
            }
            best[3] = best[3].min(start.elapsed().as_secs_f64());
            for (kind, best) in best[..3].iter_mut().enumerate() {
                *best = best.min(fast(if kind < 2 { &two_pole } else { &rotation }, kind, blocks));
            }
        }
        let ratio = |k: usize| best[3] / best[k];
        let per_second = (modes * BLOCK * blocks) as f64 / best[1];
        println!(
            "{modes} modes: driven {:.1}, free {:.1}, rotation {:.1} times the plain loop; free {:.1} G mode-samples/s",
            ratio(0),
            ratio(1),
            ratio(2),
            per_second / 1e9
        );
        for (k, w) in worst.iter_mut().enumerate() {
            *w = w.min(ratio(k));
        }
        realtime = realtime.min(per_second / 44_100.0);
    }
    println!("figure bank.driven_ratio = {:.1} ratio", worst[0]);
    println!("figure bank.free_ratio = {:.1} ratio", worst[1]);
    println!("figure bank.rotation_ratio = {:.1} ratio", worst[2]);
    println!("figure bank.modes_realtime = {realtime:.0} modes");
}

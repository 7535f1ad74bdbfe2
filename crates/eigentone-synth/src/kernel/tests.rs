use super::*;
use std::f64::consts::TAU;

/// A bank with modes from `low` to 20 kHz, decays from 0.46 to 60 per second, at 44.1 kHz.
struct Fixture {
    s0: Vec<f32>,
    s1: Vec<f32>,
    c0: Vec<f32>,
    c1: Vec<f32>,
    weights: Vec<f32>,
}

impl Fixture {
    fn new(modes: usize, low_hz: f64, two_pole: bool) -> Self {
        let pole = |i: usize| {
            let share = i as f64 / modes as f64;
            let high_hz = if two_pole { 19_000.0 } else { 20_000.0 };
            let theta = TAU * low_hz * f64::powf(high_hz / low_hz, share) / 44_100.0;
            let shrink = (-0.46 * 130f64.powf(share) / 44_100.0).exp();
            if two_pole {
                (2.0 * shrink * theta.cos(), -shrink * shrink)
            } else {
                (shrink * theta.cos(), shrink * theta.sin())
            }
        };
        let number = |i: usize, k: usize| ((7 * i + 3 * k) % 11) as f32 / 11.0 - 0.4;
        Self {
            s0: (0..modes).map(|i| number(i, 0)).collect(),
            s1: (0..modes)
                .map(|i| if two_pole { number(i, 0) * (0.5 * pole(i).0) as f32 } else { number(i, 1) })
                .collect(),
            c0: (0..modes).map(|i| pole(i).0 as f32).collect(),
            c1: (0..modes).map(|i| pole(i).1 as f32).collect(),
            weights: (0..modes).map(|i| number(i, 2)).collect(),
        }
    }

    fn bank(&mut self) -> Bank<'_> {
        Bank { s0: &mut self.s0, s1: &mut self.s1, c0: &self.c0, c1: &self.c1 }
    }
}

fn force(samples: usize) -> Vec<f32> {
    (0..samples).map(|n| ((n * n) % 17) as f32 / 17.0 - 0.5).collect()
}

fn largest(x: &[f32]) -> f32 {
    x.iter().fold(0.0, |m, y| m.max(y.abs()))
}

/// Every form agrees with the plain one to 1e-5 of the peak over a policy frame, for group counts with every remainder and blocks of
/// odd and even length.
#[test]
fn every_instruction_set_computes_the_same() {
    for kernels in Kernels::available() {
        for (modes, block) in [(8, 64), (16, 33), (24, 7), (32, 64), (40, 1), (48, 64), (56, 64), (200, 64)] {
            for which in 0..4 {
                let two_pole = which >= 2;
                let run = |k: &Kernels| {
                    let mut f = Fixture::new(modes, if two_pole { 3000.0 } else { 20.0 }, two_pole);
                    let mut sound = Vec::new();
                    let push = force(block);
                    for _ in 0..1024 / block {
                        let mut out = vec![Partial::default(); block];
                        let weights = f.weights.clone();
                        match which {
                            0 => (k.rotation_free)(f.bank(), &mut out),
                            1 => (k.rotation_driven)(f.bank(), &weights, &push, &mut out),
                            2 => (k.two_pole_free)(f.bank(), &mut out),
                            _ => (k.two_pole_driven)(f.bank(), &weights, &push, &mut out),
                        }
                        sound.extend(out.iter().map(Partial::sum));
                    }
                    sound
                };
                let (plain, fast) = (run(&Kernels::scalar()), run(&kernels));
                let difference: Vec<f32> = plain.iter().zip(&fast).map(|(a, b)| a - b).collect();
                let share = largest(&difference) / largest(&plain);
                assert!(share < 1e-5, "{} kernel {which}, {modes} modes: {share:e}", kernels.name);
            }
        }
    }
}

/// Both halves of a block at once are the same as one after the other.
#[test]
fn halves_make_a_whole() {
    for kernels in Kernels::available() {
        for modes in [8, 16, 24, 40] {
            let (mut one, mut other) = (Fixture::new(modes, 50.0, false), Fixture::new(modes, 50.0, false));
            let power = |i: usize| {
                let (size, angle) = (
                    f64::from(one.c0[i]).hypot(f64::from(one.c1[i])),
                    f64::from(one.c1[i]).atan2(f64::from(one.c0[i])),
                );
                (size.powi(32), 32.0 * angle)
            };
            let jump: [Vec<f32>; 2] = [
                (0..modes).map(|i| (power(i).0 * power(i).1.cos()) as f32).collect(),
                (0..modes).map(|i| (power(i).0 * power(i).1.sin()) as f32).collect(),
            ];
            for _ in 0..10 {
                let (mut a, mut b) = ([Partial::default(); 64], [Partial([9.0; LANES]); 64]);
                (kernels.rotation_free)(one.bank(), &mut a);
                (kernels.rotation_halves)(other.bank(), [&jump[0], &jump[1]], &mut b);
                let difference: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a.sum() - b.sum()).collect();
                assert!(largest(&difference) < 2e-5, "{}: {}", kernels.name, largest(&difference));
            }
        }
    }
}

/// Sample by sample is the same as in a block.
#[test]
fn a_bank_can_be_stepped() {
    for kernels in Kernels::available() {
        let (mut one, mut other) = (Fixture::new(24, 50.0, false), Fixture::new(24, 50.0, false));
        let push = force(200);
        let mut out = vec![Partial::default(); 200];
        let weights = one.weights.clone();
        (kernels.rotation_driven)(one.bank(), &weights, &push, &mut out);
        for (n, &f) in push.iter().enumerate() {
            let y = (kernels.rotation_step)(other.bank(), &weights, f);
            assert!((y - out[n].sum()).abs() < 1e-5);
        }
    }
}

/// The differenced force makes the two-pole answer an impulse with `R^n cos nθ`, from the second sample on, within 1 %.
#[test]
fn both_recurrences_answer_an_impulse_alike() {
    for hz in [1000.0, 5000.0, 15_000.0] {
        let (theta, shrink) = (TAU * hz / 44_100.0, (-20.0f64 / 44_100.0).exp());
        let mut out = vec![Partial::default(); 400];
        let mut force = vec![0.0; 400];
        (force[0], force[2]) = (0.5, -0.5);
        let mut weights = [0.0; 8];
        weights[3] = 1.0;
        let (c0, c1) = ([(2.0 * shrink * theta.cos()) as f32; 8], [(-shrink * shrink) as f32; 8]);
        let bank = Bank { s0: &mut [0.0; 8], s1: &mut [0.0; 8], c0: &c0, c1: &c1 };
        (Kernels::best().two_pole_driven)(bank, &weights, &force, &mut out);
        for (n, y) in out.iter().enumerate().skip(1) {
            let truth = shrink.powi(n as i32) * (n as f64 * theta).cos();
            assert!((f64::from(y.sum()) - truth).abs() < 0.01, "{hz} Hz, sample {n}: {} {truth}", y.sum());
        }
    }
}

#[test]
fn the_polynomials_are_what_they_stand_for() {
    for i in -4000..4000 {
        let x = i as f32 * 0.013_7;
        let (sin, cos) = wide::sin_cos(x);
        let (s, c) = (TAU * f64::from(x)).sin_cos();
        assert!((f64::from(sin) - s).abs() < 4e-7 && (f64::from(cos) - c).abs() < 4e-7, "{x}: {sin} {s}, {cos} {c}");
        let (power, truth) = (f64::from(wide::exp2(x)), f64::from(x).exp2());
        assert!((power / truth - 1.0).abs() < 1e-6, "2^{x}: {power} {truth}");
        let db = wide::decibels(power as f32);
        assert!((f64::from(db) - 10.0 * (power as f32 as f64).log10()).abs() < 4e-5, "{power}: {db}");
    }
    assert_eq!(wide::exp2(-1000.0), 0.0);
    assert!(wide::decibels(0.0) < -370.0);
}

/// The wide loops of every instruction set agree with double precision.
#[test]
fn states_are_advanced_and_struck_exactly() {
    let n = 40;
    let hz = |i: usize| 20.0 * 1000f64.powf(i as f64 / n as f64);
    let turn: Vec<u32> = (0..n).map(|i| (hz(i) / 44_100.0 * 4_294_967_296.0).round() as u32).collect();
    let decay = |i: usize| 0.5 + i as f64;
    let fade: Vec<f32> = (0..n).map(|i| (-decay(i) / 44_100.0 * std::f64::consts::LOG2_E) as f32).collect();
    let poles = Poles { turn: &turn, fade: &fade, scale: 1.0, damping: 1.0 };
    for kernels in Kernels::available() {
        let wide = kernels.wide;
        let (mut re, mut im) = (vec![0.0; n], vec![0.0; n]);
        let (push, slant) = (vec![1.0; n], vec![0.01; n]);
        (wide.inject)(&mut re, &mut im, &push, &slant, poles, 0.25);
        (wide.advance)(&mut re, &mut im, poles, &vec![7; n], 20_007);
        let (mut energy, mut level) = (vec![0.0; n], vec![0.0; n]);
        (wide.levels)(&re, &im, Levels { energy: &mut energy, level: &mut level });
        for i in 0..n {
            let t = 20_000.25 / 44_100.0;
            let (phase, size) = (TAU * hz(i) * t, (-decay(i) * t).exp());
            let truth = [size * (phase.cos() - 0.01 * phase.sin()), size * (phase.sin() + 0.01 * phase.cos())];
            assert!((f64::from(re[i]) - truth[0]).abs() < 2e-5 && (f64::from(im[i]) - truth[1]).abs() < 2e-5);
            let expected = 0.5 * (truth[0] * truth[0] + truth[1] * truth[1]);
            assert!((f64::from(level[i]) - 10.0 * expected.log10()).abs() < 1e-3, "{} {expected}", level[i]);
            assert!((f64::from(energy[i]) / expected - 1.0).abs() < 1e-4);
        }
        let (mut c, mut s) = (vec![0.0; n], vec![0.0; n]);
        (wide.poles)(Poles { scale: 1.1, damping: 3.0, ..poles }, &vec![1.0; n], 0.05, &mut c, &mut s);
        for i in 0..n {
            let theta = TAU * (hz(i) * 1.1 * 1.05 / 44_100.0).min(0.49);
            let size = (-3.0 * decay(i) / 44_100.0).exp();
            assert!((f64::from(c[i]) - size * theta.cos()).abs() < 1e-6, "{i}");
            assert!((f64::from(s[i]) - size * theta.sin()).abs() < 1e-6, "{i}");
        }
        let mut soft = vec![1.0; n];
        (wide.soften)(&mut soft, &turn, HalfSineFilter { length: 50.0 });
        for (i, h) in soft.iter().enumerate() {
            let x = hz(i) * 50.0 / 44_100.0;
            let truth = (std::f64::consts::PI * x).cos() / (1.0 - 4.0 * x * x);
            assert!((f64::from(*h) - truth).abs() < 1e-3, "{i}: {h} {truth}");
        }
        let rows: Vec<Vec<f32>> = (0..9).map(|k| (0..n).map(|i| (i * k) as f32).collect()).collect();
        let mut sum = vec![0.0; n];
        (wide.combine)(std::array::from_fn(|k| &rows[k][..]), std::array::from_fn(|k| k as f32), &mut sum);
        assert!(sum.iter().enumerate().all(|(i, y)| *y == (i * 204) as f32));
    }
}

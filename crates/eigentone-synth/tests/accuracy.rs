//! The engine's sound against closed forms, in every instruction set.

mod common;

use common::{act, impulse, mix, point};
use eigentone_core::event::{Action, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_synth::engine::engine_with;
use eigentone_synth::kernel::Kernels;
use eigentone_synth::{BLOCK, BodySettings, HalfSine, Quality, ScalarBank, Settings};
use std::f64::consts::TAU;

fn settings() -> Settings {
    Settings { quality: Quality::FULL, ..Settings::default() }
}

/// Modes from 20 Hz to 20 kHz with T60 from 0.05 to 15 s follow `e^{−dt}(cos ωt − (d/ω) sin ωt)` sample by sample until −60 dB, within
/// 0.1 dB of their envelope. A phase that close after 15 s is a frequency within 0.01 % and more, and the level bounds the decay.
#[test]
fn modes_ring_as_the_closed_form_says() {
    let rate = 44_100.0;
    for kernels in Kernels::available() {
        if kernels.name == "scalar" || kernels.name == "portable" {
            continue;
        }
        let (mut handle, mut processor) = engine_with(settings(), kernels).unwrap();
        let mut truths = Vec::new();
        for t60_s in [0.05, 0.3, 2.0, 15.0] {
            for i in 0..12 {
                let hz = 20.0 * 1000f64.powf(f64::from(i) / 11.0);
                let d = 1000f64.ln() / t60_s;
                let body = handle.add(&BodySettings::new(point(&[(hz, d, 1.0)]))).unwrap();
                handle.send(impulse(body, 0, 1.0)).unwrap();
                truths.push((body, hz, d, t60_s));
            }
        }
        let mut worst = vec![0.0f64; truths.len()];
        for block in 0..(15.0 * rate) as usize / BLOCK {
            processor.next_block();
            let buses: Vec<_> = processor.buses().map(|(id, bus)| (id, *bus)).collect();
            for (m, &(body, hz, d, t60_s)) in truths.iter().enumerate() {
                let Some((_, bus)) = buses.iter().find(|(id, _)| *id == body) else { continue };
                for (n, y) in bus.iter().enumerate() {
                    let t = (block * BLOCK + n) as f64 / rate;
                    if t < t60_s {
                        let (w, envelope) = (TAU * hz, (-d * t).exp());
                        let truth = envelope * ((w * t).cos() - d / w * (w * t).sin());
                        worst[m] = worst[m].max((f64::from(*y) - truth).abs() / (envelope * (1.0 + d / w)));
                    }
                }
            }
        }
        println!("{}: at most {:.4} dB", kernels.name, 8.686 * worst.iter().fold(0.0f64, |a, b| a.max(*b)));
        for (&(_, hz, _, t60_s), error) in truths.iter().zip(&worst) {
            assert!(*error < 0.0115, "{}: {hz:.0} Hz, T60 {t60_s} s: {:.3} dB", kernels.name, 8.686 * error);
        }
    }
}

/// A blow of finite length, also between two samples, is heard as the double-precision bank hears it.
#[test]
fn a_blow_is_that_of_the_reference_bank() {
    let rate = 44_100.0;
    let modes =
        [(90.0, 4.0, 1.0), (800.0, 20.0, 0.5), (3500.0, 30.0, -0.7), (9000.0, 60.0, 0.4), (19_900.0, 90.0, 0.2)];
    let model = point(&modes);
    for (duration_s, fraction) in [(0.0f32, 0.0f32), (0.0, 0.3), (0.0003, 0.0), (0.0003, 0.6), (0.004, 0.25)] {
        for quality in [Quality::FULL, Quality { masking: None, ..Quality::default() }] {
            let (mut handle, mut processor) = eigentone_synth::engine(Settings { quality, ..settings() }).unwrap();
            let body = handle.add(&BodySettings::new(model.clone())).unwrap();
            let action = Action::Blow { site: SiteBlend::single(0), impulse_ns: [0.0, 0.0, 1.0], duration_s };
            handle.send(Event { time: Moment { sample: 100, fraction }, body, action }).unwrap();
            let sound = mix(&mut processor, 200);

            let mut bank = ScalarBank::new(&model.modes, rate);
            let mut truth = vec![0.0; 200 * BLOCK];
            let gains = vec![1.0; modes.len()];
            if duration_s == 0.0 {
                // In closed form: an impulse between the samples.
                for (n, y) in truth.iter_mut().enumerate() {
                    let t = (n as f64 - 100.0 - f64::from(fraction)) / rate;
                    for (hz, d, o) in modes.iter().filter(|_| t >= 0.0) {
                        let w = TAU * hz;
                        *y += o * (-d * t).exp() * ((w * t).cos() - d / w * (w * t).sin());
                    }
                }
            } else {
                let start_samples = 100.0 + f64::from(fraction);
                let pulse = HalfSine { impulse_ns: 1.0, duration_s: f64::from(duration_s), start_samples };
                bank.process(&gains, &pulse.samples(rate), &mut truth);
            }
            let peak = truth.iter().fold(0.0f64, |m, y| m.max(y.abs()));
            let error = |range: std::ops::Range<usize>| {
                range.map(|n| (f64::from(sound[n]) - truth[n]).abs()).fold(0.0, f64::max) / peak
            };
            // While a force acts, the two-pole form answers its present sample by half; and driven modes lack the phase d/ω, here 0.4°.
            let end = 106 + (f64::from(duration_s) * rate) as usize;
            let (during, after) = (error(0..end), error(end..truth.len()));
            assert!(
                during < 0.02 && after < 0.01,
                "{duration_s} s, {fraction}: {during:.1e} and {after:.1e} of the peak"
            );
        }
    }
}

/// Two blows at once and one after the other in the same block: all superpose.
#[test]
fn blows_superpose() {
    let model = point(&[(400.0, 5.0, 1.0), (5000.0, 9.0, 1.0), (700.0, 5.0, 0.3)].map(|m| m));
    let render = |which: &[usize]| {
        let (mut handle, mut processor) = eigentone_synth::engine(settings()).unwrap();
        let body = handle.add(&BodySettings::new(model.clone())).unwrap();
        let blow =
            |duration_s: f32| Action::Blow { site: SiteBlend::single(0), impulse_ns: [0.0, 0.0, 1.0], duration_s };
        let events = [
            act(body, 10, blow(0.002)),
            act(body, 10, blow(0.0007)),
            act(body, 30, blow(0.003)),
            impulse(body, 41, -0.5),
        ];
        which.iter().for_each(|&i| handle.send(events[i]).unwrap());
        mix(&mut processor, 50)
    };
    let together = render(&[0, 1, 2, 3]);
    let parts: Vec<Vec<f32>> = (0..4).map(|i| render(&[i])).collect();
    for (n, y) in together.iter().enumerate() {
        let sum: f32 = parts.iter().map(|p| p[n]).sum();
        assert!((y - sum).abs() < 2e-4, "sample {n}: {y} {sum}");
    }
}

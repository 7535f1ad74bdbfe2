//! What is heard through gains and filters has the decays and levels that were asked for.
//!
//! A click goes through [`Sends`] and [`Reverb`]; decays are measured on what comes out. Requested decays are those of walls alone, so air takes nothing here
//! except where air itself is measured: at 1 kHz and 3 s it already shortens the decay by 8 %.

use eigentone_core::SOUND_M_S;
use eigentone_core::acoustics::Parameters;
use eigentone_space::BLOCK;
use eigentone_space::air::Air;
use eigentone_space::canonical::{Canonical, EARLY_TIMES_S, LATE_TIMES_S};
use eigentone_space::convolve::{INPUTS, Reverb};
use eigentone_space::sends::{Clamped, Sends};
use realfft::RealFftPlanner;

const RATES_HZ: [f64; 6] = [8_000.0, 11_025.0, 16_000.0, 22_050.0, 44_100.0, 96_000.0];

fn energy(samples: &[f32]) -> f64 {
    samples.iter().map(|&x| f64::from(x).powi(2)).sum()
}

fn db(ratio: f64) -> f64 {
    10.0 * ratio.log10()
}

fn room(early_db: f64, early_decay_s: f64, late_decay_s: f64) -> Parameters {
    Parameters { direct_db: 0.0, early_db, early_decay_s, late_decay_s, tilt_db: 0.0 }
}

/// Both channels of what follows a click, as three parts: before 5 ms, early, late.
struct Response {
    rate_hz: f64,
    channels: [Vec<f32>; 2],
    clamped: Clamped,
}

impl Response {
    fn new(parameters: &Parameters, filters: &Canonical) -> Self {
        let rate_hz = filters.sample_rate_hz;
        let (sends, clamped) = Sends::new(parameters, 1.0, filters);
        let mut reverb = Reverb::new(rate_hz, filters);
        let mut inputs = [[0.0; BLOCK]; INPUTS];
        for (input, send) in inputs.iter_mut().zip([sends.early, sends.late].concat()) {
            input[0] = send;
        }
        let mut channels = [Vec::new(), Vec::new()];
        for _ in 0..(3.3 * rate_hz) as usize / BLOCK {
            let mut out = [[0.0; BLOCK]; 2];
            reverb.process(&inputs, &mut out);
            channels.iter_mut().zip(out).for_each(|(all, block)| all.extend(block));
            inputs = [[0.0; BLOCK]; INPUTS];
        }
        Self { rate_hz, channels, clamped }
    }

    fn samples(&self, time_s: f64) -> usize {
        (time_s * self.rate_hz).round() as usize
    }

    fn early(&self, channel: usize) -> &[f32] {
        let start = self.samples(0.005);
        &self.channels[channel][start..start + self.samples(0.2)]
    }

    fn late(&self, channel: usize) -> &[f32] {
        &self.channels[channel][self.samples(0.205)..]
    }

    /// Reverberation time of the early part: a line through the levels of its bins of 10 ms, as the early decay of 200 ms is defined.
    fn early_decay_s(&self, channel: usize) -> f64 {
        let early = self.early(channel);
        let points: Vec<(f64, f64)> = (0..20)
            .map(|bin| {
                let span = bin * early.len() / 20..(bin + 1) * early.len() / 20;
                (0.01 * bin as f64, db(energy(&early[span])))
            })
            .collect();
        -60.0 / slope(&points)
    }

    /// Power where early and late sound meet, from either side: energies of 25 ms less the decay to the joint, relative to each other in dB.
    fn step_at_joint_db(&self, channel: usize, early_s: f64, late_s: f64) -> f64 {
        let (early, late) = (self.early(channel), self.late(channel));
        let joint = self.samples(0.025);
        let before = db(energy(&early[early.len() - joint..])) - 60.0 * 0.0125 / early_s;
        let after = db(energy(&late[..joint])) + 60.0 * 0.0125 / late_s;
        after - before
    }
}

/// Least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mx, my) = points.iter().fold((0.0, 0.0), |(sx, sy), (x, y)| (sx + x / n, sy + y / n));
    let (xy, xx) = points.iter().fold((0.0, 0.0), |(xy, xx), (x, y)| (xy + (x - mx) * (y - my), xx + (x - mx).powi(2)));
    xy / xx
}

/// Reverberation time by a line through Schroeder's curve between two levels in dB.
fn schroeder_s(samples: &[f32], rate_hz: f64, from_db: f64, to_db: f64) -> f64 {
    let mut left = energy(samples);
    let whole = left;
    let mut points = Vec::new();
    for (n, &x) in samples.iter().enumerate() {
        let level = db(left / whole);
        if level < to_db {
            break;
        }
        if level <= from_db {
            points.push((n as f64 / rate_hz, level));
        }
        left -= f64::from(x).powi(2);
    }
    -60.0 / slope(&points)
}

/// Times from the first to the last, evenly in pitch, and a little beyond every filter's own.
fn sweep_s(times_s: [f64; 3], count: usize) -> Vec<f64> {
    let step = |i: usize| times_s[0] * (times_s[2] / times_s[0]).powf(i as f64 / count as f64);
    (0..=count).map(|i| step(i).clamp(times_s[0], times_s[2])).chain(times_s).collect()
}

/// Decays of 0.5 to 3 s within 5 %, the level within 0.3 dB.
#[test]
fn early_sound_has_the_decay_and_level_asked_for() {
    for rate_hz in RATES_HZ {
        let filters = Canonical::new(rate_hz, &Air::LOSSLESS);
        let (mut worst, mut levels) = (0.0f64, [0.0f64; 2]);
        for time_s in sweep_s(EARLY_TIMES_S, 40) {
            let response = Response::new(&room(-7.0, time_s, 1.0), &filters);
            assert_eq!(response.clamped, Clamped::default());
            for channel in 0..2 {
                worst = worst.max((response.early_decay_s(channel) / time_s - 1.0).abs());
                let level = db(energy(response.early(channel))) + 7.0;
                levels = [levels[0].min(level), levels[1].max(level)];
            }
        }
        println!("{rate_hz} Hz: early decay {:.2} %, level {:.2} to {:.2} dB", 100.0 * worst, levels[0], levels[1]);
        assert!(worst < 0.05, "{rate_hz} Hz: {worst}");
        assert!(levels.iter().all(|level| level.abs() < 0.3), "{rate_hz} Hz: {levels:?}");
    }
}

/// Decays of 0.75 to 3 s within 6 %, by T30 of the late part.
#[test]
fn late_sound_has_the_decay_asked_for() {
    for rate_hz in RATES_HZ {
        let filters = Canonical::new(rate_hz, &Air::LOSSLESS);
        let mut worst = 0.0f64;
        for time_s in sweep_s(LATE_TIMES_S, 30) {
            let response = Response::new(&room(0.0, 1.0, time_s), &filters);
            assert_eq!(response.clamped, Clamped::default());
            for channel in 0..2 {
                let found_s = schroeder_s(response.late(channel), rate_hz, -5.0, -35.0);
                worst = worst.max((found_s / time_s - 1.0).abs());
            }
        }
        println!("{rate_hz} Hz: T30 {:.2} %", 100.0 * worst);
        assert!(worst < 0.06, "{rate_hz} Hz: {worst}");
    }
}

/// The same by Schroeder's curve of the whole response: EDT (0 to −10 dB) of rooms whose early decay goes on as far as late filters can, and T30 where
/// both decays are the same.
#[test]
fn a_room_of_one_decay_has_it_from_beginning_to_end() {
    for rate_hz in RATES_HZ {
        let filters = Canonical::new(rate_hz, &Air::LOSSLESS);
        let mut worst = [0.0f64; 2];
        for time_s in sweep_s(EARLY_TIMES_S, 40).into_iter().chain(LATE_TIMES_S) {
            let response = Response::new(&room(0.0, time_s, time_s.max(LATE_TIMES_S[0])), &filters);
            for channel in 0..2 {
                let heard = &response.channels[channel][response.samples(0.005)..];
                let error = |from_db, to_db| (schroeder_s(heard, rate_hz, from_db, to_db) / time_s - 1.0).abs();
                worst[0] = worst[0].max(error(0.0, -10.0));
                if time_s >= LATE_TIMES_S[0] {
                    worst[1] = worst[1].max(error(-5.0, -35.0));
                }
            }
        }
        println!("{rate_hz} Hz: EDT {:.2} %, T30 {:.2} % of whole responses", 100.0 * worst[0], 100.0 * worst[1]);
        assert!(worst[0] < 0.05 && worst[1] < 0.06, "{rate_hz} Hz: {worst:?}");
    }
}

/// A field's early decay is that of the whole response: Schroeder's curve from the middle of the first window of the encoder on, 44 ms at 500 Hz, from −3 to −13 dB. Where both decays are the same up to 2 s, or
/// where the 200 ms of early filters decide (up to 1.25 s at 500 Hz and 1 s at 250 Hz, late decays longer by 15 %), rendered responses have it within 5 %. Everywhere they come no farther from it than the late
/// decay is, and 7 %: between the filters of 1 and 3 s a response errs by up to 6.4 % in this measure, whatever it is asked for. Late decays are within 6 %.
#[test]
fn whole_responses_have_the_decays_of_their_field() {
    for rate_hz in [16_000.0, 44_100.0] {
        for (f_max_hz, longest_s) in [(250.0, 1.0), (500.0, 1.25)] {
            let filters = Canonical::new(rate_hz, &Air::LOSSLESS).for_field(f_max_hz);
            let plain = Canonical::new(rate_hz, &Air::LOSSLESS);
            let from_s = 0.005 + 0.5 * 256.0 * 0.3398e-3 * 500.0 / f_max_hz;
            let early_error = |response: &Response, channel: usize, early_s: f64| {
                let heard = &response.channels[channel][response.samples(from_s)..];
                (schroeder_s(heard, rate_hz, -3.0, -13.0) / early_s - 1.0).abs()
            };
            let [mut decided, mut all, mut late, mut unaided] = [0.0f64; 4];
            for early_s in sweep_s(EARLY_TIMES_S, 12) {
                for ratio in [0.9, 1.0, 1.15, 1.3] {
                    let late_s = ratio * early_s;
                    if !(LATE_TIMES_S[0]..=LATE_TIMES_S[2]).contains(&late_s) {
                        continue;
                    }
                    let [fitted, as_it_stands] =
                        [&filters, &plain].map(|filters| Response::new(&room(0.0, early_s, late_s), filters));
                    assert_eq!(fitted.clamped, Clamped::default());
                    for channel in 0..2 {
                        let error = early_error(&fitted, channel, early_s);
                        all = all.max(error - (ratio - 1.0).abs());
                        if (ratio == 1.0 && early_s <= 2.0) || (ratio == 1.15 && early_s <= longest_s) {
                            decided = decided.max(error);
                            unaided = unaided.max(early_error(&as_it_stands, channel, early_s));
                        }
                        let t30_s = schroeder_s(fitted.late(channel), rate_hz, -5.0, -35.0);
                        late = late.max((t30_s / late_s - 1.0).abs());
                    }
                }
            }
            let percent = [decided, all, late, unaided].map(|x| (1000.0 * x).round() / 10.0);
            println!("{rate_hz} Hz, field to {f_max_hz} Hz: early, farther, late, early as it stands {percent:?} %");
            assert!(decided < 0.05 && all < 0.07 && late < 0.06, "{rate_hz} Hz, {f_max_hz} Hz: {percent:?} %");
            assert!(unaided > 2.0 * decided, "it makes no difference: {percent:?} %");
        }
    }
}

/// Power goes on where early and late sound meet, within 0.1 dB for any pair of decays.
#[test]
fn power_is_continuous_at_the_joint() {
    for rate_hz in RATES_HZ {
        let filters = Canonical::new(rate_hz, &Air::LOSSLESS);
        let mut worst = 0.0f64;
        for early_s in sweep_s(EARLY_TIMES_S, 6) {
            for late_s in sweep_s(LATE_TIMES_S, 4) {
                let response = Response::new(&room(0.0, early_s, late_s), &filters);
                for channel in 0..2 {
                    worst = worst.max(response.step_at_joint_db(channel, early_s, late_s).abs());
                }
            }
        }
        println!("{rate_hz} Hz: {worst:.3} dB");
        assert!(worst < 0.1, "{rate_hz} Hz: {worst} dB");
    }
}

/// 200 ms of early filters and the first 25 ms of late ones have unit energy in both channels, with and without air.
#[test]
fn filters_have_unit_energy() {
    for rate_hz in [8_000.0, 11_025.0, 22_050.0, 44_100.0, 48_000.0, 88_200.0, 96_000.0, 192_000.0] {
        for air in [Air::default(), Air::LOSSLESS] {
            let filters = Canonical::new(rate_hz, &air);
            let joint = (0.025 * rate_hz).round() as usize;
            for channel in filters.early.iter().flatten() {
                assert_eq!(channel.len(), (0.2 * rate_hz).round() as usize);
                assert!((energy(channel) - 1.0).abs() < 1e-6, "{rate_hz}: {}", energy(channel));
            }
            for (channels, time_s) in filters.late.iter().zip(LATE_TIMES_S) {
                for channel in channels {
                    assert!(channel.len() as f64 >= time_s * rate_hz);
                    assert!((energy(&channel[..joint]) - 1.0).abs() < 1e-6, "{rate_hz}: {}", energy(channel));
                }
            }
        }
    }
}

#[test]
fn the_same_rate_gives_the_same_filters() {
    let filters = || Canonical::new(32_000.0, &Air::default());
    assert!(filters() == filters());
    assert_eq!(Canonical::new(f64::NAN, &Air::default()).sample_rate_hz, 8_000.0);
    assert_eq!(Canonical::new(1e9, &Air::default()).sample_rate_hz, 384_000.0);
}

/// Both channels are different noise: their correlation is that of chance.
#[test]
fn late_channels_are_not_correlated() {
    let filters = Canonical::new(44_100.0, &Air::default());
    let [left, right] = &filters.late[2];
    let product: f64 = left.iter().zip(right).map(|(l, r)| f64::from(l * r)).sum();
    let correlation = product / (energy(left) * energy(right)).sqrt();
    assert!(correlation.abs() < 0.02, "{correlation}");
}

/// Within a second air takes α·c from a narrow band: the level of the response relative to that without air, whose noise is the same, falls by that.
#[test]
fn air_shortens_the_decay_of_high_frequencies() {
    let rate_hz = 44_100.0;
    let responses =
        [Air::default(), Air::LOSSLESS].map(|air| Response::new(&room(0.0, 1.0, 3.0), &Canonical::new(rate_hz, &air)));
    for (band_hz, width_hz) in [(500.0, 50.0), (2000.0, 100.0), (8000.0, 150.0)] {
        for channel in 0..2 {
            let [air, none] =
                responses.each_ref().map(|response| band(response.late(channel), rate_hz, band_hz, width_hz));
            let relative_db = |at_s: f64| {
                let span = ((at_s - 0.1) * rate_hz) as usize..((at_s + 0.1) * rate_hz) as usize;
                db(energy(&air[span.clone()]) / energy(&none[span]))
            };
            let found = relative_db(0.2) - relative_db(1.2);
            let expected = SOUND_M_S * Air::default().attenuation_db_per_m(band_hz);
            println!("{band_hz} Hz: {found:.2} dB/s, expected {expected:.2}");
            assert!((found / expected - 1.0).abs() < 0.05, "{band_hz} Hz: {found} {expected}");
        }
    }
}

/// What lies around a frequency. The edges are those of a bell: steep ones would ring into what has decayed.
fn band(samples: &[f32], rate_hz: f64, band_hz: f64, width_hz: f64) -> Vec<f32> {
    let size = (2 * samples.len()).next_power_of_two();
    let mut planner = RealFftPlanner::<f32>::new();
    let (forward, inverse) = (planner.plan_fft_forward(size), planner.plan_fft_inverse(size));
    let mut padded = forward.make_input_vec();
    padded[..samples.len()].copy_from_slice(samples);
    let mut spectrum = forward.make_output_vec();
    forward.process(&mut padded, &mut spectrum).expect("lengths of the plan");
    for (k, bin) in spectrum.iter_mut().enumerate() {
        let off = (k as f64 * rate_hz / size as f64 - band_hz) / width_hz;
        *bin *= (-off * off).exp() as f32;
    }
    inverse.process(&mut spectrum, &mut padded).expect("lengths of the plan");
    padded.truncate(samples.len());
    padded.iter().map(|x| x / size as f32).collect()
}

//! What makes each surface what it is, measured on its excitation.

use assert_no_alloc::{AllocDisabler, assert_no_alloc, violation_count};
use eigentone_core::texture::{
    Bumps, Curve, Foil, Friction, Gain, Height, Loop, Loose, LowPass, Playback, Profile, Recorded, Rough, Source,
    Synthetic, Texture,
};
use eigentone_core::{Mode, Noise};
use eigentone_synth::texture::{
    ContactState, Direct, Generator, ImpactShape, RecordedImpact, Recording, SurfaceRuntime, synthesise,
};
use eigentone_synth::{BLOCK, StepBank};
use realfft::RealFftPlanner;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

const RATE: f64 = 44_100.0;

/// The profile alone: no filter, one newton whatever happens.
fn bare(profile: Profile) -> Texture {
    Texture {
        profile,
        low_pass: LowPass { order: 0, ..LowPass::default() },
        gain: Gain { slip: Curve::constant(1.0), force: Curve::constant(1.0) },
        ..Texture::default()
    }
}

fn contact(texture: &Texture, seed: u64) -> Generator {
    let loops: Vec<Recording> = match &texture.profile {
        Profile::Recorded(r) => r
            .loops
            .iter()
            .map(|l| match &l.source {
                Source::Synthetic(kind) => synthesise(*kind, f64::from(l.events_per_s), RATE),
                // Named by its frequency.
                Source::File(hz) => tone(hz.parse().unwrap()),
            })
            .collect(),
        _ => vec![],
    };
    Generator::new(SurfaceRuntime::new(texture, &loops, &[], 99, RATE).unwrap(), seed)
}

fn tone(hz: f64) -> Recording {
    let samples: Vec<f32> =
        (0..44_100).map(|n| (std::f64::consts::TAU * hz * f64::from(n) / RATE).sin() as f32).collect();
    Recording::new(&samples, RATE)
}

fn at_speed(v: f32) -> ContactState {
    ContactState { slip_m_s: v, travel_m_s: v, force_n: 10.0, ..ContactState::default() }
}

fn run(generator: &mut Generator, state: &ContactState, seconds: f64) -> Vec<f32> {
    let mut out = vec![0.0; (seconds * RATE) as usize / BLOCK * BLOCK];
    let mut state = *state;
    for block in out.chunks_mut(BLOCK) {
        state.position_m += f64::from(state.travel_m_s) * BLOCK as f64 / RATE;
        generator.fill(&state, block);
    }
    out
}

fn rms(x: &[f32]) -> f64 {
    (x.iter().map(|y| f64::from(*y).powi(2)).sum::<f64>() / x.len() as f64).sqrt()
}

/// Mean power spectrum in frames of 4096 under a Hann window: `(hertz per bin, power)`.
fn spectrum(x: &[f32]) -> (f64, Vec<f64>) {
    let n = 4096;
    let fft = RealFftPlanner::<f64>::new().plan_fft_forward(n);
    let mut power = vec![0.0; n / 2 + 1];
    for frame in x.windows(n).step_by(n / 2) {
        let window = |i: usize| 0.5 - 0.5 * (std::f64::consts::TAU * i as f64 / n as f64).cos();
        let mut input: Vec<f64> = frame.iter().enumerate().map(|(i, y)| window(i) * f64::from(*y)).collect();
        let mut bins = fft.make_output_vec();
        fft.process(&mut input, &mut bins).unwrap();
        power.iter_mut().zip(&bins).for_each(|(p, b)| *p += b.norm_sqr());
    }
    (RATE / n as f64, power)
}

/// Spectral centre in hertz.
fn centre_hz(x: &[f32]) -> f64 {
    let (step, power) = spectrum(x);
    power.iter().enumerate().map(|(i, p)| i as f64 * step * p).sum::<f64>() / power.iter().sum::<f64>()
}

fn peak_hz(x: &[f32]) -> f64 {
    let (step, power) = spectrum(x);
    power.iter().enumerate().skip(1).max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0 as f64 * step
}

/// How often a signal begins to be above a level.
fn rises(x: &[f32], level: f32) -> usize {
    x.windows(2).filter(|w| w[0] <= level && w[1] > level).count()
}

/// Row 49: rate `v/(w + s)`, proportional to speed, and duty `w/(w + s)`, within 10 %.
#[test]
fn bumps_come_at_their_rate_and_fill_their_share() {
    for (repeat, height) in [(false, Height::Uniform), (true, Height::Uniform), (false, Height::Tail(2.0))] {
        // Uniform heights are positive; how many of them are is all that counts.
        let shape = Bumps { mark_m: 1e-3, space_m: 4e-3, height, repeat };
        for v in [0.25f32, 0.5, 1.0] {
            let mut generator = contact(&bare(Profile::Bumps(shape)), 3);
            let out = run(&mut generator, &at_speed(v), 20.0);
            let seconds = out.len() as f64 / RATE;
            let (rate, duty) =
                (rises(&out, 0.0) as f64 / seconds, out.iter().filter(|y| **y > 0.0).count() as f64 / out.len() as f64);
            // The mean over two samples is positive for two samples longer than the bump.
            let expected = f64::from(v) / 5e-3;
            assert!((rate / expected - 1.0).abs() < 0.1, "{repeat} {v} m/s: {rate}/s, not {expected}");
            let widened = 0.2 + 2.0 * rate / RATE;
            assert!((duty / widened - 1.0).abs() < 0.1, "{repeat} {v} m/s: duty {duty}");
        }
    }
}

/// The same place is as high going forth as going back, to the two samples of the edges.
#[test]
fn repeatable_bumps_are_where_they_were() {
    let shape = Bumps { repeat: true, height: Height::Width, ..Bumps::default() };
    let mut generator = contact(&bare(Profile::Bumps(shape)), 3);
    let step = 0.1 * BLOCK as f64 / RATE;
    let mut state = at_speed(0.1);
    let mut walk = |direction: f64, from: f64| -> Vec<f32> {
        let mut out = vec![0.0; 400 * BLOCK];
        for (i, block) in out.chunks_mut(BLOCK).enumerate() {
            state.position_m = from + direction * step * (i + 1) as f64;
            generator.fill(&state, block);
        }
        out
    };
    let forth = walk(1.0, 0.0);
    let mut back = walk(-1.0, 400.0 * step);
    back.reverse();
    // Sample n of the way forth ends where sample n + 1 of the way back ends.
    let same = (BLOCK..forth.len() - 2 * BLOCK).filter(|&n| (forth[n] - back[n + 1]).abs() < 1e-3).count();
    assert!(rms(&forth) > 0.1 && same as f64 > 0.95 * (forth.len() - 3 * BLOCK) as f64, "{same} of {}", forth.len());
    let elsewhere = (BLOCK..forth.len() - 2 * BLOCK).filter(|&n| (forth[n] - back[n - 50]).abs() < 1e-3).count();
    assert!(elsewhere < same);
}

/// A relief has no memory beyond its grain, and its spectrum shifts with speed.
#[test]
fn a_rough_surface_is_aperiodic_and_brighter_in_proportion_to_speed() {
    let shape = Rough { grain_m: 4e-3, octaves: 1, ..Rough::default() };
    let read = |v: f32| run(&mut contact(&bare(Profile::Rough(shape)), 5), &at_speed(v), 12.0);
    let centres = [1.0, 2.0, 4.0, 8.0].map(|v| centre_hz(&read(v)));
    for pair in centres.windows(2) {
        assert!((pair[1] / pair[0] - 2.0).abs() < 0.1, "{centres:?}");
    }
    let x = &read(1.0)[1000..];
    assert!((rms(x) - 1.0).abs() < 0.1, "{}", rms(x));
    let n = 1usize << 19;
    let fft = RealFftPlanner::<f32>::new().plan_fft_forward(n);
    let back = RealFftPlanner::<f32>::new().plan_fft_inverse(n);
    let mut padded = vec![0.0f32; n];
    padded[..n / 2].copy_from_slice(&x[..n / 2]);
    let mut bins = fft.make_output_vec();
    fft.process(&mut padded, &mut bins).unwrap();
    bins.iter_mut().for_each(|b| *b *= b.conj());
    back.process(&mut bins, &mut padded).unwrap();
    // Two cells of 4 mm at 1 m/s, up to half of what there is.
    let correlation_samples = (2.0 * 4e-3 * RATE) as usize;
    let largest = padded[correlation_samples..n / 4].iter().fold(0.0f32, |m, r| m.max(r.abs())) / padded[0];
    assert!(largest < 0.3, "{largest}");
}

fn loose(events_per_m: f32) -> Loose {
    Loose { events_per_m, burst_s: 1e-3, band_hz: [2000.0, 4000.0], q: 3.0, voices: 3 }
}

/// Counts bursts that stand apart: far fewer events than decays.
fn bursts(x: &[f32]) -> usize {
    let mut quiet = 0;
    x.iter()
        .filter(|y| {
            let begins = quiet > 300 && y.abs() > 1e-4;
            quiet = if y.abs() > 1e-4 { 0 } else { quiet + 1 };
            begins
        })
        .count()
}

/// PhISEM: events per second in proportion to the agitation, in their band.
#[test]
fn loose_particles_collide_in_proportion_to_agitation_and_in_their_band() {
    for v in [0.25, 0.5, 1.0] {
        let x = run(&mut contact(&bare(Profile::Loose(loose(8.0))), 11), &at_speed(v), 120.0);
        let (found, expected) = (bursts(&x) as f64 / 120.0, 8.0 * f64::from(v));
        // Those that follow within 20 ms are counted as one: a share of 1 − e^{−rate·20 ms}.
        let apart = expected * (-expected * 0.02).exp();
        assert!((found / apart - 1.0).abs() < 0.15, "{v} m/s: {found} per second, not {apart}");
    }
    let x = run(&mut contact(&bare(Profile::Loose(loose(500.0))), 11), &at_speed(1.0), 4.0);
    let (step, power) = spectrum(&x);
    let inside: f64 =
        power.iter().enumerate().filter(|(i, _)| (1400.0..5600.0).contains(&(*i as f64 * step))).map(|p| p.1).sum();
    assert!(inside / power.iter().sum::<f64>() > 0.85);
    let centre = peak_hz(&x);
    assert!((2000.0..4000.0).contains(&centre), "{centre}");
}

/// In foil each event has a pitch of its own; in gravel all have the same.
#[test]
fn every_event_of_a_foil_has_a_pitch_of_its_own() {
    let pitches = |profile: Profile| -> Vec<f64> {
        let x = run(&mut contact(&bare(profile), 2), &at_speed(0.5), 60.0);
        let starts: Vec<usize> = (3000..x.len() - 4096)
            .filter(|&n| x[n].abs() > 1e-3 && x[n - 2000..n].iter().all(|y| y.abs() < 1e-3))
            .collect();
        starts.iter().map(|&n| peak_hz(&x[n..n + 4096])).collect()
    };
    let spread = |p: &[f64]| {
        let logs: Vec<f64> = p.iter().map(|f| f.log2()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        (logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt()
    };
    let foil = pitches(Profile::Foil(Foil { events_per_m: 5.0, q: [20.0, 40.0], voices: 1, ..Foil::default() }));
    let same =
        pitches(Profile::Loose(Loose { events_per_m: 5.0, burst_s: 5e-3, band_hz: [4000.0; 2], q: 30.0, voices: 1 }));
    assert!(foil.len() > 40 && same.len() > 40);
    // Log-uniform over 2–10 kHz: log2(5)/√12 = 0.67 octaves.
    assert!((spread(&foil) - 0.67).abs() < 0.15 && spread(&same) < 0.1, "{} {}", spread(&foil), spread(&same));
}

fn squeak(feedback: f32, slip_time_s: f32) -> Texture {
    let friction = Friction { feedback, slip_time_s, ..Friction::default() };
    let newton_per_newton = Curve::new(&[[0.0, 0.0], [1e4, 1e4]]).unwrap();
    let gain = Gain { slip: Curve::constant(1.0), force: newton_per_newton };
    Texture { gain, ..bare(Profile::Friction(friction)) }
}

/// Slips per second, from the falls of the force through zero after the first half second.
fn slips_per_s(x: &[f32]) -> f64 {
    let falls: Vec<usize> = (22_050..x.len()).filter(|&n| x[n - 1] > 0.0 && x[n] <= 0.0).collect();
    (falls.len() - 1) as f64 * RATE / (falls[falls.len() - 1] - falls[0]) as f64
}

/// Row 48: `v k/((μ_s − μ_d) N)` hertz within 1 %, and a force between `μ_d N` and `μ_s N`.
#[test]
fn stick_slip_has_its_pitch() {
    for (v, n, slip_time_s) in [(0.05f32, 5.0f32, 0.0f32), (0.1, 10.0, 0.0), (0.1, 4.0, 2e-4), (0.4, 5.0, 0.0)] {
        let state = ContactState { slip_m_s: v, force_n: n, ..ContactState::default() };
        let x = run(&mut contact(&squeak(1.0, slip_time_s), 1), &state, 2.0);
        let expected = f64::from(v) * 5e3 / (0.2 * f64::from(n));
        let found = slips_per_s(&x);
        assert!((found / expected - 1.0).abs() < 0.01, "{v} m/s, {n} N: {found} Hz, not {expected}");
        let swing = x[22_050..].iter().fold(0.0f32, |m, f| m.max(f.abs()));
        assert!(swing > 0.08 * n && swing < 0.13 * n, "half of (0.6 − 0.4) N: {swing}");
    }
}

/// With a resonator of 440 Hz near its own pitch, on either side, friction takes on that of the resonator.
#[test]
fn stick_slip_locks_to_a_resonator() {
    let mode = Mode { frequency_hz: 440.0, decay_per_s: 20.0, output_gain: 1.0 };
    for (own_hz, with) in [(418.0, true), (440.0, true), (462.0, true), (475.0, true), (418.0, false), (475.0, false)] {
        // A mode of 0.2 kg.
        let mut bank = StepBank::new(&[mode], &[5.0], RATE);
        let state = ContactState { slip_m_s: own_hz * 0.2 * 10.0 / 5e3, force_n: 10.0, ..ContactState::default() };
        let mut generator = contact(&squeak(if with { 1.0 } else { 0.0 }, 0.0), 1);
        let mut x = vec![0.0; 2000 * BLOCK];
        x.chunks_mut(BLOCK).for_each(|block| generator.fill_with(&state, block, |force_n| bank.step(force_n)));
        let (found, expected) = (slips_per_s(&x), if with { 440.0 } else { f64::from(own_hz) });
        assert!((found / expected - 1.0).abs() < 0.01, "alone {own_hz} Hz, locked {found} Hz");
    }
}

fn recorded(playback: Playback) -> Texture {
    let source = Source::File("1000".into());
    bare(Profile::Recorded(Recorded { loops: vec![Loop { source, events_per_s: 0.0 }], events_per_m: 0.0, playback }))
}

/// Pitch follows the speed only where the loop is resampled.
#[test]
fn only_resampled_recordings_change_their_pitch() {
    for (playback, expected) in [
        (Playback::OriginalRate, [1000.0; 3]),
        (Playback::Resampled(1.0), [500.0, 1000.0, 2000.0]),
        (Playback::Stretched(1.0), [1000.0; 3]),
    ] {
        for (v, expected) in [0.5, 1.0, 2.0].into_iter().zip(expected) {
            let found = peak_hz(&run(&mut contact(&recorded(playback), 4), &at_speed(v), 1.0)[4096..]);
            assert!((found / expected - 1.0).abs() < 0.03, "{playback:?} at {v} m/s: {found} Hz");
        }
    }
}

/// Ten clicks per second at the speed of the recording; in proportion to it at any other, and each as long as it was.
#[test]
fn stretched_recordings_have_events_in_proportion_to_speed() {
    let texture = recorded(Playback::Stretched(1.0));
    let mut clicks = vec![0.0; 46_305];
    for n in (0..46_305).step_by(4410) {
        clicks[n + 1000..n + 1030].fill(1.0);
    }
    let surface = SurfaceRuntime::new(&texture, &[Recording::new(&clicks, RATE)], &[], 0, RATE).unwrap();
    for v in [0.25f32, 1.0, 3.0] {
        let x = run(&mut Generator::new(surface.clone(), 4), &at_speed(v), 20.0);
        let (rate, high) = (rises(&x, 0.5) as f64 / 20.0, x.iter().filter(|y| **y > 0.5).count() as f64);
        assert!((rate / (10.0 * f64::from(v)) - 1.0).abs() < 0.1, "{rate} clicks per second at {v} m/s");
        assert!((high / (20.0 * rate) / 30.0 - 1.0).abs() < 0.05);
    }
}

/// Two loops of different event rates: each is heard at its own speed, both with equal power between.
#[test]
fn loops_are_mixed_by_event_rate() {
    let at = |hz: &str, events_per_s| Loop { source: Source::File(hz.into()), events_per_s };
    let loops = vec![at("500", 10.0), at("3000", 100.0)];
    let texture = bare(Profile::Recorded(Recorded { loops, events_per_m: 100.0, playback: Playback::OriginalRate }));
    let level = |v, hz: f64| {
        let (step, power) = spectrum(&run(&mut contact(&texture, 4), &at_speed(v), 1.0)[4096..]);
        power[(hz / step).round() as usize]
    };
    assert!(level(0.1, 500.0) > 1e4 * level(0.1, 3000.0));
    assert!(level(1.0, 3000.0) > 1e4 * level(1.0, 500.0));
    assert!((10.0 * (level(0.55, 500.0) / level(0.55, 3000.0)).log10()).abs() < 1.5);
}

/// Menzies 2011, §6.2.1: agitated leaves sound louder and slightly duller, water louder and brighter.
#[test]
fn leaves_grow_duller_and_louder_and_water_brighter() {
    let surface = |kind, slip: [[f32; 2]; 2]| Texture {
        low_pass: LowPass { order: 2, slip: Curve::new(&slip).unwrap(), ..LowPass::default() },
        gain: Gain { slip: Curve::new(&[[0.0, 0.1], [1.0, 1.0]]).unwrap(), force: Curve::constant(1.0) },
        ..bare(Profile::Recorded(Recorded {
            loops: vec![Loop { source: Source::Synthetic(kind), events_per_s: 120.0 }],
            ..Recorded::default()
        }))
    };
    let measure = |texture: &Texture, v| {
        let x = run(&mut contact(texture, 4), &at_speed(v), 4.0);
        (centre_hz(&x), rms(&x))
    };
    let leaves = surface(Synthetic::Leaves, [[0.0, 6000.0], [1.0, 4800.0]]);
    let water = surface(Synthetic::Water, [[0.0, 500.0], [1.0, 4000.0]]);
    let [(calm, quiet), (wild, loud)] = [0.1, 1.0].map(|v| measure(&leaves, v));
    assert!(wild < 0.99 * calm && wild > 0.75 * calm && loud > 2.0 * quiet, "{calm} {wild} {quiet} {loud}");
    let [(calm, quiet), (wild, loud)] = [0.1, 1.0].map(|v| measure(&water, v));
    assert!(wild > 1.1 * calm && loud > 2.0 * quiet, "{calm} {wild}");
}

/// The filter behind a profile: white loose particles, and what is left of them two octaves above the cut-off.
#[test]
fn the_low_pass_follows_speed_force_and_softness() {
    let mut texture =
        bare(Profile::Loose(Loose { events_per_m: 2e4, band_hz: [8000.0; 2], q: 0.2, ..Loose::default() }));
    texture.low_pass = LowPass {
        order: 4,
        slip: Curve::new(&[[0.0, 500.0], [1.0, 4000.0]]).unwrap(),
        force: Curve::new(&[[0.0, 0.5], [10.0, 1.0]]).unwrap(),
        ratio: Curve::new(&[[0.0, 1.0], [1e-3, 0.5]]).unwrap(),
    };
    let brightness = |state: ContactState| centre_hz(&run(&mut contact(&texture, 8), &state, 2.0));
    let bright = brightness(at_speed(1.0));
    for duller in [
        at_speed(0.3),
        ContactState { force_n: 1.0, ..at_speed(1.0) },
        ContactState { mass_over_stiffness_s: 1e-3, ..at_speed(1.0) },
    ] {
        assert!(brightness(duller) < 0.7 * bright, "{duller:?}");
    }
}

fn every_profile() -> Vec<Texture> {
    let water = Loop { source: Source::Synthetic(Synthetic::Water), events_per_s: 50.0 };
    let water = Recorded { loops: vec![water], ..Recorded::default() };
    [
        Profile::Smooth,
        Profile::Bumps(Bumps::default()),
        Profile::Bumps(Bumps { repeat: true, ..Bumps::default() }),
        Profile::Rough(Rough::default()),
        Profile::Rough(Rough { repeat: true, ..Rough::default() }),
        Profile::Loose(Loose::default()),
        Profile::Foil(Foil::default()),
        Profile::Friction(Friction::default()),
        Profile::Recorded(water.clone()),
        Profile::Recorded(Recorded { playback: Playback::Resampled(0.5), ..water.clone() }),
        Profile::Recorded(Recorded { playback: Playback::Stretched(0.5), ..water }),
    ]
    .into_iter()
    .flat_map(|profile| [0.0, 0.1].map(|decay_s| Texture { profile: profile.clone(), decay_s, ..Texture::default() }))
    .collect()
}

/// What rests is exactly silent once the surface has settled: at `e^{−t/τ}` of 1e-5, for 11.5 τ.
#[test]
fn what_rests_is_silent() {
    let rest = ContactState { force_n: 10.0, position_m: 0.123, ..ContactState::default() };
    for texture in every_profile() {
        let mut generator = contact(&texture, 6);
        assert!(generator.is_silent());
        assert!(run(&mut generator, &rest, 0.1).iter().all(|y| *y == 0.0));
        let moving = run(&mut generator, &at_speed(1.0), 0.5);
        assert_eq!(generator.is_silent(), texture.profile == Profile::Smooth);
        assert_eq!(rms(&moving) > 0.0, texture.profile != Profile::Smooth, "{:?}", texture.profile);
        let settling = run(&mut generator, &rest, 11.6 * f64::from(texture.decay_s) + 0.01);
        let loose = texture.decay_s > 0.0 && !matches!(texture.profile, Profile::Smooth | Profile::Friction(_));
        let repeatable = matches!(texture.profile, Profile::Bumps(b) if b.repeat);
        assert!(!loose || repeatable || settling[2000..].iter().any(|y| *y != 0.0), "{:?}", texture.profile);
        assert!(run(&mut generator, &rest, 0.05).iter().all(|y| *y == 0.0), "{:?}", texture.profile);
        assert!(generator.is_silent());
    }
}

#[test]
fn the_same_seed_gives_the_same_sound_and_another_does_not() {
    for texture in every_profile() {
        let sound = |seed| run(&mut contact(&texture, seed), &at_speed(0.7), 0.3);
        assert_eq!(sound(1), sound(1));
        let fixed = match &texture.profile {
            Profile::Smooth | Profile::Friction(_) => true,
            Profile::Bumps(b) => b.repeat,
            Profile::Rough(r) => r.repeat,
            _ => false,
        };
        assert_eq!(sound(1) == sound(2), fixed, "{:?}", texture.profile);
    }
}

/// A storm of contacts, made and driven on the audio side, with anything for a state.
#[test]
fn contacts_allocate_nothing_and_stay_finite() {
    let mut noise = Noise::new(8);
    // Everywhere as rough as the texture says, and anything up to a hundred times as rough, which is the most there is.
    for (texture, roughest) in every_profile().into_iter().flat_map(|t| [(t.clone(), 1.0), (t, 100.0)]) {
        let surface = contact(&texture, 0).surface().clone();
        let mut direct = Direct::new(&surface);
        let mut peak = 0.0f32;
        assert_no_alloc(|| {
            for seed in 0..20 {
                let mut generator = Generator::new(surface.clone(), seed);
                for block in 0..100 {
                    let wild = |noise: &mut Noise, scale: f64| match (noise.uniform() * 40.0) as u32 {
                        0 => f32::NAN,
                        1 => f32::INFINITY,
                        2 => 0.0,
                        _ => (scale * noise.bipolar()) as f32,
                    };
                    let state = ContactState {
                        slip_m_s: wild(&mut noise, 10.0),
                        travel_m_s: wild(&mut noise, 10.0),
                        force_n: wild(&mut noise, 1e4),
                        mass_over_stiffness_s: wild(&mut noise, 0.01),
                        position_m: f64::from(wild(&mut noise, 3.0)),
                        roughness: if roughest > 1.0 { wild(&mut noise, 3.0) } else { 1.0 },
                    };
                    let (mut out, mut heard) = ([0.0; BLOCK], [0.0; BLOCK]);
                    generator.fill_with(&state, &mut out[..BLOCK - block % 7], |f| -0.01 * f);
                    direct.add(&out, &mut heard);
                    peak = out
                        .iter()
                        .chain(&heard)
                        .fold(peak, |m, y| if y.is_finite() { m.max(y.abs()) } else { f32::INFINITY });
                }
            }
        });
        assert_eq!(violation_count(), 0, "{:?} allocates", texture.profile);
        // A profile is of the order of one: a hundred times the largest gain is out of the question.
        let max_n = roughest * texture.gain.slip.largest() * texture.gain.force.largest();
        assert!(peak < 100.0 * max_n, "{:?}: {peak} N", texture.profile);
    }
}

/// Two takes at a time, never the same one first again; dull for long contacts.
#[test]
fn recorded_blows_do_not_repeat_and_follow_the_hardness() {
    let mut noise = Noise::new(1);
    let takes: Vec<Recording> =
        (0..4).map(|_| Recording::new(&(0..2000).map(|_| noise.bipolar() as f32).collect::<Vec<_>>(), RATE)).collect();
    let takes: Arc<[Recording]> = takes.into();
    let surface = |stiffness_n_m| Texture { stiffness_n_m, stiffness_length_m: f32::INFINITY, ..Texture::default() };
    let sound = |stiffness| {
        let mut player = RecordedImpact::new(takes.clone(), 3, RATE);
        let surface = surface(stiffness);
        let blow = ImpactShape::new([&surface, &surface], [0.1, 0.1], 1.0);
        let (mut last, mut out) = ([usize::MAX; 2], vec![0.0; 20 * 8192]);
        for part in out.chunks_mut(8192) {
            assert_no_alloc(|| player.start(&blow));
            let chosen = player.chosen();
            assert!(chosen[0] != last[0] && chosen[0] != chosen[1], "{last:?} then {chosen:?}");
            last = chosen;
            part.chunks_mut(BLOCK).for_each(|block| assert_no_alloc(|| player.fill(block)));
            assert!(player.is_silent());
        }
        assert!(out.iter().all(|y| y.is_finite()));
        centre_hz(&out)
    };
    let (hard, soft) = (sound(1e8), sound(1e5));
    assert!(soft < 0.3 * hard, "{soft} {hard}");
    assert_eq!(violation_count(), 0);
}

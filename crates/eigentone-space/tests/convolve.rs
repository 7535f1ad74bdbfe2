//! The running convolution against its definition.

use assert_no_alloc::{AllocDisabler, assert_no_alloc, violation_count};
use eigentone_core::Noise;
use eigentone_space::BLOCK;
use eigentone_space::air::Air;
use eigentone_space::canonical::Canonical;
use eigentone_space::convolve::{INPUTS, Reverb};

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

type Inputs = [[f32; BLOCK]; INPUTS];

/// What is heard of the first `blocks` blocks, while `input` gives them. Nothing may allocate.
fn render(reverb: &mut Reverb, blocks: usize, mut input: impl FnMut(usize, usize) -> f32) -> [Vec<f32>; 2] {
    let mut heard = [(); 2].map(|()| Vec::with_capacity(blocks * BLOCK));
    for block in 0..blocks {
        let inputs: Inputs = std::array::from_fn(|i| std::array::from_fn(|n| input(i, block * BLOCK + n)));
        let mut out = [[0.0; BLOCK]; 2];
        assert_no_alloc(|| reverb.process(&inputs, &mut out));
        heard.iter_mut().zip(out).for_each(|(heard, out)| heard.extend(out));
    }
    assert_eq!(violation_count(), 0, "the audio side allocated or freed");
    heard
}

fn filters_of(filters: &Canonical, input: usize) -> &[Vec<f32>; 2] {
    if input < 3 { &filters.early[input] } else { &filters.late[input - 3] }
}

fn start(input: usize, rate_hz: f64) -> usize {
    (if input < 3 { 0.005 } else { 0.205 } * rate_hz).round() as usize
}

/// Noise in all inputs against direct convolution in double precision, at moments all over the first five seconds. The error stays 100 dB below the sound.
#[test]
fn noise_is_convolved_as_by_definition() {
    for rate_hz in [8_000.0, 22_050.0, 44_100.0, 48_000.0, 96_000.0, 192_000.0] {
        let filters = Canonical::new(rate_hz, &Air::default());
        let mut reverb = Reverb::new(rate_hz, &filters);
        let blocks = (3.6 * rate_hz) as usize / BLOCK;
        let mut noise = Noise::new(45);
        let mut sent: [Vec<f32>; INPUTS] = std::array::from_fn(|_| Vec::new());
        let heard = render(&mut reverb, blocks, |input, _| {
            let x = noise.bipolar() as f32;
            sent[input].push(x);
            x
        });
        let (mut error, mut sound) = (0.0f64, 0.0f64);
        for at in (0..blocks * BLOCK).step_by(blocks * BLOCK / 300) {
            for (channel, heard) in heard.iter().enumerate() {
                let mut expected = 0.0;
                for (input, sent) in sent.iter().enumerate() {
                    let filter = &filters_of(&filters, input)[channel];
                    let begin = start(input, rate_hz);
                    let taps = filter.len().min((at + 1).saturating_sub(begin));
                    expected += (0..taps).map(|k| f64::from(filter[k]) * f64::from(sent[at - begin - k])).sum::<f64>();
                }
                error += (f64::from(heard[at]) - expected).powi(2);
                sound += expected.powi(2);
            }
        }
        let error_db = 10.0 * (error / sound).log10();
        println!("{rate_hz} Hz: {error_db:.1} dB");
        assert!(error_db < -100.0, "{rate_hz} Hz: {error_db} dB");
    }
}

/// A click in one input gives that input's filters, from 5 or 205 ms on to the sample, wherever in the blocks it comes.
#[test]
fn clicks_give_the_filters_on_time() {
    for (rate_hz, onsets) in [(44_100.0, [221, 9041]), (16_000.0, [80, 3280])] {
        let filters = Canonical::new(rate_hz, &Air::default());
        for input in 0..INPUTS {
            let onset = onsets[input / 3];
            let mut reverb = Reverb::new(rate_hz, &filters);
            let click = 5000 * input + 77 * (input + 1);
            let length = filters_of(&filters, input)[0].len();
            let blocks = (click + onset + length) / BLOCK + 300;
            let heard = render(&mut reverb, blocks, |i, n| f32::from(u8::from(i == input && n == click)));
            for (heard, filter) in heard.iter().zip(filters_of(&filters, input)) {
                let begin = click + onset;
                let loudest = filter.iter().fold(0.0f32, |m, x| m.max(x.abs()));
                let same = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5 * loudest;
                assert!(heard[..begin].iter().all(|x| x.abs() < 1e-6 * loudest), "{rate_hz} {input}: too early");
                assert!(heard[begin..].iter().zip(filter).all(same), "{rate_hz} {input}");
                assert!(
                    heard[begin + length..].iter().all(|x| x.abs() < 1e-6 * loudest),
                    "{rate_hz} {input}: too late"
                );
            }
        }
    }
}

#[test]
fn sounds_add_up() {
    let rate_hz = 16_000.0;
    let filters = Canonical::new(rate_hz, &Air::default());
    let signal = |seed: u64| move |i: usize, n: usize| Noise::new(seed ^ (i << 40 | n << 4) as u64).bipolar() as f32;
    let (a, b) = (signal(1), signal(2));
    let run = |input: &dyn Fn(usize, usize) -> f32| render(&mut Reverb::new(rate_hz, &filters), 1000, input);
    let (of_a, of_b) = (run(&a), run(&b));
    let of_both = run(&|i, n| 0.5 * a(i, n) - 2.0 * b(i, n));
    let (mut error, mut sound) = (0.0, 0.0);
    for channel in 0..2 {
        for n in 0..1000 * BLOCK {
            let expected = 0.5 * of_a[channel][n] - 2.0 * of_b[channel][n];
            error += (of_both[channel][n] - expected).powi(2);
            sound += expected.powi(2);
        }
    }
    assert!(10.0 * (error / sound).log10() < -100.0);
}

/// Silence gives exact silence, before any sound and once the last has died away; then a sound is heard as if it were the first.
#[test]
fn silence_follows_silence() {
    let rate_hz = 16_000.0;
    let filters = Canonical::new(rate_hz, &Air::default());
    let mut reverb = Reverb::new(rate_hz, &filters);
    assert!(reverb.is_idle());
    let burst = |i: usize, n: usize| if n < 100 { Noise::new((i * 1000 + n) as u64).bipolar() as f32 } else { 0.0 };
    assert!(render(&mut reverb, 500, |_, _| 0.0).iter().flatten().all(|&x| x == 0.0));
    assert!(reverb.is_idle());
    let first = render(&mut reverb, 2000, burst);
    assert!(reverb.is_idle() && first[0].iter().any(|x| x.abs() > 0.1));
    assert!(reverb.tail() < 2000 * BLOCK);
    let rest = reverb.tail() / BLOCK + 1;
    render(&mut reverb, rest, |_, _| 0.0);
    assert!(reverb.is_idle());
    assert!(render(&mut reverb, 500, |_, _| 0.0).iter().flatten().all(|&x| x == 0.0));
    render(&mut reverb, 1, burst);
    assert!(!reverb.is_idle());
}

/// Ten blocks of every odd number, then what is left of them.
#[test]
fn any_input_gives_finite_output() {
    let filters = Canonical::new(44_100.0, &Air::default());
    let odd = [f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, f32::INFINITY, f32::NAN, -0.0, 1e15, 1.0];
    for x in odd {
        for y in odd {
            let mut reverb = Reverb::new(44_100.0, &filters);
            let heard = render(&mut reverb, 200, |i, n| match n {
                ..640 if (n + i) % 2 == 0 => x,
                ..640 => y,
                _ => 0.0,
            });
            assert!(heard.iter().flatten().all(|x| x.is_finite()), "{x} {y}");
        }
    }
    let mut reverb = Reverb::new(44_100.0, &filters);
    assert!(render(&mut reverb, 5000, |_, _| f32::MAX).iter().flatten().all(|x| x.is_finite()));
}

/// Output is added to what is there.
#[test]
fn output_is_added() {
    let filters = Canonical::new(8_000.0, &Air::default());
    let mut reverb = Reverb::new(8_000.0, &filters);
    let mut out = [[0.25; BLOCK]; 2];
    reverb.process(&[[0.0; BLOCK]; INPUTS], &mut out);
    assert_eq!(out, [[0.25; BLOCK]; 2]);
}

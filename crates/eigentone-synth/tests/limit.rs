//! A limit on modes that the audio side sets between two blocks.

mod common;

use common::{impulse, mix, point, random_body, rms};
use eigentone_core::event::BodyId;
use eigentone_synth::{BodySettings, Budget, Handle, Processor, Quality, Settings, engine};

const BODIES: usize = 60;
const MODES: usize = 100;

/// Sixty bodies that ring, each 1 dB quieter than the one before.
fn ringing(quality: Quality) -> (Handle, Processor, Vec<BodyId>) {
    let (mut handle, mut processor) = engine(Settings { quality, ..Settings::default() }).unwrap();
    let model = random_body(MODES, 6.0, 2);
    let bodies: Vec<BodyId> = (0..BODIES).map(|_| handle.add(&BodySettings::new(model.clone())).unwrap()).collect();
    for (k, &body) in bodies.iter().enumerate() {
        handle.send(impulse(body, 0, 0.1 * 10f32.powf(-(k as f32) / 20.0))).unwrap();
    }
    mix(&mut processor, 20);
    (handle, processor, bodies)
}

fn largest_jump(x: &[f32]) -> f32 {
    x.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f32::max)
}

#[test]
fn modes_beyond_a_lowered_limit_leave_within_two_blocks_the_quietest_first() {
    let (_handle, mut processor, bodies) = ringing(Quality::FULL);
    let (_other, mut free, _) = ringing(Quality::FULL);
    assert_eq!(processor.stats().mixed as usize, BODIES * MODES);
    let before = mix(&mut processor, 20);
    mix(&mut free, 20);
    processor.limit_modes(Some(1000));
    let after = mix(&mut processor, 2);
    assert!((900..=1000).contains(&processor.stats().mixed), "{}", processor.stats().mixed);
    assert!(largest_jump(&after) < 1.2 * largest_jump(&before), "no clicks");
    let s = processor.stats();
    assert_eq!(s.modes + s.leaving, s.mixed + s.truncated + s.masked + s.scaled, "{s:?}");
    mix(&mut free, 2);
    let energy = |processor: &mut Processor, body: BodyId| {
        processor.next_block();
        processor.buses().filter(|(id, _)| *id == body).map(|(_, bus)| rms(bus).powi(2)).sum::<f64>()
    };
    // Of the loudest body nearly all is left, of one that is 25 dB quieter little, of the quietest nothing.
    let share =
        |body: BodyId, processor: &mut Processor, free: &mut Processor| energy(processor, body) / energy(free, body);
    let shares = [0, 25, BODIES - 1].map(|k| share(bodies[k], &mut processor, &mut free));
    assert!(shares[0] > 0.98 && shares[1] < shares[0] && shares[2] == 0.0, "{shares:?}");
}

/// It holds for blows too, combines with the quality's own budget by the smaller of the two, and once lifted everything comes back in phase.
#[test]
fn a_limit_holds_until_it_is_lifted() {
    let quality = Quality { budget: Some(Budget::of(3000)), ..Quality::FULL };
    let (mut handle, mut processor, bodies) = ringing(quality);
    processor.limit_modes(Some(500));
    mix(&mut processor, 3);
    for k in 0..300 {
        handle.send(impulse(bodies[k % BODIES], 0, 0.05)).unwrap();
        mix(&mut processor, 1);
        assert!(processor.stats().mixed <= 500, "{}", processor.stats().mixed);
    }
    processor.limit_modes(Some(1_000_000));
    mix(&mut processor, 40);
    let mixed = processor.stats().mixed;
    assert!(mixed > 2000 && mixed <= 3000, "{mixed}");
    processor.limit_modes(Some(0));
    mix(&mut processor, 3);
    assert_eq!(processor.stats().mixed, 0);

    // One mode, put out and let in again, sounds as one that never was.
    let render = |limited: bool| {
        let (mut handle, mut processor) = engine(Settings { quality: Quality::FULL, ..Settings::default() }).unwrap();
        let body = handle.add(&BodySettings::new(point(&[(440.0, 0.5, 1.0)]))).unwrap();
        handle.send(impulse(body, 0, 1.0)).unwrap();
        mix(&mut processor, 10);
        processor.limit_modes(limited.then_some(0));
        mix(&mut processor, 100);
        assert_eq!(processor.stats().mixed == 0, limited);
        processor.limit_modes(None);
        mix(&mut processor, 40);
        mix(&mut processor, 50)
    };
    let (a, b) = (render(true), render(false));
    let wrong: Vec<f32> = a.iter().zip(&b).map(|(x, y)| x - y).collect();
    assert!(rms(&wrong) < 1e-3 * rms(&b), "{} {}", rms(&wrong), rms(&b));
}

//! The decoder on a thread of its own, with the audio side beside it.

mod common;

use common::two_rooms;
use eigentone_core::Vec3;
use eigentone_core::acoustics::Parameters;
use eigentone_core::event::BodyId;
use eigentone_space::BLOCK;
use eigentone_space::room::{Place, SpaceSettings, space};
use eigentone_space::thread::Guide;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sources come, move, give their slot to others and go, while blocks are rendered; all of them are heard where they are, and at the end nothing is.
#[test]
fn what_the_program_says_is_heard() {
    let field = two_rooms(1.0, |_, _| Parameters {
        direct_db: -6.0,
        early_db: -20.0,
        early_decay_s: 0.6,
        late_decay_s: 0.8,
        tilt_db: 0.0,
    });
    let settings = SpaceSettings { most_sources: 2, field: Some(Arc::new(field)), ..SpaceSettings::default() };
    let (space, mut renderer) = space(&settings);
    let guide = Guide::start(space, 0.002).unwrap();
    guide.listen(Vec3::new(2.0, 4.0, 1.5), Vec3::X);
    let mut heard_of = Vec::new();
    for generation in 0..3 {
        let body = BodyId { slot: 1, generation };
        guide.place(body, Place::at(Vec3::new(4.0, 4.0, 1.5)));
        guide.place(BodyId { slot: 99, generation }, Place::at(Vec3::ZERO));
        let begin = Instant::now();
        let mut loud = 0.0f32;
        while loud < 0.2 && begin.elapsed() < Duration::from_secs(20) {
            let mut out = [[0.0; BLOCK]; 2];
            renderer.begin(|id, factor| heard_of.push((id, factor)));
            renderer.add(body, &[1.0; BLOCK]);
            renderer.finish(&mut out);
            loud = loud.max(out[0][BLOCK - 1]);
            std::thread::sleep(Duration::from_micros(300));
        }
        // Half for the distance, half for what the field says.
        assert!((loud - 0.25).abs() < 0.1, "{loud}");
        guide.remove(body);
    }
    let begin = Instant::now();
    while !renderer.is_idle() && begin.elapsed() < Duration::from_secs(20) {
        renderer.begin(|_, _| {});
        renderer.finish(&mut [[0.0; BLOCK]; 2]);
    }
    assert!(renderer.is_idle());
    for generation in 0..3 {
        assert!(heard_of.iter().any(|(id, f)| id.generation == generation && (f - 0.27).abs() < 0.1), "{heard_of:?}");
    }
    assert!(guide.rounds().0 > 2 && guide.clamped_and_unknown().1 == 0);
}

//! Bridges between bodies come and go while they sound.

mod common;

use common::{peak, random_model};
use eigentone_core::ModalModel;
use eigentone_synth::Quality;
use eigentone_world::{
    AudioOut, Body, BodyKey, Bridge, BridgeKey, Mallet, Settings, Shape, Strike, Target, Vec3, World, WorldError,
};
use std::sync::Arc;

/// A body with one mode.
fn tone(frequency_hz: f64, decay_per_s: f64) -> Arc<ModalModel> {
    let mut model = (*random_model(1, 3)).clone();
    (model.modes[0].frequency_hz, model.modes[0].decay_per_s) = (frequency_hz, decay_per_s);
    Arc::new(model)
}

struct Pair {
    world: World,
    out: AudioOut,
    from: BodyKey,
    to: BodyKey,
}

impl Pair {
    fn new() -> Self {
        let (mut world, out) = World::new(Settings { quality: Quality::FULL, ..Settings::offline() }).unwrap();
        let shape = || Shape::cuboid(Vec3::splat(0.1));
        let from = world.insert(Body::fixed(shape()).model(tone(500.0, 1.0))).unwrap();
        let to = world.insert(Body::fixed(shape()).model(tone(700.0, 30.0)).position(Vec3::X)).unwrap();
        Self { world, out, from, to }
    }

    fn strike(&mut self) {
        let strike = Strike::on(Target::Top).impulse(1.0).mallet(Mallet::METAL);
        self.world.strike(self.from, strike).unwrap();
    }

    /// The dry sound of the second body for so many blocks, a step of the world in each.
    fn hear(&mut self, blocks: usize) -> Vec<f32> {
        let mut dry = Vec::new();
        for _ in 0..blocks {
            self.world.advance(64.0 / 44_100.0);
            self.out.process_block();
            let mut sources = self.out.sources();
            let of_second = sources.find(|source| self.world.key_of_source(source.source) == Some(self.to));
            dry.extend_from_slice(of_second.map_or(&[0.0; 64], |source| source.dry));
        }
        dry
    }
}

/// The largest fourth difference: of a step of one six, of a tone of 500 Hz 2.6e-5 times its level.
fn roughest(sound: &[f32]) -> f32 {
    sound.windows(5).map(|y| (y[0] - 4.0 * y[1] + 6.0 * y[2] - 4.0 * y[3] + y[4]).abs()).fold(0.0, f32::max)
}

/// A bridge that carries a tone, heard by itself as well, is removed: what it did is gone after 20 ms and the ringing of the second body, and no fourth difference is larger than those of the tone itself, where a cut would make
/// one that is hundreds of times larger.
#[test]
fn a_bridge_that_is_removed_fades_without_a_click() {
    let mut pair = Pair::new();
    let bridge = Bridge { coupling: 0.5, direct: 1.0, low_pass_hz: 20_000.0, ..Bridge::default() };
    let key = pair.world.bridge(pair.from, pair.to, &bridge).unwrap();
    pair.strike();
    let before = pair.hear(200);
    let steady = &before[100 * 64..];
    assert!(peak(steady) > 1e-5, "it is carried: {}", peak(steady));
    pair.world.remove_bridge(key).unwrap();
    let after = pair.hear(400);
    let all: Vec<f32> = steady.iter().chain(&after).copied().collect();
    let (still, removed) = (roughest(steady), roughest(&all));
    let cut: Vec<f32> = steady.iter().copied().chain([0.0; 64]).collect();
    println!("fourth differences: tone {still:.2e}, removed {removed:.2e}, cut {:.2e}", roughest(&cut));
    assert!(removed <= 1.2 * still, "{removed} {still}");
    // The second body rings out by e^(−30 t): 60 dB in 0.23 s.
    assert!(peak(&after[300 * 64..]) < 2e-3 * peak(steady), "{}", peak(&after[300 * 64..]));
    assert_eq!(pair.world.remove_bridge(key), Err(WorldError::BridgeGone(key)));
    assert_eq!(pair.world.bridge_coupling(key), None);
}

/// Undo brings a bridge back under its key with all of its coupling, redo takes it away; a body that comes back brings its bridges.
#[test]
fn bridges_are_undone_with_everything_else() {
    let mut pair = Pair::new();
    let without = pair.world.document();
    let bridge = Bridge { coupling: 0.6, ..Bridge::default() };
    let key = pair.world.bridge(pair.from, pair.to, &bridge).unwrap();
    assert_eq!(pair.world.bridge_coupling(key), Some(0.6));
    let with = pair.world.document();
    let keys = |pair: &Pair| pair.world.bridges().map(|(key, ..)| key).collect::<Vec<BridgeKey>>();
    for _ in 0..3 {
        pair.world.restore_document(&without).unwrap();
        assert_eq!(keys(&pair), []);
        pair.world.restore_document(&with).unwrap();
        assert_eq!(keys(&pair), [key]);
        // It waits until what it was before has faded; it would else get only what is left of 0.7.
        assert_eq!(pair.world.bridge_coupling(key), None);
        pair.hear(20);
        assert_eq!(pair.world.bridge_coupling(key), Some(0.6));
    }
    pair.world.remove(pair.to).unwrap();
    assert_eq!((keys(&pair), pair.world.bridge_coupling(key)), (vec![], None));
    pair.hear(40);
    pair.world.restore_document(&with).unwrap();
    pair.hear(20);
    assert_eq!((keys(&pair), pair.world.bridge_coupling(key)), (vec![key], Some(0.6)));
    pair.strike();
    assert!(peak(&pair.hear(100)) > 1e-5, "it is carried again");
    // Another never has its key.
    pair.world.remove_bridge(key).unwrap();
    let other = pair.world.bridge(pair.from, pair.to, &bridge).unwrap();
    assert_ne!(other, key);
    assert_eq!(BridgeKey::from_bits(other.to_bits()), other);
}

/// Thousands of bridges, one after the other: the audio side hands all of them back, and there is always room for the next.
#[test]
fn bridges_come_and_go() {
    let mut pair = Pair::new();
    let mut granted = 0;
    for _ in 0..3000 {
        let key = pair.world.bridge(pair.from, pair.to, &Bridge::default()).unwrap();
        pair.hear(1);
        granted += usize::from(pair.world.bridge_coupling(key).is_some());
        pair.world.remove_bridge(key).unwrap();
    }
    pair.hear(40);
    let stats = pair.world.stats();
    assert!(granted > 100 && stats.leaked == 0 && stats.orphaned == 0, "{granted} {stats:?}");
    assert_eq!(pair.world.bridges().count(), 0);
}

//! What the engine costs beyond its kernels.
//!
//! `cargo bench -p eigentone-synth --bench engine [-- --quick]`: 100 bodies of 200 modes ring, nothing is left out. The same modes in the same
//! layout are then run through the bare kernels. The figure is the share of the engine's time that is not theirs.

#[path = "../tests/common/mod.rs"]
mod common;

use common::random_body;
use eigentone_core::event::{Action, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_synth::kernel::{Bank, Kernels, Partial};
use eigentone_synth::{BLOCK, BodySettings, Quality, Settings, engine};
use std::hint::black_box;
use std::time::Instant;

const BODIES: usize = 100;
const MODES: usize = 200;

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let rounds = if quick { 5 } else { 20 };
    let frames = 10;
    let (mut handle, mut processor) =
        engine(Settings { quality: Quality::FULL, ..Settings::default() }).expect("an engine");
    let model = random_body(MODES, 8.0, 1);
    for _ in 0..BODIES {
        let body = handle.add(&BodySettings::new(model.clone())).expect("room");
        let action = Action::Impulse { site: SiteBlend::single(0), impulse_ns: [1.0; 3] };
        handle.send(Event { time: Moment::NOW, body, action }).expect("room");
    }
    processor.next_block();
    assert_eq!(processor.stats().mixed as usize, BODIES * MODES);

    // The kernels alone, on lanes as the engine lays them out.
    let kernels = Kernels::best();
    let plain = |hz: f64| (std::f64::consts::TAU * hz / 44_100.0).sin() >= 0.4;
    let two_pole = model.modes.iter().filter(|m| plain(m.frequency_hz)).count().next_multiple_of(8);
    let rotation = model.modes.iter().filter(|m| !plain(m.frequency_hz)).count().next_multiple_of(8);
    let lanes = rotation + two_pole;
    let mut banks: Vec<[Vec<f32>; 4]> =
        (0..BODIES).map(|_| [vec![0.1; lanes], vec![0.1; lanes], vec![0.7; lanes], vec![0.7; lanes]]).collect();
    for bank in &mut banks {
        bank[2][rotation..].fill(1.4);
        bank[3][rotation..].fill(-0.9999);
    }
    let (mut engine_s, mut kernel_s) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        let start = Instant::now();
        for _ in 0..16 * frames {
            processor.next_block();
            black_box(processor.buses().count());
        }
        engine_s = engine_s.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        for _ in 0..16 * frames {
            for [s0, s1, c0, c1] in &mut banks {
                let mut out = [Partial::default(); BLOCK];
                let (r0, t0) = s0.split_at_mut(rotation);
                let (r1, t1) = s1.split_at_mut(rotation);
                (kernels.rotation_free)(Bank { s0: r0, s1: r1, c0: &c0[..rotation], c1: &c1[..rotation] }, &mut out);
                (kernels.two_pole_free)(Bank { s0: t0, s1: t1, c0: &c0[rotation..], c1: &c1[rotation..] }, &mut out);
                black_box(&out);
            }
        }
        kernel_s = kernel_s.min(start.elapsed().as_secs_f64());
    }
    let audio_s = (16 * frames * BLOCK) as f64 / 44_100.0;
    println!("{rotation} rotating and {two_pole} two-pole lanes per body");
    println!(
        "engine {:.2} % of real time, kernels alone {:.2} %",
        100.0 * engine_s / audio_s,
        100.0 * kernel_s / audio_s
    );
    println!("figure engine.overhead_share = {:.3} share", 1.0 - kernel_s / engine_s);
}

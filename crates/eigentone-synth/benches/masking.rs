//! Pruning by masking: what it keeps, what it saves and what it loses.
//!
//! `cargo bench -p eigentone-synth --bench masking [-- --quick]`. Nine bodies with the mode counts of the hail paper (its Table 1) under random
//! impacts. Table 1: modes of each body that survive its own masking. Table 2: share of modes kept and cost relative to full synthesis at offsets of
//! 0, 2.5, 5 and 20 dB, everything included; and the loss of level per frame and Bark band against the full render, by an FFT of
//! both: signed, and its size, which also counts that beats between kept and lost modes are missing.

#[path = "../tests/common/mod.rs"]
mod common;

use common::random_body;
use eigentone_core::event::{Action, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_core::{ModalModel, Noise};
use eigentone_synth::policy::{hearing, masking};
use eigentone_synth::{BLOCK, BodySettings, Masking, Playback, Quality, Settings, engine};
use std::sync::Arc;
use std::time::Instant;

/// Modes of the nine bodies of the paper's Table 1.
const MODES: [usize; 9] = [1361, 464, 349, 186, 148, 140, 127, 79, 50];

struct Run {
    sound: Vec<f32>,
    seconds: f64,
    mixed: f64,
    /// Of which for the policy: what blocks with visits take longer than those without. The nine bodies are visited in the first nine of the sixteen
    /// blocks of a frame.
    policy: f64,
}

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    for sigma_db in if quick { vec![12.0] } else { vec![12.0, 8.0, 6.0] } {
        let models: Vec<Arc<ModalModel>> =
            MODES.iter().enumerate().map(|(i, &n)| random_body(n, sigma_db, 100 + i as u64)).collect();
        println!("levels scattered by {sigma_db} dB");
        self_masking(&models);
        let seconds = if quick { 4.0 } else { 10.0 };
        let total: usize = MODES.iter().sum();
        let full = run(&models, Quality::FULL, seconds);
        let can = &models[..1];
        let at_five = Quality {
            truncation_pa: 0.0,
            masking: Some(Masking { offset_db: 5.0, playback: Playback::TotalAt(70.0), compensate: false }),
            budget: None,
        };
        let (can_full, can_pruned) = (run(can, Quality::FULL, seconds), run(can, at_five, seconds));
        println!(
            "  the body of {} modes alone, 5 dB: {:.1} % kept, {:.2} times cheaper",
            MODES[0],
            100.0 * can_pruned.mixed / MODES[0] as f64,
            can_full.seconds / can_pruned.seconds
        );
        println!("  full synthesis takes {:.2} ms per second", 1e3 * full.seconds / seconds);
        println!("  offset  kept     cost   loss of level, median / 95th percentile (its size)   with compensation");
        let mut last = f64::INFINITY;
        for offset_db in [0.0, 2.5, 5.0, 20.0] {
            let masking = Masking { offset_db, playback: Playback::TotalAt(70.0), compensate: false };
            let quality = Quality { truncation_pa: 0.0, masking: Some(masking), budget: None };
            let pruned = run(&models, quality, seconds);
            let compensated =
                run(&models, Quality { masking: Some(Masking { compensate: true, ..masking }), ..quality }, seconds);
            let (kept, cost) = (pruned.mixed / total as f64, pruned.seconds / full.seconds);
            let plain = loss(&full.sound, &pruned.sound);
            let made_up = loss(&full.sound, &compensated.sound);
            print!("  {offset_db:4.1} dB  {:5.1} %  {cost:.3}", 100.0 * kept);
            for l in [&plain, &made_up] {
                print!("    {:5.2} / {:.2} ({:.2} / {:.2}) dB", l.signed[0], l.signed[1], l.size[0], l.size[1]);
            }
            println!();
            assert!(plain.size[0] <= last + 0.05, "less pruning, less change");
            last = plain.size[0];
            if offset_db == 5.0 && sigma_db == 12.0 {
                let frames = seconds * 44_100.0 / 1024.0;
                let pruner_ns = 1e9 * pruned.policy / (frames * total as f64);
                let pruner_share = pruned.policy / full.seconds;
                println!("figure masking.kept_share = {kept:.3} share");
                println!("figure masking.cost_ratio = {:.2} ratio", 1.0 / cost);
                println!("figure masking.pruner_share = {pruner_share:.3} share");
                println!("figure masking.pruner_ns = {pruner_ns:.1} ns per mode and frame");
                println!("figure masking.loss_median = {:.2} dB", plain.signed[0]);
                println!("figure masking.loss_p95 = {:.2} dB", plain.signed[1]);
                println!("figure masking.compensated_median = {:.2} dB", made_up.signed[0]);
            }
        }
    }
}

/// The paper's Table 1: each body struck by itself.
fn self_masking(models: &[Arc<ModalModel>]) {
    print!("  kept of each body by itself:");
    for model in models {
        let energies: Vec<f64> = model.overall_gains().iter().map(|g| 0.5 * g * g).collect();
        let total: f64 = energies.iter().sum();
        let tones: Vec<masking::Tone> = model
            .modes
            .iter()
            .zip(&energies)
            .map(|(m, e)| masking::Tone {
                bark: hearing::bark(m.frequency_hz) as f32,
                level_db: (10.0 * (e / total).log10() + 70.0) as f32,
                threshold_db: hearing::threshold_db(m.frequency_hz) as f32,
            })
            .collect();
        print!(" {}/{}", masking::sweep(&tones, 5.0).iter().filter(|h| **h).count(), tones.len());
    }
    println!();
}

/// Random impacts, four per second and body, on all bodies.
fn run(models: &[Arc<ModalModel>], quality: Quality, seconds: f64) -> Run {
    let mut best: Option<Run> = None;
    for _ in 0..3 {
        let (mut handle, mut processor) = engine(Settings { quality, ..Settings::default() }).expect("an engine");
        let bodies: Vec<_> = models.iter().map(|m| handle.add(&BodySettings::new(m.clone())).expect("room")).collect();
        let mut noise = Noise::new(2004);
        for _ in 0..(4.0 * seconds) as usize * bodies.len() {
            let body = bodies[(noise.uniform() * bodies.len() as f64) as usize];
            let size = (0.01 * 30f64.powf(noise.uniform())) as f32;
            let site = SiteBlend::single((noise.uniform() * 40.0) as u32);
            let action = Action::Impulse {
                site,
                impulse_ns: [size * noise.bipolar() as f32, size * noise.bipolar() as f32, size],
            };
            let time = Moment::at(noise.uniform() * seconds, 44_100.0);
            handle.send(Event { time, body, action }).expect("room");
        }
        let mut sound = Vec::new();
        let mut by_place = [0.0; 16];
        let start = Instant::now();
        for block in 0..(seconds * 44_100.0) as usize / BLOCK {
            let begin = Instant::now();
            processor.next_block();
            by_place[block % 16] += begin.elapsed().as_secs_f64();
            let mut block = [0.0; BLOCK];
            for (_, bus) in processor.buses() {
                block.iter_mut().zip(bus).for_each(|(o, b)| *o += b);
            }
            sound.extend(block);
        }
        let seconds = start.elapsed().as_secs_f64();
        let mixed = processor.stats().mixed_sum as f64 / processor.stats().blocks as f64;
        if best.as_ref().is_none_or(|b| seconds < b.seconds) {
            let plain = by_place[9..].iter().sum::<f64>() / 7.0;
            let policy = by_place[..9].iter().map(|t| t - plain).sum();
            best = Some(Run { sound, seconds, mixed, policy });
        }
    }
    best.expect("three runs")
}

/// Median and 95th percentile of a loss of level.
struct Loss {
    signed: [f64; 2],
    size: [f64; 2],
}

/// Bands this far below the loudest of a frame are not looked at: most of them are hidden by it.
const RANGE_DB: f64 = 25.0;

/// The loss over frames of 2048 samples and the Bark bands that count.
fn loss(full: &[f32], pruned: &[f32]) -> Loss {
    let mut planner = realfft::RealFftPlanner::<f64>::new();
    let fft = planner.plan_fft_forward(2048);
    let bands = |x: &[f32]| {
        let mut input: Vec<f64> = x
            .iter()
            .enumerate()
            .map(|(n, y)| f64::from(*y) * (0.5 - 0.5 * (std::f64::consts::TAU * n as f64 / 2048.0).cos()))
            .collect();
        let mut spectrum = fft.make_output_vec();
        fft.process(&mut input, &mut spectrum).expect("lengths fit");
        let mut energy = [0.0f64; 25];
        for (k, z) in spectrum.iter().enumerate().skip(1) {
            let b = hearing::bark(k as f64 * 44_100.0 / 2048.0).max(0.0) as usize;
            energy[b.min(24)] += z.norm_sqr();
        }
        energy
    };
    let mut changes = Vec::new();
    for (a, b) in full.chunks_exact(2048).zip(pruned.chunks_exact(2048)) {
        let (a, b) = (bands(a), bands(b));
        let loudest = a.iter().fold(0.0f64, |m, e| m.max(*e));
        for (x, y) in a.iter().zip(&b).filter(|(x, _)| **x > 10f64.powf(-RANGE_DB / 10.0) * loudest && loudest > 0.0) {
            changes.push(10.0 * (x / y.max(1e-30)).log10());
        }
    }
    let quantiles = |x: &mut Vec<f64>| {
        x.sort_by(f64::total_cmp);
        [x[x.len() / 2], x[x.len() * 95 / 100]]
    };
    let mut sizes = changes.iter().map(|c| c.abs()).collect();
    Loss { signed: quantiles(&mut changes), size: quantiles(&mut sizes) }
}

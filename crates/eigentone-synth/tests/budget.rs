//! A thousand bodies under a hail of impacts, with fewer modes than they have.

mod common;

use common::random_body;
use eigentone_core::Noise;
use eigentone_core::event::{Action, BodyId, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_synth::{BLOCK, BodySettings, Budget, Quality, Settings, engine};

const BODIES: usize = 1000;
const MODES: usize = 200;
const LOUD: usize = 5;

struct Render {
    mix: Vec<f32>,
    loud: Vec<Vec<f32>>,
}

/// 10,000 impacts per second; five bodies are struck forty times as hard as the rest.
fn render(quality: Quality, blocks: usize, mut check: impl FnMut(&eigentone_synth::Stats)) -> Render {
    let (mut handle, mut processor) = engine(Settings { quality, ..Settings::default() }).unwrap();
    let models: Vec<_> = (0..10).map(|i| random_body(MODES, 10.0, i)).collect();
    let bodies: Vec<BodyId> =
        (0..BODIES).map(|i| handle.add(&BodySettings::new(models[i % 10].clone())).unwrap()).collect();
    let mut noise = Noise::new(4);
    let per_block = 10_000.0 * BLOCK as f64 / 44_100.0;
    let mut owed = 0.0;
    let mut out = Render { mix: Vec::new(), loud: vec![Vec::new(); LOUD] };
    for block in 0..blocks as u64 {
        owed += per_block;
        while owed >= 1.0 {
            owed -= 1.0;
            let which = (noise.uniform() * BODIES as f64) as usize;
            let size = if which < LOUD { 0.02 } else { 0.0005 * (0.2 + noise.uniform() as f32) };
            let site = SiteBlend::single((noise.uniform() * 40.0) as u32);
            let action = Action::Blow { site, impulse_ns: [0.3 * size, 0.2 * size, size], duration_s: 4e-4 };
            let sample = block * BLOCK as u64 + (noise.uniform() * BLOCK as f64) as u64;
            // Between samples, too, and now and then a hand on a body.
            let action = if noise.uniform() < 0.01 && which >= LOUD { Action::Silence } else { action };
            let fraction = noise.uniform() as f32;
            handle.send(Event { time: Moment { sample, fraction }, body: bodies[which], action }).unwrap();
        }
        processor.next_block();
        check(processor.stats());
        let mut mix = [0.0; BLOCK];
        let mut loud = [[0.0; BLOCK]; LOUD];
        for (id, bus) in processor.buses() {
            mix.iter_mut().zip(bus).for_each(|(o, b)| *o += b);
            if (id.slot as usize) < LOUD {
                loud[id.slot as usize] = *bus;
            }
        }
        out.mix.extend(mix);
        out.loud.iter_mut().zip(loud).for_each(|(all, bus)| all.extend(bus));
    }
    out
}

fn largest_jump(x: &[f32]) -> f32 {
    x.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f32::max)
}

#[test]
fn a_budget_is_kept_exactly_and_the_loudest_do_not_notice() {
    let blocks = 400;
    let budget = 20_000;
    let full = render(Quality { masking: None, truncation_pa: 0.0, budget: None }, blocks, |_| ());
    let mut most = 0;
    let quality = Quality { truncation_pa: 1e-6, masking: None, budget: Some(Budget::of(budget)) };
    let scaled = render(quality, blocks, |stats| {
        most = most.max(stats.mixed);
        assert!(stats.mixed_most <= budget as u64, "{} of {budget}", stats.mixed_most);
        assert_eq!(
            stats.modes + stats.leaving,
            stats.mixed + stats.truncated + stats.masked + stats.scaled,
            "everything is accounted for: {stats:?}"
        );
    });
    assert!(most as usize > budget * 8 / 10, "it is made use of: {most}");
    // The loudest bodies keep nearly all of their energy.
    for (a, b) in full.loud.iter().zip(&scaled.loud) {
        let difference: Vec<f32> = a.iter().zip(b).map(|(x, y)| x - y).collect();
        let (kept, lost) = (common::rms(&b[8000..]), common::rms(&difference[8000..]));
        assert!(kept > 0.0 && lost < 0.1 * kept, "{lost} of {kept}");
    }
    let (full, scaled) = (largest_jump(&full.mix), largest_jump(&scaled.mix));
    assert!(scaled <= 1.1 * full, "clicks: {scaled} against {full}");
}

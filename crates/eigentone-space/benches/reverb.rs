//! What the shared filters cost, and how evenly.
//!
//! `cargo bench -p eigentone-space --bench reverb [-- --quick]`. Noise in all six inputs at 44.1 kHz. The work repeats with the largest level, every 64
//! blocks. For each of these places the least time over many rounds counts, which other programs cannot spoil; from these come the mean, as a share of real
//! time on one core, and the costliest block relative to it. The same for filters that nobody uses and for the gains of one source.

use eigentone_core::Noise;
use eigentone_core::acoustics::Parameters;
use eigentone_space::BLOCK;
use eigentone_space::air::Air;
use eigentone_space::canonical::Canonical;
use eigentone_space::convolve::{INPUTS, Reverb};
use eigentone_space::sends::Sends;
use std::hint::black_box;
use std::time::Instant;

/// Least time of each place in the cycle of the largest level, in s.
fn places_s(rate_hz: f64, filters: &Canonical, places: usize, rounds: usize, sound: bool) -> Vec<f64> {
    let mut reverb = Reverb::new(rate_hz, filters);
    let mut noise = Noise::new(1);
    let inputs: Vec<[[f32; BLOCK]; INPUTS]> = (0..97)
        .map(|_| std::array::from_fn(|_| std::array::from_fn(|_| if sound { noise.bipolar() as f32 } else { 0.0 })))
        .collect();
    let mut out = [[0.0; BLOCK]; 2];
    let full = 4 * rate_hz as usize / BLOCK;
    let mut least = vec![f64::INFINITY; places];
    for block in 0..full.next_multiple_of(places) + rounds * places {
        let start = Instant::now();
        reverb.process(black_box(&inputs[block % inputs.len()]), black_box(&mut out));
        let took_s = start.elapsed().as_secs_f64();
        if block >= full {
            least[block % places] = least[block % places].min(took_s);
        }
        out = [[0.0; BLOCK]; 2];
    }
    least
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let rounds = if quick { 60 } else { 400 };
    let rates_hz: &[f64] = if quick { &[44_100.0] } else { &[44_100.0, 48_000.0, 96_000.0, 192_000.0] };
    for &rate_hz in rates_hz {
        let start = Instant::now();
        let filters = Canonical::new(rate_hz, &Air::default());
        let made_s = start.elapsed().as_secs_f64();
        black_box(Reverb::new(rate_hz, &filters));
        let planned_s = start.elapsed().as_secs_f64() - made_s;
        let places = if rate_hz < 50_000.0 { 64 } else { 256 };
        let times = places_s(rate_hz, &filters, places, rounds * 64 / places, true);
        let worst = times.iter().copied().fold(0.0, f64::max);
        let share = mean(&times) * rate_hz / BLOCK as f64;
        println!(
            "{rate_hz} Hz: mean {:.1} µs, worst {:.1} µs, {:.2} % of real time; filters made in {:.0} ms, planned in {:.0} ms",
            1e6 * mean(&times),
            1e6 * worst,
            100.0 * share,
            1e3 * made_s,
            1e3 * planned_s
        );
        if rate_hz == 44_100.0 {
            let in_us: Vec<String> = times.iter().map(|t| format!("{:.1}", 1e6 * t)).collect();
            println!("µs by place: {}", in_us.join(" "));
            println!("figure reverb.cost = {:.2} percent", 100.0 * share);
            println!("figure reverb.worst_over_mean = {:.2} ratio", worst / mean(&times));
            let idle = mean(&places_s(rate_hz, &filters, places, 20, false));
            println!("figure reverb.idle_cost = {:.3} percent", 100.0 * idle * rate_hz / BLOCK as f64);
            println!("figure sends.cost = {:.0} ns", sends_ns(&filters, rounds));
        }
    }
}

/// Time for the gains of one source, over rooms of all kinds.
fn sends_ns(filters: &Canonical, rounds: usize) -> f64 {
    let mut noise = Noise::new(2);
    let rooms: Vec<Parameters> = (0..1000)
        .map(|_| {
            let mut draw = |least: f64, most: f64| least + (most - least) * noise.uniform();
            Parameters {
                direct_db: draw(-40.0, 6.0),
                early_db: draw(-60.0, 0.0),
                early_decay_s: draw(0.05, 4.0),
                late_decay_s: draw(0.05, 4.0),
                tilt_db: 0.0,
            }
        })
        .collect();
    let round = |_| {
        let start = Instant::now();
        for room in &rooms {
            black_box(Sends::new(black_box(room), 3.0, filters));
        }
        start.elapsed().as_secs_f64() / rooms.len() as f64
    };
    1e9 * (0..rounds).map(round).fold(f64::INFINITY, f64::min)
}

//! What the wave solver costs.
//!
//! `cargo bench -p eigentone-wave --bench wave [-- --quick]`. A room of 20 × 15 × 8 m up to 500 Hz, absorption 0.1, one second of response on one core, and
//! what of it walls and transforms take; the same in two boxes, for the interfaces; plain finite differences at 10.7 cells per wavelength, a
//! few steps of them; and two rooms on two cores.

use eigentone_wave::absorption::admittance;
use eigentone_wave::encode::Timing;
use eigentone_wave::oracle::Oracle;
use eigentone_wave::solver::boxes::{Block, Kind};
use eigentone_wave::solver::domain::Domain;
use eigentone_wave::solver::{Profile, Solver, cell_for, step_for};
use std::time::Instant;

const F_MAX_HZ: f64 = 500.0;

/// Seconds for some steps.
fn run(domain: &Domain, mut solver: Solver, steps: usize) -> (f64, Profile) {
    let source = solver.places(&[domain.index([20, 20, 10])])[0].expect("air");
    let timing = Timing::new(F_MAX_HZ, step_for(domain.cell_m));
    let start = Instant::now();
    for n in 0..steps {
        let t = n as f64 * timing.step_s;
        solver.step((t < 0.01).then(|| (source, timing.pulse(t))));
    }
    (start.elapsed().as_secs_f64(), solver.profile())
}

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let cell_m = cell_for(F_MAX_HZ);
    let size = [20.0, 15.0, 8.0].map(|m: f64| (m / cell_m).round() as usize);
    let domain = Domain::shoebox(size, cell_m, admittance(0.1) as f32);
    let cells = domain.cells.len() as f64;
    let second = (1.0 / step_for(cell_m)).ceil() as usize;
    let steps = if quick { second / 10 } else { second };
    println!("{size:?} cells of {cell_m:.3} m, {second} steps to a second");

    let (seconds, parts) = run(&domain, Solver::new(&domain, false), steps);
    let of_second = seconds * second as f64 / steps as f64;
    let share = |part: f64| 100.0 * part / seconds;
    println!(
        "one box: {of_second:.2} s, {:.0} % walls, {:.0} % transforms and modes",
        share(parts.walls),
        share(parts.boxes)
    );
    println!("figure wave.room_seconds = {of_second:.2} s");
    println!("figure wave.cell_steps_per_s = {:.3e} 1/s", cells * steps as f64 / seconds);

    let half = size[0] / 2;
    let halves = vec![
        Block { origin: [0; 3], size: [half, size[1], size[2]], kind: Kind::Modal },
        Block { origin: [half, 0, 0], size: [size[0] - half, size[1], size[2]], kind: Kind::Modal },
    ];
    let (two, parts) = run(&domain, Solver::with_blocks(&domain, halves, false), steps);
    let share = |part: f64| 100.0 * part / two;
    println!(
        "two boxes: {:.2} s, {:.0} % walls, {:.0} % interfaces, {:.0} % transforms and modes",
        two * second as f64 / steps as f64,
        share(parts.walls),
        share(parts.interfaces),
        share(parts.boxes)
    );

    let mut oracle = Oracle::new(&domain, 4);
    let fine_steps = if quick { 10 } else { 40 };
    let fine_second = 1.0 / oracle.step_s();
    let timing = Timing::new(F_MAX_HZ, oracle.step_s());
    let start = Instant::now();
    for n in 0..fine_steps {
        oracle.step(Some((domain.index([20, 20, 10]), timing.pulse(f64::from(n) * timing.step_s))));
    }
    let oracle_seconds = start.elapsed().as_secs_f64() * fine_second / f64::from(fine_steps);
    println!("finite differences at 10.7 cells per wavelength: {oracle_seconds:.0} s");
    println!("figure wave.oracle_ratio = {:.1} ratio", oracle_seconds / of_second);

    let few = steps / 4;
    let (alone, _) = run(&domain, Solver::new(&domain, false), few);
    let start = Instant::now();
    rayon::join(|| run(&domain, Solver::new(&domain, false), few), || run(&domain, Solver::new(&domain, false), few));
    println!("figure wave.two_core_speedup = {:.2} ratio", 2.0 * alone / start.elapsed().as_secs_f64());
}

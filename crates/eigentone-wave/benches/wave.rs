//! What the wave solver costs.

use eigentone_wave::solver::{Solver, cell_for, domain::Domain, step_for};
use std::time::Instant;

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let cell_m = cell_for(500.0);
    let domain = Domain::shoebox([20.0, 15.0, 8.0].map(|m: f64| (m / cell_m).round() as usize), cell_m, 0.014);
    let mut solver = Solver::new(&domain, false);
    let place = solver.places(&[domain.index([20, 20, 10])])[0].expect("air");
    let steps = if quick { 100 } else { (1.0 / step_for(cell_m)).ceil() as usize };
    let start = Instant::now();
    for n in 0..steps {
        solver.step((n < 50).then(|| (place, (-((n as f64 - 15.0) / 3.0).powi(2)).exp())));
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{:?} cells, {} boxes, {steps} steps: {seconds:.2} s, {:.3} ms per step, {:?}",
        domain.size,
        solver.boxes(),
        1e3 * seconds / steps as f64,
        solver.profile()
    );
}

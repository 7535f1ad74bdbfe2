//! The solver against plain finite differences: the same cells, cut finer, another scheme.

use eigentone_wave::oracle::Oracle;
use eigentone_wave::solver::domain::{Domain, SOLID};
use eigentone_wave::solver::{Solver, cell_for, step_for};

/// A room with a corner cut out and walls that absorb, below 250 Hz, where the oracle at eight cells per wavelength is good: waveforms agree.
#[test]
fn solver_and_finite_differences_hear_the_same() {
    let cell_m = cell_for(500.0);
    let mut domain = Domain::shoebox([26, 20, 12], cell_m, 0.0);
    for cell in 0..domain.cells.len() {
        let [x, y, _] = domain.at(cell);
        if x >= 14 && y >= 11 {
            domain.cells[cell] = SOLID;
        }
    }
    domain.line_with(|_, _| 0.03);
    let (source, ears) = (domain.index([20, 5, 4]), [[5, 15, 7], [22, 3, 9], [9, 8, 2]].map(|at| domain.index(at)));
    // A pulse of 250 Hz.
    let sigma_s = 10f64.ln().sqrt() / (std::f64::consts::PI * 250.0);
    let pulse = |t: f64| {
        let x = t / sigma_s - 5.0;
        -2.0 * x * (-x * x).exp()
    };
    let seconds = 0.15;

    let mut solver = Solver::new(&domain, true);
    let from = solver.places(&[source])[0].expect("air");
    let to: Vec<_> = solver.places(&ears).into_iter().map(|p| p.expect("air")).collect();
    let step_s = step_for(cell_m);
    let mut fast = vec![Vec::new(); ears.len()];
    for n in 0..(seconds / step_s) as usize {
        solver.step(Some((from, pulse(n as f64 * step_s))));
        fast.iter_mut().zip(&to).for_each(|(x, &p)| x.push(f64::from(solver.pressure(p))));
    }

    let mut oracle = Oracle::new(&domain, 3);
    let fine_s = oracle.step_s();
    let mut slow = vec![Vec::new(); ears.len()];
    for n in 0..(seconds / fine_s) as usize {
        oracle.step(Some((source, pulse(n as f64 * fine_s))));
        slow.iter_mut().zip(ears).for_each(|(x, cell)| x.push(oracle.pressure(cell)));
    }

    for (fast, slow) in fast.iter().zip(&slow) {
        let (mut error, mut whole) = (0.0, 0.0);
        for (n, y) in fast.iter().enumerate() {
            // The slow one at the same moment, in a straight line between samples.
            let at = (n as f64 + 1.0) * step_s / fine_s - 1.0;
            let Some([a, b]) = slow.get(at as usize..at as usize + 2).map(|s| [s[0], s[1]]) else { break };
            let z = a + at.fract() * (b - a);
            error += (y - z).powi(2);
            whole += z * z;
        }
        let relative = (error / whole).sqrt();
        println!("{relative:.3}");
        assert!(relative < 0.15, "{relative}");
    }
}

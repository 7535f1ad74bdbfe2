//! The solver against plain finite differences: the same cells, cut finer, another scheme.

use eigentone_core::Vec3;
use eigentone_wave::encode::{Encoder, Timing};
use eigentone_wave::oracle::Oracle;
use eigentone_wave::solver::domain::{AIR, Domain, SOLID};
use eigentone_wave::solver::{Solver, cell_for, step_for};
use eigentone_wave::{Acoustics, Settings, rooms, walls};

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

/// The apartment, walls of all its materials, doors and corners: both solvers up to the same frequency, and what the encoder makes of them.
#[test]
fn parameters_agree_with_finite_differences_in_the_apartment() {
    let room = rooms::apartment();
    let absorptions: Vec<f64> =
        room.scene.names.iter().map(|name| walls::match_name(name).expect("a known material").absorption).collect();
    let settings = Settings::default();
    let acoustics = Acoustics::new(&room.scene, &absorptions, settings).expect("a scene");
    let around = acoustics.around(Vec3::new(2.5, 8.0, 1.4)).expect("air");
    let domain = &around.domain;
    let air: Vec<usize> = (0..domain.cells.len()).filter(|&c| domain.cells[c] == AIR).collect();
    let ears: Vec<usize> = air.iter().copied().step_by(air.len() / 70).collect();
    let away = |cell: usize| {
        (around.centre(cell, &acoustics.voxels.lattice) - around.centre(around.source, &acoustics.voxels.lattice))
            .length()
    };

    let fast = acoustics.timing();
    let seconds = fast.duration_s(15.0);
    let mut solver = Solver::new(domain, true);
    let from = solver.places(&[around.source])[0].expect("air");
    let places: Vec<_> = solver.places(&ears).into_iter().map(|p| p.expect("air")).collect();
    let mut solved = vec![Vec::new(); ears.len()];
    for n in 0..(seconds / fast.step_s) as usize {
        let t = n as f64 * fast.step_s;
        solver.step((t < 2.0 * fast.pulse_delay_s()).then(|| (from, fast.pulse(t))));
        solved.iter_mut().zip(&places).for_each(|(x, &p)| x.push(solver.pressure(p)));
    }

    let mut oracle = Oracle::new(domain, 4);
    let slow = Timing::new(500.0, oracle.step_s());
    let mut expected = vec![Vec::new(); ears.len()];
    for n in 0..(seconds / slow.step_s) as usize {
        let t = n as f64 * slow.step_s;
        oracle.step((t < 2.0 * slow.pulse_delay_s()).then(|| (around.source, slow.pulse(t))));
        expected.iter_mut().zip(&ears).for_each(|(x, &cell)| x.push(oracle.pressure(cell) as f32));
    }

    let (mut ours, mut theirs) = (Encoder::new(&fast), Encoder::new(&slow));
    let mut differences = vec![Vec::new(); 5];
    for ((solved, expected), &cell) in solved.iter().zip(&expected).zip(&ears) {
        if away(cell) < 1.0 {
            continue;
        }
        let (a, b) =
            (ours.encode(solved, away(cell)).expect("sound"), theirs.encode(expected, away(cell)).expect("sound"));
        let relative = |a: f64, b: f64| (a / b - 1.0).abs();
        let of = [
            (a.direct_db - b.direct_db).abs(),
            (a.early_db - b.early_db).abs(),
            relative(a.early_decay_s, b.early_decay_s),
            relative(a.late_decay_s, b.late_decay_s),
            (a.tilt_db - b.tilt_db).abs(),
        ];
        differences.iter_mut().zip(of).for_each(|(all, d)| all.push(d));
    }
    assert!(differences[0].len() >= 50);
    let medians: Vec<f64> = differences
        .into_iter()
        .map(|mut d| {
            d.sort_by(f64::total_cmp);
            d[d.len() / 2]
        })
        .collect();
    println!("median differences: {medians:.3?}");
    assert!(medians[0] < 1.5 && medians[1] < 1.5, "loudness: {medians:?} dB");
    assert!(medians[2] < 0.1 && medians[3] < 0.1, "decays: {medians:?}");
}

//! The wave solver against closed forms and against itself.

use eigentone_core::acoustics::SOUND_M_S;
use eigentone_wave::encode::Timing;
use eigentone_wave::solver::boxes::{Block, Kind};
use eigentone_wave::solver::domain::{AIR, Domain, SPONGE_CELLS, WallFace};
use eigentone_wave::solver::{COURANT, Place, Solver, cell_for, step_for};
use realfft::RealFftPlanner;

const F_MAX_HZ: f64 = 500.0;

fn timing() -> Timing {
    Timing::new(F_MAX_HZ, step_for(cell_for(F_MAX_HZ)))
}

/// The Gaussian pulse with its peak at five sigma.
fn pulse(t: f64) -> f64 {
    timing().pulse(t)
}

/// Its derivative, in units of its peak per sigma.
fn pulse_rate(t: f64) -> f64 {
    let x = t / timing().sigma_s() - 5.0;
    -2.0 * x * (-x * x).exp()
}

fn block(origin: [usize; 3], size: [usize; 3]) -> Block {
    Block { origin, size, kind: Kind::Modal }
}

fn place(solver: &Solver, domain: &Domain, at: [usize; 3]) -> Place {
    solver.places(&[domain.index(at)])[0].expect("air")
}

/// Sound at some cells from a source in another.
fn record(
    domain: &Domain,
    solver: &mut Solver,
    source: [usize; 3],
    ears: &[[usize; 3]],
    steps: usize,
    shape: fn(f64) -> f64,
) -> Vec<Vec<f64>> {
    let from = place(solver, domain, source);
    let ears: Vec<Place> = ears.iter().map(|&at| place(solver, domain, at)).collect();
    let step_s = step_for(domain.cell_m);
    let mut sound = vec![Vec::with_capacity(steps); ears.len()];
    for n in 0..steps {
        let t = n as f64 * step_s;
        solver.step((t < 12.0 * timing().sigma_s()).then(|| (from, shape(t))));
        for (sound, &ear) in sound.iter_mut().zip(&ears) {
            sound.push(f64::from(solver.pressure(ear)));
        }
    }
    sound
}

fn peak(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, y| y.abs().max(m))
}

/// The peak of a Gaussian between samples: a parabola through the logarithms of the three highest.
fn true_peak(x: &[f64]) -> f64 {
    let top = (1..x.len() - 1).max_by(|a, b| x[*a].total_cmp(&x[*b])).expect("samples");
    let [a, b, c] = [x[top - 1], x[top], x[top + 1]].map(f64::ln);
    (b - (a - c).powi(2) / (8.0 * (a - 2.0 * b + c))).exp()
}

/// Magnitudes at multiples of `rate / length`.
fn spectrum(x: &[f64], length: usize) -> Vec<f64> {
    let mut input = x.to_vec();
    input.resize(length, 0.0);
    let fft = RealFftPlanner::<f64>::new().plan_fft_forward(length);
    let mut output = fft.make_output_vec();
    fft.process(&mut input, &mut output).expect("lengths fit");
    output.iter().map(|z| z.norm()).collect()
}

/// Magnitude at a frequency.
fn at_hz(x: &[f64], hz: f64) -> f64 {
    let turn = std::f64::consts::TAU * hz * step_for(cell_for(F_MAX_HZ));
    let (re, im) = x.iter().enumerate().fold((0.0, 0.0), |(re, im), (n, y)| {
        let (sin, cos) = (turn * n as f64).sin_cos();
        (re + y * cos, im + y * sin)
    });
    re.hypot(im)
}

/// Row 29: the peak falls as 1/r, on the axis and on the diagonal, and is that of the pulse at 1 m.
#[test]
fn the_free_field_falls_with_distance() {
    let domain = Domain::open([49; 3], cell_for(F_MAX_HZ));
    let mut solver = Solver::new(&domain, false);
    let middle = SPONGE_CELLS + 24;
    let on_axis: Vec<usize> = (2..=16).collect();
    let mut ears: Vec<[usize; 3]> = on_axis.iter().map(|r| [middle + r, middle, middle]).collect();
    ears.extend([3, 8].map(|r| [middle + r, middle - r, middle + r]));
    let sound = record(&domain, &mut solver, [middle; 3], &ears, 150, pulse);
    for (sound, ear) in sound.iter().zip(&ears) {
        let r = ear.iter().map(|&i| (i as f64 - middle as f64).powi(2)).sum::<f64>().sqrt() * domain.cell_m;
        let level = true_peak(sound) * r;
        assert!((0.99..1.01).contains(&level), "{level} at {r} m");
    }
}

/// Row 30: an empty room of two boxes has the modes of the room.
#[test]
fn two_boxes_have_the_modes_of_one_room() {
    let cell_m = cell_for(F_MAX_HZ);
    let size = [24, 16, 12];
    let domain = Domain::shoebox(size, cell_m, 0.0);
    let blocks = vec![block([0; 3], [13, 16, 12]), block([13, 0, 0], [11, 16, 12])];
    let mut solver = Solver::with_blocks(&domain, blocks, false);
    let step_s = step_for(cell_m);
    let steps = (4.0 / step_s) as usize;
    let mut sound = record(&domain, &mut solver, [1, 2, 1], &[[22, 14, 10]], steps, pulse_rate).remove(0);
    for (n, y) in sound.iter_mut().enumerate() {
        *y *= 0.5 - 0.5 * (std::f64::consts::TAU * n as f64 / steps as f64).cos();
    }
    let length = 1 << 17;
    let magnitudes = spectrum(&sound, length);
    let hz_of = |k: f64| k / (length as f64 * step_s);
    let mut modes = Vec::new();
    for i in 0..9 {
        for j in 0..7 {
            for k in 0..6 {
                let side = |n: usize, cells: usize| (n as f64 / (cells as f64 * cell_m)).powi(2);
                modes.push(SOUND_M_S / 2.0 * (side(i, size[0]) + side(j, size[1]) + side(k, size[2])).sqrt());
            }
        }
    }
    modes.sort_by(f64::total_cmp);
    let mut looked_at = 0;
    for (i, &hz) in modes.iter().enumerate() {
        let alone = |other: Option<&f64>| other.is_none_or(|o| (o - hz).abs() > 0.025 * hz);
        let isolated = alone(modes.get(i + 1)) && alone(i.checked_sub(1).and_then(|i| modes.get(i)));
        if !(20.0..400.0).contains(&hz) || !isolated {
            continue;
        }
        let near = |k: &usize| (hz_of(*k as f64) / hz - 1.0).abs() < 0.012;
        let top =
            (0..magnitudes.len()).filter(near).max_by(|a, b| magnitudes[*a].total_cmp(&magnitudes[*b])).expect("bins");
        let found = hz_of(top as f64);
        assert!((found / hz - 1.0).abs() < 0.005, "{found} Hz for {hz} Hz");
        looked_at += 1;
    }
    assert!(looked_at >= 8, "{looked_at}");
}

/// Row 31: what two boxes make of a pulse differs little from what one makes of it; also per octave.
#[test]
fn an_interface_reflects_little() {
    let cell_m = cell_for(F_MAX_HZ);
    let domain = Domain::shoebox([32, 24, 24], cell_m, 0.0);
    let ears = [[6, 14, 11], [27, 13, 9]];
    // Until sound has crossed the room twice.
    let hear = |blocks| {
        let mut solver = Solver::with_blocks(&domain, blocks, false);
        record(&domain, &mut solver, [9, 12, 12], &ears, 160, pulse)
    };
    let one = hear(vec![block([0; 3], [32, 24, 24])]);
    let two = hear(vec![block([0; 3], [16, 24, 24]), block([16, 0, 0], [16, 24, 24])]);
    for (side, (one, two)) in one.iter().zip(&two).enumerate() {
        let error: Vec<f64> = one.iter().zip(two).map(|(a, b)| a - b).collect();
        let db = 20.0 * (peak(&error) / peak(one)).log10();
        let (error, whole) = (spectrum(&error, 4096), spectrum(one, 4096));
        let octave = |low: f64| {
            let bins = |x: &[f64]| {
                let bin = |hz: f64| (hz * 4096.0 * step_for(cell_m)) as usize;
                x[bin(low)..bin(2.0 * low)].iter().map(|m| m * m).sum::<f64>()
            };
            10.0 * (bins(&error) / bins(&whole)).log10()
        };
        let octaves = [62.5, 125.0, 250.0].map(octave);
        println!("side {side}: peak {db:.1} dB, octaves {octaves:.1?} dB");
        assert!(db < -35.0, "side {side}: {db} dB");
        if side == 0 {
            assert!(octaves[0] < -40.0 && octaves[1] < -40.0, "{octaves:?}");
        }
    }
}

/// Row 32: nothing grows, with interfaces, thin boxes, walls and rigid rooms. The mean of a closed room rises and is taken off.
#[test]
fn six_thousand_steps_stay_bounded() {
    let cell_m = cell_for(F_MAX_HZ);
    for admittance in [0.0, 0.05, 1.0] {
        let domain = Domain::shoebox([14, 10, 9], cell_m, admittance);
        let cut = |kind| {
            vec![
                block([0; 3], [6, 10, 9]),
                Block { origin: [6, 0, 0], size: [2, 10, 9], kind },
                block([8, 0, 0], [6, 5, 9]),
                block([8, 5, 0], [6, 5, 9]),
            ]
        };
        for kind in [Kind::Modal, Kind::Grid] {
            let mut solver = Solver::with_blocks(&domain, cut(kind), false);
            let sound = record(&domain, &mut solver, [2, 3, 4], &[[11, 7, 2]], 6000, pulse_rate).remove(0);
            let loud = |x: &[f64]| {
                let mean = x.iter().sum::<f64>() / x.len() as f64;
                x.iter().fold(0.0f64, |m, y| m.max((y - mean).abs()))
            };
            let (early, late) = (loud(&sound[200..1200]), loud(&sound[5000..]));
            assert!(late <= 1.5 * early && late.is_finite(), "{admittance} {kind:?}: {early} then {late}");
            if admittance > 0.0 {
                assert!(late < 0.01 * early, "{admittance} {kind:?}: {early} then {late}");
            }
        }
    }
}

/// A single rigid box is exact: after six thousand steps in single precision its sound is still that of the closed form.
#[test]
fn single_precision_does_not_drift() {
    let cell_m = cell_for(F_MAX_HZ);
    let size = [12, 10, 8];
    let domain = Domain::shoebox(size, cell_m, 0.0);
    let mut solver = Solver::new(&domain, false);
    let (source, ear) = ([3, 4, 2], [9, 7, 6]);
    let sound = record(&domain, &mut solver, source, &[ear], 6000, pulse_rate).remove(0);
    let step_s = step_for(cell_m);
    // The solver makes up for what a source in a single cell is too loud.
    let amount = 4.0 * std::f64::consts::PI * COURANT * COURANT / cell_m / 1.019;
    let mut exact = vec![0.0; sound.len()];
    for i in 0..size[0] {
        for j in 0..size[1] {
            for k in 0..size[2] {
                let mut weight = amount;
                let mut square = 0.0;
                for (a, n) in [i, j, k].into_iter().enumerate() {
                    let cells = size[a] as f64;
                    let shape = |x: usize| (std::f64::consts::PI * n as f64 * (x as f64 + 0.5) / cells).cos();
                    weight *= shape(source[a]) * shape(ear[a]) * if n == 0 { 1.0 } else { 2.0 } / cells;
                    square += (COURANT * std::f64::consts::PI * n as f64 / cells).powi(2);
                }
                let turn = square.sqrt();
                let push = if turn == 0.0 { 1.0 } else { (2.0 * (0.5 * turn).sin() / turn).powi(2) };
                let (mut now, mut gain) = (0.0, 0.0);
                for (n, exact) in exact.iter_mut().enumerate() {
                    let t = n as f64 * step_s;
                    let force = if t < 12.0 * timing().sigma_s() { pulse_rate(t) } else { 0.0 };
                    gain += -4.0 * (0.5 * turn).sin().powi(2) * now + push * weight * force;
                    now += gain;
                    *exact += now;
                }
            }
        }
    }
    let error: Vec<f64> = sound.iter().zip(&exact).map(|(a, b)| a - b).collect();
    let (first, last) = (peak(&error[..1000]) / peak(&exact), peak(&error[5000..]) / peak(&exact));
    println!("error of the peak: {first:.1e} in the first thousand steps, {last:.1e} in the last");
    assert!(last < 1e-3, "{first} {last}");
}

/// A tube: plane waves along x, with the wall or sponge under test at its end. Magnitude of what comes back over what went.
fn reflection(domain: &Domain, blocks: Vec<Block>, cells: usize, hz: &[f64]) -> Vec<f64> {
    let mut solver = Solver::with_blocks(domain, blocks, false);
    // From 300 cells before the end to 150: there after 150 cells of travel, back after 450, and the rigid other end after 750 at least.
    let (source, ear) = (cells - 300, cells - 150);
    let cells_to_steps = |cells: f64| (cells / COURANT) as usize;
    let delay = (5.0 * timing().sigma_s() / step_for(domain.cell_m)) as usize;
    let steps = cells_to_steps(600.0) + delay;
    let sound = record(domain, &mut solver, [source, 0, 0], &[[ear, 0, 0]], steps, pulse_rate).remove(0);
    let turn = cells_to_steps(300.0) + delay;
    let mut gone = sound.clone();
    gone[turn..].fill(0.0);
    hz.iter().map(|&hz| at_hz(&sound[turn..], hz) / at_hz(&gone, hz)).collect()
}

/// Row 33: walls reflect `(1 − b)/(1 + b)` of the pressure.
#[test]
fn walls_reflect_what_their_admittance_says() {
    let cells = 900;
    let hz: Vec<f64> = vec![31.0, 62.0, 125.0, 200.0, 250.0, 300.0, 350.0, 400.0];
    for admittance in [0.02f32, 0.1, 0.3, 0.5] {
        let mut domain = Domain::shoebox([cells, 1, 1], cell_for(F_MAX_HZ), 0.0);
        domain.walls = vec![WallFace { cell: cells - 1, direction: 1, admittance }];
        let found = reflection(&domain, vec![block([0; 3], [cells, 1, 1])], cells, &hz);
        let expected = f64::from((1.0 - admittance) / (1.0 + admittance));
        for (hz, found) in hz.iter().zip(found) {
            assert!((found - expected).abs() < 0.03, "b = {admittance}, {hz} Hz: {found} for {expected}");
        }
    }
}

/// Row 34: the sponge lets little back.
#[test]
fn the_sponge_reflects_little() {
    let cells = 900;
    let size = [cells + SPONGE_CELLS, 1, 1];
    let mut domain = Domain::shoebox(size, cell_for(F_MAX_HZ), 0.0);
    for depth in 1..=SPONGE_CELLS {
        domain.cells[cells + depth - 1] = AIR + depth as u8;
    }
    let blocks = vec![
        block([0; 3], [cells, 1, 1]),
        Block { origin: [cells, 0, 0], size: [SPONGE_CELLS, 1, 1], kind: Kind::Grid },
    ];
    domain.walls = vec![WallFace { cell: cells + SPONGE_CELLS - 1, direction: 1, admittance: 1.0 }];
    let hz = [62.5, 125.0, 200.0, 250.0, 350.0];
    let found = reflection(&domain, blocks, cells, &hz);
    println!("{found:.3?}");
    assert!(found.iter().all(|r| *r < 0.05), "{found:?}");
}

/// Row 35: source and listener may change places. Between rigid walls the error is that of single precision. With walls that absorb it is more, because
/// forces act through the modes of a box and walls on its pressures.
#[test]
fn sound_is_reciprocal() {
    let cell_m = cell_for(F_MAX_HZ);
    for (admittance, bound) in [(0.0, 1e-5), (0.05, 1e-3)] {
        let domain = Domain::shoebox([20, 12, 10], cell_m, admittance);
        let blocks = vec![block([0; 3], [9, 12, 10]), block([9, 0, 0], [11, 12, 10])];
        let (a, b) = ([2, 3, 4], [16, 10, 1]);
        let hear = |from, to| {
            let mut solver = Solver::with_blocks(&domain, blocks.clone(), false);
            record(&domain, &mut solver, from, &[to], 400, pulse_rate).remove(0)
        };
        let (there, back) = (hear(a, b), hear(b, a));
        let error: Vec<f64> = there.iter().zip(&back).map(|(x, y)| x - y).collect();
        let relative = peak(&error) / peak(&there);
        assert!(relative < bound, "{admittance}: {relative}");
    }
}

/// The result does not depend on the number of threads.
#[test]
fn threads_change_nothing() {
    let mut domain = Domain::open([24, 20, 16], cell_for(F_MAX_HZ));
    let in_air = |x, y, z| [SPONGE_CELLS + x, SPONGE_CELLS + y, SPONGE_CELLS + z];
    for x in 8..14 {
        for y in 4..10 {
            for z in 0..9 {
                let cell = domain.index(in_air(x, y, z));
                domain.cells[cell] = 0;
            }
        }
    }
    domain.line_with(|_, _| 0.1);
    let at = in_air(1, 1, 1);
    let ears = [in_air(20, 12, 10), in_air(3, 17, 2)];
    let run = |parallel| record(&domain, &mut Solver::new(&domain, parallel), at, &ears, 120, pulse);
    assert_eq!(run(false), run(true));
}

//! The eigensolver against `scipy.sparse.linalg.eigsh(sigma=…)` on the same matrices in the same run.
//!
//! `cargo bench -p eigentone-modal --bench eigen [-- --quick]`. Needs Python 3 with numpy and scipy for the comparison; without them
//! only our own figures are printed. The body is a solid steel block of about 15,000 unknowns (5,000 with `--quick`); wanted are all
//! modes up to 60 kHz (35 kHz), about 200; scipy is told how many there are. Both sides run on one thread and are compared by CPU time. The bench
//! fails if a frequency differs by more than 1e-6 or a mode is missing.

use eigentone_core::mesh::primitives;
use eigentone_core::{MaterialTable, Vec3};
use eigentone_modal::Progress;
use eigentone_modal::eigen::{self, Band, Pencil};
use eigentone_modal::solid::cells::{Cells, Grid};
use eigentone_modal::solid::distance::DistanceTree;
use eigentone_modal::solid::element::Elasticity;
use eigentone_modal::solid::frame::Frame;
use eigentone_modal::springs::{ShellSettings, Springs};
use scipy::{cpu_seconds, eigsh};
use std::time::Instant;

mod scipy;

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let (edge, highest_hz) = if quick { (0.0202, 35_000.0) } else { (0.0155, 60_000.0) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| {
        let pencil = block(edge);
        println!("solid block: {} unknowns, {} entries", pencil.unknowns(), pencil.entries());
        let start = cpu_seconds();
        let upper = (std::f64::consts::TAU * highest_hz).powi(2);
        let ours = eigen::solve(&pencil, Band { upper, most: usize::MAX }, &Progress::silent())
            .expect("a complete set of modes");
        let most = ours.values.len();
        println!("{most} modes up to {highest_hz} Hz, the six rigid motions among them");
        let our_seconds = cpu_seconds() - start;
        println!("figure eigen.solid_cpu_seconds = {our_seconds:.2} s");
        match eigsh(&pencil, most) {
            Some((values, seconds)) => compare(&ours.values, our_seconds, &values, seconds),
            None => println!("no comparison: python3 with numpy and scipy is not here"),
        }
    });
    shells(quick);
}

/// A block of 300 × 100 × 50 mm in a grid of cells.
fn block(edge: f64) -> Pencil {
    let steel = MaterialTable::builtin().get("steel").expect("steel is built in").clone();
    let mesh = primitives::cuboid(Vec3::new(0.3, 0.1, 0.05), [6, 2, 1]);
    let grid = Grid::new(Frame::of(&mesh), Vec3::splat(edge));
    Cells::classify(grid, &mesh, &DistanceTree::new(&mesh), &Progress::silent())
        .assemble(&Elasticity::isotropic(&steel), &Progress::silent())
        .pencil
}

fn compare(ours: &[f64], our_seconds: f64, theirs: &[f64], their_seconds: f64) {
    assert_eq!(ours.len(), theirs.len(), "number of modes");
    let worst = ours.iter().zip(theirs).skip(6).map(|(a, b)| ((a / b).sqrt() - 1.0).abs()).fold(0.0, f64::max);
    println!("figure eigen.scipy_cpu_seconds = {their_seconds:.2} s");
    println!("figure eigen.worst_frequency_error = {worst:.1e} relative");
    println!("figure eigen.cpu_ratio_scipy = {:.3} ratio", our_seconds / their_seconds);
    assert!(worst < 1e-6, "frequencies differ by {worst:e}");
}

/// Shell plates of 600 and 5,000 vertices, all modes to 22 kHz.
fn shells(quick: bool) {
    let steel = MaterialTable::builtin().get("steel").expect("steel is built in").clone();
    let sizes: &[(usize, usize)] = if quick { &[(30, 20)] } else { &[(30, 20), (86, 58)] };
    for &(nx, ny) in sizes {
        let start = Instant::now();
        let settings = ShellSettings { thickness_m: 0.002, springs: Springs::AreaWeighted, bending: true };
        let mesh = primitives::plate(0.3, 0.2, nx, ny);
        let pencil = eigentone_modal::springs::assemble(&mesh, &steel, &settings).expect("a shell");
        let band = Band { upper: (std::f64::consts::TAU * 22_000.0f64).powi(2), most: usize::MAX };
        let modes = eigen::solve(&pencil, band, &Progress::silent()).expect("a complete set of modes").values.len();
        let seconds = start.elapsed().as_secs_f64();
        println!("figure eigen.shell_{}_seconds = {seconds:.2} s ({modes} modes to 22 kHz)", nx * ny);
    }
}

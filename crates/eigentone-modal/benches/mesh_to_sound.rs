//! From a mesh to a model: seconds and memory on one thread.
//!
//! `cargo bench -p eigentone-modal --bench mesh_to_sound [-- --quick]`. Bodies: a steel cube of 12 triangles, a tube of 120, and
//! bodies with bumps (a sphere displaced by smooth noise) of 15 cm in ceramic and 1.7 m in glass. `mesh.draft_seconds_20k` and
//! `mesh.normal_seconds_20k` are the slower of the two bodies of 20,000 triangles. All run on one thread and are measured in CPU
//! seconds, which on an idle machine are those of the clock. `mesh.eigen_ratio_scipy` compares our eigensolver with
//! `scipy.sparse.linalg.eigsh` on the matrices of a cube; it needs Python 3 with scipy.

use eigentone_core::mesh::primitives;
use eigentone_core::{MaterialTable, TriMesh, Vec3};
use eigentone_modal::eigen::{self, Band, Pencil};
use eigentone_modal::solid::cells::{Cells, Grid};
use eigentone_modal::solid::distance::DistanceTree;
use eigentone_modal::solid::element::Elasticity;
use eigentone_modal::solid::frame::Frame;
use eigentone_modal::{Detail, MeshModelSettings, Progress, model_from_mesh};
use scipy::{cpu_seconds, eigsh};
use std::sync::Mutex;

mod scipy;

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| bodies(quick));
}

fn bodies(quick: bool) {
    let cube = primitives::cuboid(Vec3::ONE, [1; 3]);
    for detail in [Detail::Draft, Detail::Normal] {
        run("tube", &tube(), "steel", detail);
        let seconds = run("cube", &cube, "steel", detail);
        if detail == Detail::Normal {
            println!("figure mesh.cube_seconds = {seconds:.2} s");
        }
        let sizes: &[usize] = if quick { &[20_000] } else { &[1_000, 5_000, 20_000, 100_000] };
        for &triangles in sizes {
            let small = run("bumpy 0.15 m", &bumpy(0.15, triangles), "ceramic", detail);
            let large = run("bumpy 1.7 m", &bumpy(1.7, triangles), "glass", detail);
            if triangles == 20_000 {
                let name = if detail == Detail::Draft { "draft" } else { "normal" };
                println!("figure mesh.{name}_seconds_20k = {:.2} s", small.max(large));
            }
        }
    }
    match peak_gb() {
        Some(gb) => println!("figure mesh.peak_gb = {gb:.2} GB"),
        None => println!("no figure of memory: the system does not tell"),
    }
    against_scipy(&cube, if quick { 0.25 } else { 0.17 });
}

/// Makes a model and tells how long each stage took.
fn run(name: &str, mesh: &TriMesh, material: &str, detail: Detail) -> f64 {
    let material = MaterialTable::builtin().get(material).expect("a built-in material").clone();
    let stages: Mutex<Vec<(String, f64)>> = Mutex::new(Vec::new());
    let start = cpu_seconds();
    let note = |stage: &str, _| {
        if let Ok(mut stages) = stages.lock()
            && stages.last().is_none_or(|s| s.0 != stage)
        {
            stages.push((stage.to_owned(), cpu_seconds() - start));
        }
    };
    let settings = MeshModelSettings { detail, ..Default::default() };
    let model = model_from_mesh(mesh, &material, &settings, &Progress::new(&note)).expect("a model");
    let seconds = cpu_seconds() - start;
    let (modes, last) = (model.modes.len(), model.modes[model.modes.len() - 1].frequency_hz);
    println!(
        "{name}, {} triangles, {material}, {detail:?}: {seconds:.2} s, {modes} modes to {last:.0} Hz",
        mesh.triangles.len(),
        material = material.name
    );
    let stages = stages.lock().map(|s| s.clone()).unwrap_or_default();
    let begun: Vec<String> = stages.iter().map(|(stage, at)| format!("{stage} from {at:.2} s")).collect();
    println!("    {}", begun.join(", "));
    seconds
}

/// A tube of 120 triangles: 15 segments around, walls of 15 mm.
fn tube() -> TriMesh {
    let profile = [[0.05, 0.0], [0.05, 0.3], [0.035, 0.3], [0.035, 0.0], [0.05, 0.0]];
    primitives::revolve(&profile, 15)
}

/// A sphere displaced by smooth noise, about `size_m` across.
fn bumpy(size_m: f64, triangles: usize) -> TriMesh {
    let along = (triangles as f64 / 4.0).sqrt().round() as usize;
    let mut mesh = primitives::sphere(0.5 * size_m, 2 * along, along);
    for p in &mut mesh.positions {
        let d = p.normalize_or_zero();
        let bumps = (3.0 * d.x + 1.0).sin() * (2.5 * d.y).cos() + 0.6 * (5.0 * d.z + 2.0 * d.x).sin();
        *p *= 1.0 + 0.18 * bumps;
    }
    mesh
}

/// Most memory this process ever held.
fn peak_gb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0 / 1024.0)
}

/// The lowest hundred modes of the cube by both solvers.
fn against_scipy(cube: &TriMesh, edge: f64) {
    let steel = MaterialTable::builtin().get("steel").expect("steel is built in").clone();
    let grid = Grid::new(Frame::of(cube), Vec3::splat(edge));
    let pencil: Pencil = Cells::classify(grid, cube, &DistanceTree::new(cube), &Progress::silent())
        .assemble(&Elasticity::isotropic(&steel), &Progress::silent())
        .pencil;
    let start = cpu_seconds();
    let band = Band { upper: (std::f64::consts::TAU * 5500.0f64).powi(2), most: usize::MAX };
    let ours = eigen::solve(&pencil, band, &Progress::silent()).expect("a complete set of modes");
    let our_seconds = cpu_seconds() - start;
    let most = ours.values.len();
    println!("cube of {} unknowns, {most} modes: {our_seconds:.2} s", pencil.unknowns());
    match eigsh(&pencil, most) {
        Some((theirs, seconds)) => {
            let worst =
                ours.values.iter().zip(&theirs).skip(6).map(|(a, b)| ((a / b).sqrt() - 1.0).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-6, "frequencies differ by {worst:e}");
            println!("figure mesh.eigen_ratio_scipy = {:.3} ratio", our_seconds / seconds);
        }
        None => println!("no comparison: python3 with numpy and scipy is not here"),
    }
}

use super::*;
use eigentone_core::Vec3;
use eigentone_core::mesh::primitives;
use glam::DQuat;

fn look(name: &str, mesh: &TriMesh, size: f64, coarser: u32) -> Stuffed {
    let settings = StuffingSettings { size_m: size, coarser, ..StuffingSettings::default() };
    let start = std::time::Instant::now();
    let s = stuff(mesh, &settings, &Progress::silent()).unwrap();
    let q = s.quality;
    println!(
        "{name}: {:.1}…{:.1}°, altitude {:.3} size, volume {:.4}, {} tets {} nodes {:?} {:?}",
        q.least_dihedral_deg,
        q.greatest_dihedral_deg,
        q.least_altitude_m / size,
        q.volume_share,
        q.tets,
        q.nodes,
        start.elapsed(),
        s.warnings
    );
    s
}

#[test]
fn survey() {
    let mut bar = primitives::cuboid(Vec3::new(0.2, 0.02, 0.01), [20, 2, 1]);
    bar.transform(DQuat::from_euler(glam::EulerRot::XYZ, 0.3, 1.1, -0.7), Vec3::ZERO);
    look("bar", &bar, 0.0025, 0);
    look("sphere", &primitives::sphere(0.05, 64, 32), 0.005, 0);
    look("sphere graded", &primitives::sphere(0.05, 64, 32), 0.005, 2);
    look("ring", &primitives::ring(0.05, 0.015, 96, 32), 0.005, 0);
    look("cylinder", &primitives::cylinder(0.03, 0.08, 64, 16, true), 0.005, 0);
    look("cylinder fine", &primitives::cylinder(0.03, 0.08, 64, 16, true), 0.003, 0);
}

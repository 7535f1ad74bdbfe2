//! Random bodies dropped on the floor.

use eigentone_core::{Noise, TetMesh, Vec3};
use eigentone_sim::soft::{Collider, SoftBody, SoftError, SoftMaterial, SoftWorld, WorldSettings};

/// A body of random stiffness (1e4 to 1e9 Pa), Poisson's ratio, density and viscosity, tumbling.
fn random_body(noise: &mut Noise, cells: [usize; 3]) -> SoftBody {
    let mut between = |low: f64, high: f64| low + (high - low) * noise.uniform();
    let material = SoftMaterial {
        young_pa: 10f64.powf(between(4.0, 9.0)),
        poisson: between(0.0, 0.48),
        density_kg_m3: 10f64.powf(between(2.0, 3.903)),
        ..SoftMaterial::default()
    };
    let eta_s = if between(0.0, 1.0) < 0.5 { 0.0 } else { 10f64.powf(between(-7.0, -4.0)) };
    let size = Vec3::new(between(0.05, 0.2), between(0.05, 0.2), between(0.05, 0.2));
    let mut mesh = TetMesh::block(size, cells);
    let axis = Vec3::new(between(-1.0, 1.0), between(-1.0, 1.0), between(-1.0, 1.0)).normalize_or(Vec3::X);
    let turn = glam::DQuat::from_axis_angle(axis, between(0.0, 6.0));
    mesh.positions.iter_mut().for_each(|p| *p = turn * *p);
    let low = mesh.positions.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    mesh.positions.iter_mut().for_each(|p| p.z += 0.005 - low);
    SoftBody {
        velocity_m_s: Vec3::new(between(-2.0, 2.0), between(-2.0, 2.0), between(-5.0, -0.5)),
        spin_rad_s: Vec3::new(between(-9.0, 9.0), between(-9.0, 9.0), between(-9.0, 9.0)),
        friction: between(0.0, 1.0),
        ..SoftBody::new("thing", mesh, material.with_rayleigh(0.0, eta_s))
    }
}

/// Nothing is not a number, nothing gains energy, nothing gets through the floor.
fn drop(body: SoftBody, seconds: f64) -> Result<(), String> {
    let what = format!("{:?}", body.material);
    let mesh = body.mesh.clone();
    let low = |positions: &mut dyn Iterator<Item = Vec3>| positions.map(|p| p.z).fold(f64::INFINITY, f64::min);
    let settings = WorldSettings { colliders: vec![Collider::ground(0.0, 0.5)], ..WorldSettings::default() };
    let mut world = SoftWorld::new(vec![body], &settings).map_err(|e| format!("{e}: {what}"))?;
    let first = world.energy();
    let most_j = first.total_j() + 1e-3 * first.kinetic_j + 9.81 * 1e-3;
    let height_m = mesh.tets.iter().map(|t| mesh.signed_volume(*t)).fold(f64::INFINITY, f64::min).cbrt();
    let mut looked_s = 0.0;
    while world.time_s() < seconds {
        world.step().map_err(|e: SoftError| format!("{e}: {what}"))?;
        if world.time_s() > looked_s {
            looked_s += seconds / 50.0;
            let depth = -low(&mut world.body(0).positions());
            if depth.is_nan() || depth > 0.5 * height_m {
                return Err(format!("{depth} m deep at {} s, elements of {height_m} m: {what}", world.time_s()));
            }
            let now = world.energy();
            if now.total_j().is_nan() || now.total_j() > 1.03 * most_j {
                return Err(format!("{now:?} after {first:?} at {} s: {what}", world.time_s()));
            }
        }
    }
    Ok(())
}

fn drops(seed: u64, count: usize, cells: [usize; 3], seconds: f64) {
    use rayon::prelude::*;
    let failures: Vec<String> = (0..count)
        .into_par_iter()
        .filter_map(|k| {
            let mut noise = Noise::new(seed + k as u64);
            drop(random_body(&mut noise, cells), seconds).err().map(|e| format!("no. {k}: {e}"))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

/// A thousand of 180 tets.
#[test]
fn a_thousand_random_drops_stay_whole() {
    drops(1, 1000, [4, 3, 3], 0.15);
}

/// Three of ten thousand.
#[test]
fn large_random_drops_stay_whole() {
    drops(5000, 3, [14, 12, 12], 0.05);
}

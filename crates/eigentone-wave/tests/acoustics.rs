//! Whole simulations against room acoustics: reverberation, the free field, shadows.

use eigentone_core::acoustics::{MaterialMesh, Parameters, ProbeField};
use eigentone_core::{SOUND_M_S, Vec3};
use eigentone_wave::settings::Ground;
use eigentone_wave::{Acoustics, Settings, rooms};
use std::sync::atomic::AtomicBool;

fn simulate(acoustics: &Acoustics, from: Vec3) -> ProbeField {
    acoustics.simulate(from, true, &AtomicBool::new(false)).expect("air")
}

/// Parameters of all cubes, with their middles.
fn cubes(acoustics: &Acoustics, field: &ProbeField) -> Vec<(Vec3, Parameters)> {
    let [nx, ny, nz] = field.size.map(i64::from);
    let mut all = Vec::new();
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let cube = [0, 1, 2].map(|a| i64::from(field.first[a]) + [x, y, z][a]);
                if let Some(steps) = field.steps(cube) {
                    all.push((acoustics.cubes.centre(cube), Parameters::from_steps(steps)));
                }
            }
        }
    }
    all
}

fn median(mut x: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    x[x.len() / 2]
}

/// Row 36: reverberation as Sabine and Eyring have it, for absorption by sound from all directions.
#[test]
fn rooms_reverberate_as_long_as_sabine_says() {
    let size = Vec3::new(7.1, 5.6, 4.1);
    for absorption in [0.05, 0.1, 0.3] {
        let room = rooms::shoebox(size, "wall");
        let settings = Settings { grid_m: 1.0, ..Settings::default() };
        let acoustics = Acoustics::new(&room.scene, &[absorption], settings).expect("a room");
        let field = simulate(&acoustics, Vec3::new(2.1, 1.7, 1.3));
        let heard = cubes(&acoustics, &field);
        // What the cells make of it.
        let inside = acoustics.voxels.reachable(acoustics.voxels.lattice.cube(0.5 * size));
        let cell_m = acoustics.voxels.lattice.step_m;
        let volume = inside.count() as f64 * cell_m.powi(3);
        let sides = size.to_array().map(|m| (m / cell_m).round() * cell_m);
        let area = 2.0 * (sides[0] * sides[1] + sides[1] * sides[2] + sides[2] * sides[0]);
        let sabine = 0.161 * volume / (area * absorption);
        let eyring = 0.161 * volume / (-area * (1.0f64 - absorption).ln());
        let early = median(heard.iter().map(|h| h.1.early_decay_s).collect());
        let late = median(heard.iter().map(|h| h.1.late_decay_s).collect());
        println!(
            "{absorption}: Sabine {sabine:.2} s, Eyring {eyring:.2} s; early {early:.2} s, late {late:.2} s at {} cubes",
            heard.len()
        );
        let middle = (sabine * eyring).sqrt();
        assert!((early / middle - 1.0).abs() < 0.2, "{absorption}: early {early} s for {sabine} s and {eyring} s");
        assert!((0.95..1.5).contains(&(late / middle)), "{absorption}: late {late} s for {sabine} s and {eyring} s");
    }
}

/// A thing far away, so that there is a scene, and else only air.
fn speck(at: Vec3) -> MaterialMesh {
    let mut mesh = eigentone_core::mesh::primitives::plate(0.02, 0.02, 2, 2);
    mesh.positions.iter_mut().for_each(|p| *p += at);
    MaterialMesh::of(mesh, "speck")
}

/// Outdoors the direct sound is that of the free field, to the edge of the cylinder.
#[test]
fn the_open_air_changes_nothing() {
    let mut scene = speck(Vec3::new(20.0, 0.0, 0.0));
    scene.append(&speck(Vec3::new(-20.0, 0.0, 0.0)));
    let settings = Settings { f_max_hz: 250.0, radius_m: 24.0, height_m: 20.0, margin_m: 20.0, ..Settings::default() };
    let acoustics = Acoustics::new(&scene, &[0.0], settings).expect("a scene");
    let field = simulate(&acoustics, Vec3::new(0.1, 0.2, 0.1));
    let heard = cubes(&acoustics, &field);
    let mut farthest = 0.0f64;
    for (at, p) in &heard {
        let away = at.length();
        if away > 3.0 {
            assert!(p.direct_db.abs() < 0.5, "{} dB at {away} m", p.direct_db);
            // The sponge returns a twentieth at most.
            assert!(p.early_db < -25.0 - 20.0 * away.log10(), "early {} dB at {away} m", p.early_db);
            // Most at the rim, where the sponge right behind returns some of the lowest octave.
            assert!(p.tilt_db.abs() < 0.6, "tilt {}", p.tilt_db);
            farthest = farthest.max(away);
        }
    }
    assert!(farthest > 24.0 && heard.len() > 500, "{farthest} m, {}", heard.len());
}

/// A wall shadows as Maekawa measured: 10 log (3 + 20 N), N the detour in half wavelengths.
#[test]
fn a_wall_shadows_as_maekawa_says() {
    let mut scene = MaterialMesh::default();
    let mut wall = eigentone_core::mesh::primitives::cuboid(Vec3::new(0.5, 60.0, 6.0), [1; 3]);
    wall.positions.iter_mut().for_each(|p| *p += Vec3::new(0.0, 0.0, 3.0));
    scene.append(&MaterialMesh::of(wall, "wall"));
    let ground = Some(Ground { z_m: 0.0, absorption: 1.0 });
    let settings = Settings {
        f_max_hz: 250.0,
        radius_m: 26.0,
        height_m: 26.0,
        margin_m: 20.0,
        grid_m: 1.5,
        ground,
        ..Settings::default()
    };
    let acoustics = Acoustics::new(&scene, &[0.0], settings).expect("a scene");
    let from = Vec3::new(-6.0, 0.0, 3.0);
    let field = simulate(&acoustics, from);
    let edge = Vec3::new(0.0, 0.0, 6.0);
    let mut errors = Vec::new();
    let mut depths = Vec::new();
    for (at, p) in cubes(&acoustics, &field) {
        if at.y.abs() > 1.0 || at.x < 2.5 || at.x > 18.0 || at.z > 5.0 {
            continue;
        }
        let detour = (edge - from).length() + (at - edge).length() - (at - from).length();
        // In the mean over the three octaves that the level is a mean of.
        let octaves = [44.0, 88.0, 177.0].map(|hz| 10.0 * (3.0 + 20.0 * 2.0 * detour * hz / SOUND_M_S).log10());
        let maekawa = octaves.iter().sum::<f64>() / 3.0;
        errors.push(-p.direct_db - maekawa);
        depths.push((detour, -p.direct_db));
    }
    assert!(errors.len() > 15, "{}", errors.len());
    let typical = median(errors.iter().map(|e| e.abs()).collect());
    println!(
        "{} points, median error {typical:.2} dB, mean {:.2} dB",
        errors.len(),
        errors.iter().sum::<f64>() / errors.len() as f64
    );
    assert!(typical < 3.0, "{typical} dB");
    depths.sort_by(|a, b| a.0.total_cmp(&b.0));
    let third = depths.len() / 3;
    let mean = |x: &[(f64, f64)]| x.iter().map(|d| d.1).sum::<f64>() / x.len() as f64;
    assert!(mean(&depths[2 * third..]) > mean(&depths[..third]) + 1.0, "deeper is quieter");
}

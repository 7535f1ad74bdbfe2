use super::*;
use eigentone_core::mesh::primitives;
use eigentone_core::{Noise, TriMesh};
use eigentone_sim::rigid::{Mass, RigidError};

/// A tetrahedron with corners at the origin and along the axes.
fn corner(size: Vec3) -> TriMesh {
    let positions = vec![Vec3::ZERO, Vec3::X * size.x, Vec3::Y * size.y, Vec3::Z * size.z];
    TriMesh { positions, triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] }
}

fn scaled(mut mesh: TriMesh, scale: Vec3, offset: Vec3) -> TriMesh {
    mesh.positions.iter_mut().for_each(|p| *p = *p * scale + offset);
    mesh
}

/// Triangles anywhere.
fn soup(seed: u64, triangles: u32, size: f64) -> TriMesh {
    let mut noise = Noise::new(seed);
    let mut point = || Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar()) * size;
    TriMesh {
        positions: (0..3 * triangles).map(|_| point()).collect(),
        triangles: (0..triangles).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
    }
}

fn zoo() -> Vec<(String, TriMesh)> {
    let mut zoo = Vec::new();
    let forms = [
        ("tetrahedron", corner(Vec3::ONE)),
        ("box", primitives::cuboid(Vec3::ONE, [1, 1, 1])),
        ("bowl", primitives::bowl(1.0, 12, 6)),
        ("ring", primitives::ring(1.0, 0.2, 12, 6)),
        ("sheet and point", {
            let mut mesh = primitives::plate(1.0, 1.0, 3, 3);
            let far = mesh.positions.len() as u32;
            mesh.positions.push(Vec3::Z);
            mesh.triangles.push([far, far, far]);
            mesh
        }),
        (
            "triangle and point",
            TriMesh { positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], triangles: vec![[0, 1, 2], [3, 3, 3]] },
        ),
        (
            "point and unused vertices",
            TriMesh { positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], triangles: vec![[3, 3, 3]] },
        ),
        (
            "needle triangle and unused vertices",
            TriMesh { positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], triangles: vec![[0, 3, 3]] },
        ),
    ];
    for (name, mesh) in forms {
        for size in [1e3, 1e-2, 1e-4, 1e-6] {
            zoo.push((format!("{name} of {size} m"), scaled(mesh.clone(), Vec3::splat(size), Vec3::ZERO)));
        }
        for thin in [1e-2, 1e-4] {
            let flat = Vec3::new(0.1, 0.1, 0.1 * thin);
            zoo.push((format!("{name} flattened to {thin}"), scaled(mesh.clone(), flat, Vec3::ZERO)));
            let needle = Vec3::new(0.1, 0.1 * thin, 0.1 * thin);
            zoo.push((format!("{name} stretched to a needle of {thin}"), scaled(mesh.clone(), needle, Vec3::ZERO)));
        }
        for far in [1e4, 9e5] {
            zoo.push((format!("{name} at {far} m"), scaled(mesh.clone(), Vec3::splat(0.1), Vec3::splat(far))));
        }
    }
    for seed in 0..6 {
        zoo.push((format!("soup {seed}"), soup(seed, 1 + 3 * seed as u32, 0.1)));
        zoo.push((format!("small soup {seed}"), soup(seed, 2 + seed as u32, 1e-4)));
    }
    zoo
}

/// Whatever the mesh, a body is made of it or there is an error that says what to do; what is made falls as a body does.
#[test]
fn no_mesh_is_too_strange_to_be_answered() {
    let (mut made, mut refused) = (0, 0);
    for (name, mesh) in zoo() {
        for shape in [Shape::Decomposed(&mesh), Shape::Hull(&mesh)] {
            let mut world = world_with_floor(0.5, 0.3);
            let spec = BodySpec { mass: Mass::Kg(0.1), position: Vec3::new(0.0, 0.0, 0.2), ..BodySpec::new(shape) };
            match world.add(&spec) {
                Ok(body) => {
                    made += 1;
                    for _ in 0..3 {
                        assert!(world.step().is_sane(1000), "{name}");
                    }
                    assert!(world.velocity(body).unwrap().is_finite(), "{name}");
                }
                Err(error) => {
                    refused += 1;
                    assert!(
                        matches!(error, RigidError::Flat | RigidError::Mesh { .. } | RigidError::NotFinite { .. }),
                        "{name}: {error}"
                    );
                }
            }
        }
    }
    println!("{made} made, {refused} refused");
    assert!(made > 60, "{made}");
}

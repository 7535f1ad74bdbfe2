//! From `[[soft]]` to tetrahedra with a material, in their place.

use super::{Pin, Soft};
use crate::Error;
use crate::scene::{Rotation, Scene, Shape, make};
use eigentone_core::mesh::thickened;
use eigentone_core::{TetMesh, TriMesh, Vec3};
use eigentone_modal::Progress;
use eigentone_modal::solid::stuffing::{StuffingSettings, TetQuality, stuff};
use eigentone_sim::soft::{SoftBody, SoftMaterial};
use glam::DQuat;

/// A soft body, and how good its tetrahedra are.
pub struct MadeSoft {
    pub body: SoftBody,
    /// Where its nodes are at the beginning, if not at rest.
    pub stretched: Option<Vec<Vec3>>,
    pub quality: TetQuality,
    pub warnings: Vec<String>,
}

/// Makes a body.
pub fn body(scene: &Scene, soft: &Soft, progress: &Progress<'_>) -> Result<MadeSoft, Error> {
    let bad = |message: String| Error::Scene {
        file: scene.file.clone(),
        message: format!("soft body `{}`: {message}", soft.name),
    };
    let material = material(scene, soft)?;
    let (mut mesh, quality, warnings) = match &soft.tets {
        Some(file) => {
            let import = eigentone_io::read_tet(&scene.resolve(file)?)?;
            let mut mesh = import.mesh;
            mesh.positions.iter_mut().for_each(|p| *p *= soft.scale);
            let quality = TetQuality::of(&mesh, None);
            let lost = (import.degenerate > 0)
                .then(|| format!("{} tetrahedra without volume were left out", import.degenerate));
            (without_loose_nodes(&mesh), quality, lost.into_iter().collect())
        }
        None => {
            let surface = surface(scene, soft)?;
            let settings = match soft.size_m {
                Some(size_m) => StuffingSettings { size_m, ..StuffingSettings::default() },
                None => StuffingSettings::for_tets(&surface, soft.elements),
            };
            let settings = StuffingSettings { coarser: soft.coarser, ..settings };
            let stuffed = stuff(&surface, &settings, progress).map_err(|e| bad(e.to_string()))?;
            (stuffed.mesh, stuffed.quality, stuffed.warnings)
        }
    };
    let stretch = Vec3::ONE + Vec3::from_array(soft.stretch);
    let pinned = (0..mesh.positions.len() as u32)
        .filter(|&n| soft.pinned.iter().any(|pin| holds(pin, mesh.positions[n as usize] * stretch)))
        .collect();
    let rotation = turned(&soft.rotation);
    let place = |p: Vec3| rotation * p + Vec3::from_array(soft.position);
    let stretched = (soft.stretch != [0.0; 3]).then(|| mesh.positions.iter().map(|p| place(*p * stretch)).collect());
    mesh.positions.iter_mut().for_each(|p| *p = place(*p));
    let body = SoftBody {
        velocity_m_s: Vec3::from_array(soft.velocity),
        spin_rad_s: Vec3::from_array(soft.spin),
        pinned,
        friction: soft.friction,
        ..SoftBody::new(soft.name.clone(), mesh, material)
    };
    let warnings = warnings.into_iter().map(|w| format!("soft body `{}`: {w}", soft.name)).collect();
    Ok(MadeSoft { body, stretched, quality, warnings })
}

/// As a rotation.
pub fn turned(rotation: &Rotation) -> DQuat {
    DQuat::from_array(rotation.quaternion()).normalize()
}

fn holds(pin: &Pin, p: Vec3) -> bool {
    match *pin {
        Pin::Box { low, high } => p.cmpge(Vec3::from_array(low)).all() && p.cmple(Vec3::from_array(high)).all(),
        Pin::Beyond(radius) => p.truncate().length() > radius,
        Pin::BeyondBox([x, y]) => p.x.abs() > x || p.y.abs() > y,
    }
}

/// The closed surface to fill.
fn surface(scene: &Scene, soft: &Soft) -> Result<TriMesh, Error> {
    let mesh = match soft.shape {
        // The mesher finds flat faces by itself; round ones should be as fine as what fills them.
        Shape::Sphere(radius) => eigentone_core::mesh::primitives::sphere(radius, 64, 32),
        _ => make::mesh_of(scene, &soft.shape, soft.scale)?,
    };
    Ok(match soft.thickness_m {
        Some(thickness_m) => thickened(&mesh, thickness_m),
        None => mesh,
    })
}

/// The material of the table, with what the scene says of it.
fn material(scene: &Scene, soft: &Soft) -> Result<SoftMaterial, Error> {
    let bad = |e: &dyn std::fmt::Display| Error::Scene {
        file: scene.file.clone(),
        message: format!("soft body `{}`: {e}", soft.name),
    };
    let table = make::materials(scene)?;
    let base = table.get(&soft.material).map_err(|e| bad(&e))?;
    let plain = SoftMaterial {
        young_pa: soft.young.unwrap_or(base.young_pa),
        poisson: soft.poisson.unwrap_or(base.poisson.min(0.48)),
        density_kg_m3: soft.density.unwrap_or(base.density_kg_m3),
        ..SoftMaterial::default()
    };
    // Not its γ, which stands for how things are held when they are struck: it would brake a free fall.
    let mut material = plain.with_rayleigh(0.0, base.eta_s);
    material.phi_pa_s = soft.phi.unwrap_or(material.phi_pa_s);
    material.psi_pa_s = soft.psi.unwrap_or(material.psi_pa_s);
    material.gamma_per_s = soft.gamma.unwrap_or(material.gamma_per_s);
    material.check().map_err(|e| bad(&e))?;
    Ok(material)
}

/// A file may list points that no tetrahedron uses.
fn without_loose_nodes(mesh: &TetMesh) -> TetMesh {
    let mut number = vec![None; mesh.positions.len()];
    let mut positions = Vec::new();
    let tets = mesh.tets.iter().map(|tet| {
        tet.map(|n| {
            *number[n as usize].get_or_insert_with(|| {
                positions.push(mesh.positions[n as usize]);
                positions.len() as u32 - 1
            })
        })
    });
    let tets = tets.collect();
    TetMesh { positions, tets }
}

//! A mesh made ready: repaired, its largest pieces kept, all triangles facing outward.

use super::MeshModelError;
use eigentone_core::mesh::repair::RepairReport;
use eigentone_core::{ModelInfo, TriMesh};

/// Largest body, by the diagonal of its box. Almost always a larger one is a file in other units.
pub(super) const LARGEST_BODY_M: f64 = 50.0;

/// More pieces than this are too many to ring one by one; the smallest are left out.
const MAX_COMPONENTS: usize = 64;

pub(super) fn prepared(mesh: &TriMesh, info: &mut ModelInfo) -> Result<TriMesh, MeshModelError> {
    let mut mesh = mesh.clone();
    let repair = mesh.repair()?;
    if mesh.diagonal() > LARGEST_BODY_M {
        return Err(MeshModelError::TooLarge { size_m: mesh.diagonal() });
    }
    info.warnings.extend(describe_repair(&repair));
    keep_largest_components(&mut mesh, info);
    let turned = mesh.orient();
    if turned > 0 {
        info.notes.push(format!("turned {turned} triangles that faced the other way than their neighbours"));
    }
    let pieces = mesh.components().1;
    if pieces > 1 {
        info.notes.push(format!("{pieces} separate surfaces; those that do not touch ring on their own"));
    }
    if mesh.signed_volume() < 0.0 && mesh.report().watertight {
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        info.notes.push("the surface was inside out; its triangles were turned".to_owned());
    }
    Ok(mesh)
}

fn describe_repair(report: &RepairReport) -> Option<String> {
    let parts: Vec<String> = [
        (report.degenerate_triangles, "degenerate triangles"),
        (report.duplicate_triangles, "duplicate triangles"),
        (report.unused_vertices, "unused vertices"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| format!("{n} {what}"))
    .collect();
    (!parts.is_empty()).then(|| format!("dropped {}", parts.join(", ")))
}

fn keep_largest_components(mesh: &mut TriMesh, info: &mut ModelInfo) {
    let (component, count) = mesh.components();
    if count <= MAX_COMPONENTS {
        return;
    }
    let mut areas: Vec<(f64, u32)> = (0..count as u32).map(|c| (0.0, c)).collect();
    for t in 0..mesh.triangles.len() {
        areas[component[mesh.triangles[t][0] as usize] as usize].0 += mesh.triangle_area(t);
    }
    areas.sort_by(|a, b| b.0.total_cmp(&a.0));
    let kept: Vec<u32> = areas[..MAX_COMPONENTS].iter().map(|a| a.1).collect();
    let lost: f64 = areas[MAX_COMPONENTS..].iter().map(|a| a.0).sum();
    info.warnings.push(format!(
        "the mesh has {count} separate pieces; kept the {MAX_COMPONENTS} largest ({:.1} % of the area)",
        100.0 * (1.0 - lost / mesh.area())
    ));
    mesh.triangles.retain(|t| kept.contains(&component[t[0] as usize]));
    mesh.drop_unused_vertices();
}

//! Walls along a surface: on even triangles by finite elements, or by springs along the mesh as it is.

use super::{MeshModelError, MeshModelSettings, solve_band};
use crate::audible::ModeCount;
use crate::eigen::{self, Band};
use crate::finish::Undamped;
use crate::shell::{ShellProperties, ThicknessField, assemble_held};
use crate::springs::{self, ShellSettings};
use crate::{Detail, ModeLimit, Progress};
use eigentone_core::mesh::RemeshSettings;
use eigentone_core::{Grain, Material, Method, ModelInfo, TriMesh, Vec3};
use std::f64::consts::TAU;

/// A thin wall.
pub(super) struct Wall {
    pub mesh: TriMesh,
    pub thickness: ThicknessField,
    pub stiffening: Option<Vec<f64>>,
    pub median_m: f64,
    /// Length of the mesh's edges, if it is even already.
    pub edge_m: Option<f64>,
    pub method: Method,
}

/// Vertices that a compact body has at least, so that its curvature is followed whatever its waves need.
const FEWEST_VERTICES: f64 = 900.0;

/// `√(D/ρt)` of a plate in m²/s: the geometric mean over its two directions, if it has a grain.
fn bending_q(material: &Material, thickness_m: f64) -> f64 {
    let wall = [Vec3::X, Vec3::Y, Vec3::Z];
    let c = material.plane_stress(&wall, &Grain::default()).stiffness_pa;
    thickness_m * ((c[0][0] * c[1][1]).sqrt() / (12.0 * material.density_kg_m3)).sqrt()
}

/// Edges per bending wave at the highest frequency: with eight its frequency is within 5 %, with six within 9 % (flat plates; lower modes are far
/// better).
fn edges_per_wave(detail: Detail) -> f64 {
    match detail {
        Detail::Draft => 6.0,
        Detail::Normal | Detail::Fine => 8.0,
    }
}

impl Wall {
    /// Where the modes of a wall of this area and thickness end.
    pub fn limit(
        area_m2: f64,
        thickness_m: f64,
        material: &Material,
        settings: &MeshModelSettings,
        reach: f64,
    ) -> ModeLimit {
        let count = ModeCount::plate(area_m2, bending_q(material, thickness_m));
        settings.detail.limit(&count, settings.highest_hz / settings.frequency_scale, settings.max_modes, reach)
    }

    /// Edges as long as bending waves at a frequency allow.
    pub fn edge_m(
        area_m2: f64,
        thickness_m: f64,
        material: &Material,
        settings: &MeshModelSettings,
        highest_hz: f64,
    ) -> f64 {
        let wave_m = (TAU * bending_q(material, thickness_m) / highest_hz).sqrt();
        let by_size = (1.155 * area_m2 / FEWEST_VERTICES).sqrt();
        (wave_m / edges_per_wave(settings.detail)).min(by_size)
    }

    /// Vertices that a detail is worth; the further one has to go, the more.
    pub fn max_vertices(settings: &MeshModelSettings, reach: f64) -> usize {
        let by_detail = match settings.detail {
            Detail::Draft => 1450.0,
            Detail::Normal => 2900.0,
            Detail::Fine => f64::INFINITY,
        };
        (reach * by_detail).min(settings.max_vertices as f64) as usize
    }

    pub fn solve(
        self,
        material: &Material,
        settings: &MeshModelSettings,
        reach: f64,
        progress: &Progress<'_>,
        info: &mut ModelInfo,
    ) -> Result<(Undamped, ModeLimit), MeshModelError> {
        info.method = self.method;
        let area = self.mesh.area();
        let mut limit = Self::limit(area, self.median_m, material, settings, reach);
        let wanted_m = Self::edge_m(area, self.median_m, material, settings, limit.highest_hz);
        let (mesh, edge_m) = match self.edge_m {
            Some(edge_m) => (self.mesh, edge_m),
            None => {
                progress.report("triangles", 0.0);
                let remesh = RemeshSettings {
                    edge_m: wanted_m,
                    max_vertices: Self::max_vertices(settings, reach),
                    ..Default::default()
                };
                let even = self.mesh.remesh_isotropic(&remesh);
                progress.report("triangles", 1.0);
                (even.mesh, even.edge_m)
            }
        };
        let wave_m = edges_per_wave(settings.detail) * edge_m;
        let carried_hz = TAU * bending_q(material, self.median_m) / (wave_m * wave_m);
        if carried_hz < 0.98 * limit.highest_hz {
            limit.modes *= carried_hz / limit.highest_hz;
            limit = ModeLimit { highest_hz: carried_hz, cut: true, ..limit };
            info.warnings.push(format!(
                "{} vertices carry bending waves up to {:.0} Hz; modes above are left out",
                mesh.positions.len(),
                carried_hz * settings.frequency_scale
            ));
        }
        let properties =
            ShellProperties { material, grain: settings.grain, thickness: self.thickness, stiffening: self.stiffening };
        let body = assemble_held(&mesh, &properties, &settings.supports)?;
        info.mass_kg = Some(body.mass_kg);
        let most = limit.most + body.rigid_motions;
        let band = Band { upper: (TAU * limit.highest_hz).powi(2), most };
        let pairs = eigen::solve(&body.pencil, band, progress)?;
        let values = body.with_transverse_shear(&pairs);
        let limit = limit.solved(&values, most);
        info.notes.extend(limit.note());
        let shapes = body.translations(&pairs.vectors);
        let all = Undamped::new(values, shapes, mesh, &body.pencil, body.rigid_motions);
        Ok((all.thin_sites(settings.max_sites), limit))
    }
}

/// Point masses and springs along the mesh, refined or thinned as the settings say.
pub(super) fn solve_springs(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    thickness_m: f64,
    progress: &Progress<'_>,
    info: &mut ModelInfo,
) -> Result<(Undamped, ModeLimit), MeshModelError> {
    info.method = Method::Springs;
    let mut mesh = mesh.clone();
    if mesh.positions.len() > settings.max_vertices {
        let before = mesh.positions.len();
        mesh.simplify(settings.max_vertices);
        info.notes.push(format!("thinned from {before} to {} vertices", mesh.positions.len()));
    }
    if settings.refine_vertices > 0 {
        // Longest edges up to a third above the mean that is needed.
        let edge_m = 1.3 * springs::edge_for_limit_m(settings.highest_hz, material, thickness_m);
        mesh.refine(edge_m, settings.refine_vertices);
    }
    let limit = springs::mesh_limit_hz(mesh.report().mean_edge_m, material, thickness_m);
    let highest_hz = if settings.refine_vertices > 0 { settings.highest_hz.min(limit) } else { settings.highest_hz };
    if limit < settings.highest_hz {
        let fate = if settings.refine_vertices > 0 { "left out" } else { "only indicative" };
        info.warnings.push(format!(
            "{} vertices carry bending waves up to {limit:.0} Hz; modes above are {fate}",
            mesh.positions.len()
        ));
    }
    let shell = ShellSettings { thickness_m, springs: settings.springs, bending: true };
    let pencil = springs::assemble(&mesh, material, &shell)?;
    info.mass_kg = Some(pencil.total_mass());
    let pairs = solve_band(&pencil, settings, highest_hz, progress)?;
    let expected_rigid = 6 * pencil.components().len();
    let all = Undamped::new(pairs.values, pairs.vectors, mesh, &pencil, expected_rigid);
    let end = ModeLimit {
        highest_hz: highest_hz / settings.frequency_scale,
        modes: settings.max_modes as f64,
        most: settings.max_modes,
        dense_from_hz: None,
        cut: highest_hz < settings.highest_hz,
    };
    Ok((all.thin_sites(settings.max_sites), end))
}

//! What a body is modelled as, and why.

use super::surface::Wall;
use super::{MeshModelError, MeshModelSettings, MethodChoice};
use crate::body_kind::{BodyKind, KindReport, body_kind};
use crate::finish::Undamped;
use crate::shell::ThicknessField;
use crate::solid::distance::DistanceTree;
use crate::solid::element::Elasticity;
use crate::solid::model::{SolidLimits, SolidPlan};
use crate::solid::probe::probe;
use crate::walls::{WallSettings, middle_surface};
use crate::{ModeLimit, Progress};
use eigentone_core::material::rotate_voigt;
use eigentone_core::{Material, Method, ModelInfo, TriMesh};
use std::f64::consts::PI;

/// How a body is modelled.
pub(super) enum Plan {
    /// A wall along a surface.
    Shell(Box<Wall>),
    /// Springs along the mesh.
    Springs { thickness_m: f64 },
    /// Cells that fill it.
    Solid(Box<SolidPlan>),
}

/// Wall of an open surface whose thickness nobody said, as a share of its size.
const USUAL_WALL: f64 = 0.01;

/// Walls thicker than this share of the radius of a ball of their area are modelled as a solid where cells resolve them. A bell with walls of a tenth came out up to
/// 8.6 % low as a thin shell; cups, pans and boxes of a twentieth are within 1.5 %.
const THICK_WALL: f64 = 0.07;

/// Decides, and says why in one sentence.
pub(super) fn choose(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    reach: f64,
    info: &mut ModelInfo,
) -> Result<Plan, MeshModelError> {
    match settings.method {
        MethodChoice::Springs => Ok(Plan::Springs { thickness_m: thickness_of(mesh, settings, info) }),
        MethodChoice::Shell => Ok(along(mesh, thickness_of(mesh, settings, info))),
        MethodChoice::Walls => {
            let wall = walls(mesh, material, settings, reach)?;
            info.notes.push(describe(&wall));
            Ok(Plan::Shell(Box::new(wall)))
        }
        MethodChoice::Solid => solid(mesh, material, settings, reach),
        MethodChoice::Auto => automatic(mesh, material, settings, reach, info),
    }
}

fn automatic(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    reach: f64,
    info: &mut ModelInfo,
) -> Result<Plan, MeshModelError> {
    let report = body_kind(mesh);
    if report.kind == BodyKind::OpenShell {
        info.notes.push(report.reason);
        return Ok(along(mesh, thickness_of(mesh, settings, info)));
    }
    let mut no_walls = None;
    if report.kind == BodyKind::Walls {
        let thick = report.median_m > THICK_WALL * (0.5 * mesh.area() / (4.0 * PI)).sqrt();
        if thick
            && settings.thickness_m.is_none()
            && let Ok(plan) = solid(mesh, material, settings, reach)
        {
            info.notes.push(format!(
                "solid: walls of {:.2} mm are too thick for thin-shell theory in a body of this size, and cells resolve them",
                1e3 * report.median_m
            ));
            return Ok(plan);
        }
        match walls(mesh, material, settings, reach) {
            Ok(wall) => {
                info.notes.push(describe(&wall));
                return Ok(Plan::Shell(Box::new(wall)));
            }
            Err(why) => no_walls = Some(why.to_string()),
        }
    }
    if let Some(thickness_m) = settings.thickness_m {
        info.notes.push("a shell along the surface, because a thickness was given".to_owned());
        return Ok(along(mesh, thickness_m));
    }
    match solid(mesh, material, settings, reach) {
        Ok(plan) => {
            info.notes.push(no_walls.map_or(report.reason, |why| format!("solid: {why}")));
            Ok(plan)
        }
        // Neither cells nor a middle surface: both skins, each with half of the wall between them.
        Err(MeshModelError::TooThin { unknowns, .. }) => Ok(skins(mesh, &report, unknowns, info)),
        Err(MeshModelError::NotClosed { .. }) => {
            info.notes.push("an open shell: too little of the surface has an inside".to_owned());
            Ok(along(mesh, thickness_of(mesh, settings, info)))
        }
        Err(other) => Err(other),
    }
}

fn skins(mesh: &TriMesh, report: &KindReport, unknowns: usize, info: &mut ModelInfo) -> Plan {
    let volume = mesh.signed_volume().abs();
    info.warnings.push(format!(
        "its walls have no single middle surface and would need about {unknowns} unknowns as a solid, so that both skins were modelled as shells of the same \
         mass: expect frequencies tens of percent off ({})",
        report.reason
    ));
    along(mesh, (volume / mesh.area()).max(1e-6 * mesh.diagonal()))
}

fn describe(wall: &Wall) -> String {
    format!("walls {:.2} mm thick in the median, modelled along their middle surface", 1e3 * wall.median_m)
}

/// A wall of one thickness along the mesh.
fn along(mesh: &TriMesh, thickness_m: f64) -> Plan {
    Plan::Shell(Box::new(Wall {
        mesh: mesh.clone(),
        thickness: ThicknessField::Uniform(thickness_m),
        stiffening: None,
        median_m: thickness_m,
        edge_m: None,
        method: Method::Shell,
    }))
}

/// The thickness that was given, or one that a surface of this size may have.
fn thickness_of(mesh: &TriMesh, settings: &MeshModelSettings, info: &mut ModelInfo) -> f64 {
    if let Some(given) = settings.thickness_m {
        return given;
    }
    let thickness = USUAL_WALL * mesh.diagonal();
    info.warnings.push(format!("no thickness given; took {:.2} mm, a hundredth of the size", 1e3 * thickness));
    thickness
}

/// The middle surface of a body of thin walls.
fn walls(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    reach: f64,
) -> Result<Wall, MeshModelError> {
    let report = body_kind(mesh);
    let highest_hz = settings.highest_hz / settings.frequency_scale;
    let limit = Wall::limit(0.5 * mesh.area(), report.median_m, material, settings, reach);
    let edge_m = report.median_m.is_finite().then(|| {
        Wall::edge_m(0.5 * mesh.area(), report.median_m, material, settings, limit.highest_hz.min(highest_hz))
    });
    let max_vertices = Wall::max_vertices(settings, reach);
    let middle = middle_surface(mesh, material, &WallSettings { highest_hz: limit.highest_hz, edge_m, max_vertices })?;
    let thickness = match settings.thickness_m {
        Some(given) => ThicknessField::Uniform(given),
        None => ThicknessField::PerTriangle(middle.thickness_m),
    };
    Ok(Wall {
        mesh: middle.mesh,
        thickness,
        stiffening: Some(middle.stiffness),
        median_m: settings.thickness_m.unwrap_or(middle.median_m),
        edge_m: Some(middle.edge_m),
        method: Method::Walls,
    })
}

fn solid(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    reach: f64,
) -> Result<Plan, MeshModelError> {
    let tree = DistanceTree::new(mesh);
    let look = probe(mesh, &tree);
    if !look.closed() {
        return Err(MeshModelError::NotClosed { share: look.inside_share });
    }
    let limits = solid_limits(settings, reach);
    let plan = SolidPlan::new(mesh, &elasticity(material, settings), &limits, &tree, &look, &Progress::silent())?;
    Ok(Plan::Solid(Box::new(plan)))
}

fn solid_limits(settings: &MeshModelSettings, reach: f64) -> SolidLimits {
    SolidLimits {
        detail: settings.detail,
        reach,
        highest_hz: settings.highest_hz / settings.frequency_scale,
        max_modes: settings.max_modes,
        max_sites: settings.max_sites,
        cell_m: settings.cell_m,
        max_unknowns: settings.max_unknowns,
    }
}

/// What a solid of this material is made of, in the world's axes.
pub(super) fn elasticity(material: &Material, settings: &MeshModelSettings) -> Elasticity {
    Elasticity {
        stiffness_pa: rotate_voigt(&material.stiffness_voigt(), &settings.grain.axes()),
        density_kg_m3: material.density_kg_m3,
    }
}

impl Plan {
    pub fn solve(
        self,
        mesh: &TriMesh,
        material: &Material,
        settings: &MeshModelSettings,
        reach: f64,
        progress: &Progress<'_>,
        info: &mut ModelInfo,
    ) -> Result<(Undamped, ModeLimit), MeshModelError> {
        match self {
            Self::Shell(wall) => wall.solve(material, settings, reach, progress, info),
            Self::Springs { thickness_m } => {
                super::surface::solve_springs(mesh, material, settings, thickness_m, progress, info)
            }
            Self::Solid(plan) => {
                info.method = Method::Solid;
                let limits = solid_limits(settings, reach);
                let elasticity = elasticity(material, settings);
                let solid = plan.solve(mesh, &elasticity, &limits, &settings.supports, progress)?;
                info.mass_kg = Some(solid.mass_kg);
                info.notes.extend(solid.notes);
                info.warnings.extend(solid.warnings);
                let all = Undamped::new(solid.values, solid.shapes, solid.surface, &solid.pencil, solid.rigid_motions);
                Ok((all, solid.limit))
            }
        }
    }
}

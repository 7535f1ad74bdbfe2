//! From a mesh and a material to a model: chooses the method, runs it, and keeps what can be heard.

use crate::eigen::{self, Band, EigenError, Eigenpairs};
use crate::shell::{self, ShellSettings, Springs};
use crate::solid::cells::{CellBody, Cells, Grid};
use crate::solid::distance::DistanceTree;
use crate::solid::frame::Frame;
use crate::solid::probe::{Probe, probe};
use crate::solid::tets;
use crate::{Progress, finish::Undamped};
use eigentone_core::material::DampingLaw;
use eigentone_core::mesh::repair::{MeshError, RepairReport};
use eigentone_core::{Material, Method, ModalModel, ModelInfo, TetMesh, TriMesh, Vec3};
use faer::Mat;
use std::f64::consts::TAU;
use thiserror::Error;

/// How to look at a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MethodChoice {
    /// Solid if the surface closes and its walls are thick enough, shell otherwise.
    #[default]
    Auto,
    /// A thin shell along the surface.
    Shell,
    /// The filled inside of the surface.
    Solid,
}

/// Everything that shapes a model besides mesh and material. The defaults suit objects of everyday size.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshModelSettings {
    /// A name for the model.
    pub name: String,
    /// Shell or solid.
    pub method: MethodChoice,
    /// Thickness of a shell in metres. If not given, the measured wall, or a hundredth of the size of an open surface.
    pub thickness_m: Option<f64>,
    /// Stiffness of a shell's edges.
    pub springs: Springs,
    /// Which damping law of the material to use.
    pub damping: DampingLaw,
    /// Lowest frequency kept, in Hz.
    pub lowest_hz: f64,
    /// Highest frequency kept, in Hz.
    pub highest_hz: f64,
    /// At most this many modes, the lowest.
    pub max_modes: usize,
    /// At most this many contact sites.
    pub max_sites: usize,
    /// Split the triangles of a shell until its mesh can carry `highest_hz`, up to this many vertices; 0 leaves it as it is.
    pub refine_vertices: usize,
    /// A shell with more vertices than this is thinned first.
    pub max_vertices: usize,
    /// Edge of a solid's cells in metres; chosen by size, wall and frequency if not given.
    pub cell_m: Option<f64>,
    /// Solids with more unknowns than this get coarser cells, or become shells.
    pub max_unknowns: usize,
    /// Multiplies all frequencies (and so stands for an unknown stiffness): `λ → s²λ`.
    pub frequency_scale: f64,
}

impl Default for MeshModelSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            method: MethodChoice::Auto,
            thickness_m: None,
            springs: Springs::AreaWeighted,
            damping: DampingLaw::Rayleigh,
            lowest_hz: *eigentone_core::AUDIBLE_HZ.start(),
            highest_hz: *eigentone_core::AUDIBLE_HZ.end(),
            max_modes: 2000,
            max_sites: 1024,
            refine_vertices: 2500,
            max_vertices: 6000,
            cell_m: None,
            max_unknowns: 45_000,
            frequency_scale: 1.0,
        }
    }
}

/// Why no model could be made.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MeshModelError {
    /// The mesh cannot be used.
    #[error("{0}")]
    Mesh(#[from] MeshError),
    /// The eigensolver gave up.
    #[error("{0}")]
    Eigen(#[from] EigenError),
    /// A setting makes no sense.
    #[error("{what} is {value}, but must be {expected}")]
    Setting {
        /// The setting.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// `solid` was asked for, but there is no inside.
    #[error("the surface does not close ({:.0} % of it has an inside), so it cannot be a solid; make it a shell with a thickness", 100.0 * share)]
    NotClosed {
        /// Share of the surface that has an inside.
        share: f64,
    },
    /// `solid` was asked for, but the walls are too thin for any affordable cell.
    #[error(
        "walls of {wall_m:.2e} m need cells of {cell_m:.2e} m and about {unknowns} unknowns; make it a shell, allow larger cells, or more unknowns"
    )]
    TooThin {
        /// Wall.
        wall_m: f64,
        /// Cell that would do.
        cell_m: f64,
        /// What it would cost.
        unknowns: usize,
    },
    /// Nothing that rings is this large.
    #[error(
        "the body is {size_m:.0} m across, more than the {LARGEST_BODY_M} m that can be modelled; if it is in millimetres, scale it by 0.001"
    )]
    TooLarge {
        /// Size.
        size_m: f64,
    },
    /// Nothing can be heard.
    #[error("no mode lies between {lowest_hz} and {highest_hz} Hz{}", nearest_hz.map(|f| format!("; the nearest is at {f:.0} Hz")).unwrap_or_default())]
    Silent {
        /// Lower end of the band.
        lowest_hz: f64,
        /// Upper end.
        highest_hz: f64,
        /// The nearest mode outside it, if one was found.
        nearest_hz: Option<f64>,
    },
}

/// Largest body, by the diagonal of its box. Almost always a larger one is a file in other units.
const LARGEST_BODY_M: f64 = 50.0;

/// More pieces than this are too many to ring one by one; the smallest are left out.
const MAX_COMPONENTS: usize = 64;

/// Makes a model from a surface mesh. The mesh is repaired first; what that did, which method was chosen and why, and what was
/// left out is told in the model's notes and warnings.
///
/// # Errors
/// See [`MeshModelError`].
pub fn model_from_mesh(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    progress: &Progress<'_>,
) -> Result<ModalModel, MeshModelError> {
    check(settings)?;
    let mut mesh = mesh.clone();
    let repair = mesh.repair()?;
    if mesh.diagonal() > LARGEST_BODY_M {
        return Err(MeshModelError::TooLarge { size_m: mesh.diagonal() });
    }
    let mut info = ModelInfo::new(&settings.name, Method::Shell, &material.name);
    info.warnings.extend(describe_repair(&repair));
    keep_largest_components(&mut mesh, &mut info);
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
    let undamped = match choose(&mesh, material, settings, progress, &mut info)? {
        Plan::Shell { thickness_m } => solve_shell(&mesh, material, settings, thickness_m, progress, &mut info)?,
        Plan::Solid { cells, edge_m } => solve_cells(&mesh, material, settings, *cells, edge_m, progress, &mut info)?,
    };
    undamped.into_model(info, material, settings)
}

/// Makes a model from tetrahedra, with quadratic elements.
///
/// # Errors
/// See [`MeshModelError`].
pub fn model_from_tets(
    mesh: &TetMesh,
    material: &Material,
    settings: &MeshModelSettings,
    progress: &Progress<'_>,
) -> Result<ModalModel, MeshModelError> {
    check(settings)?;
    let mut mesh = mesh.clone();
    mesh.orient();
    let (mut surface, mut nodes) = mesh.boundary();
    surface.check()?;
    if surface.triangles.is_empty() {
        return Err(MeshError::Empty.into());
    }
    let mut info = ModelInfo::new(&settings.name, Method::Solid, &material.name);
    let body = tets::assemble(&mesh, material, tets::Order::Quadratic);
    info.mass_kg = Some(body.pencil.total_mass());
    let pairs = solve_band(&body.pencil, settings, settings.highest_hz, progress)?;
    let kept = surface.simplify(settings.max_sites);
    nodes = kept.iter().map(|&k| nodes[k as usize]).collect();
    let shapes = rows_of(&pairs.vectors, &nodes);
    let expected_rigid = 6 * body.pencil.components().len();
    Undamped::new(pairs.values, shapes, surface, &body.pencil, expected_rigid).into_model(info, material, settings)
}

fn check(settings: &MeshModelSettings) -> Result<(), MeshModelError> {
    let setting = |what, value, expected, good: bool| {
        if good { Ok(()) } else { Err(MeshModelError::Setting { what, value, expected }) }
    };
    if let Some(t) = settings.thickness_m {
        setting("thickness", t, "above 0 and at most 100 m", t > 0.0 && t <= 100.0)?;
    }
    if let Some(c) = settings.cell_m {
        setting("cell", c, "above 0 and at most 100 m", c > 0.0 && c <= 100.0)?;
    }
    let (low, high) = (settings.lowest_hz, settings.highest_hz);
    setting("the lowest frequency", low, "at least 1 Hz", low >= 1.0)?;
    setting("the highest frequency", high, "above the lowest and at most 96000 Hz", high > low && high <= 96_000.0)?;
    setting(
        "the frequency scale",
        settings.frequency_scale,
        "between 0.01 and 100",
        (0.01..=100.0).contains(&settings.frequency_scale),
    )?;
    setting(
        "the number of modes",
        settings.max_modes as f64,
        "between 1 and 20000",
        (1..=20_000).contains(&settings.max_modes),
    )?;
    setting(
        "the number of sites",
        settings.max_sites as f64,
        "between 4 and 65536",
        (4..=65_536).contains(&settings.max_sites),
    )
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

enum Plan {
    Shell { thickness_m: f64 },
    Solid { cells: Box<Cells>, edge_m: f64 },
}

/// Decides between shell and solid and says why.
fn choose(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    progress: &Progress<'_>,
    info: &mut ModelInfo,
) -> Result<Plan, MeshModelError> {
    if settings.method == MethodChoice::Shell
        || (settings.method == MethodChoice::Auto && settings.thickness_m.is_some())
    {
        if settings.method == MethodChoice::Auto {
            info.notes.push("shell, because a thickness was given".to_owned());
        }
        return Ok(Plan::Shell { thickness_m: shell_thickness(mesh, settings, None, info) });
    }
    let tree = DistanceTree::new(mesh);
    let look = probe(mesh, &tree);
    if !look.closed() {
        if settings.method == MethodChoice::Solid {
            return Err(MeshModelError::NotClosed { share: look.inside_share });
        }
        info.notes.push("shell, because the surface does not close".to_owned());
        return Ok(Plan::Shell { thickness_m: shell_thickness(mesh, settings, None, info) });
    }
    match solid_cells(mesh, material, settings, &tree, &look, progress, info) {
        Ok(plan) => {
            if settings.method == MethodChoice::Auto {
                info.notes.push("solid, because the surface closes and its walls are thick enough".to_owned());
            }
            Ok(plan)
        }
        Err(MeshModelError::TooThin { wall_m, unknowns, .. }) if settings.method == MethodChoice::Auto => {
            info.warnings.push(format!(
                "shell, because walls of {:.2} mm would need about {unknowns} unknowns as a solid",
                1e3 * wall_m
            ));
            Ok(Plan::Shell { thickness_m: shell_thickness(mesh, settings, Some(&look), info) })
        }
        Err(other) => Err(other),
    }
}

fn shell_thickness(mesh: &TriMesh, settings: &MeshModelSettings, look: Option<&Probe>, info: &mut ModelInfo) -> f64 {
    if let Some(given) = settings.thickness_m {
        return given;
    }
    let (thickness, why) = match look {
        // Both skins of a thin wall are in the mesh; each stands for half of it.
        Some(look) if look.median_m.is_finite() => (
            0.5 * look.median_m,
            "half the measured wall. The mesh has both skins of it, which are modelled as two shells: expect frequencies tens of percent off. Better: \
                                   model the middle surface with a thickness, or allow more unknowns",
        ),
        _ => (0.01 * mesh.diagonal(), "a hundredth of the size"),
    };
    info.warnings.push(format!("no thickness given; took {:.2} mm, {why}", 1e3 * thickness));
    thickness
}

/// Cells per body if nothing else asks for more: the first ten modes are then within half a percent.
const FEWEST_CELLS: f64 = 150.0;

/// Cells of the grid over the bounding box, at most; most of them are empty where walls are thin.
const MAX_GRID_CELLS: usize = 400_000;

/// A body that is as thick as its frame's shortest side: a flat plate. Quadratic cells may be longer than high there.
struct Slab {
    across: usize,
    longest_m: f64,
}

impl Slab {
    fn of(frame: &Frame, look: &Probe, material: &Material, highest_hz: f64) -> Option<Self> {
        let extent = frame.high - frame.low;
        let across = (0..3).min_by(|&a, &b| extent[a].total_cmp(&extent[b]))?;
        let thickness = extent[across];
        // Five quadratic cells for two bending waves, and no cell longer than four times its height.
        let edge_per_wave = 0.4 * 5.0 * shell::edge_for_limit_m(highest_hz, material, thickness);
        (thickness <= 1.3 * look.thin_m).then(|| Self { across, longest_m: edge_per_wave.min(4.0 * thickness) })
    }

    /// Edges of a cell that is `edge` high; along the plate no longer than `by_size` either.
    fn edges(&self, edge: f64, by_size: f64) -> Vec3 {
        let mut edges = Vec3::splat(edge.max(self.longest_m.min(by_size)));
        edges[self.across] = edge;
        edges
    }
}

/// Chooses the cells of a solid: small enough for the walls and the highest frequency, but no more than can be paid for.
fn solid_cells(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    tree: &DistanceTree,
    look: &Probe,
    progress: &Progress<'_>,
    info: &mut ModelInfo,
) -> Result<Plan, MeshModelError> {
    let frame = Frame::of(mesh);
    let (volume, area) = (mesh.signed_volume().abs(), mesh.area());
    // Cells inside and along the surface, about thirty unknowns each; right within a factor of 1.5.
    let slab = Slab::of(&frame, look, material, settings.highest_hz);
    let edges =
        |edge: f64| slab.as_ref().map_or(Vec3::splat(edge), |slab| slab.edges(edge, (volume / FEWEST_CELLS).cbrt()));
    let estimate = |edge: f64| {
        let size = edges(edge);
        30.0 * (volume / size.element_product() + 0.5 * area / (size.max_element() * size.max_element()))
    };
    let classify = |edge: f64| {
        let grid = Grid::new(frame, edges(edge));
        // Looking at cells that cannot be paid for takes longer than solving those that can.
        let hopeless = estimate(edge) > 1.5 * settings.max_unknowns as f64
            || grid.cells.iter().product::<usize>() > MAX_GRID_CELLS;
        (!hopeless).then(|| Cells::classify(grid, tree, progress))
    };
    let by_size = (volume / FEWEST_CELLS).cbrt();
    let by_wave = shear_speed(material) / (2.0 * settings.highest_hz);
    let by_wall = 1.25 * look.thin_m;
    let mut edge = settings.cell_m.unwrap_or(by_size.min(by_wave).min(by_wall));
    // Twice the wall still has eight sub-cells across it; beyond that a cell no longer sees the wall.
    let coarsest = settings.cell_m.unwrap_or((2.0 * look.thin_m).min(by_size.max(by_wall)));
    loop {
        let cells = classify(edge);
        let unknowns = cells.as_ref().map_or(estimate(edge).min(1e9) as usize, Cells::unknowns);
        match cells {
            Some(cells) if unknowns <= settings.max_unknowns && cells.count() > 0 => {
                let limit = cell_limit_hz(material, edge);
                if limit < settings.highest_hz {
                    info.warnings.push(format!(
                        "cells of {:.2} mm carry waves up to {limit:.0} Hz; modes above are left out",
                        1e3 * edge
                    ));
                }
                return Ok(Plan::Solid { cells: Box::new(cells), edge_m: edge });
            }
            _ if edge < coarsest => edge = (1.15 * edge).min(coarsest),
            _ => return Err(MeshModelError::TooThin { wall_m: look.thin_m, cell_m: edge, unknowns }),
        }
    }
}

fn shear_speed(material: &Material) -> f64 {
    (material.shear_pa() / material.density_kg_m3).sqrt()
}

/// The highest frequency at which a shear wave is still two quadratic cells long.
fn cell_limit_hz(material: &Material, edge_m: f64) -> f64 {
    // A hair of tolerance: cells chosen for a frequency carry it.
    1.001 * shear_speed(material) / (2.0 * edge_m)
}

fn solve_band(
    pencil: &eigen::Pencil,
    settings: &MeshModelSettings,
    highest_hz: f64,
    progress: &Progress<'_>,
) -> Result<Eigenpairs, MeshModelError> {
    let upper = (TAU * highest_hz / settings.frequency_scale).powi(2);
    // Rigid motions are found along with the modes that are wanted.
    let most = settings.max_modes + 6 * pencil.components().len();
    Ok(eigen::solve(pencil, Band { upper, most }, progress)?)
}

fn solve_shell(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    thickness_m: f64,
    progress: &Progress<'_>,
    info: &mut ModelInfo,
) -> Result<Undamped, MeshModelError> {
    let mut mesh = mesh.clone();
    if mesh.positions.len() > settings.max_vertices {
        let before = mesh.positions.len();
        mesh.simplify(settings.max_vertices);
        info.notes.push(format!("thinned from {before} to {} vertices", mesh.positions.len()));
    }
    if settings.refine_vertices > 0 {
        // Longest edges up to a third above the mean that is needed.
        mesh.refine(
            1.3 * shell::edge_for_limit_m(settings.highest_hz, material, thickness_m),
            settings.refine_vertices,
        );
    }
    let limit = shell::mesh_limit_hz(mesh.report().mean_edge_m, material, thickness_m);
    let highest_hz = if settings.refine_vertices > 0 { settings.highest_hz.min(limit) } else { settings.highest_hz };
    if limit < settings.highest_hz {
        let fate = if settings.refine_vertices > 0 { "left out" } else { "only indicative" };
        info.warnings.push(format!(
            "{} vertices carry bending waves up to {limit:.0} Hz; modes above are {fate}",
            mesh.positions.len()
        ));
    }
    let shell = ShellSettings { thickness_m, springs: settings.springs, bending: true };
    let pencil = shell::assemble(&mesh, material, &shell)?;
    info.mass_kg = Some(pencil.total_mass());
    let pairs = solve_band(&pencil, settings, highest_hz, progress)?;
    let expected_rigid = 6 * pencil.components().len();
    let all = Undamped::new(pairs.values, pairs.vectors, mesh, &pencil, expected_rigid);
    Ok(all.thin_sites(settings.max_sites))
}

fn solve_cells(
    mesh: &TriMesh,
    material: &Material,
    settings: &MeshModelSettings,
    cells: Cells,
    edge_m: f64,
    progress: &Progress<'_>,
    info: &mut ModelInfo,
) -> Result<Undamped, MeshModelError> {
    info.method = Method::Solid;
    let body = cells.assemble(material, progress);
    info.mass_kg = Some(body.pencil.total_mass());
    let pairs = solve_band(&body.pencil, settings, settings.highest_hz.min(cell_limit_hz(material, edge_m)), progress)?;
    let mut surface = mesh.clone();
    // Sites about as close as the cells are, so that a strike in the middle of a large face is heard there.
    surface.refine(edge_m, settings.max_sites);
    surface.simplify(settings.max_sites);
    let shapes = shapes_on(&body, &pairs.vectors, &surface.positions);
    let expected_rigid = 6 * body.pencil.components().len();
    Ok(Undamped::new(pairs.values, shapes, surface, &body.pencil, expected_rigid))
}

/// Displacements of a cell body's modes at points of its surface, three rows per point.
fn shapes_on(body: &CellBody, vectors: &Mat<f64>, points: &[Vec3]) -> Mat<f64> {
    let places: Vec<_> = points.iter().map(|&p| body.interpolation(p)).collect();
    let mut shapes = Mat::zeros(3 * points.len(), vectors.ncols());
    for c in 0..vectors.ncols() {
        for (s, (nodes, weights)) in places.iter().enumerate() {
            let at = |n: u32| Vec3::from_array(std::array::from_fn(|k| vectors[(3 * n as usize + k, c)]));
            let u = body.to_world(nodes.iter().zip(weights).map(|(&n, &w)| at(n) * w).sum::<Vec3>());
            (0..3).for_each(|k| shapes[(3 * s + k, c)] = u[k]);
        }
    }
    shapes
}

/// The rows of some nodes, three each.
fn rows_of(vectors: &Mat<f64>, nodes: &[u32]) -> Mat<f64> {
    Mat::from_fn(3 * nodes.len(), vectors.ncols(), |r, c| vectors[(3 * nodes[r / 3] as usize + r % 3, c)])
}

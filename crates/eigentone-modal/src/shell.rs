//! Thin shells: finite elements for a wall along a surface mesh.
//!
//! Every triangle is a flat piece of wall with two parts: [`membrane`] resists stretching in its plane and carries a rotation
//! about its normal, [`bending`] resists curvature. Together they give each vertex three displacements and three rotations, which
//! turn into the world with the facet's axes. The mass is lumped: a third of `ρtA` on the displacements of each corner, a third of
//! `ρt³A/12` on its rotations.
//!
//! The stiffness is that of thin plates, good while a bending wave is longer than ten times the thickness; [`shear`] corrects the
//! frequencies for what thin-plate theory leaves out.
//!
//! ```
//! use eigentone_core::{MaterialTable, mesh::primitives};
//! use eigentone_modal::{Progress, eigen::{self, Band}, shell::{self, ShellProperties}};
//!
//! let steel = MaterialTable::builtin().get("steel").unwrap().clone();
//! let plate = primitives::plate(0.2, 0.2, 17, 17);
//! let body = shell::assemble(&plate, &ShellProperties::uniform(&steel, 0.002)).unwrap();
//! let band = Band { upper: (std::f64::consts::TAU * 400.0f64).powi(2), most: 20 };
//! let pairs = eigen::solve(&body.pencil, band, &Progress::silent()).unwrap();
//! let first_hz = body.with_transverse_shear(&pairs)[body.rigid_motions].sqrt() / std::f64::consts::TAU;
//! assert!((first_hz / 164.0 - 1.0).abs() < 0.02);
//! ```

pub mod bending;
pub mod facet;
pub mod membrane;
pub mod shear;

pub use shear::kirchhoff_correction;

use crate::eigen::{Block, Pencil};
use crate::supports::{Supports, held_by_vertex};
use eigentone_core::{Grain, Material, TriMesh, Vec3};
use facet::Facet;
use faer::Mat;
use thiserror::Error;

/// Thickness of a wall in metres.
#[derive(Clone, Debug, PartialEq)]
pub enum ThicknessField {
    /// The same everywhere.
    Uniform(f64),
    /// One per triangle.
    PerTriangle(Vec<f64>),
}

impl ThicknessField {
    /// Thickness of a triangle in metres; `None` beyond the last.
    pub fn get(&self, triangle: usize) -> Option<f64> {
        match self {
            Self::Uniform(thickness) => Some(*thickness),
            Self::PerTriangle(thicknesses) => thicknesses.get(triangle).copied(),
        }
    }
}

/// What a shell is made of, besides its mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellProperties<'a> {
    /// Elasticity and density.
    pub material: &'a Material,
    /// How it was cut, for materials with grain.
    pub grain: Grain,
    /// Thickness of the wall.
    pub thickness: ThicknessField,
    /// For each triangle what multiplies its thickness where it resists, not where it has mass: walls are stiffer at mitres,
    /// where the solid corner fills what two middle surfaces leave open.
    pub stiffening: Option<Vec<f64>>,
}

impl<'a> ShellProperties<'a> {
    /// A wall of one thickness.
    pub fn uniform(material: &'a Material, thickness_m: f64) -> Self {
        let thickness = ThicknessField::Uniform(thickness_m);
        Self { material, grain: Grain::default(), thickness, stiffening: None }
    }
}

/// Why a shell cannot be assembled.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ShellError {
    /// A list has not one entry per triangle.
    #[error("{found} values of {what} for {expected} triangles; one for each is needed")]
    Count {
        /// Which list.
        what: &'static str,
        /// Number of triangles.
        expected: usize,
        /// Length of the list.
        found: usize,
    },
    /// A thickness or factor is not positive.
    #[error("{what} of triangle {triangle} is {value}, but must be above 0 and at most 100")]
    Value {
        /// Which list.
        what: &'static str,
        /// The triangle.
        triangle: usize,
        /// What was given.
        value: f64,
    },
    /// No triangle has an area.
    #[error("the mesh has no triangle with an area; there is no wall to sound")]
    NoWall,
}

/// A shell, assembled: two nodes of the pencil per vertex, `2v` for its displacement and `2v + 1` for its rotation.
#[derive(Clone, Debug)]
pub struct ShellBody {
    /// Stiffness and mass. Its `total_mass` counts rotary inertia as well; see `mass_kg`.
    pub pencil: Pencil,
    /// Mass of the wall in kg.
    pub mass_kg: f64,
    /// Motions that cost no energy: six per piece, fewer where supports hold it.
    pub rigid_motions: usize,
    /// Triangles too thin to have a wall.
    pub skipped_triangles: usize,
    facets: Vec<Facet>,
    density_kg_m3: f64,
}

/// Assembles a free shell.
///
/// # Errors
/// See [`ShellError`].
pub fn assemble(mesh: &TriMesh, properties: &ShellProperties<'_>) -> Result<ShellBody, ShellError> {
    assemble_held(mesh, properties, &Supports::default())
}

/// Assembles a shell that is held. The nodes stay as they are: what is held has its modes far above all others.
///
/// # Errors
/// See [`ShellError`].
pub fn assemble_held(
    mesh: &TriMesh,
    properties: &ShellProperties<'_>,
    supports: &Supports,
) -> Result<ShellBody, ShellError> {
    let facets = facets(mesh, properties)?;
    let groups: Vec<[u32; 6]> =
        facets.iter().map(|f| std::array::from_fn(|k| 2 * f.vertices[k / 2] + (k % 2) as u32)).collect();
    let mut pencil = Pencil::with_groups(2 * mesh.positions.len(), groups.iter().map(|g| &g[..]));
    let density_kg_m3 = properties.material.density_kg_m3;
    let mut mass_kg = 0.0;
    for facet in &facets {
        facet.add_stiffness(&mut pencil);
        let third = density_kg_m3 * facet.thickness_m * facet.area / 3.0;
        mass_kg += 3.0 * third;
        for v in facet.vertices {
            pencil.add_mass(2 * v, 2 * v, third);
            pencil.add_mass(2 * v + 1, 2 * v + 1, third * facet.thickness_m.powi(2) / 12.0);
        }
    }
    let far = pencil.largest_eigenvalue_scale();
    let mut attached = vec![false; mesh.positions.len()];
    facets.iter().flat_map(|f| f.vertices).for_each(|v| attached[v as usize] = true);
    let held = held_by_vertex(mesh, supports, &attached);
    let rigid_motions = held.rigid_motions(mesh, &facets_of(&facets));
    for (v, holds) in held.vertices.iter().enumerate().filter(|(v, _)| attached[*v]) {
        holds.displacements.iter().for_each(|&n| pencil.hold(2 * v as u32, n, far));
        holds.rotations.iter().for_each(|&n| pencil.hold(2 * v as u32 + 1, n, far));
    }
    // Vertices without a wall are given a mass that moves at no frequency of interest.
    let spare = mass_kg / mesh.positions.len().max(1) as f64;
    let still: Block = std::array::from_fn(|r| std::array::from_fn(|c| if r == c { far * spare } else { 0.0 }));
    for v in (0..mesh.positions.len()).filter(|&v| !attached[v]) {
        for node in [2 * v as u32, 2 * v as u32 + 1] {
            pencil.add_mass(node, node, spare);
            pencil.add_stiffness(node, node, &still);
        }
    }
    let skipped_triangles = mesh.triangles.len() - facets.len();
    Ok(ShellBody { pencil, mass_kg, rigid_motions, skipped_triangles, facets, density_kg_m3 })
}

fn facets_of(facets: &[Facet]) -> Vec<[u32; 3]> {
    facets.iter().map(|f| f.vertices).collect()
}

fn facets(mesh: &TriMesh, properties: &ShellProperties<'_>) -> Result<Vec<Facet>, ShellError> {
    let expected = mesh.triangles.len();
    let lists = [
        ("thickness", if let ThicknessField::PerTriangle(t) = &properties.thickness { Some(t) } else { None }),
        ("stiffening", properties.stiffening.as_ref()),
    ];
    for (what, list) in lists {
        if let Some(found) = list.map(Vec::len).filter(|&n| n != expected) {
            return Err(ShellError::Count { what, expected, found });
        }
    }
    let check = |what, triangle, value: f64| {
        if value > 0.0 && value <= 100.0 { Ok(value) } else { Err(ShellError::Value { what, triangle, value }) }
    };
    let mut facets = Vec::with_capacity(expected);
    for (t, &vertices) in mesh.triangles.iter().enumerate() {
        let thickness_m = check("thickness", t, properties.thickness.get(t).unwrap_or(0.0))?;
        let stiffening = properties.stiffening.as_ref().map_or(1.0, |list| list[t]);
        let stiff_thickness_m = thickness_m * check("stiffening", t, stiffening)?;
        let facet = Facet::new(vertices, mesh.corners(t), properties.material, &properties.grain);
        facets.extend(facet.map(|f| Facet { thickness_m, stiff_thickness_m, ..f }));
    }
    if facets.is_empty() { Err(ShellError::NoWall) } else { Ok(facets) }
}

impl ShellBody {
    /// The displacements of modes, three rows per vertex, from vectors with six.
    pub fn translations(&self, vectors: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(vectors.nrows() / 2, vectors.ncols(), |r, c| vectors[(r / 3 * 6 + r % 3, c)])
    }
}

impl Facet {
    /// Adds the element's stiffness, turned into the world.
    fn add_stiffness(&self, pencil: &mut Pencil) {
        let (m, b) = (membrane::stiffness(self), bending::stiffness(self));
        for i in 0..3 {
            for j in i..3 {
                let (p, q) = (3 * i, 3 * j);
                // Displacements (u, v, w) and rotations (θx, θy, θn) of either corner.
                let blocks: [[Block; 2]; 2] = [
                    [
                        [[m[p][q], m[p][q + 1], 0.0], [m[p + 1][q], m[p + 1][q + 1], 0.0], [0.0, 0.0, b[p][q]]],
                        [[0.0, 0.0, m[p][q + 2]], [0.0, 0.0, m[p + 1][q + 2]], [b[p][q + 1], b[p][q + 2], 0.0]],
                    ],
                    [
                        [[0.0, 0.0, b[p + 1][q]], [0.0, 0.0, b[p + 2][q]], [m[p + 2][q], m[p + 2][q + 1], 0.0]],
                        [
                            [b[p + 1][q + 1], b[p + 1][q + 2], 0.0],
                            [b[p + 2][q + 1], b[p + 2][q + 2], 0.0],
                            [0.0, 0.0, m[p + 2][q + 2]],
                        ],
                    ],
                ];
                for (r, row) in blocks.iter().enumerate() {
                    for (c, block) in row.iter().enumerate() {
                        let world = self.to_world(block);
                        let (a, d) = (2 * self.vertices[i] + r as u32, 2 * self.vertices[j] + c as u32);
                        pencil.add_stiffness(a, d, &world);
                        if i != j {
                            let transposed = std::array::from_fn(|k| std::array::from_fn(|l| world[l][k]));
                            pencil.add_stiffness(d, a, &transposed);
                        }
                    }
                }
            }
        }
    }

    /// `Rᵀ K R` with the facet's axes as rows of R.
    fn to_world(&self, block: &Block) -> Block {
        let half: [Vec3; 3] = std::array::from_fn(|r| {
            self.axes[0] * block[r][0] + self.axes[1] * block[r][1] + self.axes[2] * block[r][2]
        });
        std::array::from_fn(|k| {
            (half[0] * self.axes[0][k] + half[1] * self.axes[1][k] + half[2] * self.axes[2][k]).to_array()
        })
    }

    /// `(w, θx, θy)` of each corner in one mode.
    fn bending_unknowns(&self, vectors: &Mat<f64>, mode: usize) -> [f64; 9] {
        let at = |node: u32| Vec3::from_array(std::array::from_fn(|k| vectors[(3 * node as usize + k, mode)]));
        let mut q = [0.0; 9];
        for (corner, &v) in self.vertices.iter().enumerate() {
            let (u, turn) = (at(2 * v), at(2 * v + 1));
            q[3 * corner..3 * corner + 3].copy_from_slice(&[
                u.dot(self.axes[2]),
                turn.dot(self.axes[0]),
                turn.dot(self.axes[1]),
            ]);
        }
        q
    }
}

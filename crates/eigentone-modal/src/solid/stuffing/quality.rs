//! How good tetrahedra are: dihedral angles, altitudes, volume.
//!
//! With outward area normals `nᵢ` (twice the area long) of the face opposite corner `i`, the dihedral angle `θ` at the edge between
//! faces `i` and `j` has `cos θ = −n̂ᵢ·n̂ⱼ` and `sin θ = |n̂ᵢ × n̂ⱼ|`; the altitude over face `i` is `6V/|nᵢ|`.

use eigentone_core::{TetMesh, Vec3};
use std::collections::BTreeSet;

/// Figures of a tetrahedral mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TetQuality {
    /// Smallest angle between two faces of a tetrahedron, in degrees; negative if one is inverted.
    pub least_dihedral_deg: f64,
    /// Largest angle between two faces of a tetrahedron, in degrees.
    pub greatest_dihedral_deg: f64,
    /// Smallest altitude in metres: the stable step of an explicit simulation is proportional to it.
    pub least_altitude_m: f64,
    /// Sum of the signed volumes in m³.
    pub volume_m3: f64,
    /// Share of the surface's volume that is filled; 1 if that is not known.
    pub volume_share: f64,
    /// How many tetrahedra there are.
    pub tets: usize,
    /// How many nodes they use.
    pub nodes: usize,
}

impl TetQuality {
    /// Measures a mesh, and compares it with the volume of the surface it was made from, if that is known.
    ///
    /// ```
    /// use eigentone_core::{TetMesh, Vec3};
    /// use eigentone_modal::solid::stuffing::TetQuality;
    ///
    /// let corner = TetMesh { positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], tets: vec![[0, 1, 2, 3]] };
    /// let quality = TetQuality::of(&corner, None);
    /// assert!((quality.greatest_dihedral_deg - 90.0).abs() < 1e-9);
    /// assert!((quality.least_altitude_m - 1.0 / 3f64.sqrt()).abs() < 1e-12);
    /// ```
    pub fn of(mesh: &TetMesh, surface_volume_m3: Option<f64>) -> Self {
        let mut quality =
            Self { least_dihedral_deg: 180.0, least_altitude_m: f64::INFINITY, volume_share: 1.0, ..Self::default() };
        for &tet in &mesh.tets {
            let shape = Shape::of(tet.map(|n| mesh.positions[n as usize]));
            let (least, greatest) = shape.dihedrals_deg();
            quality.least_dihedral_deg = quality.least_dihedral_deg.min(least);
            quality.greatest_dihedral_deg = quality.greatest_dihedral_deg.max(greatest);
            quality.least_altitude_m = quality.least_altitude_m.min(shape.altitude());
            quality.volume_m3 += shape.six_volumes / 6.0;
        }
        if let Some(volume) = surface_volume_m3 {
            quality.volume_share = quality.volume_m3 / volume;
        }
        if mesh.tets.is_empty() {
            (quality.least_dihedral_deg, quality.least_altitude_m) = (0.0, 0.0);
        }
        quality.tets = mesh.tets.len();
        quality.nodes = mesh.tets.iter().flatten().collect::<BTreeSet<_>>().len();
        quality
    }
}

/// Area normals and volume of a tetrahedron.
pub(super) struct Shape {
    normals: [Vec3; 4],
    pub six_volumes: f64,
}

/// The six pairs of faces.
const PAIRS: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

impl Shape {
    pub fn of([a, b, c, d]: [Vec3; 4]) -> Self {
        let (ab, ac, ad) = (b - a, c - a, d - a);
        let normals = [(d - b).cross(c - b), ac.cross(ad), ad.cross(ab), ab.cross(ac)];
        // The normals of a closed surface cancel; the first, of the face without `a`, points outward, the others inward.
        Self { six_volumes: normals[3].dot(ad), normals: [-normals[0], -normals[1], -normals[2], -normals[3]] }
    }

    /// Smallest altitude; negative if inverted.
    pub fn altitude(&self) -> f64 {
        let largest = self.normals.iter().map(|n| n.length_squared()).fold(0.0, f64::max).sqrt();
        if largest > 0.0 { self.six_volumes / largest } else { 0.0 }
    }

    fn dihedrals_deg(&self) -> (f64, f64) {
        let units = self.normals.map(Vec3::normalize_or_zero);
        let angles = PAIRS.map(|[i, j]| (-units[i].dot(units[j])).clamp(-1.0, 1.0).acos().to_degrees());
        let (least, greatest) = angles.iter().fold((180f64, 0f64), |(l, g), &a| (l.min(a), g.max(a)));
        if self.six_volumes > 0.0 { (least, greatest) } else { (-least, greatest) }
    }

    /// What the optimisation raises: the least sine of a dihedral angle or the least altitude over `size`, whichever is lower.
    /// Zero or negative if flat or inverted.
    pub fn goodness(&self, size: f64) -> f64 {
        if self.six_volumes <= 0.0 {
            return self.altitude() / size;
        }
        let units = self.normals.map(Vec3::normalize_or_zero);
        let cosine = PAIRS.iter().map(|&[i, j]| units[i].dot(units[j]).powi(2)).fold(0.0, f64::max);
        (1.0 - cosine).max(0.0).sqrt().min(self.altitude() / size)
    }
}

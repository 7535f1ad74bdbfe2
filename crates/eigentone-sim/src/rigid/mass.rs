//! Mass, centre and inertia, in double precision: the engine's own single-precision sums lose small bodies.
//!
//! With corners `x_i` and their sum `s`, a simplex of measure `M` in `d` dimensions has `∫x = M s / (d+1)` and
//! `∫x xᵀ = M (Σ x_i x_iᵀ + s sᵀ) / ((d+1)(d+2))`. A closed mesh is the signed sum of tetrahedra (`d = 3`) between one point and
//! its triangles, an open one a shell of triangles (`d = 2`). Bodies add up by Steiner's theorem.

use super::positive;
use super::spec::{Mass, RigidError};
use eigentone_core::{TriMesh, Vec3};
use rapier3d::math::Pose as EnginePose;
use rapier3d::prelude::MassProperties;

/// A mass, its centre, and its second moments `∫x xᵀ dm` about the centre (columns of a symmetric matrix).
#[derive(Clone, Copy, Default)]
pub(super) struct Bulk {
    pub(super) mass: f64,
    pub(super) centre: Vec3,
    moments: [Vec3; 3],
}

impl Bulk {
    /// A body symmetric about the origin, by its moments along the axes.
    pub(super) fn symmetric(mass: f64, moments: Vec3) -> Self {
        Self { mass, centre: Vec3::ZERO, moments: std::array::from_fn(|k| Vec3::AXES[k] * moments[k]) }
    }

    /// A watertight mesh of density one.
    pub(super) fn solid(mesh: &TriMesh) -> Self {
        Self::of(mesh, 3.0, |[a, b, c]| a.dot(b.cross(c)) / 6.0)
    }

    /// Any mesh as a shell of one kg/m².
    pub(super) fn shell(mesh: &TriMesh) -> Self {
        Self::of(mesh, 2.0, |[a, b, c]| 0.5 * (b - a).cross(c - a).length())
    }

    fn of(mesh: &TriMesh, dimensions: f64, measure: impl Fn([Vec3; 3]) -> f64) -> Self {
        let origin = mesh.positions[mesh.triangles[0][0] as usize];
        let (mut mass, mut first, mut second) = (0.0, Vec3::ZERO, [Vec3::ZERO; 3]);
        for triangle in 0..mesh.triangles.len() {
            let corners = mesh.corners(triangle).map(|p| p - origin);
            let m = measure(corners);
            let sum = corners[0] + corners[1] + corners[2];
            mass += m;
            first += sum * (m / (dimensions + 1.0));
            let scale = m / ((dimensions + 1.0) * (dimensions + 2.0));
            for x in [corners[0], corners[1], corners[2], sum] {
                second = plus_outer(second, x, scale);
            }
        }
        let centre = first / mass;
        // A mesh that faces inward has everything negative.
        let moments = plus_outer(second, centre, -mass).map(|c| c * mass.signum());
        Self { mass: mass.abs(), centre: centre + origin, moments }
    }

    /// The same body elsewhere.
    pub(super) fn moved(self, place: &EnginePose) -> Self {
        let turn = |v: Vec3| super::from_engine(place.rotation * super::to_engine(v));
        let axes = Vec3::AXES.map(turn);
        let mut moments = [Vec3::ZERO; 3];
        for (i, a) in axes.iter().enumerate() {
            for (j, b) in axes.iter().enumerate() {
                (0..3).for_each(|k| moments[k] += *a * (b[k] * self.moments[i][j]));
            }
        }
        Self { mass: self.mass, centre: turn(self.centre) + super::from_engine(place.translation), moments }
    }

    /// Both as one body.
    pub(super) fn with(self, other: Self) -> Self {
        let mass = self.mass + other.mass;
        let centre = (self.centre * self.mass + other.centre * other.mass) / mass;
        let mut moments = std::array::from_fn(|k| self.moments[k] + other.moments[k]);
        for part in [self, other] {
            moments = plus_outer(moments, part.centre - centre, part.mass);
        }
        Self { mass, centre, moments }
    }

    /// The inertia tensor about the centre, `tr(C) − C`, as columns.
    fn inertia(&self) -> [Vec3; 3] {
        let trace = self.moments[0].x + self.moments[1].y + self.moments[2].z;
        std::array::from_fn(|k| Vec3::AXES[k] * trace - self.moments[k])
    }

    /// The mass of a body of this form, in kg: its density counts if it is `closed`.
    pub(super) fn weigh(&self, mass: Mass, closed: bool) -> Result<f64, RigidError> {
        if self.mass.is_nan() || self.mass <= 0.0 {
            return Err(RigidError::Flat);
        }
        match mass {
            Mass::Kg(mass) => positive("mass", mass),
            Mass::Density(_) if !closed => Err(RigidError::Open),
            Mass::Density(density) => Ok(positive("density", density)? * self.mass),
        }
    }

    /// For the engine, scaled to a total mass.
    pub(super) fn properties(&self, mass_kg: f64) -> MassProperties {
        let inertia = self.inertia();
        // The engine finds the principal axes in single precision with absolute thresholds: give it a matrix of order one.
        let size = inertia[0].x + inertia[1].y + inertia[2].z;
        let [x, y, z] = inertia.map(|c| super::to_engine(c / size));
        let centre = super::to_engine(self.centre);
        let mut properties =
            MassProperties::with_inertia_matrix(centre, 1.0, rapier3d::math::Matrix::from_cols(x, y, z));
        properties.inv_mass = (1.0 / mass_kg) as f32;
        properties.inv_principal_inertia *= (self.mass / (size * mass_kg)) as f32;
        properties
    }
}

fn plus_outer(matrix: [Vec3; 3], x: Vec3, scale: f64) -> [Vec3; 3] {
    std::array::from_fn(|k| matrix[k] + x * (x[k] * scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::mesh::primitives;

    /// `I = ρ V (b² + c²) / 12` for a box, wherever it is and whichever way it faces.
    #[test]
    fn a_box_has_its_inertia() {
        let mut mesh = primitives::cuboid(Vec3::new(0.1, 0.2, 0.3), [2, 3, 4]);
        mesh.positions.iter_mut().for_each(|p| *p += Vec3::new(1.0, -2.0, 3.0));
        mesh.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        let bulk = Bulk::solid(&mesh);
        assert!((bulk.mass / 0.006 - 1.0).abs() < 1e-9);
        assert!(bulk.centre.distance(Vec3::new(1.0, -2.0, 3.0)) < 1e-9);
        let expected = [0.13, 0.10, 0.05].map(|s| 0.006 * s / 12.0);
        for (k, (column, expected)) in bulk.inertia().into_iter().zip(expected).enumerate() {
            assert!((column - Vec3::AXES[k] * expected).length() < 1e-9 * expected, "{column} {expected}");
        }
    }

    /// A hemispherical shell: centre of mass at half its radius, `I_z = 2/3 m r²`.
    #[test]
    fn a_bowl_balances_at_half_its_radius() {
        let bulk = Bulk::shell(&primitives::bowl(0.1, 96, 48));
        assert!((bulk.centre.z + 0.05).abs() < 1e-4, "{}", bulk.centre);
        assert!((bulk.inertia()[2].z / (bulk.mass * 0.01 * 2.0 / 3.0) - 1.0).abs() < 5e-3);
    }

    /// Two halves of a box are the box: `I₁ + I₂ + m₁ d₁² + m₂ d₂²`.
    #[test]
    fn halves_add_up() {
        let whole = Bulk::solid(&primitives::cuboid(Vec3::new(0.4, 0.1, 0.2), [1, 1, 1]));
        let half = Bulk::solid(&primitives::cuboid(Vec3::new(0.1, 0.2, 0.2), [1, 1, 1]));
        let quarter = rapier3d::glamx::Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
        let at = |x: f32| half.moved(&EnginePose::from_parts(rapier3d::math::Vector::new(x, 0.0, 0.0), quarter));
        let sum = at(-0.1).with(at(0.1));
        assert!((sum.mass / whole.mass - 1.0).abs() < 1e-9 && sum.centre.length() < 1e-7);
        for (a, b) in sum.inertia().into_iter().zip(whole.inertia()) {
            assert!((a - b).length() < 1e-5 * b.length(), "{a} {b}");
        }
    }
}

//! The rigid motion nearest to a deforming body: the translation takes its centre along, the rotation is the one with the least
//! sum of squared distances, an eigenvector of a 4 × 4 matrix (Horn, *Closed-form solution of absolute orientation using unit quaternions*,
//! 1987).

use super::eigen;
use glam::{DMat3, DQuat, DVec3};

/// How much a frame prefers the rotation of the one before it. Rods, points and flat grains have rotations that nothing determines but
/// rounding, and would spin; this is just above the rounding of `f32`.
const PREFERENCE: f64 = 1e-6;

/// Where a body is in a frame, as precisely as the file tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pose {
    pub translation: [f32; 3],
    /// x, y, z, w.
    pub rotation: [f32; 4],
}

impl Pose {
    /// Numbers of a pose in the scratch file.
    pub const NUMBERS: usize = 7;

    pub fn numbers(&self) -> [f32; Self::NUMBERS] {
        let ([a, b, c], [x, y, z, w]) = (self.translation, self.rotation);
        [a, b, c, x, y, z, w]
    }

    pub fn from_numbers([a, b, c, x, y, z, w]: [f32; Self::NUMBERS]) -> Self {
        Self { translation: [a, b, c], rotation: [x, y, z, w] }
    }

    fn new(translation: DVec3, rotation: DQuat) -> Self {
        Self { translation: translation.as_vec3().to_array(), rotation: rotation.as_quat().to_array() }
    }

    /// The place of the body's origin.
    pub fn place(&self) -> DVec3 {
        DVec3::from_array(self.translation.map(f64::from))
    }

    pub fn matrix(&self) -> DMat3 {
        DMat3::from_quat(DQuat::from_array(self.rotation.map(f64::from)).normalize())
    }
}

/// The rest shape about its own centre, with a share of the surface for each vertex, so that the motion does not depend on where a mesh is
/// fine.
pub(super) struct Rest {
    /// Positions relative to the centre.
    pub local: Vec<[f32; 3]>,
    pub pose: Pose,
    /// Longest diagonal of the box around it, in metres.
    pub diagonal_m: f64,
    weights: Vec<f64>,
}

impl Rest {
    pub fn new(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Self {
        let mut weights = vec![0.0; positions.len()];
        for triangle in triangles {
            let [a, b, c] = triangle.map(|v| point(positions[v as usize]));
            let area = (b - a).cross(c - a).length();
            triangle.iter().for_each(|&v| weights[v as usize] += area);
        }
        let sum: f64 = weights.iter().sum();
        if sum > 0.0 {
            weights.iter_mut().for_each(|w| *w /= sum);
        } else {
            weights.fill(1.0 / positions.len().max(1) as f64);
        }
        let pose = Pose::new(centre(&weights, positions), DQuat::IDENTITY);
        let local = positions.iter().map(|&p| (point(p) - pose.place()).as_vec3().to_array()).collect();
        let (low, high) = positions.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &p| {
            let p = point(p);
            (low.min(p), high.max(p))
        });
        Self { local, pose, diagonal_m: (high - low).length().max(0.0), weights }
    }

    /// The pose nearest to the positions; of equally near ones, that with the rotation nearest to the one before.
    pub fn fit(&self, positions: &[[f32; 3]], before: &Pose) -> Pose {
        let middle = centre(&self.weights, positions);
        let mut s = [[0.0; 3]; 3];
        let mut scale = 0.0;
        for ((&weight, &from), &to) in self.weights.iter().zip(&self.local).zip(positions) {
            let (from, to) = (weight * point(from), point(to) - middle);
            scale += from.length() * to.length();
            for (row, f) in s.iter_mut().zip(from.to_array()) {
                row.iter_mut().zip(to.to_array()).for_each(|(x, t)| *x += f * t);
            }
        }
        let [x, y, z, w] = before.rotation.map(f64::from);
        if scale <= 0.0 {
            return Pose { translation: middle.as_vec3().to_array(), ..*before };
        }
        let [[xx, xy, xz], [yx, yy, yz], [zx, zy, zz]] = s;
        let mut n = [
            [xx + yy + zz, yz - zy, zx - xz, xy - yx],
            [yz - zy, xx - yy - zz, xy + yx, zx + xz],
            [zx - xz, xy + yx, yy - xx - zz, yz + zy],
            [xy - yx, zx + xz, yz + zy, zz - xx - yy],
        ];
        let before = [w, x, y, z];
        for (row, p) in n.iter_mut().zip(before) {
            row.iter_mut().zip(before).for_each(|(e, q)| *e += PREFERENCE * scale * p * q);
        }
        let (_, vectors) = eigen::symmetric(n.concat(), 4);
        let along: f64 = vectors[0].iter().zip(before).map(|(a, b)| a * b).sum();
        // Both signs mean the same rotation; between unlike ones, interpolation would go the long way round.
        let sign = if along < 0.0 { -1.0 } else { 1.0 };
        let q = &vectors[0];
        Pose::new(middle, (DQuat::from_xyzw(q[1], q[2], q[3], q[0]) * sign).normalize())
    }
}

/// What is left of a frame in the body's own axes when its pose and a shape are taken off, as x, y, z of each vertex.
pub(super) fn deformation(shape: &[[f32; 3]], pose: &Pose, positions: &[[f32; 3]], out: &mut Vec<f32>) {
    let (back, place) = (pose.matrix().transpose(), pose.place());
    out.clear();
    for (&p, &from) in positions.iter().zip(shape) {
        out.extend((back * (point(p) - place) - point(from)).as_vec3().to_array());
    }
}

fn point(p: [f32; 3]) -> DVec3 {
    DVec3::from_array(p.map(f64::from))
}

fn centre(weights: &[f64], positions: &[[f32; 3]]) -> DVec3 {
    weights.iter().zip(positions).map(|(&w, &p)| w * point(p)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    fn corners() -> Vec<[f32; 3]> {
        vec![[1.0, 2.0, 3.0], [1.5, 2.0, 3.0], [1.0, 2.75, 3.0], [1.0, 2.0, 4.0]]
    }

    fn moved(positions: &[[f32; 3]], turn: DQuat, shift: DVec3) -> Vec<[f32; 3]> {
        positions.iter().map(|&p| (turn * point(p) + shift).as_vec3().to_array()).collect()
    }

    #[test]
    fn a_rigid_motion_leaves_no_deformation_however_far_it_turns() {
        let rest = Rest::new(&corners(), &TETRAHEDRON);
        let (mut pose, mut left) = (rest.pose, Vec::new());
        for step in 0..50 {
            let turn = DQuat::from_axis_angle(DVec3::new(0.48, 0.6, 0.64), 0.9 * f64::from(step));
            let positions = moved(&corners(), turn, DVec3::new(0.0, 0.1, -0.3) * f64::from(step));
            let next = rest.fit(&positions, &pose);
            let along: f32 = next.rotation.iter().zip(pose.rotation).map(|(a, b)| a * b).sum();
            assert!(along >= 0.0);
            pose = next;
            deformation(&rest.local, &pose, &positions, &mut left);
            assert!(left.iter().all(|x| x.abs() < 3e-6), "{left:?}");
        }
    }

    #[test]
    fn what_has_no_rotation_does_not_spin() {
        let rod = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
        let rest = Rest::new(&rod, &[[0, 1, 2]]);
        let mut pose = rest.pose;
        for step in 0..200u8 {
            let noise = |k: u8| f32::from(step.wrapping_mul(37).wrapping_add(k.wrapping_mul(91))) * 1e-10;
            let shaken: Vec<[f32; 3]> = rod.iter().zip(0u8..).map(|(p, k)| [p[0], noise(k), noise(k + 9)]).collect();
            pose = rest.fit(&shaken, &pose);
        }
        assert!(pose.rotation[3] > 0.999_9, "{pose:?}");
        let point_like = Rest::new(&[[1.0, 1.0, 1.0]], &[[0, 0, 0]]);
        assert_eq!(point_like.fit(&[[2.0, 3.0, 4.0]], &point_like.pose).translation, [2.0, 3.0, 4.0]);
    }
}

//! The element loop: forces of four tetrahedra at a time.
//!
//! What [`element`](super::element) says, with F taken from edges, F = Σ_{j=1..3} (p_j − p_0) ∇N_jᵀ, which is exact for small strains of bodies far from the
//! origin, and one number per register lane and element. The strain rate is the difference of FᵀF between two steps, (FᵀF_n − FᵀF_{n−1})/Δt, which is exactly
//! FᵀḞ + ḞᵀF in the middle of the step before: the velocity with which viscosity should act, without gathering velocities. Elements come in chunks of a few hundred that are near each other, with a short list of the nodes they share; a chunk copies
//! their positions, and sums forces up in a list of its own, both small enough to stay in the nearest cache. Afterwards nodes sum up what the few chunks say that they belong to, always in
//! the same order. So the result does not depend on how many threads there are.
//!
//! The loop is written once over a trait for four numbers in registers (`kernel/lanes.rs`), and compiled for plain arithmetic and for AVX2 with fused multiply-add
//! (`kernel/x86.rs`), one of which is chosen once at run time. All `unsafe` is in that folder.

#[allow(unsafe_code)]
mod lanes;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86;

use super::element::Element;
use eigentone_core::Vec3;

/// Elements side by side.
pub const LANES: usize = 4;

/// Four numbers side by side: a point and one more, or one number of each of four elements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Four(pub [f64; LANES]);

impl Four {
    /// A point, with zero behind it.
    #[inline]
    pub fn from_point(p: Vec3) -> Self {
        Self([p.x, p.y, p.z, 0.0])
    }

    /// The first three.
    #[inline]
    pub fn point(self) -> Vec3 {
        Vec3::new(self.0[0], self.0[1], self.0[2])
    }

    /// `self + by · other`.
    #[inline]
    #[must_use]
    pub fn plus(self, by: f64, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[0] + by * b[0], a[1] + by * b[1], a[2] + by * b[2], a[3] + by * b[3]])
    }
}

/// The same in half the space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(16))]
pub struct FourSingles([f32; LANES]);

/// Six numbers of a symmetric matrix for each of four elements.
pub type Squares = [Four; 6];

/// Those of elements at rest.
pub const AT_REST: Squares = [
    Four([1.0; LANES]),
    Four([1.0; LANES]),
    Four([1.0; LANES]),
    Four([0.0; LANES]),
    Four([0.0; LANES]),
    Four([0.0; LANES]),
];

/// Four tetrahedra of one body.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct FourElements {
    /// ∇N of the second, third and fourth corner; its three components. In single precision, because memory is what this loop waits for: the body at rest is then one whose
    /// shape differs by 1e-7, and neither balance nor energy knows of it.
    gradients: [[FourSingles; 3]; 3],
    /// −V/2.
    half_volume: FourSingles,
    /// Corners of each element, as nodes of the chunk.
    nodes: [[u16; 4]; LANES],
    /// Which of the materials.
    material: u32,
}

impl FourElements {
    /// Of elements with their nodes. An element of zero volume exerts no force; it fills up the last four.
    pub fn new(nodes: [[u16; 4]; LANES], elements: &[Element; LANES], material: u32) -> Self {
        let lanes = |f: &dyn Fn(&Element) -> f64| FourSingles(std::array::from_fn(|lane| f(&elements[lane]) as f32));
        let gradient = |corner: usize, axis: usize| lanes(&|element| element.gradients[corner][axis]);
        Self {
            gradients: [1, 2, 3].map(|corner| [0, 1, 2].map(|axis| gradient(corner, axis))),
            half_volume: lanes(&|element| -0.5 * element.volume_m3),
            nodes,
            material,
        }
    }
}

/// Elements of a chunk. It knows how many nodes they have, so that the loop need not look at every step.
#[derive(Clone, Debug, Default)]
pub struct Elements {
    fours: Vec<FourElements>,
    nodes: usize,
}

impl Elements {
    /// Adds four.
    pub fn push(&mut self, four: FourElements) {
        let most = four.nodes.as_flattened().iter().copied().max().unwrap_or(0);
        self.nodes = self.nodes.max(usize::from(most) + 1);
        self.fours.push(four);
    }

    /// Fours of elements.
    pub fn len(&self) -> usize {
        self.fours.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.fours.is_empty()
    }
}

/// One run of the loop.
pub struct Job<'a> {
    /// The elements.
    pub elements: &'a Elements,
    /// λ, μ, φ, ψ of the body that each four belong to.
    pub materials: &'a [[f64; 4]],
    /// Position of every node of the chunk; the fourth number is not used.
    pub positions: &'a [Four],
    /// Forces on these nodes, to which those of the elements are added.
    pub forces: &'a mut [Four],
    /// FᵀF of each element when it was looked at before: xx, yy, zz, xy, xz, yz. Kept up to date where there is viscosity.
    pub squares: &'a mut [Squares],
    /// One over the time since then.
    pub per_s: f64,
    /// Whether to find out how much stiffer elements are than at rest.
    pub measure: bool,
}

/// A form of the loop. Gives how many times stiffer than at rest the stiffest element is, at least one, if that was asked for.
pub type Kernel = fn(Job<'_>) -> f64;

/// The best form this machine can run.
pub fn best() -> Kernel {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = x86::avx2() {
        return avx2;
    }
    portable
}

/// The loop in the instructions that every machine of this kind has.
pub fn portable(job: Job<'_>) -> f64 {
    lanes::run::<lanes::Portable>(job)
}

/// `sums += by · values`.
pub type Weigh = fn(by: f64, values: &[f64], sums: &mut [f64]);

/// The best form of it on this machine.
pub fn best_weigh() -> Weigh {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = x86::weigh_avx2() {
        return avx2;
    }
    |by, values, sums| sums.iter_mut().zip(values).for_each(|(sum, x)| *sum += by * x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::SoftMaterial;
    use crate::soft::element::tests::{random_element, random_point};
    use eigentone_core::{Noise, Vec3};

    /// Both forms against the equations, at rest, strained, squeezed flat and inside out, far from the origin.
    #[test]
    fn four_at_a_time_are_as_the_equations() {
        let mut noise = Noise::new(4);
        let material = SoftMaterial { psi_pa_s: 5.0, phi_pa_s: 3.0, ..SoftMaterial::default() };
        let [lambda, mu] = material.lame_pa();
        let step_s = 1e-4;
        for kernel in [best(), portable] {
            for trial in 0..50 {
                let made: [_; 4] = std::array::from_fn(|_| random_element(&mut noise));
                let squeeze = [1.0, 0.2, -0.5][trial % 3];
                let far = random_point(&mut noise, 10.0);
                let (mut before, mut now) = (Vec::new(), Vec::new());
                for corner in made.iter().flat_map(|(_, rest)| rest) {
                    let p = far + Vec3::new(squeeze * corner.x, corner.y, corner.z) + random_point(&mut noise, 0.1);
                    before.push(Four::from_point(p));
                    now.push(Four::from_point(p + random_point(&mut noise, 3.0) * step_s));
                }
                let nodes = std::array::from_fn(|lane| std::array::from_fn(|corner| (4 * lane + corner) as u16));
                let mut elements = Elements::default();
                elements.push(FourElements::new(nodes, &made.map(|(element, _)| element), 0));
                let (mut forces, mut squares) = ([Four::default(); 16], [AT_REST]);
                for positions in [&before, &now] {
                    forces.fill(Four::default());
                    let stiffer = kernel(Job {
                        elements: &elements,
                        materials: &[[lambda, mu, material.phi_pa_s, material.psi_pa_s]],
                        positions,
                        forces: &mut forces,
                        squares: &mut squares,
                        per_s: 1.0 / step_s,
                        measure: true,
                    });
                    assert!(stiffer >= 1.0);
                }
                for (lane, (element, _)) in made.iter().enumerate() {
                    let of = |all: &[Four]| std::array::from_fn(|c| all[4 * lane + c].point());
                    let expected = element.forces_between(&material, &of(&before), &of(&now), step_s);
                    let scale = expected.iter().map(|f| f.length()).fold(1e-6, f64::max);
                    for (corner, expected) in expected.iter().enumerate() {
                        let found = forces[4 * lane + corner].point();
                        // Gradients are in single precision.
                        assert!((found - *expected).length() < 3e-6 * scale, "{trial}: {found} {expected}");
                    }
                }
            }
        }
    }
}

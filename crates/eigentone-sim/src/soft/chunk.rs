//! Elements that are near each other, computed together.

use super::SoftBody;
use super::element::Element;
use super::kernel::{AT_REST, Elements, Four, FourElements, Job, Kernel, LANES, Squares};
use eigentone_core::Vec3;
use eigentone_core::mesh::bounds_of;
use std::collections::HashMap;
use std::sync::Arc;

/// Fours of elements in a chunk: what they share stays in the nearest cache.
const CHUNK: usize = 64;

/// Elements of one body that are near each other.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// Never changed: clones share them.
    elements: Arc<Elements>,
    /// λ, μ, φ, ψ.
    material: [f64; 4],
    pub squares: Vec<Squares>,
    /// The nodes of these elements, where they are, and the forces on them.
    pub nodes: Arc<Vec<u32>>,
    positions: Vec<Four>,
    pub forces: Vec<Four>,
    /// How many times stiffer than at rest the stiffest element is.
    pub stiffer: f64,
}

impl Chunk {
    /// The chunks of a body, whose nodes begin with `first_node`.
    pub fn of_body(body: &SoftBody, elements: &[Element], first_node: usize) -> Vec<Self> {
        let mut chunks = Vec::new();
        let [lambda, mu] = body.material.lame_pa();
        let material = [lambda, mu, body.material.phi_pa_s, body.material.psi_pa_s];
        let mesh = &body.mesh;
        let mut order: Vec<u32> = (0..mesh.tets.len() as u32).collect();
        let [low, high] = bounds_of(mesh.positions.iter().copied());
        let size = (high - low).max_element().max(f64::MIN_POSITIVE);
        let centre = |t: u32| mesh.tets[t as usize].iter().map(|&n| mesh.positions[n as usize]).sum::<Vec3>() / 4.0;
        order.sort_by_cached_key(|&t| (along_a_curve((centre(t) - low) / size), t));
        for part in order.chunks(LANES * CHUNK) {
            let mut local: HashMap<u32, u16> = HashMap::new();
            let (mut all, mut list) = (Elements::default(), Vec::new());
            for four in part.chunks(LANES) {
                let last = four.len() - 1;
                // The last four are filled up with a copy that has no volume.
                let made = std::array::from_fn(|k| {
                    let mut element = elements[four[k.min(last)] as usize];
                    element.volume_m3 = if k <= last { element.volume_m3 } else { 0.0 };
                    element
                });
                let nodes = std::array::from_fn(|k| {
                    mesh.tets[four[k.min(last)] as usize].map(|n| {
                        *local.entry(n).or_insert_with(|| {
                            list.push(n + first_node as u32);
                            (list.len() - 1) as u16
                        })
                    })
                });
                all.push(FourElements::new(nodes, &made, 0));
            }
            let none = vec![Four::default(); list.len()];
            chunks.push(Self {
                material,
                squares: vec![AT_REST; all.len()],
                positions: none.clone(),
                forces: none,
                elements: Arc::new(all),
                nodes: Arc::new(list),
                stiffer: 0.0,
            });
        }
        chunks
    }

    /// Forces of all its elements.
    pub fn run(&mut self, kernel: Kernel, positions: &[Four], per_s: f64, measure: bool) {
        self.positions.iter_mut().zip(&*self.nodes).for_each(|(p, n)| *p = positions[*n as usize]);
        self.forces.fill(Four::default());
        self.stiffer = kernel(Job {
            elements: &self.elements,
            materials: std::slice::from_ref(&self.material),
            positions: &self.positions,
            forces: &mut self.forces,
            squares: &mut self.squares,
            per_s,
            measure,
        });
    }
}

/// Where a point of the unit cube is on Morton's curve: points near each other are so along it, mostly.
fn along_a_curve(p: Vec3) -> u64 {
    let spread = |x: f64| (0..16).fold(0u64, |sum, bit| sum | ((((x * 65_535.0) as u64) >> bit & 1) << (3 * bit)));
    spread(p.x) | spread(p.y) << 1 | spread(p.z) << 2
}

//! One soft body before it moves.

use super::element::Element;
use super::{SoftError, SoftMaterial};
use eigentone_core::{TetMesh, TriMesh, Vec3};

/// Tetrahedra with a material, in the place where they start.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftBody {
    /// For messages and events.
    pub name: String,
    /// At rest, in world coordinates. All volumes must be positive.
    pub mesh: TetMesh,
    /// What it is made of.
    pub material: SoftMaterial,
    /// Velocity at the beginning, in m/s.
    pub velocity_m_s: Vec3,
    /// Angular velocity about its centre at the beginning, in rad/s.
    pub spin_rad_s: Vec3,
    /// Nodes that never move.
    pub pinned: Vec<u32>,
    /// Coefficient of friction; of two bodies the geometric mean counts.
    pub friction: f64,
}

/// More nodes are refused.
pub const MAX_NODES: usize = 4_000_000;

impl SoftBody {
    /// A body at rest.
    pub fn new(name: impl Into<String>, mesh: TetMesh, material: SoftMaterial) -> Self {
        Self {
            name: name.into(),
            mesh,
            material,
            velocity_m_s: Vec3::ZERO,
            spin_rad_s: Vec3::ZERO,
            pinned: Vec::new(),
            friction: 0.5,
        }
    }

    /// The tetrahedra with their gradients.
    pub(super) fn elements(&self) -> Result<Vec<Element>, SoftError> {
        let bad = |problem: String| SoftError::Mesh { body: self.name.clone(), problem };
        let nodes = self.mesh.positions.len();
        if self.mesh.tets.is_empty() {
            return Err(bad("has no tetrahedra; mesh it with a smaller size".to_owned()));
        }
        if nodes > MAX_NODES {
            return Err(bad(format!("has {nodes} nodes, but at most {MAX_NODES} are simulated; use a larger size")));
        }
        if self.mesh.positions.iter().any(|p| !p.is_finite()) {
            return Err(bad("has a node that is not a number".to_owned()));
        }
        let moves = [self.velocity_m_s, self.spin_rad_s, Vec3::splat(self.friction)];
        if moves.iter().any(|v| !v.is_finite()) || self.friction < 0.0 {
            return Err(bad("has a velocity, spin or friction that is no usable number".to_owned()));
        }
        if self.pinned.iter().any(|&n| n as usize >= nodes) {
            return Err(bad("is pinned at a node that it does not have".to_owned()));
        }
        let mut elements = Vec::with_capacity(self.mesh.tets.len());
        for (number, tet) in self.mesh.tets.iter().enumerate() {
            if tet.iter().any(|&n| n as usize >= nodes) {
                return Err(bad(format!("has a tetrahedron, no. {number}, whose corner is no node")));
            }
            let element = Element::new(tet.map(|n| self.mesh.positions[n as usize]));
            let flat = element.gradients.iter().any(|g| !g.is_finite());
            if element.volume_m3 <= 0.0 || !element.volume_m3.is_finite() || flat {
                return Err(bad(format!("has a tetrahedron, no. {number}, without a volume; mesh it again")));
            }
            elements.push(element);
        }
        Ok(elements)
    }

    /// The surface, and for each of its vertices the node.
    pub fn surface(&self) -> (TriMesh, Vec<u32>) {
        self.mesh.boundary()
    }
}

//! What can be seen of a world.

use super::world::{Part, SoftWorld};
use super::{SoftBody, SoftId};
use eigentone_core::Vec3;

/// Where the energy is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Of motion, in J.
    pub kinetic_j: f64,
    /// Of deformation, in J.
    pub elastic_j: f64,
    /// Of height, in J.
    pub gravity_j: f64,
}

impl Energy {
    /// All of it, in J.
    pub fn total_j(&self) -> f64 {
        self.kinetic_j + self.elastic_j + self.gravity_j
    }
}

/// One body of a world.
#[derive(Clone, Copy)]
pub struct BodyView<'a> {
    pub(super) world: &'a SoftWorld,
    pub(super) number: usize,
}

impl<'a> BodyView<'a> {
    fn part(&self) -> &'a Part {
        &self.world.parts[self.number]
    }

    /// What it is known by, whatever comes or goes.
    pub fn id(&self) -> SoftId {
        self.part().id
    }

    /// Whether it has got out of hand, and was stopped for good.
    pub fn is_frozen(&self) -> bool {
        self.part().frozen
    }

    /// Its mass, in kg.
    pub fn total_kg(&self) -> f64 {
        self.world.nodes.mass_kg[self.part().nodes.clone()].iter().sum()
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.part().name
    }

    /// Where its nodes are.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = Vec3> + use<'a> {
        self.world.nodes.positions[self.part().nodes.clone()].iter().map(|p| p.point())
    }

    /// How its nodes move, half a step before.
    pub fn velocities(&self) -> impl ExactSizeIterator<Item = Vec3> + use<'a> {
        self.world.nodes.velocities[self.part().nodes.clone()].iter().map(|p| p.point())
    }

    /// Triangles of its surface, by its nodes.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + use<'a> {
        let first = self.part().nodes.start as u32;
        self.world.triangles[self.part().triangles.clone()].iter().map(move |t| t.map(|n| n - first))
    }

    /// Mass of one of its nodes, in kg.
    pub fn mass_kg(&self, node: usize) -> f64 {
        self.world.nodes.mass_kg[self.part().nodes.start + node]
    }

    /// Its centre of mass.
    pub fn centre(&self) -> Vec3 {
        let nodes = self.part().nodes.clone();
        let masses = &self.world.nodes.mass_kg[nodes.clone()];
        let sum: Vec3 = self.world.nodes.positions[nodes].iter().zip(masses).map(|(p, m)| p.point() * *m).sum();
        sum / masses.iter().sum::<f64>()
    }

    /// As it was put into the world.
    pub fn at_rest(&self) -> &'a SoftBody {
        &self.world.bodies[self.number]
    }

    pub(super) fn surface(&self) -> &'a [[u32; 3]] {
        &self.world.triangles[self.part().triangles.clone()]
    }
}

//! The motion of a whole world, kept in memory.
//!
//! Between two steps rapier's state is in its sets, its islands and its two phases of collision detection (with the impulses that the next step
//! starts from); its pipelines hold work space only. Ours are the tables of bodies, contacts and steps. Shapes are shared, not copied.
//!
//! There is no form in bytes: rapier's solver trusts the indices within these structures, so that bytes from elsewhere could
//! not be taken in safely. A world that is to survive the program is rebuilt from what it was made of.

use super::World;
use super::WorldSettings;
use super::body::Body;
use super::ledger::Ledger;
use rapier3d::prelude::{
    BroadPhaseBvh, CCDSolver, ColliderSet, ImpulseJointSet, IntegrationParameters, IslandManager, MultibodyJointSet,
    NarrowPhase, PhysicsPipeline, RigidBodySet, Vector,
};

/// Everything that the further motion of a [`World`] depends on. Steps after [`World::restore`] are, bit for bit, those that would
/// have followed [`World::snapshot`].
///
/// ```
/// use eigentone_sim::rigid::{BodySpec, Shape, World, WorldSettings};
///
/// let mut world = World::new(WorldSettings::default())?;
/// world.add(&BodySpec::new(Shape::Sphere { radius: 0.02 }))?;
/// let kept = world.snapshot();
/// let frame = world.step();
/// world.restore(&kept);
/// assert_eq!(world.step(), frame);
/// # Ok::<(), eigentone_sim::rigid::RigidError>(())
/// ```
#[derive(Clone)]
pub struct Snapshot {
    settings: WorldSettings,
    gravity: Vector,
    parameters: IntegrationParameters,
    islands: IslandManager,
    broad_phase: BroadPhaseBvh,
    narrow_phase: NarrowPhase,
    rigid_bodies: RigidBodySet,
    colliders: ColliderSet,
    impulse_joints: ImpulseJointSet,
    multibody_joints: MultibodyJointSet,
    ccd_solver: CCDSolver,
    bodies: Vec<Option<Body>>,
    steps: u64,
    ledger: Ledger,
    clipped: u64,
}

impl World {
    /// Keeps the motion as it is now.
    pub fn snapshot(&self) -> Snapshot {
        let engine = &self.engine;
        Snapshot {
            settings: self.settings,
            gravity: engine.gravity,
            parameters: engine.integration_parameters,
            islands: engine.islands.clone(),
            broad_phase: engine.broad_phase.clone(),
            narrow_phase: engine.narrow_phase.clone(),
            rigid_bodies: engine.bodies.clone(),
            colliders: engine.colliders.clone(),
            impulse_joints: engine.impulse_joints.clone(),
            multibody_joints: engine.multibody_joints.clone(),
            ccd_solver: engine.ccd_solver.clone(),
            bodies: self.bodies.clone(),
            steps: self.steps,
            ledger: self.ledger.clone(),
            clipped: self.clipped,
        }
    }

    /// Takes up a motion that was kept, also one of another world: bodies, settings and time become those of then.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.settings = snapshot.settings;
        let engine = &mut self.engine;
        engine.gravity = snapshot.gravity;
        engine.integration_parameters = snapshot.parameters;
        engine.islands = snapshot.islands.clone();
        engine.broad_phase = snapshot.broad_phase.clone();
        engine.narrow_phase = snapshot.narrow_phase.clone();
        engine.bodies = snapshot.rigid_bodies.clone();
        engine.colliders = snapshot.colliders.clone();
        engine.impulse_joints = snapshot.impulse_joints.clone();
        engine.multibody_joints = snapshot.multibody_joints.clone();
        engine.ccd_solver = snapshot.ccd_solver.clone();
        // Its caches are of the bodies that were.
        engine.physics_pipeline = PhysicsPipeline::new();
        self.bodies = snapshot.bodies.clone();
        self.steps = snapshot.steps;
        self.ledger = snapshot.ledger.clone();
        self.clipped = snapshot.clipped;
    }
}

//! Soft bodies in motion.
//!
//! Leapfrog, which is velocity Verlet with its two half kicks joined: v_{n+½} = v_{n−½} + Δt M⁻¹ f(x_n, v_{n−½}), x_{n+1} = x_n + Δt v_{n+½}.
//!
//! Steps are all of one length, a whole fraction of an audio sample, so that sound needs no resampling by odd ratios. When elements are so stretched that they are stiffer than
//! the step can follow, it is divided into 2, 3, … as long as that lasts; velocities are then moved on by the mean of the last part and the next, which is how far they
//! are apart. Steps have a margin (see [`stable`](super::stable)), and are divided only when √2 of it is spent: changing their length all the time, in step with a
//! vibration, would feed it. Every sum is taken in a fixed order: the result does not depend on the number of threads.
//!
//! Bodies come and go (`world/change.rs`): the step is then chosen anew, from the next audio sample on. Colliders come, go and move (`world/collide.rs`).

mod change;
mod collide;
mod step;

use super::chunk::Chunk;
use super::collider::Collider;
use super::element::Element;
use super::events::{Touch, Touches};
use super::feedback::Feedback;
use super::kernel::{Four, Kernel, Squares, best};
use super::near::Near;
use super::pairs::Pairs;
use super::stable::StepLimit;
use super::view::{BodyView, Energy};
use super::{SoftBody, SoftError, SoftId};
pub(super) use collide::Placed;
use eigentone_core::Vec3;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// What holds for all bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldSettings {
    /// In m/s².
    pub gravity_m_s2: Vec3,
    /// Length of a step; the longest that is stable if not given. Either is rounded down to a whole fraction of an audio sample.
    pub step_s: Option<f64>,
    /// Samples per second of the sound that will be made of it.
    pub sample_rate_hz: f64,
    /// What is there at the beginning; they stay where their shapes are unless they are moved.
    pub colliders: Vec<Collider>,
}

impl Default for WorldSettings {
    fn default() -> Self {
        Self { gravity_m_s2: Vec3::Z * -9.81, step_s: None, sample_rate_hz: 44_100.0, colliders: Vec::new() }
    }
}

/// How deep nodes may get into colliders, relative to the height of an element.
pub(super) const DEEPEST: f64 = 0.1;
/// Steps of what moves colliders, in s, unless set otherwise.
const COLLIDER_STEP_S: f64 = 1.0 / 480.0;

/// A body's part of the arrays.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub id: SoftId,
    pub name: String,
    pub nodes: Range<usize>,
    pub triangles: Range<usize>,
    pub friction: f64,
    pub young_pa: f64,
    pub gamma_per_s: f64,
    /// Whether it has got out of hand: it neither moves nor touches any more.
    pub frozen: bool,
    limit: StepLimit,
    chunks: Range<usize>,
}

/// What one node has at the surface.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skin {
    /// Its share of the surface, in m²; zero inside.
    pub area_m2: f64,
    /// Height of the lowest element at it, in m.
    pub height_m: f64,
}

/// All nodes, as arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    pub positions: Vec<Four>,
    pub velocities: Vec<Four>,
    /// 1/m; zero of pinned ones.
    pub inverse_kg: Vec<f64>,
    pub mass_kg: Arc<Vec<f64>>,
    pub skin: Arc<Vec<Skin>>,
    pub body: Arc<Vec<u32>>,
}

/// Bodies, what they collide with, and time. A clone is a snapshot: both go on to the same bits. What does not move (elements, masses, surfaces, shapes of colliders) is shared between clones; a clone holds about 200 bytes
/// per node and 50 per element of its own.
#[derive(Clone)]
pub struct SoftWorld {
    pub(super) nodes: Nodes,
    pub(super) parts: Vec<Part>,
    pub(super) bodies: Vec<Arc<SoftBody>>,
    pub(super) triangles: Arc<Vec<[u32; 3]>>,
    chunks: Vec<Chunk>,
    /// Length of the part of a step that was made last, in s.
    last_s: f64,
    /// Of each node which chunks know of it, and as which of their nodes: `incident[first[n]..first[n + 1]]`.
    first: Arc<Vec<u32>>,
    incident: Arc<Vec<[u32; 2]>>,
    colliders: Vec<Placed>,
    collider_step_s: f64,
    gravity: Vec3,
    kernel: Kernel,
    pairs: Pairs,
    near: Near,
    /// Margin within which nodes are looked at as near a collider, in m.
    margin_m: f64,
    touches: Touches,
    feedback: Feedback,
    /// As asked for.
    asked_s: Option<f64>,
    rate_hz: f64,
    step_s: f64,
    /// Steps in an audio sample, now and from the next one on.
    per_sample: u64,
    next_per_sample: u64,
    steps: u64,
    /// Steps since the audio sample began, and how many have ended.
    in_sample: u64,
    samples: u64,
    /// When the step was last changed: time, and steps by then.
    since: (f64, u64),
    parts_of_step: u32,
    divided_most: u32,
    /// Stretch is to be looked at in the next step, whichever it is.
    look: bool,
    /// Bodies that got out of hand, and have not been reported.
    failures: VecDeque<SoftError>,
    /// Names for the next body and the next collider.
    next_id: [u64; 2],
    /// How often bodies have been removed: indices of nodes hold as long as it is the same.
    pub(super) removals: u64,
    cost: f64,
}

impl SoftWorld {
    /// Puts bodies into a world.
    ///
    /// # Errors
    /// If a mesh or a number makes no sense, or the step is too long to be stable or so short that nobody would wait.
    pub fn new(bodies: Vec<SoftBody>, settings: &WorldSettings) -> Result<Self, SoftError> {
        let mut world = Self {
            nodes: Nodes::default(),
            parts: Vec::new(),
            bodies: Vec::new(),
            triangles: Arc::default(),
            chunks: Vec::new(),
            last_s: 1.0,
            first: Arc::default(),
            incident: Arc::default(),
            colliders: Vec::new(),
            collider_step_s: COLLIDER_STEP_S,
            gravity: settings.gravity_m_s2,
            kernel: best(),
            pairs: Pairs::default(),
            near: Near::default(),
            margin_m: 0.0,
            touches: Touches::default(),
            feedback: Feedback::default(),
            asked_s: settings.step_s,
            rate_hz: settings.sample_rate_hz,
            step_s: 0.0,
            per_sample: 0,
            next_per_sample: 0,
            steps: 0,
            in_sample: 0,
            samples: 0,
            since: (0.0, 0),
            parts_of_step: 1,
            divided_most: 1,
            look: false,
            failures: VecDeque::new(),
            next_id: [0; 2],
            removals: 0,
            cost: 0.0,
        };
        for collider in &settings.colliders {
            world.insert_collider(collider.clone());
        }
        for body in bodies {
            world.add(body)?;
        }
        world.next_per_sample = world.choose_steps(world.worst())?;
        world.renew();
        world.last_s = world.step_s;
        Ok(world)
    }

    /// Length of a step.
    pub fn step_s(&self) -> f64 {
        self.step_s
    }

    /// Steps in an audio sample of the rate that was set.
    pub fn steps_per_sample(&self, sample_rate_hz: f64) -> usize {
        (1.0 / (self.step_s * sample_rate_hz)).round().max(1.0) as usize
    }

    /// Since the beginning.
    pub fn time_s(&self) -> f64 {
        self.since.0 + (self.steps - self.since.1) as f64 * self.step_s
    }

    /// Audio samples that have passed since the beginning.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Steps that have been made of the audio sample that has not ended.
    pub fn steps_in_sample(&self) -> usize {
        self.in_sample as usize
    }

    /// Audio samples per second, as set.
    pub fn sample_rate_hz(&self) -> f64 {
        self.rate_hz
    }

    /// Into how many parts a step had to be divided, at most.
    pub fn divided_most(&self) -> u32 {
        self.divided_most
    }

    /// Bodies.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Elements of all bodies.
    pub fn element_count(&self) -> usize {
        self.bodies.iter().map(|b| b.mesh.tets.len()).sum()
    }

    /// A body as it is now, by its number: bodies are numbered in the order in which they came, without gaps.
    ///
    /// # Panics
    /// If there are not so many; [`SoftWorld::get`] does not.
    pub fn body(&self, number: usize) -> BodyView<'_> {
        BodyView { world: self, number }
    }

    /// A body as it is now; `None` if it has been removed.
    pub fn get(&self, id: SoftId) -> Option<BodyView<'_>> {
        Some(self.body(self.number(id)?))
    }

    /// The number that a body has now.
    pub fn number(&self, id: SoftId) -> Option<usize> {
        self.parts.binary_search_by_key(&id, |part| part.id).ok()
    }

    /// All bodies as they are now.
    pub fn bodies(&self) -> impl Iterator<Item = (SoftId, BodyView<'_>)> {
        self.parts.iter().enumerate().map(|(number, part)| (part.id, self.body(number)))
    }

    /// Moves the nodes of a body by what `by` gives for where they are: for bodies that begin under strain.
    pub fn displace(&mut self, body: usize, by: impl Fn(Vec3) -> Vec3) {
        let to: Vec<Vec3> = self.body(body).positions().map(|p| p + by(p)).collect();
        self.displace_to(body, &to);
    }

    /// Moves the nodes of a body, pinned ones as well, to where they begin under strain. Places that are not finite are passed over.
    pub fn displace_to(&mut self, body: usize, to: &[Vec3]) {
        self.near = Near::default();
        self.pairs.renew();
        for (position, to) in self.nodes.positions[self.parts[body].nodes.clone()].iter_mut().zip(to) {
            if to.is_finite() {
                *position = Four::from_point(*to);
            }
        }
        // Nothing has moved: the strain has been there all the time. Others that move do so undisturbed.
        let chunks = if self.steps == 0 { 0..self.chunks.len() } else { self.parts[body].chunks.clone() };
        let (kernel, positions) = (self.kernel, &self.nodes.positions);
        self.chunks[chunks].iter_mut().for_each(|chunk| chunk.run(kernel, positions, 0.0, false));
        self.look = true;
    }

    /// Adds to the velocity of each node of a body that is not pinned: a blow.
    pub fn push(&mut self, body: usize, by: impl Fn(usize) -> Vec3) {
        let nodes = self.parts[body].nodes.clone();
        for n in nodes.clone().filter(|&n| self.nodes.inverse_kg[n] > 0.0) {
            self.nodes.velocities[n] = self.nodes.velocities[n].plus(1.0, Four::from_point(by(n - nodes.start)));
        }
    }

    /// Contacts that are over by now, or have lasted until now if it is the end.
    pub fn drain_touches(&mut self, end: bool) -> Vec<Touch> {
        self.touches.drain(if end { f64::INFINITY } else { self.time_s() })
    }

    /// Gravity, in m/s².
    pub fn gravity_m_s2(&self) -> Vec3 {
        self.gravity
    }

    /// Changes gravity, in m/s², from the next step on. What is not a number is not taken.
    pub fn set_gravity(&mut self, gravity_m_s2: Vec3) {
        if gravity_m_s2.is_finite() {
            self.gravity = gravity_m_s2;
        }
    }

    /// Energy at the end of the last step. Velocities are half a step behind positions; they are moved on first.
    pub fn energy(&mut self) -> Energy {
        let velocities = self.nodes.velocities.clone();
        let squares: Vec<Vec<Squares>> = self.chunks.iter().map(|chunk| chunk.squares.clone()).collect();
        self.find_forces(false);
        self.kick(0.5 * self.step_s, 0.0);
        let mut energy = Energy::default();
        for (part, body) in self.parts.iter().zip(&self.bodies) {
            for n in part.nodes.clone() {
                let mass = self.nodes.mass_kg[n];
                energy.kinetic_j += 0.5 * mass * self.nodes.velocities[n].point().length_squared();
                energy.gravity_j -= mass * self.gravity.dot(self.nodes.positions[n].point());
            }
            for tet in &body.mesh.tets {
                let element = Element::new(tet.map(|n| body.mesh.positions[n as usize]));
                let now = tet.map(|n| self.nodes.positions[part.nodes.start + n as usize].point());
                energy.elastic_j += element.energy_j(&body.material, &now);
            }
        }
        self.nodes.velocities = velocities;
        self.chunks.iter_mut().zip(squares).for_each(|(chunk, squares)| chunk.squares = squares);
        energy
    }

    pub(super) fn arrays(&self) -> (&[Four], &[Four]) {
        (&self.nodes.positions, &self.nodes.velocities)
    }
}

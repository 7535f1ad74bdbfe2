//! Soft bodies in motion.
//!
//! Leapfrog, which is velocity Verlet with its two half kicks joined: v_{n+½} = v_{n−½} + Δt M⁻¹ f(x_n, v_{n−½}), x_{n+1} = x_n + Δt v_{n+½} (REFERENCE C.2).
//!
//! Steps are all of one length, a whole fraction of an audio sample, so that sound needs no resampling by odd ratios. When elements are so stretched that they are stiffer than
//! the step can follow, it is divided into 2, 3, … as long as that lasts; velocities are then moved on by the mean of the last part and the next, which is how far they
//! are apart. Steps have a margin (see [`stable`](super::stable)), and are divided only when √2 of it is spent: changing their length all the time, in step with a
//! vibration, would feed it. Every sum is taken in a fixed order: the result does not depend on the number of threads.

use super::chunk::Chunk;
use super::collider::{Collider, Near, Spring};
use super::element::Element;
use super::events::{Touch, Touches};
use super::kernel::{Four, Kernel, Squares, best};
use super::pairs::{Pairs, Time};
use super::stable::StepLimit;
use super::view::{BodyView, Energy};
use super::{SoftBody, SoftError};
use eigentone_core::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// What holds for all bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldSettings {
    /// In m/s².
    pub gravity_m_s2: Vec3,
    /// Length of a step; the longest that is stable if not given. Either is rounded down to a whole fraction of an audio sample.
    pub step_s: Option<f64>,
    /// Samples per second of the sound that will be made of it.
    pub sample_rate_hz: f64,
    /// What does not move.
    pub colliders: Vec<Collider>,
}

impl Default for WorldSettings {
    fn default() -> Self {
        Self { gravity_m_s2: Vec3::Z * -9.81, step_s: None, sample_rate_hz: 44_100.0, colliders: Vec::new() }
    }
}

/// Steps in one audio sample, at least: the low-pass before the sound needs room above 20 kHz.
const LEAST_STEPS: f64 = 2.0;
/// Steps in a second, at most.
const MOST_STEPS_PER_S: f64 = 1e9;
/// Parts into which a step is divided, at most.
const MOST_PARTS: f64 = 256.0;
/// Stretch is looked at every so many steps; between, it cannot change by much.
const MEASURED_EVERY: u64 = 4;
/// How much of the margin of a step may be spent on elements that have become stiffer.
const SPENT: f64 = std::f64::consts::SQRT_2;
/// How many chunks make it worth while to have several threads.
const PARALLEL: usize = 12;
/// Nodes that one thread takes at a time.
const NODE_CHUNK: usize = 512;
/// How deep nodes may get into colliders, relative to the height of an element.
pub(super) const DEEPEST: f64 = 0.1;

/// A body's part of the arrays.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub name: String,
    pub nodes: Range<usize>,
    pub triangles: Range<usize>,
    pub friction: f64,
    pub young_pa: f64,
    pub gamma_per_s: f64,
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
    pub mass_kg: Vec<f64>,
    pub skin: Vec<Skin>,
    pub body: Vec<u32>,
}

/// Bodies, what they collide with, and time.
pub struct SoftWorld {
    pub(super) nodes: Nodes,
    pub(super) parts: Vec<Part>,
    pub(super) bodies: Vec<SoftBody>,
    pub(super) triangles: Vec<[u32; 3]>,
    chunks: Vec<Chunk>,
    materials: Vec<[f64; 4]>,
    /// Length of the part of a step that was made last, in s.
    last_s: f64,
    /// Of each node which chunks know of it, and as which of their nodes: `incident[first[n]..first[n + 1]]`.
    first: Vec<u32>,
    incident: Vec<[u32; 2]>,
    colliders: Vec<Collider>,
    gravity: Vec3,
    kernel: Kernel,
    pairs: Pairs,
    near: Near,
    /// Margin within which nodes are looked at as near a collider, in m.
    margin_m: f64,
    touches: Touches,
    step_s: f64,
    steps: u64,
    parts_of_step: u32,
    divided_most: u32,
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
            triangles: Vec::new(),
            chunks: Vec::new(),
            materials: Vec::new(),
            last_s: 1.0,
            first: Vec::new(),
            incident: Vec::new(),
            colliders: settings.colliders.clone(),
            gravity: settings.gravity_m_s2,
            kernel: best(),
            pairs: Pairs::default(),
            near: Near::default(),
            margin_m: 0.0,
            touches: Touches::default(),
            step_s: 0.0,
            steps: 0,
            parts_of_step: 1,
            divided_most: 1,
        };
        for body in bodies {
            world.add(body)?;
        }
        world.step_s = world.choose_step_s(settings)?;
        world.list_incident();
        let heights = world.nodes.skin.iter().map(|skin| skin.height_m);
        world.margin_m = heights.fold(f64::INFINITY, f64::min);
        world.last_s = world.step_s;
        Ok(world)
    }

    fn add(&mut self, body: SoftBody) -> Result<(), SoftError> {
        body.material.check()?;
        let elements = body.elements()?;
        let number = self.parts.len();
        let first_node = self.nodes.positions.len();
        let count = body.mesh.positions.len();
        let mut mass_kg = vec![0.0; count];
        let mut skin = vec![Skin { area_m2: 0.0, height_m: f64::INFINITY }; count];
        let mut limit = StepLimit { elastic_s: f64::INFINITY, viscous: 0.0 };
        for (element, tet) in elements.iter().zip(&body.mesh.tets) {
            let own = StepLimit::of(element, &body.material);
            if own.step_s(1.0) < limit.step_s(1.0) {
                limit = own;
            }
            for &n in tet {
                mass_kg[n as usize] += 0.25 * body.material.density_kg_m3 * element.volume_m3;
                let height_m = &mut skin[n as usize].height_m;
                *height_m = height_m.min(element.least_altitude_m());
            }
        }
        if mass_kg.contains(&0.0) {
            let problem = "has a node that belongs to no tetrahedron".to_owned();
            return Err(SoftError::Mesh { body: body.name, problem });
        }
        let (surface, node_of) = body.surface();
        let first_triangle = self.triangles.len();
        for (t, triangle) in surface.triangles.iter().enumerate() {
            let nodes = triangle.map(|v| node_of[v as usize]);
            nodes.iter().for_each(|&n| skin[n as usize].area_m2 += surface.triangle_area(t) / 3.0);
            self.triangles.push(nodes.map(|n| n + first_node as u32));
        }
        let first_chunk = self.chunks.len();
        self.chunks.extend(Chunk::of_body(&body, &elements, first_node, number));

        let mass: f64 = mass_kg.iter().sum();
        let centre = body.mesh.positions.iter().zip(&mass_kg).map(|(p, m)| *p * *m).sum::<Vec3>() / mass;
        let moving = |p: &Vec3| Four::from_point(body.velocity_m_s + body.spin_rad_s.cross(*p - centre));
        self.nodes.positions.extend(body.mesh.positions.iter().map(|p| Four::from_point(*p)));
        self.nodes.velocities.extend(body.mesh.positions.iter().map(moving));
        self.nodes.inverse_kg.extend(mass_kg.iter().map(|m| m.recip()));
        self.nodes.mass_kg.extend(mass_kg);
        self.nodes.skin.extend(skin);
        self.nodes.body.resize(first_node + count, number as u32);
        for &n in &body.pinned {
            self.nodes.inverse_kg[first_node + n as usize] = 0.0;
            self.nodes.velocities[first_node + n as usize] = Four::default();
        }
        let chunks = first_chunk..self.chunks.len();
        self.parts.push(Part {
            name: body.name.clone(),
            nodes: first_node..first_node + count,
            triangles: first_triangle..self.triangles.len(),
            friction: body.friction,
            young_pa: body.material.young_pa,
            gamma_per_s: body.material.gamma_per_s,
            limit,
            chunks,
        });
        let [lambda, mu] = body.material.lame_pa();
        self.materials.push([lambda, mu, body.material.phi_pa_s, body.material.psi_pa_s]);
        self.bodies.push(body);
        Ok(())
    }

    fn choose_step_s(&self, settings: &WorldSettings) -> Result<f64, SoftError> {
        let rate_hz = settings.sample_rate_hz;
        let worst = self.parts.iter().min_by(|a, b| a.limit.step_s(1.0).total_cmp(&b.limit.step_s(1.0)));
        let needed_s = worst.map_or(f64::INFINITY, |part| part.limit.step_s(1.0));
        let name = || worst.map_or(String::new(), |part| part.name.clone());
        let wanted_s = match settings.step_s {
            Some(asked_s) if asked_s.is_nan() || asked_s > needed_s || asked_s <= 0.0 => {
                return Err(SoftError::Step { asked_s, needed_s, body: name() });
            }
            Some(asked_s) => asked_s,
            None => needed_s,
        };
        let steps = (1.0 / (rate_hz * wanted_s)).ceil().max(LEAST_STEPS);
        if !(0.0..=MOST_STEPS_PER_S).contains(&(rate_hz * steps)) {
            return Err(SoftError::TooSlow { body: name(), needed_s, steps: rate_hz * steps });
        }
        Ok(1.0 / (rate_hz * steps))
    }

    fn list_incident(&mut self) {
        let mut counts = vec![0u32; self.nodes.positions.len() + 1];
        let all = || {
            self.chunks.iter().enumerate().flat_map(|(c, chunk)| {
                chunk.nodes.iter().enumerate().map(move |(local, &n)| (n as usize, [c as u32, local as u32]))
            })
        };
        all().for_each(|(n, _)| counts[n + 1] += 1);
        for n in 1..counts.len() {
            counts[n] += counts[n - 1];
        }
        let mut at = counts.clone();
        let mut incident = vec![[0; 2]; counts.last().map_or(0, |n| *n as usize)];
        for (n, place) in all() {
            incident[at[n] as usize] = place;
            at[n] += 1;
        }
        (self.first, self.incident) = (counts, incident);
    }

    /// Moves everything on by one step.
    ///
    /// # Errors
    /// [`SoftError::Unstable`] if elements are so stretched that no step would do.
    pub fn step(&mut self) -> Result<(), SoftError> {
        // A divided step is looked at in each of its parts: what divided it may grow.
        let mut left_s = self.step_s;
        let mut parts = self.parts_of_step;
        while left_s > 1e-9 * self.step_s {
            let measure = parts > 1 || self.steps.is_multiple_of(MEASURED_EVERY);
            let stable_s = self.find_forces(measure);
            if let Some(stable_s) = stable_s.map(|s| s * SPENT) {
                let wanted = (left_s / stable_s).ceil();
                if wanted.is_nan() || wanted > MOST_PARTS {
                    return Err(SoftError::Unstable { time_s: self.time_s(), needed_s: stable_s });
                }
                parts = (wanted as u32).max(1);
                self.parts_of_step = (self.step_s / stable_s).ceil() as u32;
                self.divided_most = self.divided_most.max(self.parts_of_step);
            }
            let step_s = left_s / f64::from(parts.max(1));
            let kick_s = 0.5 * (self.last_s + step_s);
            if self.colliders.is_empty() && self.parts.len() < 2 {
                self.kick(kick_s, step_s);
            } else {
                self.kick(kick_s, 0.0);
                let now_s = self.time_s() + self.step_s - left_s;
                let farthest_m = self.fastest_m_s() * step_s;
                let time = Time { farthest_m, now_s, part_s: step_s, step_s: self.step_s };
                self.pairs.touch(&mut self.nodes, &self.parts, &self.triangles, time, &mut self.touches);
                self.near.moved(farthest_m, &self.colliders, &self.nodes.positions, self.margin_m);
                self.drift(step_s, now_s);
            }
            self.last_s = step_s;
            left_s -= step_s;
            parts -= 1;
        }
        self.steps += 1;
        Ok(())
    }

    /// Forces of all elements; if asked, the longest step that is stable now.
    fn find_forces(&mut self, measure: bool) -> Option<f64> {
        let (per_s, kernel) = (self.last_s.recip(), self.kernel);
        let (materials, positions) = (&self.materials, &self.nodes.positions);
        let run = |chunk: &mut Chunk| chunk.run(kernel, materials, positions, per_s, measure);
        if self.chunks.len() < PARALLEL {
            self.chunks.iter_mut().for_each(run);
        } else {
            self.chunks.par_iter_mut().with_min_len(2).for_each(run);
        }
        measure.then(|| {
            let stiffest = |part: &Part| self.chunks[part.chunks.clone()].iter().map(|c| c.stiffer).fold(1.0, f64::max);
            let of = |part: &Part| part.limit.step_s(stiffest(part));
            self.parts.iter().map(of).fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE)
        })
    }

    /// v += Δt (f/m + g − γv), and if nothing is to happen in between, x += `drift_s` v.
    fn kick(&mut self, step_s: f64, drift_s: f64) {
        let chunks = &self.chunks;
        let gravity = Four::from_point(self.gravity * step_s);
        let (first, incident, parts) = (&self.first, &self.incident, &self.parts);
        let Nodes { positions, velocities, inverse_kg, body: bodies, .. } = &mut self.nodes;
        let (inverse_kg, bodies) = (&*inverse_kg, &*bodies);
        let kick = |(n, (v, x)): (usize, (&mut Four, &mut Four))| {
            if inverse_kg[n] == 0.0 {
                return;
            }
            let mut force = Four::default();
            for &[chunk, local] in &incident[first[n] as usize..first[n + 1] as usize] {
                force = force.plus(1.0, chunks[chunk as usize].forces[local as usize]);
            }
            *v = v.plus(step_s * inverse_kg[n], force).plus(1.0, gravity);
            let gamma_per_s = parts[bodies[n] as usize].gamma_per_s;
            if gamma_per_s > 0.0 {
                *v = Four::default().plus(1.0 / (1.0 + step_s * gamma_per_s), *v);
            }
            *x = x.plus(drift_s, *v);
        };
        if velocities.len() < 4 * NODE_CHUNK {
            velocities.iter_mut().zip(positions).enumerate().for_each(kick);
        } else {
            velocities.par_iter_mut().zip(positions).with_min_len(NODE_CHUNK).enumerate().for_each(kick);
        }
    }

    /// Speed of the fastest node.
    fn fastest_m_s(&self) -> f64 {
        self.nodes.velocities.iter().map(|v| v.point().length_squared()).fold(0.0, f64::max).sqrt()
    }

    /// Contact with what does not move, then x += Δt v.
    fn drift(&mut self, step_s: f64, now_s: f64) {
        let bodies = self.parts.len();
        // Nodes inside as well: a body that is squeezed flat would else fall through its own skin.
        for &(n, number) in &self.near.pairs {
            let (n, number) = (n as usize, number as usize);
            let (p, collider) = (self.nodes.positions[n].point(), &self.colliders[number]);
            let Some((depth_m, out)) = collider.depth(p) else { continue };
            if self.nodes.inverse_kg[n] == 0.0 {
                continue;
            }
            let (skin, part) = (self.nodes.skin[n], &self.parts[self.nodes.body[n] as usize]);
            let mass_kg = self.nodes.mass_kg[n];
            let area_m2 = if skin.area_m2 > 0.0 { skin.area_m2 } else { skin.height_m * skin.height_m };
            let spring = Spring {
                // Of the whole step: a spring that grew stiffer while it is pressed would make energy.
                stiffness_n_m: Spring::stiffness_n_m(part.young_pa, area_m2, skin.height_m, mass_kg, self.step_s),
                mass_kg,
                deepest_m: DEEPEST * skin.height_m,
                friction: (collider.friction * part.friction).sqrt(),
            };
            let change = spring.change(depth_m, out, self.nodes.velocities[n].point(), step_s);
            self.nodes.velocities[n] = self.nodes.velocities[n].plus(1.0, Four::from_point(change));
            self.touches.add(self.nodes.body[n] as usize, bodies + number, now_s, p, mass_kg * change);
            // Others may have pushed it in deeper.
            let too_deep_m = (depth_m - spring.deepest_m).max(0.0);
            self.nodes.positions[n] = self.nodes.positions[n].plus(too_deep_m, Four::from_point(out));
        }
        let Nodes { positions, velocities, .. } = &mut self.nodes;
        let drift = |(x, v): (&mut Four, &Four)| *x = x.plus(step_s, *v);
        if positions.len() < 4 * NODE_CHUNK {
            positions.iter_mut().zip(velocities.iter()).for_each(drift);
        } else {
            positions.par_iter_mut().zip(velocities.par_iter()).with_min_len(NODE_CHUNK).for_each(drift);
        }
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
        self.steps as f64 * self.step_s
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

    /// A body as it is now.
    pub fn body(&self, number: usize) -> BodyView<'_> {
        BodyView { world: self, number }
    }

    /// Moves the nodes of a body by what `by` gives for where they are: for bodies that begin under strain.
    pub fn displace(&mut self, body: usize, by: impl Fn(Vec3) -> Vec3) {
        let to: Vec<Vec3> = self.body(body).positions().map(|p| p + by(p)).collect();
        self.displace_to(body, &to);
    }

    /// Moves the nodes of a body, pinned ones as well, to where they begin under strain.
    pub fn displace_to(&mut self, body: usize, to: &[Vec3]) {
        (self.near, self.pairs) = (Near::default(), Pairs::default());
        for (position, to) in self.nodes.positions[self.parts[body].nodes.clone()].iter_mut().zip(to) {
            *position = Four::from_point(*to);
        }
        // Nothing has moved: the strain has been there all the time.
        let last_s = std::mem::replace(&mut self.last_s, f64::INFINITY);
        self.find_forces(false);
        self.last_s = last_s;
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

//! Bodies that come and go, and the step they need.

use super::{Chunk, Near, Part, Skin, SoftWorld};
use crate::soft::element::Element;
use crate::soft::events::Partner;
use crate::soft::kernel::Four;
use crate::soft::stable::StepLimit;
use crate::soft::{SoftBody, SoftError, SoftId};
use eigentone_core::Vec3;

/// Steps in one audio sample, at least: the low-pass before the sound needs room above 20 kHz.
const LEAST_STEPS: f64 = 2.0;
/// Steps in a second, at most.
const MAX_STEPS_PER_S: f64 = 1e9;

/// What a body needs: the longest step at rest, and its name.
type Need<'a> = Option<(f64, &'a str)>;

impl SoftWorld {
    /// Puts a body into the world while it runs. All others move on to the same bits as without it, but for the step, which is the one that the stiffest needs; a shorter
    /// one begins with the next audio sample.
    ///
    /// # Errors
    /// If its mesh or a number makes no sense, or it needs a step shorter than the one that was asked for or than anyone would wait for. The world is then as before.
    pub fn insert(&mut self, body: SoftBody) -> Result<SoftId, SoftError> {
        body.material.check()?;
        let elements = body.elements()?;
        let own_s = limit_of(&body, &elements).step_s(1.0);
        let before = self.worst();
        let worst =
            if before.is_none_or(|(needed_s, _)| own_s < needed_s) { Some((own_s, &*body.name)) } else { before };
        let steps = self.choose_steps(worst)?;
        let id = self.add(body)?;
        self.next_per_sample = steps;
        self.renew();
        Ok(id)
    }

    /// Takes a body out of the world, and gives it back as it was put in; `None` if it is gone already. What it did to colliders can still be drained.
    pub fn remove(&mut self, id: SoftId) -> Option<SoftBody> {
        let number = self.number(id)?;
        let part = self.parts.remove(number);
        let (nodes, triangles, chunks) = (part.nodes.clone(), part.triangles.clone(), part.chunks.clone());
        let all = &mut self.nodes;
        all.positions.drain(nodes.clone());
        all.velocities.drain(nodes.clone());
        all.inverse_kg.drain(nodes.clone());
        all.mass_kg.drain(nodes.clone());
        all.skin.drain(nodes.clone());
        all.body.drain(nodes.clone());
        all.body[nodes.start..].iter_mut().for_each(|b| *b -= 1);
        self.triangles.drain(triangles.clone());
        self.chunks.drain(chunks.clone());
        let fewer = nodes.len() as u32;
        self.triangles[triangles.start..].as_flattened_mut().iter_mut().for_each(|n| *n -= fewer);
        self.chunks[chunks.start..].iter_mut().flat_map(|c| &mut c.nodes).for_each(|n| *n -= fewer);
        for later in &mut self.parts[number..] {
            let back = |range: &mut std::ops::Range<usize>, by: usize| *range = range.start - by..range.end - by;
            back(&mut later.nodes, nodes.len());
            back(&mut later.triangles, triangles.len());
            back(&mut later.chunks, chunks.len());
        }
        self.pairs.remove(nodes);
        self.touches.end(|body, partner| body == id || partner == Partner::Body(id));
        self.removals += 1;
        // Without it nobody needs a shorter step than before.
        self.next_per_sample = self.choose_steps(self.worst()).unwrap_or(self.next_per_sample);
        self.renew();
        Some(self.bodies.remove(number))
    }

    /// The body that needs the shortest step.
    pub(super) fn worst(&self) -> Need<'_> {
        let all = self.parts.iter().filter(|part| !part.frozen).map(|part| (part.limit.step_s(1.0), &*part.name));
        all.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Steps in an audio sample that the worst body needs.
    pub(super) fn choose_steps(&self, worst: Need<'_>) -> Result<u64, SoftError> {
        let needed_s = worst.map_or(f64::INFINITY, |(needed_s, _)| needed_s);
        let name = || worst.map_or(String::new(), |(_, name)| name.to_owned());
        let wanted_s = match self.asked_s {
            Some(asked_s) if asked_s.is_nan() || asked_s > needed_s || asked_s <= 0.0 => {
                return Err(SoftError::Step { asked_s, needed_s, body: name() });
            }
            Some(asked_s) => asked_s,
            None => needed_s,
        };
        let steps = (1.0 / (self.rate_hz * wanted_s)).ceil().max(LEAST_STEPS);
        if !(0.0..=MAX_STEPS_PER_S).contains(&(self.rate_hz * steps)) {
            return Err(SoftError::TooSlow { body: name(), needed_s, steps: self.rate_hz * steps });
        }
        Ok(steps as u64)
    }

    /// After bodies have come or gone.
    pub(super) fn renew(&mut self) {
        self.list_incident();
        self.near = Near::default();
        self.pairs.renew();
        self.margin_m = self.nodes.skin.iter().map(|skin| skin.height_m).fold(f64::INFINITY, f64::min);
        self.look = self.steps > 0;
        if self.in_sample == 0 {
            self.change_step();
        }
    }

    /// Between two audio samples: takes the step that is wanted.
    pub(super) fn change_step(&mut self) {
        if self.per_sample == self.next_per_sample {
            return;
        }
        self.since = (self.samples as f64 / self.rate_hz, self.steps);
        self.per_sample = self.next_per_sample;
        self.step_s = 1.0 / (self.rate_hz * self.per_sample as f64);
        self.parts_of_step = 1;
        self.look = self.steps > 0;
    }

    /// Puts a body at the end of all arrays.
    pub(super) fn add(&mut self, body: SoftBody) -> Result<SoftId, SoftError> {
        body.material.check()?;
        let elements = body.elements()?;
        let number = self.parts.len();
        let first_node = self.nodes.positions.len();
        let count = body.mesh.positions.len();
        let mut mass_kg = vec![0.0; count];
        let mut skin = vec![Skin { area_m2: 0.0, height_m: f64::INFINITY }; count];
        for (element, tet) in elements.iter().zip(&body.mesh.tets) {
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
        self.chunks.extend(Chunk::of_body(&body, &elements, first_node));

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
        let id = SoftId(self.next_id[0]);
        self.next_id[0] += 1;
        self.parts.push(Part {
            id,
            name: body.name.clone(),
            nodes: first_node..first_node + count,
            triangles: first_triangle..self.triangles.len(),
            friction: body.friction,
            young_pa: body.material.young_pa,
            gamma_per_s: body.material.gamma_per_s,
            frozen: false,
            limit: limit_of(&body, &elements),
            chunks: first_chunk..self.chunks.len(),
        });
        self.bodies.push(body);
        Ok(id)
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
}

/// The limit of its worst element.
fn limit_of(body: &SoftBody, elements: &[Element]) -> StepLimit {
    let mut limit = StepLimit { elastic_s: f64::INFINITY, viscous: 0.0 };
    for element in elements {
        let own = StepLimit::of(element, &body.material);
        if own.step_s(1.0) < limit.step_s(1.0) {
            limit = own;
        }
    }
    limit
}

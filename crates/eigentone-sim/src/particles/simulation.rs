//! The simulation: every particle from impact to impact.

use super::collider::Collider;
use super::path::{Bounds, Path};
use super::settings::{Cloud, Region, check_count};
use super::surface::Surface;
use super::wheel::Wheel;
use super::{Impact, ParticleError};
use eigentone_core::{Noise, Vec3};

/// A particle that leaves a surface more slowly than this stays there. At 1 mm/s it would rise by 50 nm.
const REST_M_S: f64 = 1e-3;
/// A flight counts for at least this long, so that a cloud inside a collider or at the edge of the scene cannot stop the clock.
const SHORTEST_LIFE_S: f64 = 1e-3;
/// The scene ends this far from what is in it, relative to its size and in m: what lies on its edge is still inside.
const SCENE_MARGIN: (f64, f64) = (0.01, 1e-3);

/// What a particle does next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Next {
    /// It starts in the cloud.
    Launch,
    /// It strikes a collider.
    Strike(u32),
    /// It leaves the scene.
    Leave,
    /// Nothing; it has finished.
    Nothing,
}

/// A particle on its way from one impact to the next.
#[derive(Clone, Debug)]
struct Particle {
    noise: Noise,
    /// When this leg began, and where and how fast.
    since_s: f64,
    position: Vec3,
    velocity: Vec3,
    /// When it left the cloud.
    born_s: f64,
    mass_kg: f64,
    /// Energy drawn for this flight, if the law draws.
    energy_j: Option<f64>,
    bounces: u32,
    next: Next,
    next_s: f64,
}

/// Particles over colliders.
#[derive(Clone, Debug)]
pub struct Simulation {
    cloud: Cloud,
    scene: Scene,
    particles: Vec<Particle>,
    wheel: Wheel,
    now_s: f64,
}

/// What the particles move among.
#[derive(Clone, Debug)]
struct Scene {
    colliders: Vec<Collider>,
    surfaces: Vec<Surface>,
    /// Boxes around the surfaces, close together in memory.
    boxes: Vec<Bounds>,
    /// Around colliders and cloud; what is outside for good has left.
    bounds: Bounds,
}

impl Simulation {
    /// Checks everything and lets the particles wait for their starts.
    pub fn new(cloud: Cloud, colliders: Vec<Collider>) -> Result<Self, ParticleError> {
        cloud.check()?;
        let scene = Scene::new(colliders, &cloud.region)?;
        let mut simulation = Self { cloud, scene, particles: Vec::new(), wheel: Wheel::new(), now_s: 0.0 };
        simulation.add_up_to(simulation.cloud.particles);
        Ok(simulation)
    }

    /// Lets time pass until `until_s` and appends the impacts up to and including it, in order of time; of simultaneous ones the particle with the
    /// smaller index comes first. How the time is cut into calls changes nothing. A time that is not finite or has passed does nothing.
    pub fn advance(&mut self, until_s: f64, out: &mut Vec<Impact>) {
        if !(until_s.is_finite() && until_s >= self.now_s) {
            return;
        }
        for tick in Wheel::tick(self.now_s)..=Wheel::tick(until_s) {
            let first = out.len();
            let due = self.wheel.take(tick);
            for &index in &due {
                let particle = &mut self.particles[index as usize];
                let stays = self.cloud.regenerate && (index as usize) < self.cloud.particles;
                while particle.next_s <= until_s && Wheel::tick(particle.next_s) == tick {
                    particle.step(index, stays, &self.cloud, &self.scene, out);
                }
                if particle.next != Next::Nothing {
                    self.wheel.put(index, particle.next_s);
                }
            }
            self.wheel.give_back(tick, due);
            out[first..].sort_by(|a, b| a.time_s.total_cmp(&b.time_s).then(a.particle.cmp(&b.particle)));
        }
        self.now_s = until_s;
    }

    /// The time reached, in s.
    pub fn now_s(&self) -> f64 {
        self.now_s
    }

    /// The colliders, in the order of their indices.
    pub fn colliders(&self) -> &[Collider] {
        &self.scene.colliders
    }

    /// How many particles are on their way.
    pub fn in_flight(&self) -> usize {
        self.particles.iter().filter(|p| p.flies()).count()
    }

    /// Where the particles in flight are now.
    pub fn positions(&self) -> impl Iterator<Item = Vec3> + '_ {
        let fly = self.particles.iter().filter(|p| p.flies());
        fly.map(|p| p.path(&self.cloud).at(self.now_s - p.since_s))
    }

    /// Moves the cloud: from now on particles start there.
    pub fn place_cloud(&mut self, region: Region) -> Result<(), ParticleError> {
        region.check()?;
        self.cloud.region = region;
        self.scene.bounds = Scene::bounds_of(&self.scene.boxes, &region);
        Ok(())
    }

    /// Changes how many particles are in flight: new ones start within the onset, superfluous ones finish their flights. Without regeneration
    /// particles can only be added.
    pub fn set_particles(&mut self, particles: usize) -> Result<(), ParticleError> {
        check_count(particles)?;
        self.cloud.particles = particles;
        for index in 0..self.particles.len().min(particles) {
            if self.cloud.regenerate && self.particles[index].next == Next::Nothing {
                self.enlist(index);
            }
        }
        self.add_up_to(particles);
        Ok(())
    }

    fn add_up_to(&mut self, particles: usize) {
        self.particles.reserve(particles.saturating_sub(self.particles.len()));
        for index in self.particles.len()..particles {
            self.particles.push(Particle::new(self.cloud.seed, index as u64));
            self.enlist(index);
        }
    }

    /// Lets a particle start within the onset from now.
    fn enlist(&mut self, index: usize) {
        let particle = &mut self.particles[index];
        particle.next = Next::Launch;
        particle.next_s = self.now_s + self.cloud.onset_s * particle.noise.uniform();
        self.wheel.put(index as u32, particle.next_s);
    }
}

impl Scene {
    fn new(colliders: Vec<Collider>, region: &Region) -> Result<Self, ParticleError> {
        let mut surfaces = Vec::with_capacity(colliders.len());
        for (index, collider) in colliders.iter().enumerate() {
            let error = |problem| ParticleError::Collider { index, problem };
            let surface = Surface::new(&collider.shape).map_err(error)?;
            if collider.parts.iter().any(|p| p.u.iter().chain(&p.v).any(|x| x.is_nan())) {
                return Err(error("the edges of its parts must be numbers"));
            }
            surfaces.push(surface);
        }
        let boxes: Vec<Bounds> = surfaces.iter().map(Surface::bounds).collect();
        let bounds = Self::bounds_of(&boxes, region);
        Ok(Self { colliders, surfaces, boxes, bounds })
    }

    fn bounds_of(boxes: &[Bounds], region: &Region) -> Bounds {
        let all = boxes.iter().fold(region.bounds(), |all, bounds| all.union(*bounds));
        all.padded(SCENE_MARGIN.0 * (all.high - all.low).length() + SCENE_MARGIN.1)
    }

    /// What a path that begins on the collider `from`, or in the air, meets first, and when; the path ends at `until` at the latest.
    fn next_on(&self, path: &Path, from: Option<u32>, until: f64) -> (Next, f64) {
        let mut end = path.leaves(&self.bounds).min(until);
        let mut next = Next::Leave;
        let reach = path.bounds(end);
        for (index, bounds) in self.boxes.iter().enumerate() {
            if bounds.overlaps(&reach)
                && let Some(t) = self.surfaces[index].first_hit(path, from == Some(index as u32), end)
                && (t < end || next == Next::Leave)
            {
                (next, end) = (Next::Strike(index as u32), t);
            }
        }
        (next, end)
    }
}

impl Particle {
    /// With a stream of random numbers of its own: the seed's generator scatters the streams over all states.
    fn new(seed: u64, index: u64) -> Self {
        let scattered = Noise::new(Noise::new(seed).bits() ^ index).bits();
        Self {
            noise: Noise::new(scattered),
            since_s: 0.0,
            position: Vec3::ZERO,
            velocity: Vec3::ZERO,
            born_s: 0.0,
            mass_kg: 0.0,
            energy_j: None,
            bounces: 0,
            next: Next::Nothing,
            next_s: f64::INFINITY,
        }
    }

    fn flies(&self) -> bool {
        matches!(self.next, Next::Strike(_) | Next::Leave)
    }

    fn path(&self, cloud: &Cloud) -> Path {
        Path { position: self.position, velocity: self.velocity, acceleration: cloud.gravity_m_s2 }
    }

    /// Does what is next, and finds out what comes after; `stays` is whether it starts anew when it has finished.
    fn step(&mut self, index: u32, stays: bool, cloud: &Cloud, scene: &Scene, out: &mut Vec<Impact>) {
        let from = match self.next {
            Next::Launch => {
                self.launch(cloud);
                None
            }
            Next::Strike(collider) => {
                let impact = self.strike(index, collider, cloud, scene);
                out.push(impact);
                if self.bounces > cloud.bounces || self.velocity.dot(impact.normal) < REST_M_S {
                    return self.finish(stays);
                }
                Some(collider)
            }
            Next::Leave | Next::Nothing => return self.finish(stays),
        };
        let (next, after_s) = scene.next_on(&self.path(cloud), from, cloud.longest_flight_s);
        self.next = next;
        self.next_s = self.since_s + after_s;
    }

    fn finish(&mut self, stays: bool) {
        (self.next, self.next_s) = if stays {
            (Next::Launch, self.next_s.max(self.born_s + SHORTEST_LIFE_S))
        } else {
            (Next::Nothing, f64::INFINITY)
        };
    }

    fn launch(&mut self, cloud: &Cloud) {
        let noise = &mut self.noise;
        let [least, most] = cloud.mass_kg;
        self.position = cloud.region.draw(noise);
        let off = Vec3::new(noise.bipolar(), noise.bipolar(), noise.bipolar());
        self.velocity = cloud.velocity_m_s + cloud.spread_m_s * off;
        self.mass_kg = least + (most - least) * noise.uniform();
        self.energy_j = cloud.energy.draw(noise);
        self.bounces = 0;
        (self.since_s, self.born_s) = (self.next_s, self.next_s);
    }

    /// Describes the impact that is due, and turns the particle round.
    fn strike(&mut self, index: u32, collider: u32, cloud: &Cloud, scene: &Scene) -> Impact {
        let path = self.path(cloud);
        let elapsed = self.next_s - self.since_s;
        let (position, velocity) = (path.at(elapsed), path.velocity_at(elapsed));
        let surface = &scene.surfaces[collider as usize];
        let along = surface.normal_at(position).try_normalize().unwrap_or_else(|| -velocity.normalize_or_zero());
        let normal = if along.dot(velocity) > 0.0 { -along } else { along };
        let approach = -normal.dot(velocity);

        let e = cloud.restitution;
        let energy_j = match self.energy_j {
            Some(first) => first * e.powi(2 * self.bounces as i32),
            None => 0.5 * self.mass_kg * approach * approach,
        };
        let impulse = (1.0 + e) * (2.0 * self.mass_kg * energy_j).sqrt();
        let uv = surface.uv_at(position);
        let impact = Impact {
            time_s: self.next_s,
            particle: index,
            collider,
            part: scene.colliders[collider as usize].part_at(uv),
            bounce: self.bounces,
            uv,
            position,
            normal,
            mass_kg: self.mass_kg,
            energy_j,
            impulse_ns: -impulse * normal,
        };
        self.velocity = cloud.slide * (velocity + approach * normal) + e * approach * normal;
        (self.position, self.since_s) = (position, self.next_s);
        self.bounces += 1;
        impact
    }
}

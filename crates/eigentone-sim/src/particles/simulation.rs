//! The simulation: every particle from impact to impact.

use super::collider::Collider;
use super::particle::Particle;
use super::path::Path;
use super::pose::{Placed, Pose};
use super::scene::{Change, Leg, Next, Scene};
use super::settings::{Cloud, Region, check_count};
use super::watch::Watch;
use super::wheel::Wheel;
use super::{Impact, ParticleError};
use eigentone_core::Vec3;

/// Particles over colliders. A clone of it goes on exactly as the original does.
#[derive(Clone, Debug)]
pub struct Simulation {
    cloud: Cloud,
    scene: Scene,
    particles: Vec<Particle>,
    wheel: Wheel,
    watch: Watch,
    now_s: f64,
}

impl Simulation {
    /// Checks everything and lets the particles wait for their starts.
    pub fn new(cloud: Cloud, colliders: Vec<Collider>) -> Result<Self, ParticleError> {
        cloud.check()?;
        let scene = Scene::new(colliders, &cloud.region)?;
        let (particles, wheel, watch) = (Vec::new(), Wheel::new(), Watch::new());
        let mut simulation = Self { cloud, scene, particles, wheel, watch, now_s: 0.0 };
        simulation.add_up_to(simulation.cloud.particles);
        Ok(simulation)
    }

    /// Lets time pass until `until_s` and appends the impacts up to and including it, in order of time; of simultaneous ones the particle with the
    /// smaller index comes first. How the time is cut into calls changes nothing. A time that is not finite or has passed does nothing.
    pub fn advance(&mut self, until_s: f64, out: &mut Vec<Impact>) {
        if !(until_s.is_finite() && until_s >= self.now_s) {
            return;
        }
        loop {
            if self.scene.is_due(self.now_s) {
                self.follow_colliders();
            }
            self.run(until_s.min(self.scene.window_s()), out);
            if self.now_s >= until_s {
                return;
            }
        }
    }

    /// Lets time pass without a look at the colliders.
    fn run(&mut self, until_s: f64, out: &mut Vec<Impact>) {
        for tick in Wheel::tick(self.now_s)..=Wheel::tick(until_s) {
            let first = out.len();
            let due = self.wheel.take(tick);
            for &index in &due {
                let particle = &mut self.particles[index as usize];
                let stays = self.cloud.regenerate && (index as usize) < self.cloud.particles;
                while particle.next_s <= until_s && Wheel::tick(particle.next_s) == tick {
                    particle.step(index, stays, &self.cloud, &self.scene, out);
                    self.watch.forget(index as usize);
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

    /// The colliders, in the order of their indices; also those that were [removed](Self::remove_collider).
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
        fly.map(|p| p.leg(&self.cloud).at(self.now_s))
    }

    /// Moves the cloud: from now on particles start there.
    pub fn place_cloud(&mut self, region: Region) -> Result<(), ParticleError> {
        region.check()?;
        self.cloud.region = region;
        self.scene.surround(&region);
        Ok(())
    }

    /// The cloud as it is now.
    pub fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    /// Changes everything about the cloud but its seed: what starts from now on starts like this. Particles in flight keep their mass and drawn energy, and
    /// feel the new gravity at once.
    pub fn set_cloud(&mut self, cloud: Cloud) -> Result<(), ParticleError> {
        cloud.check()?;
        let falls_otherwise = cloud.gravity_m_s2 != self.cloud.gravity_m_s2;
        if falls_otherwise {
            let flying = self.particles.iter_mut().filter(|p| p.flies());
            flying.for_each(|p| p.begin_leg(&self.cloud, self.now_s));
            self.watch.forget_all();
        }
        self.cloud = Cloud { seed: self.cloud.seed, ..cloud };
        self.scene.surround(&self.cloud.region);
        if falls_otherwise {
            let flying: Vec<usize> = (0..self.particles.len()).filter(|&i| self.particles[i].flies()).collect();
            flying.into_iter().for_each(|index| self.aim(index));
        }
        self.set_particles(self.cloud.particles)
    }

    /// From now on a collider is at this pose, and moves from there with this velocity of its origin and this spin (in rad/s) until it is told
    /// otherwise. What moves must be told often enough, say with every step of what moves it; a place much further off (by
    /// 5 cm and more) than it can have come by itself is a leap, which strikes nobody.
    ///
    /// ```
    /// use eigentone_core::Vec3;
    /// use eigentone_sim::particles::{Cloud, Collider, Pose, Shape, Simulation};
    ///
    /// let tray = Collider::new(Shape::disc(Vec3::ZERO, Vec3::Z, 0.5));
    /// let mut hail = Simulation::new(Cloud::default(), vec![tray])?;
    /// let mut impacts = Vec::new();
    /// for step in 0..480 {
    ///     let time_s = f64::from(step) / 240.0;
    ///     let height = Pose { position: 0.5 * time_s * Vec3::Z, ..Pose::default() };
    ///     hail.set_collider_pose(0, height, 0.5 * Vec3::Z, Vec3::ZERO)?;
    ///     hail.advance(time_s + 1.0 / 240.0, &mut impacts);
    /// }
    /// assert!(impacts.iter().all(|i| (i.position.z - 0.5 * i.time_s).abs() < 1e-6));
    /// # Ok::<(), eigentone_sim::particles::ParticleError>(())
    /// ```
    pub fn set_collider_pose(
        &mut self,
        index: usize,
        pose: Pose,
        velocity: Vec3,
        spin: Vec3,
    ) -> Result<(), ParticleError> {
        self.scene.place(index, Placed::new(self.now_s, pose, velocity, spin)?)
    }

    /// Adds a collider and gives its index: the lowest that is free.
    pub fn add_collider(&mut self, collider: Collider) -> Result<usize, ParticleError> {
        self.scene.add(collider)
    }

    /// Takes a collider away; all others keep their indices.
    pub fn remove_collider(&mut self, index: usize) -> Result<(), ParticleError> {
        self.scene.remove(index)
    }

    /// Whether there is a collider of this index.
    pub fn contains_collider(&self, index: usize) -> bool {
        self.scene.contains(index)
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
            self.watch.add_particle();
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

    /// Brings the colliders to the present, lets those strike that have moved through a particle, and aims particles anew whose next impact
    /// may not be what it was.
    fn follow_colliders(&mut self) {
        let now_s = self.now_s;
        let (changes, grown) = self.scene.turn_to(now_s, &self.cloud.region);
        let all = grown || changes.iter().any(|c| c.counts_for_all);
        self.watch.follow(&changes, now_s);
        for index in 0..self.particles.len() {
            if !all && self.watch.is_far(index, self.scene.window_s()) {
                continue;
            }
            if !self.particles[index].flies() {
                continue;
            }
            let leg = self.particles[index].leg(&self.cloud);
            let rest = leg.rest(now_s);
            let soon = rest.bounds(self.scene.window_s() - now_s);
            if all || self.particles[index].aims_at(&changes) || changes.iter().any(|c| c.near.overlaps(&soon)) {
                self.follow_for(index, &changes, grown, &leg, &rest);
            }
            self.watch.note(index, &self.particles[index].leg(&self.cloud).rest(now_s), now_s);
        }
    }

    fn follow_for(&mut self, index: usize, changes: &[Change], grown: bool, leg: &Leg, rest: &Path) {
        let particle = &mut self.particles[index];
        let (now_s, waited_s) = (self.now_s, particle.next_s);
        let swept = changes.iter().find_map(|c| Some((c.index, self.scene.swept(c, leg)?)));
        if let Some((collider, site)) = swept {
            particle.begin_leg(&self.cloud, now_s);
            particle.be_swept(collider, site, &self.cloud, &self.scene);
            self.wheel.change(index as u32, waited_s, particle.next_s);
        } else if particle.is_concerned(changes, grown, rest, now_s, &self.scene) {
            particle.begin_leg(&self.cloud, now_s);
            self.aim(index);
        }
    }

    fn aim(&mut self, index: usize) {
        let particle = &mut self.particles[index];
        let waited_s = particle.next_s;
        particle.aim(&self.cloud, &self.scene);
        self.wheel.change(index as u32, waited_s, particle.next_s);
    }
}

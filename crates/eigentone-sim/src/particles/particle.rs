//! One particle, from impact to impact.

use super::Impact;
use super::path::Path;
use super::scene::{Change, IMMINENT_S, Leg, Next, Scene, Site};
use super::settings::Cloud;
use eigentone_core::{Noise, Vec3};

/// A particle that leaves a surface more slowly than this stays there. At 1 mm/s it would rise by 50 nm.
const REST_M_S: f64 = 1e-3;
/// A flight counts for at least this long, so that a cloud inside a collider or at the edge of the scene cannot stop the clock.
const SHORTEST_LIFE_S: f64 = 1e-3;

/// A particle on its way from one impact to the next.
#[derive(Clone, Debug)]
pub(super) struct Particle {
    pub(super) noise: Noise,
    /// When this leg began, and where and how fast.
    since_s: f64,
    position: Vec3,
    velocity: Vec3,
    /// How long it had been in the air before this leg: it has been aimed anew since.
    aloft_s: f64,
    /// The collider on which this leg began.
    from: Option<u32>,
    /// When it left the cloud.
    born_s: f64,
    mass_kg: f64,
    /// Energy drawn for this flight, if the law draws.
    energy_j: Option<f64>,
    bounces: u32,
    pub(super) next: Next,
    pub(super) next_s: f64,
}

impl Particle {
    /// With a stream of random numbers of its own: the seed's generator scatters the streams over all states.
    pub(super) fn new(seed: u64, index: u64) -> Self {
        let scattered = Noise::new(Noise::new(seed).bits() ^ index).bits();
        Self {
            noise: Noise::new(scattered),
            since_s: 0.0,
            position: Vec3::ZERO,
            velocity: Vec3::ZERO,
            aloft_s: 0.0,
            from: None,
            born_s: 0.0,
            mass_kg: 0.0,
            energy_j: None,
            bounces: 0,
            next: Next::Nothing,
            next_s: f64::INFINITY,
        }
    }

    pub(super) fn flies(&self) -> bool {
        matches!(self.next, Next::Strike(_) | Next::Leave)
    }

    fn path(&self, cloud: &Cloud) -> Path {
        Path { position: self.position, velocity: self.velocity, acceleration: cloud.gravity_m_s2 }
    }

    /// Does what is next, and finds out what comes after; `stays` is whether it starts anew when it has finished.
    pub(super) fn step(&mut self, index: u32, stays: bool, cloud: &Cloud, scene: &Scene, out: &mut Vec<Impact>) {
        let from = match self.next {
            Next::Launch => {
                self.launch(cloud);
                None
            }
            Next::Strike(collider) => {
                let impact = self.strike(index, collider, cloud, scene);
                out.push(impact);
                let surface = scene.velocity_at(collider, impact.position, impact.time_s);
                let leaves = surface.map_or(self.velocity, |surface| self.velocity - surface);
                if self.bounces > cloud.bounces || leaves.dot(impact.normal) < REST_M_S {
                    return self.finish(stays);
                }
                Some(collider)
            }
            Next::Leave | Next::Nothing => return self.finish(stays),
        };
        (self.from, self.aloft_s) = (from, 0.0);
        self.aim(cloud, scene);
    }

    /// Finds out what the leg that has just begun leads to.
    pub(super) fn aim(&mut self, cloud: &Cloud, scene: &Scene) {
        let until = (cloud.longest_flight_s - self.aloft_s).max(0.0);
        let (next, after_s) = scene.next_on(&self.path(cloud), self.since_s, self.from, until);
        self.next = next;
        self.next_s = self.since_s + after_s;
    }

    pub(super) fn leg(&self, cloud: &Cloud) -> Leg {
        Leg { path: self.path(cloud), since_s: self.since_s, from: self.from }
    }

    /// Begins a leg in the air, or, at the moment of a bounce, leaves everything as it is.
    pub(super) fn begin_leg(&mut self, cloud: &Cloud, now_s: f64) {
        let elapsed = now_s - self.since_s;
        if elapsed > 0.0 {
            let path = self.path(cloud);
            (self.position, self.velocity) = (path.at(elapsed), path.velocity_at(elapsed));
            (self.since_s, self.from) = (now_s, None);
            self.aloft_s += elapsed;
        }
    }

    /// Whether what it does next may be otherwise now that colliders have changed; `rest` is what is left of its path.
    pub(super) fn is_concerned(&self, changes: &[Change], grown: bool, rest: &Path, now_s: f64, scene: &Scene) -> bool {
        match self.next {
            Next::Leave if grown => return true,
            Next::Strike(collider) if changes.iter().any(|c| c.index == collider) => {
                // What is about to happen happens.
                return self.next_s - now_s > IMMINENT_S;
            }
            _ => {}
        }
        changes.iter().any(|change| {
            let until = (self.next_s - now_s).min(change.foreseen_s);
            rest.bounds(until).overlaps(scene.box_of(change.index))
        })
    }

    /// Whether it strikes a collider next that has changed.
    pub(super) fn aims_at(&self, changes: &[Change]) -> bool {
        matches!(self.next, Next::Strike(collider) if changes.iter().any(|c| c.index == collider))
    }

    /// A collider has moved through it: it is on its surface now, and strikes it if the two come together.
    pub(super) fn be_swept(&mut self, collider: u32, (place, normal): (Vec3, Vec3), cloud: &Cloud, scene: &Scene) {
        self.position = place;
        self.from = Some(collider);
        let surface = scene.velocity_at(collider, place, self.since_s).unwrap_or(Vec3::ZERO);
        if (self.velocity - surface).dot(normal) < 0.0 {
            (self.next, self.next_s) = (Next::Strike(collider), self.since_s);
        } else {
            self.aim(cloud, scene);
        }
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
        let velocity = self.path(cloud).velocity_at(self.next_s - self.since_s);
        let Site { position, along, uv, surface } = scene.site(collider, &self.leg(cloud), self.next_s);
        // Against the surface.
        let (came, velocity) = surface.map_or((velocity, velocity), |[seen, is]| (velocity - seen, velocity - is));
        let along = along.try_normalize().unwrap_or_else(|| -velocity.normalize_or_zero());
        // The side from which it was expected. One that turns may by then recede: it is touched and not struck.
        let normal = if along.dot(came) > 0.0 { -along } else { along };
        let approach = -normal.dot(velocity);
        let approach = if surface.is_some() { approach.max(0.0) } else { approach };

        let e = cloud.restitution;
        let energy_j = match self.energy_j {
            Some(first) => first * e.powi(2 * self.bounces as i32),
            None => 0.5 * self.mass_kg * approach * approach,
        };
        let impulse = (1.0 + e) * (2.0 * self.mass_kg * energy_j).sqrt();
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
        if let Some([_, surface]) = surface {
            self.velocity += surface;
        }
        (self.position, self.since_s) = (position, self.next_s);
        self.bounces += 1;
        impact
    }
}

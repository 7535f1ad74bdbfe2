//! Soft bodies against free rigid ones that somebody else simulates.

use eigentone_core::{TetMesh, Vec3};
use eigentone_sim::soft::{Collider, ColliderId, Inertia, Shape, SoftBody, SoftMaterial, SoftWorld, WorldSettings};
use glam::{DMat3, DQuat};

const RATE_HZ: f64 = 44_100.0;
const HALF_M: Vec3 = Vec3::new(0.05, 0.08, 0.08);

/// A box with equal moments of inertia, simulated in the plainest way.
struct Rigid {
    mass_kg: f64,
    moment_kg_m2: f64,
    position: Vec3,
    rotation: DQuat,
    velocity: Vec3,
    spin: Vec3,
}

impl Rigid {
    fn new(mass_kg: f64) -> Self {
        let moment_kg_m2 = mass_kg * 0.06 * 0.06;
        let (position, velocity, spin) = (Vec3::X * 0.0505, Vec3::ZERO, Vec3::ZERO);
        Self { mass_kg, moment_kg_m2, position, rotation: DQuat::IDENTITY, velocity, spin }
    }

    fn inertia(&self) -> Inertia {
        let moments_kg_m2 = DMat3::from_diagonal(Vec3::splat(self.moment_kg_m2));
        Inertia { mass_kg: self.mass_kg, centre: Vec3::ZERO, moments_kg_m2 }
    }

    fn push(&mut self, local: Vec3, impulse: Vec3) {
        self.velocity += impulse / self.mass_kg;
        self.spin += (self.rotation * local).cross(impulse) / self.moment_kg_m2;
    }

    fn step(&mut self, step_s: f64) {
        self.position += self.velocity * step_s;
        self.rotation = (DQuat::from_scaled_axis(self.spin * step_s) * self.rotation).normalize();
    }

    fn energy_j(&self) -> f64 {
        0.5 * self.mass_kg * self.velocity.length_squared() + 0.5 * self.moment_kg_m2 * self.spin.length_squared()
    }
}

struct Both {
    world: SoftWorld,
    id: ColliderId,
    rigid: Rigid,
    step_s: f64,
    steps: usize,
}

impl Both {
    /// A soft cube of 1 kg flies at 2 m/s into a box at rest, `beside` it.
    fn new(mass_kg: f64, beside: Vec3, step_s: f64, free: bool) -> Self {
        let mut mesh = TetMesh::block(Vec3::splat(0.1), [3, 3, 3]);
        mesh.positions.iter_mut().for_each(|p| *p += Vec3::X * -0.0505 + beside);
        let material = SoftMaterial { young_pa: 2e5, psi_pa_s: 2.0, ..SoftMaterial::default() };
        let body = SoftBody { velocity_m_s: Vec3::X * 2.0, ..SoftBody::new("cube", mesh, material) };
        let settings = WorldSettings { gravity_m_s2: Vec3::ZERO, ..WorldSettings::default() };
        let mut world = SoftWorld::new(vec![body], &settings).unwrap();
        let shape = Shape::Cuboid { centre: Vec3::ZERO, half_m: HALF_M, rotation: DQuat::IDENTITY };
        let id = world.insert_collider(Collider { name: "box".to_owned(), shape, friction: 0.3 });
        let rigid = Rigid::new(mass_kg);
        world.set_collider_step_s(step_s);
        if free {
            assert!(world.set_collider_inertia(id, Some(rigid.inertia())));
        }
        let mut both = Self { world, id, rigid, step_s, steps: 0 };
        both.tell();
        both
    }

    fn tell(&mut self) {
        let Rigid { position, rotation, velocity, spin, .. } = self.rigid;
        assert!(self.world.move_collider(self.id, position, rotation, velocity, spin));
    }

    fn step(&mut self) {
        self.steps += 1;
        let until = (self.steps as f64 * self.step_s * RATE_HZ).round() as u64;
        self.world.advance_samples((until - self.world.samples()) as usize, |_| {}).unwrap();
        for got in self.world.drain_impulses() {
            self.rigid.push(got.local_point, got.impulse_ns);
        }
        self.rigid.step(self.step_s);
        self.tell();
    }

    fn momentum(&self) -> [Vec3; 2] {
        let body = self.world.body(0);
        let soft = body.positions().zip(body.velocities()).enumerate();
        let mut sum = [self.rigid.mass_kg * self.rigid.velocity, self.rigid.moment_kg_m2 * self.rigid.spin];
        sum[1] += self.rigid.position.cross(sum[0]);
        for (n, (p, v)) in soft {
            let own = v * body.mass_kg(n);
            sum = [sum[0] + own, sum[1] + p.cross(own)];
        }
        sum
    }

    /// Runs until they have parted; gives the velocity of the box, and the energy there is relative to the one there was.
    fn collide(mass_kg: f64, beside: Vec3, step_s: f64, free: bool) -> (Vec3, Vec3, f64) {
        let mut both = Self::new(mass_kg, beside, step_s, free);
        let (before, energy_j) = (both.momentum(), both.world.energy().total_j());
        for _ in 0..(0.15 / step_s) as usize {
            both.step();
        }
        let after = both.momentum();
        let share = (both.world.energy().total_j() + both.rigid.energy_j()) / energy_j;
        let [linear, angular] = [0, 1].map(|k| (after[k] - before[k]).length());
        println!(
            "{mass_kg} kg beside {beside}, free {free}: {} {}, energy {share:.3}",
            both.rigid.velocity, both.rigid.spin
        );
        println!("  momentum off by {linear:.2e} of {:.2}, about the origin by {angular:.2e}", before[0].length());
        assert!(linear < 0.01 * before[0].length(), "{linear}");
        // By the way the cube goes in a step or two, compared with the size of things.
        assert!(angular < 0.01 * before[0].length() * 0.1, "{angular}");
        (both.rigid.velocity, both.rigid.spin, share)
    }
}

/// Momentum is kept, no energy is made, and the box flies off as if both were simulated together in steps of an audio sample, be it heavy or light, hit in the middle or beside it.
#[test]
fn soft_and_rigid_share_their_momentum() {
    for (mass_kg, beside, within) in [
        (10.0, Vec3::ZERO, 0.02),
        (1.0, Vec3::ZERO, 0.03),
        (0.2, Vec3::ZERO, 0.05),
        (1.0, Vec3::new(0.0, 0.05, 0.02), 0.05),
        (0.3, Vec3::new(0.0, 0.05, 0.02), 0.08),
    ] {
        let (exact, exact_spin, _) = Both::collide(mass_kg, beside, 1.0 / RATE_HZ, true);
        let (found, spin, energy) = Both::collide(mass_kg, beside, 1.0 / 480.0, true);
        assert!(energy < 1.005, "{mass_kg} kg: {energy}");
        assert!(found.x > 0.0 && (found - exact).length() < within * exact.length(), "{mass_kg} kg: {found} {exact}");
        let edge_m_s = (spin - exact_spin).length() * 0.08;
        assert!(edge_m_s < 1.5 * within * exact.length(), "{mass_kg} kg: {spin} {exact_spin}");
    }
}

/// A box on a floor, which its simulation holds: it is told that nothing moves, and soon does not give way any more.
#[test]
fn what_is_held_does_not_give_way() {
    let mut mesh = TetMesh::block(Vec3::splat(0.1), [3, 3, 3]);
    mesh.positions.iter_mut().for_each(|p| *p += Vec3::Z * 0.0501);
    let material = SoftMaterial { young_pa: 2e5, psi_pa_s: 60.0, ..SoftMaterial::default() };
    let mut world = SoftWorld::new(vec![SoftBody::new("cube", mesh, material)], &WorldSettings::default()).unwrap();
    let shape = Shape::Cuboid { centre: Vec3::Z * -0.05, half_m: Vec3::splat(0.05), rotation: DQuat::IDENTITY };
    let id = world.insert_collider(Collider { name: "box".to_owned(), shape, friction: 0.5 });
    assert!(world.set_collider_inertia(id, Some(Inertia::uniform(0.1, 0.04))));
    let (mut lowest, mut weight) = (0f64, 0.0);
    for k in 0..480usize {
        assert!(world.move_collider(id, Vec3::ZERO, DQuat::IDENTITY, Vec3::ZERO, Vec3::ZERO));
        let until = ((k + 1) as f64 / 480.0 * RATE_HZ).round() as u64;
        world.advance_samples((until - world.samples()) as usize, |_| {}).unwrap();
        let impulse: f64 = world.drain_impulses().iter().map(|i| -i.impulse_ns.z).sum();
        let sunk = world.collider(id).unwrap().1.position.z;
        lowest = lowest.min(sunk);
        if k >= 240 {
            weight += impulse / 0.5;
            assert!(sunk > -1e-4, "{sunk}");
        }
    }
    assert!(lowest > -2e-3, "{lowest}");
    assert!((weight / 9.81 - 1.0).abs() < 0.01, "{weight}");
    assert!(!world.set_collider_inertia(id, Some(Inertia::uniform(f64::NAN, 1.0))));
    assert!(!world.set_collider_inertia(id, Some(Inertia::uniform(1.0, 0.0))));
}

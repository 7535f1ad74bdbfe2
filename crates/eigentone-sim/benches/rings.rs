//! The world of `scenes/rings.toml`: do a hundred rings on a table fall faster than real time?
//!
//! `cargo bench -p eigentone-sim --bench rings [-- --quick]`: five seconds (quick: one and a half) of a hundred steel rings that fall from two
//! layers on a table, in 480 steps per second on one core, against the processor's time.

use eigentone_core::Vec3;
use eigentone_core::contact::Phase;
use eigentone_sim::rigid::{BodySpec, Kind, Mass, Shape, World, WorldSettings};
use std::time::Instant;

const MASS_KG: f64 = 0.0348;

/// Even numbers between −1 and 1 (Numerical Recipes' linear congruence).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

fn table_and_rings() -> World {
    let mut world = World::new(WorldSettings::default()).expect("settings");
    let table = Shape::Box { half: Vec3::new(0.6, 0.4, 0.01) };
    let wood = |shape, z| BodySpec { kind: Kind::Fixed, position: Vec3::new(0.0, 0.0, z), ..BodySpec::new(shape) };
    world.add(&wood(table, 0.0)).expect("a table");
    world.add(&wood(Shape::Box { half: Vec3::new(10.0, 10.0, 0.25) }, -1.0)).expect("a floor");
    let mut chance = Chance(7);
    for k in 0..100 {
        let (x, y, z) = (f64::from(k % 10), f64::from(k / 10 % 5), f64::from(k / 50));
        let jitter = Vec3::new(chance.next(), chance.next(), chance.next()) * 0.003;
        let spec = BodySpec {
            mass: Mass::Kg(MASS_KG),
            position: Vec3::new(-0.3 + 0.065 * x, -0.2 + 0.1 * y, 0.15 + 0.12 * z) + jitter,
            rotation: [0.7 * chance.next(), 0.7 * chance.next(), 0.7 * chance.next(), 1.0],
            friction: 0.3,
            restitution: 0.5,
            spin_damping: 0.8,
            ..BodySpec::new(Shape::Ring { radius: 0.025, stock_radius: 0.003 })
        };
        world.add(&spec).expect("a ring");
    }
    world
}

/// What this process has had of the processors, in s, where the system tells.
fn cpu_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

fn main() {
    let quick = std::env::args().any(|a| a == "--quick");
    let seconds = if quick { 1.5 } else { 5.0 };
    let mut world = table_and_rings();
    let (mut began, mut contacts, mut points) = (0usize, 0usize, 0usize);
    let (wall, cpu) = (Instant::now(), cpu_s());
    while world.time_s() < seconds {
        let frame = world.step();
        began += frame.contacts.iter().filter(|c| c.phase == Phase::Begin).count();
        contacts += frame.contacts.len();
        points += frame.contacts.iter().map(|c| c.points.len()).sum::<usize>();
    }
    let spent_s = cpu.zip(cpu_s()).map_or(wall.elapsed().as_secs_f64(), |(from, to)| to - from);
    let steps = seconds * 480.0;
    println!(
        "{began} contacts began; {:.0} pairs and {:.0} points per step",
        contacts as f64 / steps,
        points as f64 / steps
    );
    println!("figure rings.simulation_factor = {:.2} x", seconds / spent_s);
}

//! Random programs over the whole live API, as the validators of plug-ins do it: whatever is asked, the audio side allocates nothing, what comes out is finite and below full scale, and nothing panics.

mod common;

use assert_no_alloc::{AllocDisabler, assert_no_alloc, violation_count};
use common::{bar, random_model};
use eigentone_core::contact::{Contact, ContactFrame, ContactPoint, Pose as BodyPose};
use eigentone_core::{DiffuseBand, ModalModel, Noise};
use eigentone_sim::particles::{Cloud, EnergyLaw, Region, Shape as HailShape};
use eigentone_sim::rigid::{Drive, Key};
use eigentone_synth::{Budget, Glide, Masking, Nonlinear, Playback, Quality, Shaper};
use eigentone_world::{
    AudioOut, Blow, Body, BodyKey, Bridge, Change, Collider, Grab, HailCollider, HailSettings, Kind, Mallet, Pose,
    Settings, Shape, Snapshot, Strike, Surface, Target, Timing, Vec3, VoiceWriter, World,
};
use glam::DQuat;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

/// A program that does random things.
struct Program {
    noise: Noise,
    world: World,
    models: Vec<Arc<ModalModel>>,
    keys: Vec<BodyKey>,
    grabs: Vec<Grab>,
    voices: Vec<VoiceWriter>,
    snapshots: Vec<Snapshot>,
    /// Whether numbers may be absurd.
    wild: bool,
    fed_s: f64,
}

const RATES_HZ: [f64; 5] = [8000.0, 22_050.0, 44_100.0, 48_000.0, 192_000.0];
const SURFACES: [&str; 6] = ["wood", "gravel", "squeaky", "foil", "water", "nothing at all"];

impl Program {
    fn new(seed: u64, wild: bool, rate_hz: f64) -> (Self, AudioOut) {
        let mut noise = Noise::new(seed);
        let live = !wild || noise.uniform() < 0.7;
        let timing = if live { Timing::Live { latency_s: 0.03 } } else { Timing::Offline };
        let settings = Settings {
            sample_rate_hz: rate_hz,
            timing,
            max_bodies: 24,
            max_modes_per_body: 128,
            max_events: 512,
            max_contacts: 24,
            max_voices: 3,
            doppler: noise.uniform() < 0.3,
            ..Settings::default()
        };
        let (mut world, out) = World::new(settings).unwrap();
        world.insert(Body::fixed(Shape::floor()).surface("brick")).unwrap();
        let models = vec![bar(0.2), bar(0.35), random_model(100, seed), random_model(30, seed ^ 1), random_model(1, 3)];
        let program = Self {
            noise,
            world,
            models,
            keys: Vec::new(),
            grabs: Vec::new(),
            voices: Vec::new(),
            snapshots: Vec::new(),
            wild,
            fed_s: 0.0,
        };
        (program, out)
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.noise.uniform() * n as f64) as usize).min(n - 1)
    }

    /// A number around a scale, now and then one that makes no sense.
    fn number(&mut self, scale: f64) -> f64 {
        const ABSURD: [f64; 10] =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e300, -1e30, 1e-310, f64::MIN_POSITIVE, f64::MAX];
        if self.wild && self.noise.uniform() < 0.15 {
            return ABSURD[self.below(ABSURD.len())];
        }
        scale * self.noise.bipolar()
    }

    fn single(&mut self, scale: f64) -> f32 {
        self.number(scale) as f32
    }

    fn vector(&mut self, scale: f64) -> Vec3 {
        Vec3::new(self.number(scale), self.number(scale), self.number(scale))
    }

    fn turn(&mut self) -> DQuat {
        let q = DQuat::from_xyzw(self.number(1.0), self.number(1.0), self.number(1.0), 1.0);
        if self.wild { q } else { q.normalize() }
    }

    fn model(&mut self) -> Arc<ModalModel> {
        let n = self.below(self.models.len());
        self.models[n].clone()
    }

    /// A body, perhaps one that is gone.
    fn key(&mut self) -> BodyKey {
        match self.keys.len() {
            0 => BodyKey::from_bits(77),
            n => {
                let n = self.below(n);
                self.keys[n]
            }
        }
    }

    fn body(&mut self) -> Body {
        let shape = match self.below(5) {
            0 => Shape::sphere(0.05),
            1 => Shape::cylinder(0.05, 0.1),
            2 => Shape::cuboid(Vec3::new(0.1, 0.1, 0.1)),
            3 => Shape::ring(0.05, 0.005),
            _ => Shape::cuboid(Vec3::splat(0.1)).with_collider(Collider::Hull),
        };
        let model = self.model();
        let height = Vec3::Z * (0.1 + self.noise.uniform());
        let body = match self.below(8) {
            0 => Body::fixed(shape).model(model),
            1 => Body::external(shape).model(model),
            2 => Body::kinematic(shape).model(model),
            3 => Body::voice_at(self.vector(2.0)),
            4 => {
                let with = self.key();
                Body::dynamic(shape).shares(with)
            }
            _ => Body::dynamic(shape).model(model),
        };
        let surface = SURFACES[self.below(SURFACES.len())];
        let body = if self.noise.uniform() < 0.5 { body.surface(surface) } else { body };
        let (position, velocity) = (self.vector(0.3) + height, self.vector(3.0));
        body.position(position).velocity(velocity).spin(self.vector(20.0)).gain(self.single(2.0).abs())
    }

    fn quality(&mut self) -> Quality {
        let playback = match self.below(3) {
            0 => Playback::PascalAt(self.single(1e6)),
            1 => Playback::TotalAt(self.single(200.0)),
            _ => Playback::default(),
        };
        let masking = Masking { offset_db: self.single(40.0), playback, compensate: self.noise.uniform() < 0.5 };
        Quality {
            truncation_pa: self.single(1e-3).abs(),
            masking: (self.noise.uniform() < 0.6).then_some(masking),
            budget: (self.noise.uniform() < 0.4).then(|| Budget { modes: self.below(300), slope: self.single(10.0) }),
        }
    }

    fn change(&mut self) -> Change {
        match self.below(16) {
            0..4 => {
                let target = match self.below(3) {
                    0 => Target::World(self.vector(1.0)),
                    1 => Target::Local(self.vector(0.1)),
                    _ => Target::Top,
                };
                let blow = match self.below(2) {
                    0 => Blow::Inward(self.number(0.2)),
                    _ => Blow::World(self.vector(0.2)),
                };
                let mallet = [Mallet::FELT, Mallet::WOOD, Mallet::METAL][self.below(3)];
                Change::Strike(Strike { blow, mallet, pushes: self.noise.uniform() < 0.3, ..Strike::on(target) })
            }
            4 => Change::Gain(self.single(2.0)),
            5 => Change::Emphasis(self.single(3.0).abs()),
            6 => Change::Damping(1.0 + self.single(30.0).abs()),
            7 => Change::Frequency(1.0 + self.single(0.8)),
            8 => Change::Strain(self.single(0.2)),
            9 => Change::Silence,
            10 => Change::Push { impulse_ns: self.vector(1.0), at: None },
            11 => Change::Pose { position: self.vector(1.0), rotation: self.turn() },
            12 => Change::Velocity { velocity: self.vector(5.0), spin: None },
            13 => Change::Mass(self.number(3.0).abs()),
            14 => Change::Friction(self.number(1.0).abs()),
            _ => Change::Size(1.0 + self.number(0.3)),
        }
    }

    /// Does one thing. Refusals are answers.
    fn act(&mut self) {
        let key = self.key();
        match self.below(40) {
            0..5 => {
                let body = self.body();
                if let Ok(key) = self.world.insert(body) {
                    self.keys.push(key);
                }
            }
            5..8 => drop(self.world.remove(key)),
            8..18 => {
                let change = self.change();
                let _ = self.world.change(key, change);
            }
            18 => {
                let (time_s, change) = (self.world.time_s() + self.number(0.1), self.change());
                let _ = self.world.schedule(time_s, key, change);
            }
            19..21 => {
                let model = self.model();
                let _ = self.world.set_model(key, model);
            }
            21 => {
                let surface = Surface::Named(SURFACES[self.below(SURFACES.len())].to_owned());
                let _ = self.world.set_surface(key, surface);
            }
            22 => {
                let glide = Glide { amount: self.single(0.3), energy_pa2: self.single(1.0), focus: self.single(1.0) };
                let nonlinear = Nonlinear {
                    sections: self.below(6),
                    coupling: self.single(1.0),
                    reference_pa: self.single(1.0),
                    shaper: Shaper::Square,
                };
                let (glide, nonlinear) =
                    ((self.below(2) == 0).then_some(glide), (self.below(3) == 0).then_some(nonlinear));
                let _ = self.world.set_resonator(key, glide, nonlinear, 0.5);
            }
            23 => {
                let band =
                    DiffuseBand { low_hz: 500.0, high_hz: 2000.0, gain: self.number(1.0), t60_s: self.number(1.0) };
                let _ = self.world.set_diffuse(key, Some(vec![band]));
            }
            24..26 => {
                let point = self.vector(1.0);
                if let Ok(grab) = self.world.drag(key, point) {
                    self.grabs.push(grab);
                }
            }
            26..28 => {
                if let Some(grab) = self.grabs.last().copied() {
                    let target = self.vector(2.0);
                    let _ = self.world.drag_to(grab, target);
                    if self.below(3) == 0 {
                        self.grabs.pop();
                        let _ = self.world.end_drag(grab);
                    }
                }
            }
            28 => {
                let held = if self.below(2) == 0 { self.world.hold(key) } else { self.world.release(key) };
                let _ = held;
            }
            29 => {
                let pose = Pose::new(self.vector(3.0), self.turn());
                self.world.set_listener(pose);
            }
            30 => {
                let quality = self.quality();
                self.world.set_quality(quality);
            }
            31 => {
                let to = self.key();
                let bridge =
                    Bridge { coupling: self.single(1.0), low_pass_hz: self.number(5000.0), ..Bridge::default() };
                let _ = self.world.bridge(key, to, &bridge);
            }
            32 => {
                if let Ok(mut voice) = self.world.voice(key, 512) {
                    let samples: Vec<f32> = (0..300).map(|_| self.single(1.0)).collect();
                    voice.write(&samples);
                    self.voices.push(voice);
                    self.voices.truncate(8);
                }
            }
            33 => self.hail(key),
            34 => match self.below(5) {
                0 => self.world.pause(),
                1 => self.world.single_step(),
                2 => drop(self.world.set_speed(0.5)),
                3 => drop(self.world.set_speed(1.0)),
                _ => self.world.resume(),
            },
            35 => {
                let snapshot = self.world.snapshot();
                self.snapshots.push(snapshot);
                self.snapshots.truncate(3);
            }
            36 => {
                if let Some(snapshot) = self.snapshots.pop() {
                    let restored = if self.below(2) == 0 {
                        self.world.restore(&snapshot)
                    } else {
                        self.world.restore_document(&snapshot.document)
                    };
                    let _ = restored;
                }
            }
            37 => {
                let kind = match self.below(4) {
                    0 => Kind::Fixed,
                    1 => Kind::Kinematic,
                    2 => Kind::Path(vec![
                        Key { time_s: 0.0, position: self.vector(1.0), rotation: [0.0, 0.0, 0.0, 1.0] },
                        Key { time_s: self.number(3.0), position: self.vector(1.0), rotation: self.turn().to_array() },
                    ]),
                    _ => Kind::Dynamic,
                };
                let _ = self.world.set_kind(key, kind);
            }
            38 => {
                let drive = Drive { velocity: self.vector(1.0), max_force_n: self.number(20.0).abs() };
                let drive = (self.below(2) == 0).then_some(drive);
                let _ = self.world.set_drive(key, drive);
            }
            _ => {
                let budget = (self.below(2) == 0).then(|| self.number(300.0));
                self.world.set_budget_us(budget);
                drop(self.world.set_gravity(Vec3::Z * -9.81));
            }
        }
    }

    fn hail(&mut self, key: BodyKey) {
        let cloud = Cloud {
            particles: 200,
            region: Region::Box { low: Vec3::new(-0.5, -0.5, 2.0), high: Vec3::new(0.5, 0.5, 3.0) },
            energy: EnergyLaw::Kinetic,
            velocity_m_s: Vec3::Z * -5.0,
            gravity_m_s2: Vec3::Z * -9.81,
            ..Cloud::default()
        };
        let shape = HailShape::disc(Vec3::Z * 0.05, Vec3::Z, 0.1);
        let collider = HailCollider {
            collider: eigentone_sim::particles::Collider::new(shape),
            moves_with: Some(key),
            parts: vec![Some(key)],
        };
        let hail = HailSettings { cloud, colliders: vec![collider], hardness_n_m: 1e6, duration_s: None };
        let hail = (self.below(3) > 0).then_some(hail);
        let _ = self.world.set_hail(hail);
        let at = self.vector(1.0);
        let _ = self.world.place_cloud(Region::Box { low: at, high: at + Vec3::ONE });
        let particles = self.below(500);
        let _ = self.world.set_particles(particles);
    }

    /// Time passes, one way or another.
    fn pass(&mut self, dt_s: f64) {
        if self.below(12) == 0 {
            let bodies = [self.key().number(), self.key().number()];
            let point = ContactPoint {
                position: self.vector(1.0).to_array().map(|x| x as f32),
                normal: [0.0, 0.0, 1.0],
                normal_impulse_ns: self.single(1.0),
                approach_m_s: self.single(3.0),
                slip_m_s: [self.single(1.0), 0.0, 0.0],
                ..ContactPoint::default()
            };
            self.fed_s = self.fed_s.max(self.world.time_s()) + 0.002;
            let contacts = vec![Contact { id: 1 << 40, bodies, points: vec![point], ..Contact::default() }];
            let poses = vec![BodyPose::at_origin(bodies[1])];
            let frame = ContactFrame { time_s: self.fed_s, step_s: 0.002, poses, contacts, ..ContactFrame::default() };
            let _ = self.world.feed(&frame);
        }
        let absurd = self.wild && self.below(30) == 0;
        let dt_s = if absurd { self.number(1.0) } else { dt_s };
        self.world.advance(dt_s);
        if self.below(4) == 0 {
            self.world.drain_events().for_each(drop);
        }
        if self.keys.len() > 60 {
            self.keys.drain(..30);
        }
    }
}

/// Renders under the trap; nothing may allocate, be above full scale or not be a number.
fn render(out: &mut AudioOut, block: &mut [f32], channels: usize, seed: u64) {
    assert_no_alloc(|| out.process(block, channels));
    assert_eq!(violation_count(), 0, "seed {seed}: the audio side allocated or freed");
    for y in block.iter() {
        assert!(y.is_finite() && y.abs() <= 1.0, "seed {seed}: {y}");
    }
}

/// One random program of about a fifth of a second of sound.
fn fuzz(seed: u64) {
    let rate_hz = RATES_HZ[seed as usize % RATES_HZ.len()];
    let (mut program, mut out) = Program::new(seed, true, rate_hz);
    let channels = 1 + program.below(3);
    let mut buffer = vec![0.0; 4096 * channels];
    let mut left = (0.2 * rate_hz) as usize;
    while left > 0 {
        for _ in 0..program.below(12) {
            program.act();
        }
        let most = 1 << (1 + program.below(12));
        let block = (1 + program.below(most)).min(left);
        program.pass(block as f64 / rate_hz);
        render(&mut out, &mut buffer[..block * channels], channels, seed);
        left -= block;
    }
    assert_eq!(out.audio_stats().non_finite_samples, 0, "seed {seed}");
    // Either side may go first.
    if program.below(2) == 0 {
        let Program { world, .. } = program;
        drop(world);
        render(&mut out, &mut buffer, channels, seed);
    } else {
        drop(out);
        for _ in 0..50 {
            program.act();
        }
        program.pass(0.01);
    }
}

/// A thousand seeds; `EIGENTONE_FUZZ_SEEDS=from..to` runs others.
#[test]
fn whatever_is_asked_sound_stays_sound() {
    let range = std::env::var("EIGENTONE_FUZZ_SEEDS").ok();
    let range =
        range.as_deref().and_then(|r| r.split_once("..")).and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    for seed in range.unwrap_or(0..1000u64) {
        fuzz(seed);
    }
}

/// Ten minutes of adding, removing, swapping, dragging and changing, in blocks of 16 to 2048: finite, below full scale, no event late, and the world holds no more at the end than after a minute.
#[test]
fn ten_minutes_of_changes() {
    let (mut program, mut out) = Program::new(7, false, 44_100.0);
    let mut buffer = vec![0.0; 2 * 2048];
    let (mut left, mut blocks) = (600 * 44_100usize, 0u64);
    while left > 0 {
        if program.below(3) == 0 {
            program.act();
        }
        if program.world.is_paused() {
            program.world.resume();
        }
        let block = (16usize << program.below(8)).min(left);
        program.pass(block as f64 / 44_100.0);
        render(&mut out, &mut buffer[..2 * block], 2, 7);
        left -= block;
        blocks += 1;
    }
    let stats = program.world.stats();
    assert!(blocks > 10_000);
    assert_eq!((stats.late, stats.leaked, out.audio_stats().non_finite_samples), (0, 0, 0), "{stats:?}");
    assert!(program.world.len() <= 24);
}

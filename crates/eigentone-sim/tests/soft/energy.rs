//! Energy neither comes from nowhere nor gets lost.

use eigentone_core::{TetMesh, Vec3};
use eigentone_sim::soft::{SoftBody, SoftMaterial, SoftWorld, WorldSettings};

const STILL: SoftMaterial =
    SoftMaterial { young_pa: 1e6, poisson: 0.3, density_kg_m3: 1000.0, phi_pa_s: 0.0, psi_pa_s: 0.0, gamma_per_s: 0.0 };

/// A soft bar, 200 × 40 × 40 mm, that is let go while stretched along its length, most in the middle and not at its free ends. The rate is so low that the step is the longest that is stable.
fn stretched(material: SoftMaterial, by: f64) -> SoftWorld {
    let body = SoftBody::new("bar", TetMesh::block(Vec3::new(0.2, 0.04, 0.04), [10, 2, 2]), material);
    let settings = WorldSettings { gravity_m_s2: Vec3::ZERO, sample_rate_hz: 200.0, ..WorldSettings::default() };
    let mut world = SoftWorld::new(vec![body], &settings).unwrap();
    let wave = std::f64::consts::PI / 0.2;
    world.displace(0, |p| Vec3::new(by / wave * (wave * p.x).sin(), 0.0, 0.0));
    world
}

/// 10,000 steps at 0.5 h/c, stretched by 2 and by 8 %: the total wavers by less than 3 % of the elastic energy that was put in, and drifts by less than 1 %.
#[test]
fn energy_is_kept_over_ten_thousand_steps() {
    for by in [0.02, 0.08] {
        let mut world = stretched(STILL, by);
        let first = world.energy().total_j();
        let mut totals = Vec::new();
        for step in 0..10_000 {
            world.step().unwrap();
            if step % 10 == 0 {
                totals.push(world.energy().total_j() / first);
            }
        }
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (begin, end) = (mean(&totals[..200]), mean(&totals[800..]));
        let ripple = totals.iter().map(|t| (t - mean(&totals)).abs()).fold(0.0, f64::max);
        println!("{by}: ripple {ripple:.4}, drift {:.5}", end - begin);
        assert!((end - begin).abs() < 0.01, "{by}: from {begin} to {end}");
        assert!(ripple < 0.03, "{by}: {ripple}");
    }
}

/// With viscosity, little or much, the energy never grows.
#[test]
fn viscosity_only_takes() {
    for psi_pa_s in [1.0, 30.0, 1000.0, 1e5] {
        let mut world = stretched(SoftMaterial { psi_pa_s, phi_pa_s: 0.5 * psi_pa_s, ..STILL }, 0.05);
        let (first, mut before) = (world.energy().total_j(), f64::INFINITY);
        for _ in 0..300 {
            for _ in 0..10 {
                world.step().unwrap();
            }
            let now = world.energy().total_j();
            // The sum itself wavers with the steps as it does without viscosity.
            assert!(now < before + 0.01 * first, "{psi_pa_s}: {before} {now}");
            before = before.min(now);
        }
        assert!(before < first, "{psi_pa_s}: {before} of {first}");
    }
}

/// What is longer than half of h/c is not tried.
#[test]
fn a_longer_step_is_refused_with_the_one_it_needs() {
    let mesh = TetMesh::block(Vec3::splat(0.1), [2, 2, 2]);
    let body = SoftBody::new("cube", mesh, STILL);
    let needed_s =
        SoftWorld::new(vec![body.clone()], &WorldSettings { sample_rate_hz: 1.0, ..WorldSettings::default() })
            .unwrap()
            .step_s();
    let asked = WorldSettings { step_s: Some(2.0 * needed_s), ..WorldSettings::default() };
    let message = SoftWorld::new(vec![body.clone()], &asked).err().unwrap().to_string();
    assert!(message.contains("unstable") && message.contains("needs"), "{message}");
    let given = WorldSettings { step_s: Some(0.3 * needed_s), ..WorldSettings::default() };
    assert!(SoftWorld::new(vec![body], &given).unwrap().step_s() <= 0.3 * needed_s);
}

/// One core or two, the same bits.
#[test]
fn threads_do_not_matter() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mesh = TetMesh::block(Vec3::splat(0.1), [8, 8, 8]);
            let body = SoftBody {
                spin_rad_s: Vec3::new(3.0, 1.0, 40.0),
                ..SoftBody::new("cube", mesh, SoftMaterial::default())
            };
            let mut world = SoftWorld::new(vec![body], &WorldSettings::default()).unwrap();
            (0..50).for_each(|_| world.step().unwrap());
            world.body(0).positions().collect::<Vec<_>>()
        })
    };
    assert_eq!(run(1), run(2));
}

//! The audio side of direct sound allocates and frees nothing.

use assert_no_alloc::{AllocDisabler, assert_no_alloc, violation_count};
use eigentone_space::BLOCK;
use eigentone_space::direct::{BUSES, Direct, Spatial, Target};
use eigentone_space::hrtf::{Hrtf, Measurement};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

#[test]
fn nothing_is_allocated() {
    let mut response = vec![0.0; 200];
    response[40] = 1.0;
    let directions = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let measurements = directions.map(|direction| Measurement {
        direction,
        responses: [response.clone(), response.clone()],
        delays_s: [0.0; 2],
    });
    let hrtf = Arc::new(Hrtf::from_measurements(&measurements, 48_000.0, 44_100.0).expect("a head"));
    for spatial in [Spatial::Pan, Spatial::Head, Spatial::Hrtf(hrtf, 3)] {
        for doppler in [false, true] {
            let mut direct = Direct::new(44_100.0, 10, spatial.clone());
            direct.set_doppler(doppler);
            let (mut out, mut buses) = ([[0.0; BLOCK]; 2], [[0.0; BLOCK]; BUSES]);
            assert_no_alloc(|| {
                for b in 0..500usize {
                    let slot = b * 7 % 11;
                    let turn = b as f32 * 0.1;
                    let target = Target {
                        gain: turn.sin().abs(),
                        direction: [turn.cos(), turn.sin(), 0.1],
                        tilt_db: -turn % 6.0,
                        distance_m: turn % 30.0,
                        late: [turn.sin(); 3],
                        directivity_gain: 0.5,
                        ..Target::default()
                    };
                    direct.aim(slot, target);
                    direct.add(slot, &[0.3; BLOCK], &mut out, &mut buses);
                    if b % 13 == 0 {
                        direct.release(slot);
                    }
                }
            });
            assert_eq!(violation_count(), 0, "{spatial:?}");
        }
    }
}

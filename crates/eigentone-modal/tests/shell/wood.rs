//! Wood with its grain.

use super::common::*;
use eigentone_core::mesh::primitives;
use eigentone_core::{Grain, Vec3};
use eigentone_modal::shell::{ShellProperties, assemble};

/// A free spruce plate, 0.4 × 0.2 m, 4 mm, grain along x, rings across: 68.44 130.43 148.85 190.61 201.37 342.33 Hz by Ritz.
#[test]
fn a_spruce_plate_is_that_of_ritz() {
    let spruce = material("spruce");
    let truth = [68.44, 130.43, 148.85, 190.61, 201.37, 342.33];
    let found = elastic_hz(&uniform(&primitives::plate(0.4, 0.2, 41, 21), &spruce, 0.004), 500.0);
    assert!(worst_error(&found, &truth) < 0.02, "{found:?}");

    // The same plate standing on its side, with its grain turned along.
    let mut turned = primitives::plate(0.4, 0.2, 41, 21);
    let q = glam::DQuat::from_scaled_axis(Vec3::new(0.9, -0.4, 1.3));
    turned.transform(q, Vec3::ZERO);
    let grain = Grain { along: q * Vec3::X, radial: q * Vec3::Y };
    let body = assemble(&turned, &ShellProperties { grain, ..ShellProperties::uniform(&spruce, 0.004) }).unwrap();
    assert!(worst_error(&elastic_hz(&body, 500.0)[..6], &found[..6]) < 1e-6);

    // Grain across the plate is another sound.
    let grain = Grain { along: Vec3::Y, radial: Vec3::X };
    let across = ShellProperties { grain, ..ShellProperties::uniform(&spruce, 0.004) };
    let body = assemble(&primitives::plate(0.4, 0.2, 41, 21), &across).unwrap();
    assert!(elastic_hz(&body, 500.0)[0] < 0.8 * truth[0]);
}

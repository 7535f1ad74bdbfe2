//! Where a plate is struck can be heard (Raghuvanshi & Lin 2006, section 5.2 and Figure 5).

use eigentone_core::mesh::primitives;
use eigentone_core::{MaterialTable, ModalModel, Vec3};
use eigentone_modal::analytic::{self, AnalyticSettings, PlateSupport, Shape};
use eigentone_modal::{MeshModelSettings, Progress, model_from_mesh};
use eigentone_synth::{Strike, strike};
use std::sync::Arc;

const RATE_HZ: f64 = 44_100.0;

/// Share of a sound's energy that lies in a band, from its discrete spectrum.
fn share(sound: &[f32], low_hz: f64, high_hz: f64) -> f64 {
    let mut buffer: Vec<f32> = sound.to_vec();
    let transform = realfft::RealFftPlanner::<f32>::new().plan_fft_forward(buffer.len());
    let mut spectrum = transform.make_output_vec();
    transform.process(&mut buffer, &mut spectrum).unwrap();
    let bin = RATE_HZ / sound.len() as f64;
    let energy = |from: f64, to: f64| -> f64 {
        spectrum[(from / bin) as usize..(to / bin) as usize].iter().map(|z| f64::from(z.norm_sqr())).sum()
    };
    energy(low_hz, high_hz) / energy(20.0, 20_000.0)
}

fn blow(model: &Arc<ModalModel>, x: f64, y: f64) -> Vec<f32> {
    let contact = model.nearest_contact(Vec3::new(x, y, 0.0)).unwrap();
    strike(model, &Strike { mallet_kg: 0.2, stiffness_n_m: 2e6, ..Strike::new(contact) }, RATE_HZ, 0.5).unwrap()
}

/// The figure: a wooden table top held at its edges. In the middle most of the impulse goes to the low fundamental mode, near the edge
/// most of it goes to higher modes.
#[test]
fn the_middle_of_a_table_sounds_deeper_than_its_edge() {
    let table = MaterialTable::builtin();
    let shape = Shape::Plate { length: 0.6, width: 0.4, thickness: 0.015, support: PlateSupport::SimplySupported };
    let model = Arc::new(analytic::model(&shape, table.get("wood").unwrap(), &AnalyticSettings::default()).unwrap());
    let f = model.modes[0].frequency_hz;
    let (middle, edge) = (blow(&model, 0.0, 0.0), blow(&model, 0.29, 0.12));
    let fundamental = |sound: &[f32]| share(sound, 0.8 * f, 1.2 * f);
    println!(
        "fundamental {f:.0} Hz: {:.3} of the energy in the middle, {:.3} at the edge",
        fundamental(&middle),
        fundamental(&edge)
    );
    assert!(fundamental(&middle) > 0.5, "{}", fundamental(&middle));
    assert!(fundamental(&edge) < 0.25, "{}", fundamental(&edge));
    assert!(share(&edge, 1.2 * f, 20_000.0) > 0.5, "mostly higher modes at the edge");
}

/// The same from a mesh, which is free: its lowest mode twists the plate, with node lines through the middle. It is absent there and
/// strong at a corner; the first mode that bends it the long way is heard in the middle.
#[test]
fn a_free_plate_has_its_nodes_where_theory_has_them() {
    let table = MaterialTable::builtin();
    let plate = primitives::plate(0.6, 0.4, 30, 20);
    let settings = MeshModelSettings { thickness_m: Some(0.015), highest_hz: 8000.0, ..Default::default() };
    let model =
        Arc::new(model_from_mesh(&plate, table.get("aluminium").unwrap(), &settings, &Progress::silent()).unwrap());
    let [twist, bend] = [0, 1].map(|n| model.modes[n].frequency_hz);
    let (middle, corner) = (blow(&model, 0.0, 0.0), blow(&model, 0.3, 0.2));
    let near = |sound: &[f32], f: f64| share(sound, 0.97 * f, 1.03 * f);
    println!(
        "twist {twist:.0} Hz: {:.4} middle, {:.4} corner; bend {bend:.0} Hz: {:.3} middle",
        near(&middle, twist),
        near(&corner, twist),
        near(&middle, bend)
    );
    assert!(near(&corner, twist) > 0.2 && near(&corner, twist) > 10.0 * near(&middle, twist));
    assert!(near(&middle, bend) > 0.2);
}

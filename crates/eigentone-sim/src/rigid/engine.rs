//! The engine's settings, and numbers on their way in and out.

use super::WorldSettings;
use super::spec::RigidError;
use eigentone_core::Vec3;
use rapier3d::math::{Rotation, Vector};
use rapier3d::prelude::{FrictionModel, IntegrationParameters};

/// How far ahead, in m, contacts of a moving body are foreseen: what it travels in a step, but at most this.
pub(super) const FORESEEN_M: f32 = 0.5;
/// Frequency of the springs between thin bodies, in Hz.
const STIFF_HZ: f32 = 240.0;
/// Largest coordinate, speed or size: single precision has 6 cm left there.
const LARGEST: f64 = 1e6;

pub(super) fn parameters(settings: &WorldSettings) -> IntegrationParameters {
    IntegrationParameters {
        normalized_max_linear_velocity: settings.max_speed_m_s as f32,
        ..recommended_parameters(settings.step_s, settings.substeps)
    }
}

/// Parameters of a rapier world whose contacts are to be heard. Rapier is tuned for things of a metre at 60 Hz; ours are centimetres
/// at 480 Hz.
pub fn recommended_parameters(step_s: f64, substeps: u32) -> IntegrationParameters {
    IntegrationParameters {
        dt: step_s as f32,
        num_solver_iterations: substeps as usize,
        // Friction per point; the default model leaves the tangential impulses at zero.
        friction_model: FrictionModel::Coulomb,
        // Recycled contacts keep the place and the distance of an earlier step.
        contact_recycling: false,
        // Fast bodies are held back by foreseen contacts: clamping their path would lose time.
        max_ccd_substeps: 0,
        normalized_prediction_distance: 1e-3,
        normalized_allowed_linear_error: 1e-4,
        // Overlapping bodies part at a walking pace instead of exploding.
        normalized_max_corrective_velocity: 1.0,
        ..IntegrationParameters::default()
    }
}

/// For worlds with bodies as thin as wire. The engine pushes bodies apart like a spring of 30 Hz (60 Hz on fixed ones) that yields by
/// `2 g / (2πf)²`, half a millimetre, under each body carried: the rings of a heap would sink into one another by their stock.
/// Eight times the frequency, an eighth of the solver's rate, yields a hundredth of a millimetre.
pub(super) fn stiffen(parameters: &mut IntegrationParameters) {
    parameters.contact_softness.natural_frequency = STIFF_HZ;
    parameters.static_contact_softness.natural_frequency = 2.0 * STIFF_HZ;
}

pub(super) fn to_engine(v: Vec3) -> Vector {
    Vector::new(v.x as f32, v.y as f32, v.z as f32)
}

pub(super) fn from_engine(v: Vector) -> Vec3 {
    Vec3::new(f64::from(v.x), f64::from(v.y), f64::from(v.z))
}

pub(super) fn to_array(v: Vec3) -> [f32; 3] {
    v.to_array().map(|x| x as f32)
}

pub(super) fn checked(what: &'static str, v: Vec3) -> Result<Vec3, RigidError> {
    if v.is_finite() && v.abs().max_element() <= LARGEST { Ok(v) } else { Err(RigidError::NotFinite { what }) }
}

pub(super) fn checked_turn(xyzw: [f64; 4]) -> Result<Rotation, RigidError> {
    let turn = Rotation::from_array(xyzw.map(|x| x as f32));
    if turn.is_finite() && turn.length_squared() > 1e-6 {
        Ok(turn.normalize())
    } else {
        Err(RigidError::NotFinite { what: "the length of a rotation's quaternion" })
    }
}

/// For lengths, masses, densities and forces. The least is what single precision still squares.
pub(super) fn positive(what: &'static str, value: f64) -> Result<f64, RigidError> {
    if !value.is_finite() || value > LARGEST {
        Err(RigidError::NotFinite { what })
    } else if value < 1e-12 {
        Err(RigidError::NotPositive { what, found: value })
    } else {
        Ok(value)
    }
}

pub(super) fn in_range(what: &'static str, found: f64, low: f64, high: f64) -> Result<(), RigidError> {
    if (low..=high).contains(&found) { Ok(()) } else { Err(RigidError::OutOfRange { what, low, high, found }) }
}

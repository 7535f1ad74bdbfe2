//! `eigentone shape`.

use super::{damping_law, finish_model, material};
use crate::args::{ShapeArgs, ShapeCommand};
use crate::files::{Content, check_names};
use crate::output::Failure;
use eigentone::core::material::DampingLaw;
use eigentone::modal::analytic::{AnalyticSettings, BarSupport, DiscSupport, PlateSupport, Pull, Shape, Tuning, model};

pub fn run(args: &ShapeArgs) -> Result<(), Failure> {
    let (shape, common) = match &args.shape {
        ShapeCommand::String { length, diameter, tension, pitch, common } => {
            let pull = match (tension, pitch) {
                (Some(t), _) => Pull::Tension(*t),
                (None, Some(p)) => Pull::Fundamental(*p),
                (None, None) => return Err(Failure::Usage("--tension or --pitch is needed".to_owned())),
            };
            (Shape::String { length: *length, diameter: *diameter, pull }, common)
        }
        ShapeCommand::Bar { length, width, thickness, clamped, tuning, pitch, common } => {
            let support = if *clamped { BarSupport::ClampedFree } else { BarSupport::Free };
            let tuning = tuning_of(tuning.as_deref(), *pitch)?;
            (Shape::Bar { length: *length, width: *width, thickness: *thickness, support, tuning }, common)
        }
        ShapeCommand::Plate { length, width, thickness, supported, common } => {
            let support = if *supported { PlateSupport::SimplySupported } else { PlateSupport::Free };
            (Shape::Plate { length: *length, width: *width, thickness: *thickness, support }, common)
        }
        ShapeCommand::Disc { radius, thickness, clamped, common } => {
            let support = if *clamped { DiscSupport::Clamped } else { DiscSupport::Free };
            (Shape::Disc { radius: *radius, thickness: *thickness, support }, common)
        }
    };
    check_names([("--output", Some(&common.output), Content::Model)])?;
    let settings = AnalyticSettings {
        name: eigentone::object::stem(&common.output),
        damping: damping_law(&common.material, DampingLaw::LossFactor),
        max_modes: common.modes,
        pickup: common.pickup,
        ..Default::default()
    };
    let made = model(&shape, &material(&common.material)?, &settings)?;
    finish_model(&made, &[], &common.output, common.json)
}

fn tuning_of(name: Option<&str>, pitch: Option<f64>) -> Result<Option<Tuning>, Failure> {
    let tuning = match name {
        None if pitch.is_none() => return Ok(None),
        None => Tuning { ratios: vec![1.0], fundamental_hz: None },
        Some("xylophone") => Tuning::xylophone(),
        Some("marimba") => Tuning::marimba(),
        Some(list) => {
            let ratios: Result<Vec<f64>, _> = list.split(',').map(|r| r.trim().parse()).collect();
            let ratios = ratios.map_err(|_| {
                Failure::Usage(format!("--tuning takes xylophone, marimba or ratios such as 1,2,3, found `{list}`"))
            })?;
            Tuning { ratios, fundamental_hz: None }
        }
    };
    Ok(Some(Tuning { fundamental_hz: pitch.or(tuning.fundamental_hz), ..tuning }))
}

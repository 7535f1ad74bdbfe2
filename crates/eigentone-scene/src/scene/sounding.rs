//! What the engine is told of a scene before it plays: how much room and quality it needs, the bodies that sound, what they act on, and what they are like to the touch.

use super::plan::{Plan, Planned};
use super::script::top;
use super::{Scene, ShaperChoice};
use crate::Error;
use eigentone_core::Vec3;
use eigentone_core::event::BodyId;
use eigentone_synth::contact::{Partner, Tracker};
use eigentone_synth::{
    BodySettings, BridgeSettings, Budget, EngineError, Gap, Glide, Handle, Masking, Nonlinear, Playback, Quality,
    Settings, Shaper,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Events that can wait in the engine.
const MAX_EVENTS: usize = 1 << 16;

/// Room for everything in a scene.
pub(super) fn settings(scene: &Scene, plan: &Plan) -> Settings {
    let most_modes = plan.bodies.iter().filter_map(|b| b.model.as_ref()).map(|m| m.modes.len()).max();
    Settings {
        sample_rate_hz: scene.output.sample_rate_hz,
        most_bodies: plan.bodies.len().max(1),
        most_modes_per_body: most_modes.unwrap_or(1).max(1),
        most_events: MAX_EVENTS,
        most_bridges: scene.bridges.len().max(1),
        quality: quality(scene),
        ..Settings::default()
    }
}

/// A scene that asks for more than the engine has room for.
pub(super) fn too_much(scene: &Scene, error: EngineError) -> Error {
    match error {
        EngineError::QueueFull => Error::Scene {
            file: scene.file.clone(),
            message: format!("more than {MAX_EVENTS} things happen within one step; spread them, or leave some out"),
        },
        other => other.into(),
    }
}

/// What may be left out. Unlike the engine's own default nothing is masked unless the scene says so: a file is listened to more than once.
fn quality(scene: &Scene) -> Quality {
    let q = &scene.quality;
    Quality {
        truncation_pa: q.truncation_pa as f32,
        masking: q.masking_offset_db().map(|offset_db| Masking {
            offset_db: offset_db as f32,
            playback: Playback::TotalAt(q.playback_db as f32),
            compensate: q.compensate,
        }),
        budget: q.budget.map(|modes| Budget { modes, slope: q.slope as f32 }),
    }
}

/// How a body sounds; `None` if it does not by itself.
fn body_settings(planned: &Planned) -> Option<BodySettings> {
    let body = &planned.body;
    let mut settings = BodySettings::new(planned.model.clone()?);
    settings.strain_sensitivity = body.strain_sensitivity as f32;
    settings.glide =
        body.glide.map(|g| Glide { amount: g.amount as f32, energy_pa2: g.energy_pa2 as f32, focus: g.focus as f32 });
    settings.nonlinear = body.nonlinear.map(|n| Nonlinear {
        sections: n.sections,
        coupling: n.coupling as f32,
        reference_pa: n.reference_pa as f32,
        shaper: match n.shaper {
            ShaperChoice::Square => Shaper::Square,
            ShaperChoice::SignedSquare => Shaper::SignedSquare,
            ShaperChoice::Saturating => Shaper::Saturating,
        },
    });
    if let Some(bands) = &body.diffuse {
        settings.diffuse = bands.clone();
    }
    Some(settings)
}

/// Adds all bodies that sound, and the bridges between them; returns what each body of the plan is called in the engine.
pub(super) fn add_bodies(scene: &Scene, plan: &Plan, handle: &mut Handle) -> Result<Vec<Option<BodyId>>, Error> {
    let mut ids = Vec::with_capacity(plan.bodies.len());
    for planned in &plan.bodies {
        ids.push(body_settings(planned).map(|settings| handle.add(&settings)).transpose()?);
    }
    // Bodies that sound through others come after all those others.
    for (number, planned) in plan.bodies.iter().enumerate() {
        let Some(other) = &planned.body.shares else { continue };
        let with = plan.find(other).and_then(|other| ids[other]).ok_or_else(|| Error::Scene {
            file: scene.file.clone(),
            message: format!("body `{}` shares `{other}`, which does not sound", planned.body.name),
        })?;
        ids[number] = Some(handle.share(with, 1.0)?);
    }
    add_bridges(scene, plan, &ids, handle)?;
    Ok(ids)
}

fn add_bridges(scene: &Scene, plan: &Plan, ids: &[Option<BodyId>], handle: &mut Handle) -> Result<(), Error> {
    for bridge in &scene.bridges {
        let find = |name: &str| plan.find(name).and_then(|n| Some((n, ids[n]?)));
        let silent = |name: &str| Error::Scene {
            file: scene.file.clone(),
            message: format!("a [[bridge]] names `{name}`, which does not sound"),
        };
        let (_, from) = find(&bridge.from).ok_or_else(|| silent(&bridge.from))?;
        let (to_number, to) = find(&bridge.to).ok_or_else(|| silent(&bridge.to))?;
        let Some(model) = &plan.bodies[to_number].model else { return Err(silent(&bridge.to)) };
        let at = bridge.at.map_or_else(|| top(model), Vec3::from_array);
        let Some(contact) = model.nearest_contact(at) else { return Err(silent(&bridge.to)) };
        handle.bridge(&BridgeSettings {
            low_pass_hz: bridge.low_pass_hz,
            gap: Gap { size_pa: bridge.gap_pa.unwrap_or(0.0) as f32, one_sided: bridge.one_sided },
            direct: bridge.direct as f32,
            ..BridgeSettings::new(from, to, &contact, bridge.direction.map(|x| x as f32), bridge.coupling as f32)
        })?;
    }
    Ok(())
}

/// Tells the tracker what everything is like to the touch, also what makes no sound.
pub(super) fn add_partners(plan: &Plan, ids: &[Option<BodyId>], tracker: &mut Tracker) {
    // Of many bodies with one model, the places on it are sorted once.
    let mut known: BTreeMap<usize, Partner> = BTreeMap::new();
    for (number, planned) in plan.bodies.iter().enumerate() {
        tracker.set_pose(planned.pose(number as u32));
        let mass = planned.blow_mass_kg();
        let partner = match ids[number].zip(plan.model_of(number)) {
            Some((id, model)) => {
                let same = Arc::as_ptr(model) as usize;
                let partner = known.entry(same).or_insert_with(|| Partner::of(id, model.clone(), mass));
                partner.clone().for_body(id).with_mass(mass)
            }
            None => Partner::silent().with_mass(mass),
        };
        tracker.add(number as u32, partner.with_surface(planned.surface.clone()));
    }
}

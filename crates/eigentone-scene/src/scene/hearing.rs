//! How the sounds of a scene reach its listener: through rooms that were baked, or in open air.

use super::ear::Ear;
use super::plan::{Plan, Planned};
use super::report::RoomCounts;
use super::{Scene, Spatial};
use crate::Error;
use crate::engine::{Placer, Processor};
use eigentone_core::Vec3;
use eigentone_core::acoustics::Field;
use eigentone_core::contact::Pose;
use eigentone_core::event::BodyId;
use eigentone_io::{FIELD_EXTENSION, read_field};
use eigentone_space::direct;
use eigentone_space::directivity::Directivity;
use eigentone_space::hrtf::Hrtf;
use eigentone_space::room::{Place, Space, SpaceSettings, SpaceStats, space};
use std::path::PathBuf;
use std::sync::Arc;

/// A change of balance smaller than this is not worth a message.
const SAME: f64 = 0.01;

/// How sounds reach the listener.
pub(super) enum Hearing {
    /// By distance, and between left and right.
    Open {
        ear: Ear,
        placer: Placer,
        /// What was last sent for each body.
        balances: Vec<[f64; 2]>,
    },
    /// As a field says, or a head that is more than left and right.
    Rooms(Box<Space>),
}

impl Hearing {
    /// As the scene says; the processor is told. `update_s` is how often [`place`](Self::place) is called for each body.
    pub fn new(
        scene: &Scene,
        plan: &Plan,
        processor: &mut Processor,
        update_s: f64,
        warnings: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let field = field_of(scene, warnings)?;
        let spatial = match (scene.listener.spatial, &field) {
            (None | Some(Spatial::Pan), None) => None,
            _ => Some(spatial_in_rooms(scene)?),
        };
        let Some(spatial) = spatial else {
            let (position, look) = scene.listener.at(0.0);
            let balances = vec![[0.0; 2]; plan.bodies.len()];
            return Ok(Self::Open { ear: Ear::new(position, look), placer: processor.placer(), balances });
        };
        let settings = SpaceSettings {
            sample_rate_hz: scene.output.sample_rate_hz,
            max_sources: plan.bodies.len().max(1),
            spatial,
            doppler: scene.listener.doppler,
            field,
            update_s,
            ..SpaceSettings::default()
        };
        let (space, renderer) = space(&settings);
        processor.set_space(renderer);
        Ok(Self::Rooms(Box::new(space)))
    }

    /// Where the listener is from now on.
    pub fn listen(&mut self, position: Vec3, look: Vec3) {
        match self {
            Self::Open { ear, .. } => *ear = Ear::new(position, look),
            Self::Rooms(space) => space.listen(position, look),
        }
    }

    /// Tells where a body is. Returns the factor of its own level that is not told otherwise.
    pub fn place(&mut self, number: usize, id: BodyId, pose: &Pose, planned: &Planned) -> f64 {
        let position = Vec3::from_array(pose.position.map(f64::from));
        match self {
            Self::Open { ear, placer, balances } => {
                let balance = ear.balance(position);
                if (0..2).any(|c| (balance[c] - balances[number][c]).abs() > SAME)
                    && placer.place(id, balance.map(|g| g as f32))
                {
                    balances[number] = balance;
                }
                ear.level(position)
            }
            Self::Rooms(space) => {
                let directivity = planned.body.directivity.map(|d| Directivity {
                    axis: glam::Quat::from_array(pose.rotation).as_dquat() * Vec3::from_array(d.axis),
                    pattern: d.pattern as f32,
                    cutoff_hz: d.cutoff_hz as f32,
                });
                space.place(id, &Place { position, directivity });
                1.0
            }
        }
    }

    /// Whether rooms or a head are between bodies and listener.
    pub fn is_spatial(&self) -> bool {
        matches!(self, Self::Rooms(_))
    }

    /// What the field was asked for.
    pub fn counts(&self) -> Option<RoomCounts> {
        match self {
            Self::Open { .. } => None,
            Self::Rooms(space) => {
                let SpaceStats { placed, clamped, unknown, .. } = space.stats();
                Some(RoomCounts { asked: placed, clamped, unknown })
            }
        }
    }
}

/// The field of the scene's rooms: the one it names, or the one beside it.
pub(super) fn field_of(scene: &Scene, warnings: &mut Vec<String>) -> Result<Option<Arc<Field>>, Error> {
    let Some(acoustics) = &scene.acoustics else { return Ok(None) };
    let path = match &acoustics.field {
        Some(name) => scene.resolve(name)?,
        None => {
            let beside = beside(scene);
            if !beside.is_file() {
                warnings.push(format!(
                    "the rooms of [acoustics] are not heard, because they have not been baked to {}; this is the scene in open air",
                    beside.display()
                ));
                return Ok(None);
            }
            beside
        }
    };
    let field = read_field(&path)?;
    if let Some([i, n]) = field.info().shard {
        let message = format!("is shard {i} of {n} of a field; merge all of them first");
        return Err(Error::WrongKind { file: path, message });
    }
    // A scene whose rooms cannot be looked up any more still has its field.
    if crate::bake::source_hash(scene).is_ok_and(|hash| hash != field.info().source_hash) {
        warnings.push(format!(
            "{} was baked from other rooms or with other settings than [acoustics] has now; bake it again if that matters",
            path.display()
        ));
    }
    Ok(Some(Arc::new(field)))
}

/// The field that belongs to a scene file if it names none.
pub(crate) fn beside(scene: &Scene) -> PathBuf {
    let stem = scene.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    scene.folder.join(stem + FIELD_EXTENSION)
}

/// How directions are heard in rooms.
pub(super) fn spatial_in_rooms(scene: &Scene) -> Result<direct::Spatial, Error> {
    match scene.listener.spatial {
        Some(Spatial::Pan) => Ok(direct::Spatial::Pan),
        None | Some(Spatial::Head) => Ok(direct::Spatial::Head),
        Some(Spatial::Hrtf) => hrtf(scene),
    }
}

fn hrtf(scene: &Scene) -> Result<direct::Spatial, Error> {
    let file = scene.resolve(scene.listener.sofa.as_deref().unwrap_or_default())?;
    let hrtf = Hrtf::load(&file, scene.output.sample_rate_hz).map_err(Box::new)?;
    Ok(direct::Spatial::Hrtf(Arc::new(hrtf), scene.listener.hrtf_sources))
}

//! The rooms of a scene, and how directions are heard in it.

use super::{Scene, Spatial};
use crate::Error;
use eigentone_core::acoustics::Field;
use eigentone_io::{FIELD_EXTENSION, read_field};
use eigentone_space::direct;
use eigentone_space::hrtf::Hrtf;
use std::path::PathBuf;
use std::sync::Arc;

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

/// How directions are heard: if the scene does not say, through a head in rooms and between loudspeakers in open air.
pub(super) fn spatial_of(scene: &Scene, in_rooms: bool) -> Result<direct::Spatial, Error> {
    match scene.listener.spatial {
        None if !in_rooms => Ok(direct::Spatial::Pan),
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

//! The source of models that is always there: shells and solids from triangles.

use super::{ModelRequest, ModelSource, TaskControl, closed_form};
use eigentone_core::ModalModel;
use eigentone_modal::{Detail, MeshModelError, MeshModelSettings, Progress, model_from_mesh};
use std::sync::Arc;

/// Makes models of meshes by finite elements, and keeps none.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeshModels {}

impl ModelSource for MeshModels {
    fn provisional(&self, request: &ModelRequest) -> Result<Option<Arc<ModalModel>>, String> {
        Ok(closed_form(request).map(Arc::new))
    }

    fn draft(&self, request: &ModelRequest, task: &TaskControl) -> Result<Option<Arc<ModalModel>>, String> {
        let settings = request.settings();
        if settings.detail == Detail::Draft {
            return Ok(None);
        }
        let settings = MeshModelSettings { detail: Detail::Draft, ..settings };
        let report = |stage: &str, share: f64| task.report(stage, share);
        let draft = model_from_mesh(&request.mesh, &request.material, &settings, &Progress::new(&report));
        draft.map(|model| Some(Arc::new(model))).map_err(|error| error.to_string())
    }

    fn model(&self, request: &ModelRequest, task: &TaskControl) -> Result<Option<Arc<ModalModel>>, String> {
        let report = |stage: &str, share: f64| task.report(stage, share);
        match model_from_mesh(&request.mesh, &request.material, &request.settings(), &Progress::new(&report)) {
            Ok(model) => Ok(Some(Arc::new(model))),
            Err(MeshModelError::Silent { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

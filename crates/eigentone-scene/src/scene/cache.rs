//! Models are computed once: a folder of model files named by the hash of everything they depend on.
//!
//! A model that has just been computed is used in the precision in which it is stored, so that the first run of a scene gives the same bytes as the second.

use crate::Error;
use eigentone_core::{ENGINE_VERSION, Material, ModalModel, TriMesh};
use eigentone_io::{model_bytes, read_model, read_model_bytes, sha256_hex, write_model};
use eigentone_modal::{MeshModelError, MeshModelSettings, Progress, model_from_mesh};
use eigentone_world::{ModelRequest, ModelSource, TaskControl, closed_form};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Raised when the way models are made changes: older files are then not used any more.
const MAKING: u32 = 2;

/// Where models are kept.
#[derive(Clone, Debug, Default)]
pub struct ModelCache {
    folder: Option<PathBuf>,
}

impl ModelCache {
    /// The user's: `$EIGENTONE_CACHE`, or `eigentone` in `$XDG_CACHE_HOME`, `$LOCALAPPDATA` or `~/.cache`. An empty `$EIGENTONE_CACHE` means none.
    pub fn standard() -> Self {
        if let Some(own) = std::env::var_os("EIGENTONE_CACHE") {
            return if own.is_empty() { Self::none() } else { Self::in_folder(Path::new(&own)) };
        }
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let home = || set("HOME").map(|home| home.join(".cache"));
        let base = set("XDG_CACHE_HOME").or_else(|| set("LOCALAPPDATA")).or_else(home);
        Self { folder: base.map(|base| base.join("eigentone")) }
    }

    /// Keeps nothing.
    pub fn none() -> Self {
        Self { folder: None }
    }

    /// In a folder, which is made when it is needed.
    pub fn in_folder(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()) }
    }

    /// Whether the model with this key has been made before.
    pub fn contains(&self, key: &str) -> bool {
        self.folder.as_ref().is_some_and(|folder| folder.join(format!("{key}.modal.safetensors")).is_file())
    }

    /// The folder, if models are kept.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The model with this key, from the folder or made now. A folder that cannot be written to only costs time.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn get_or_make(
        &self,
        key: &str,
        make: impl FnOnce() -> Result<ModalModel, Error>,
    ) -> Result<Arc<ModalModel>, Error> {
        let file = self.folder.as_ref().map(|folder| folder.join(format!("{key}.modal.safetensors")));
        // A file that is damaged is made anew.
        if let Some(model) = file.as_ref().filter(|f| f.is_file()).and_then(|f| read_model(f).ok()) {
            return Ok(Arc::new(model));
        }
        let made = make()?;
        let stored = read_model_bytes(&model_bytes(&made))?;
        if let (Some(folder), Some(file)) = (&self.folder, &file)
            && std::fs::create_dir_all(folder).is_ok()
        {
            let _ = write_model(file, &stored);
        }
        Ok(Arc::new(stored))
    }
}

/// Makes the models that a [draft](super::Plan::draft) has left to be made, in the precision and with the keys of the cache: what sounds in the end is what rendering the scene gives.
#[derive(Clone, Debug, Default)]
pub struct CachedModels {
    /// Where they are kept.
    pub cache: ModelCache,
}

impl ModelSource for CachedModels {
    fn provisional(&self, request: &ModelRequest) -> Result<Option<Arc<ModalModel>>, String> {
        let key = key(&request.mesh, &request.material, &request.settings());
        if self.cache.contains(&key) {
            // It is there; if it cannot be read after all, making it anew is left to the task.
            let missing = || Err(Error::WrongKind { file: PathBuf::new(), message: "not in the cache".to_owned() });
            if let Ok(model) = self.cache.get_or_make(&key, missing) {
                return Ok(Some(model));
            }
        }
        Ok(closed_form(request).map(Arc::new))
    }

    fn draft(&self, request: &ModelRequest, task: &TaskControl) -> Result<Option<Arc<ModalModel>>, String> {
        if self.cache.contains(&key(&request.mesh, &request.material, &request.settings())) {
            return Ok(None);
        }
        eigentone_world::MeshModels::default().draft(request, task)
    }

    fn model(&self, request: &ModelRequest, task: &TaskControl) -> Result<Option<Arc<ModalModel>>, String> {
        let settings = request.settings();
        let report = |stage: &str, share: f64| task.report(stage, share);
        let file = || PathBuf::from(&request.name);
        let made = self.cache.get_or_make(&key(&request.mesh, &request.material, &settings), || {
            model_from_mesh(&request.mesh, &request.material, &settings, &Progress::new(&report))
                .map_err(|source| Error::Model { file: file(), source })
        });
        match made {
            Ok(model) => Ok(Some(model)),
            Err(Error::Model { source: MeshModelError::Silent { .. }, .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The key of a model: mesh, material, settings and the way models are made.
pub fn key(mesh: &TriMesh, material: &Material, settings: &MeshModelSettings) -> String {
    let mut bytes = format!("{ENGINE_VERSION} {MAKING} {material:?} {settings:?}").into_bytes();
    for x in mesh.positions.iter().flat_map(|p| p.to_array()) {
        bytes.extend(x.to_le_bytes());
    }
    for v in mesh.triangles.iter().flatten() {
        bytes.extend(v.to_le_bytes());
    }
    sha256_hex(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::MaterialTable;
    use eigentone_core::mesh::primitives;

    /// The second run makes nothing, and has the same model; a damaged file is made anew.
    #[test]
    fn models_are_made_once() {
        let folder = std::env::temp_dir().join(format!("eigentone-cache-{}", std::process::id()));
        let cache = ModelCache::in_folder(&folder);
        let mesh = primitives::bar(0.1, 0.02, 0.01);
        let steel = MaterialTable::builtin().get("steel").unwrap().clone();
        let settings = MeshModelSettings { name: "bar".to_owned(), ..MeshModelSettings::default() };
        let key = key(&mesh, &steel, &settings);
        let make = || Ok(model_from_mesh(&mesh, &steel, &settings, &Progress::silent()).unwrap());
        let first = cache.get_or_make(&key, make).unwrap();
        let second = cache.get_or_make(&key, || unreachable!("it is there")).unwrap();
        assert_eq!(first, second);
        std::fs::write(folder.join(format!("{key}.modal.safetensors")), b"damaged").unwrap();
        assert_eq!(cache.get_or_make(&key, make).unwrap(), first);
        std::fs::remove_dir_all(folder).unwrap();
    }
}

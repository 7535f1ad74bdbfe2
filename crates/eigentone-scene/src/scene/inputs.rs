//! The files that a scene reads, so that nothing is written over them.

use super::{Scene, Shape, rooms, surfaces};
use crate::textures;
use eigentone_io::companions;
use std::path::PathBuf;

impl Scene {
    /// All files that the scene reads when it is played or baked, as far as their names are known: itself, meshes, tetrahedra, models, recordings of surfaces,
    /// the SOFA file, the walls, the [field](Self::field_file) and `materials.toml`. Some of them may not exist.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let mesh = |shape: &Shape| if let Shape::Mesh(file) = shape { Some(file.clone()) } else { None };
        let mut names: Vec<String> = Vec::new();
        for body in &self.bodies {
            names.extend(body.model.clone().into_iter().chain(mesh(&body.shape)));
            names.extend(body.surface_map.iter().map(|map| map.image.clone()));
        }
        for soft in &self.softs {
            names.extend(soft.tets.clone().into_iter().chain(mesh(&soft.shape)));
        }
        names.extend(self.listener.sofa.clone());
        if let Some(rooms) = &self.acoustics {
            names.extend(rooms.mesh.clone());
            names.extend(rooms.region.iter().filter_map(|region| region.mesh.clone()));
        }
        if let Ok(table) = surfaces::table(self) {
            let own = self.surfaces.iter().filter_map(|surface| table.get(&surface.name).ok());
            names.extend(own.flat_map(|texture| textures::files(texture).map(str::to_owned).collect::<Vec<_>>()));
        }
        let mut files = vec![self.file.clone(), self.materials_file()];
        files.extend(self.field_file());
        for name in names {
            // What cannot be found is named all the same: rendering says why.
            let file = self.resolve(&name).unwrap_or_else(|_| self.folder.join(&name));
            files.extend(companions(&file));
            files.push(file);
        }
        files
    }

    /// The field that the scene's rooms are heard by: the one that it names, or the one beside it, called as the scene with `.field.safetensors` for
    /// `.toml`. It need not exist. `None` without rooms.
    pub fn field_file(&self) -> Option<PathBuf> {
        let rooms = self.acoustics.as_ref()?;
        Some(match &rooms.field {
            Some(name) => self.resolve(name).unwrap_or_else(|_| self.folder.join(name)),
            None => rooms::beside(self),
        })
    }

    /// The scene's own materials, if the file exists.
    pub fn materials_file(&self) -> PathBuf {
        self.folder.join("materials.toml")
    }
}

//! The surfaces of a scene: named textures, made ready once each.

use super::{Body, Scene, Surface};
use crate::{Error, textures};
use eigentone_core::texture::{MapError, SurfaceMap, Texture, TextureTable};
use eigentone_core::{Material, TriMesh};
use eigentone_io::{GreyPicture, read_picture};
use eigentone_synth::texture::SurfaceRuntime;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The textures of a scene, prepared as they are needed.
pub(super) struct Surfaces {
    /// Those made ready: many bodies share one.
    ready: BTreeMap<String, Arc<SurfaceRuntime>>,
    /// Pictures that were read: copies of a body share one.
    pictures: BTreeMap<String, GreyPicture>,
    table: TextureTable,
    folder: std::path::PathBuf,
    rate_hz: f64,
    seed: u64,
}

impl Surfaces {
    pub fn new(scene: &Scene) -> Result<Self, Error> {
        Ok(Self {
            ready: BTreeMap::new(),
            pictures: BTreeMap::new(),
            table: table(scene)?,
            folder: scene.folder.clone(),
            rate_hz: scene.output.sample_rate_hz,
            seed: scene.seed,
        })
    }

    /// The texture of a body; without one, a smooth surface as stiff as its material.
    pub fn of(&mut self, body: &Body, material: &Material, scene: &Scene) -> Result<Arc<SurfaceRuntime>, Error> {
        let texture = match &body.surface {
            Some(name) => {
                let found = self.table.get(name).map_err(|e| Error::Scene {
                    file: scene.file.clone(),
                    message: format!("body `{}`: {e}", body.name),
                })?;
                found.clone()
            }
            None => Texture { name: "smooth".to_owned(), stiffness_n_m: stiffness_of(material), ..Texture::default() },
        };
        let key = format!("{} {}", texture.name, texture.stiffness_n_m);
        if let Some(surface) = self.ready.get(&key) {
            return Ok(surface.clone());
        }
        let surface = textures::prepare(&texture, Some(&self.folder), self.seed, self.rate_hz)?;
        self.ready.insert(key, surface.clone());
        Ok(surface)
    }

    /// The map of a body's roughness, if it has one.
    pub fn map_of(&mut self, body: &Body, mesh: &TriMesh, scene: &Scene) -> Result<Option<Arc<SurfaceMap>>, Error> {
        let Some(file) = &body.surface_map else { return Ok(None) };
        if !self.pictures.contains_key(&file.image) {
            self.pictures.insert(file.image.clone(), read_picture(&scene.resolve(&file.image)?)?);
        }
        let map = lay_map(&self.pictures[&file.image], mesh, [file.dark, file.bright]);
        let bad =
            |e: MapError| Error::Scene { file: scene.file.clone(), message: format!("body `{}`: {e}", body.name) };
        Ok(Some(Arc::new(map.map_err(bad)?)))
    }
}

/// Lays a picture over a mesh, so that black makes it `factors[0]` times as rough and white `factors[1]` times.
///
/// # Errors
/// If the mesh has no extent, or a factor makes no sense.
pub fn lay_map(picture: &GreyPicture, mesh: &TriMesh, factors: [f64; 2]) -> Result<SurfaceMap, MapError> {
    let [low, high] = mesh.bounds().ok_or(MapError::Flat)?;
    let extent = [[low.x, low.y], [high.x, high.y]];
    SurfaceMap::new([picture.width, picture.height], picture.grey.clone(), extent, factors.map(|f| f as f32))
}

/// The textures that ship, and those of the scene.
///
/// # Errors
/// Says which key of which `[[surface]]` is wrong.
pub fn table(scene: &Scene) -> Result<TextureTable, Error> {
    let mut table = textures::builtin();
    for surface in by_depth(&scene.surfaces) {
        textures::add(&mut table, &surface.name, surface.like.as_deref(), surface.texture.clone())
            .map_err(|message| Error::Scene { file: scene.file.clone(), message: format!("[[surface]] {message}") })?;
    }
    Ok(table)
}

/// Those that others are like first, wherever they stand in the file: by how many others a surface builds upon, one upon the other.
fn by_depth<'a>(surfaces: &'a [Surface]) -> Vec<&'a Surface> {
    let by_name: BTreeMap<&str, &Surface> = surfaces.iter().map(|s| (s.name.as_str(), s)).collect();
    // One that is like its own name means the built-in texture.
    let base = |s: &&'a Surface| by_name.get(s.like.as_deref().filter(|like| *like != s.name)?).copied();
    // The reader refuses circles; were one left, it would stop here, and the table would say what is missing.
    let depth = |s: &&'a Surface| std::iter::successors(Some(*s), base).take(surfaces.len()).count();
    let mut order: Vec<&Surface> = surfaces.iter().collect();
    order.sort_by_cached_key(depth);
    order
}

/// Contact spring of a smooth surface: 1e8 N/m for steel, in proportion to Young's modulus; 1e4 N/m is soft.
fn stiffness_of(material: &Material) -> f32 {
    (1e8 * material.young_pa / 2e11).clamp(1e4, 1e8) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface(name: &str, like: Option<&str>) -> Surface {
        Surface { name: name.to_owned(), like: like.map(str::to_owned), texture: toml::Table::new() }
    }

    /// A chain written backwards comes out forwards; what builds on nothing of the file keeps its order.
    #[test]
    fn what_others_are_like_comes_first() {
        let chain = [
            surface("c", Some("b")),
            surface("b", Some("a")),
            surface("x", Some("gravel")),
            surface("a", None),
            surface("brick", Some("brick")),
        ];
        let order = |surfaces: &[Surface]| by_depth(surfaces).iter().map(|s| s.name.clone()).collect::<Vec<_>>();
        assert_eq!(order(&chain), ["x", "a", "brick", "b", "c"]);
        let circle = [surface("a", Some("b")), surface("b", Some("a"))];
        assert_eq!(order(&circle), ["a", "b"]);
    }
}

//! The surfaces of a scene: named textures, made ready once each.

use super::{Body, Scene};
use crate::{Error, textures};
use eigentone_core::Material;
use eigentone_core::texture::{Texture, TextureTable};
use eigentone_synth::texture::Prepared;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The textures of a scene, prepared as they are needed.
pub(super) struct Surfaces {
    /// Those made ready: many bodies share one.
    ready: Mutex<BTreeMap<String, Arc<Prepared>>>,
    table: TextureTable,
    folder: std::path::PathBuf,
    rate_hz: f64,
    seed: u64,
}

impl Surfaces {
    pub fn new(scene: &Scene) -> Result<Self, Error> {
        let mut table = textures::builtin();
        // Those that others are like first, wherever they stand.
        let mut left: Vec<_> = scene.surfaces.iter().collect();
        let mut order = Vec::new();
        while !left.is_empty() {
            let waits = |s: &&super::Surface| left.iter().any(|l| Some(&l.name) == s.like.as_ref() && l.name != s.name);
            let (later, now): (Vec<_>, Vec<_>) = left.iter().copied().partition(waits);
            // A circle is refused by the reader; if one is left, the table says what is missing.
            order.extend(if now.is_empty() { std::mem::take(&mut left) } else { now });
            left = if left.is_empty() { left } else { later };
        }
        for surface in order {
            textures::add(&mut table, &surface.name, surface.like.as_deref(), surface.texture.clone()).map_err(
                |message| Error::Scene { file: scene.file.clone(), message: format!("[[surface]] {message}") },
            )?;
        }
        Ok(Self {
            ready: Mutex::default(),
            table,
            folder: scene.folder.clone(),
            rate_hz: scene.output.sample_rate_hz,
            seed: scene.seed,
        })
    }

    /// The texture of a body; without one, a smooth surface as stiff as its material.
    pub fn of(&self, body: &Body, material: &Material, scene: &Scene) -> Result<Arc<Prepared>, Error> {
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
        let mut ready = self.ready.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(surface) = ready.get(&key) {
            return Ok(surface.clone());
        }
        let surface = textures::prepare(&texture, Some(&self.folder), self.seed, self.rate_hz)?;
        ready.insert(key, surface.clone());
        Ok(surface)
    }
}

/// Contact spring of a smooth surface: 1e8 N/m for steel, in proportion to Young's modulus (REFERENCE E.2: 1e4 soft to 1e8 steel on steel).
fn stiffness_of(material: &Material) -> f32 {
    (1e8 * material.young_pa / 2e11).clamp(1e4, 1e8) as f32
}

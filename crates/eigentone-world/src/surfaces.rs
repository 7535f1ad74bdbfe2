//! Surfaces made ready once each.

use crate::body::Surface;
use crate::error::WorldError;
use eigentone_core::Material;
use eigentone_core::texture::{Profile, Source, Texture, TextureTable};
use eigentone_synth::texture::{PrepareError, SurfaceRuntime, synthesise};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Textures by name, and those made ready: many bodies share one.
#[derive(Debug)]
pub(crate) struct Surfaces {
    table: TextureTable,
    ready: BTreeMap<String, Arc<SurfaceRuntime>>,
    seed: u64,
    rate_hz: f64,
}

impl Surfaces {
    pub fn new(table: TextureTable, seed: u64, rate_hz: f64) -> Self {
        Self { table, ready: BTreeMap::new(), seed, rate_hz }
    }

    pub fn of(&mut self, surface: &Surface, material: &Material) -> Result<Arc<SurfaceRuntime>, WorldError> {
        let texture = match surface {
            Surface::Ready(ready) => return Ok(ready.clone()),
            Surface::Texture(texture) => return Ok(prepare(texture, self.seed, self.rate_hz)?),
            Surface::Named(name) => self.table.get(name)?.clone(),
            Surface::OfMaterial => smooth(material),
        };
        let key = format!("{} {}", texture.name, texture.stiffness_n_m);
        if let Some(ready) = self.ready.get(&key) {
            return Ok(ready.clone());
        }
        let ready = prepare(&texture, self.seed, self.rate_hz)?;
        self.ready.insert(key, ready.clone());
        Ok(ready)
    }
}

/// A smooth surface as stiff as a material: 1e8 N/m for steel, in proportion to Young's modulus, 1e4 at least.
pub fn smooth(material: &Material) -> Texture {
    let stiffness_n_m = (1e8 * material.young_pa / 2e11).clamp(1e4, 1e8) as f32;
    Texture { name: "smooth".to_owned(), stiffness_n_m, ..Texture::default() }
}

/// Makes a texture ready whose loops are synthetic, if it has any. Those from files must be [ready](Surface::Ready) already.
fn prepare(texture: &Texture, seed: u64, rate_hz: f64) -> Result<Arc<SurfaceRuntime>, PrepareError> {
    let loops: Vec<_> = match &texture.profile {
        Profile::Recorded(recorded) => recorded
            .loops
            .iter()
            .filter_map(|l| match &l.source {
                Source::Synthetic(kind) => Some(synthesise(*kind, f64::from(l.events_per_s), rate_hz)),
                Source::File(_) => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    SurfaceRuntime::new(texture, &loops, &[], seed, rate_hz)
}

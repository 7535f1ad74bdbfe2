//! Who touches whom, and what was heard of it.

use super::site::SiteFinder;
use crate::texture::SurfaceRuntime;
use eigentone_core::event::BodyId;
use eigentone_core::texture::SurfaceMap;
use eigentone_core::{ModalModel, Vec3};
use std::sync::Arc;

/// A body of the simulation, as the engine knows it.
#[derive(Clone, Debug)]
pub struct ContactBody {
    /// Its sound; `None` if it has none of its own.
    pub body: Option<BodyId>,
    /// Infinite for one that does not move.
    pub mass_kg: f64,
    /// What it is like to the touch.
    pub surface: Arc<SurfaceRuntime>,
    /// How rough the surface is from place to place, and the size of the body that the map is laid over.
    pub map: Option<(Arc<SurfaceMap>, f64)>,
    pub(super) finder: Option<SiteFinder>,
}

impl ContactBody {
    /// Something that does not move and does not sound, with a smooth surface: a floor.
    pub fn silent() -> Self {
        Self { body: None, mass_kg: f64::INFINITY, surface: SurfaceRuntime::smooth(), map: None, finder: None }
    }

    /// A sounding body, with a smooth surface.
    pub fn of(body: BodyId, model: Arc<ModalModel>, mass_kg: f64) -> Self {
        Self { body: Some(body), mass_kg, finder: Some(SiteFinder::new(model)), ..Self::silent() }
    }

    /// The same for another body of the same model.
    pub fn for_body(self, body: BodyId) -> Self {
        Self { body: Some(body), ..self }
    }

    /// The same with another model.
    pub fn with_model(self, model: Arc<ModalModel>) -> Self {
        Self { finder: Some(SiteFinder::new(model)), ..self }
    }

    /// The same with another mass.
    pub fn with_mass(self, mass_kg: f64) -> Self {
        Self { mass_kg, ..self }
    }

    /// The same with another surface.
    pub fn with_surface(self, surface: Arc<SurfaceRuntime>) -> Self {
        Self { surface, ..self }
    }

    /// The same with a map of its surface, laid over a body of this size.
    pub fn with_map(self, map: Option<(Arc<SurfaceMap>, f64)>) -> Self {
        Self { map, ..self }
    }

    /// How rough its surface is at a place in its own frame, as a factor.
    pub(super) fn roughness_at(&self, place: Vec3) -> f32 {
        self.map.as_ref().map_or(1.0, |(map, size)| map.at(place.x / size, place.y / size))
    }
}

/// Something that was heard, for lists and pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactEvent {
    /// When, in s.
    pub time_s: f64,
    /// Between whom.
    pub bodies: [u32; 2],
    /// Where, in the world.
    pub position: [f32; 3],
    /// What.
    pub kind: ContactEventKind,
}

/// What was heard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactEventKind {
    /// A blow.
    Impact {
        /// Momentum that passed, in N·s.
        impulse_ns: f32,
        /// How fast the surfaces met.
        approach_m_s: f32,
    },
    /// Scraping or rolling began.
    Begin,
    /// It ended.
    End,
}

//! From a place on a body's surface to the contact site of its model.

use eigentone_core::mesh::nearest::NearestTree;
use eigentone_core::model::SiteBlend;
use eigentone_core::{ModalModel, Vec3};
use std::sync::Arc;

/// A place that has moved less than this share of the body's size is the same place.
const SAME: f64 = 0.02;

/// Finds sites; made once per model.
#[derive(Clone, Debug)]
pub(super) struct SiteFinder {
    model: Arc<ModalModel>,
    tree: Arc<NearestTree>,
    tolerance_m: f64,
}

impl SiteFinder {
    pub fn new(model: Arc<ModalModel>) -> Self {
        let mesh = model.surface.to_mesh();
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for p in &mesh.positions {
            (low, high) = (low.min(*p), high.max(*p));
        }
        let size = if mesh.positions.is_empty() { 0.0 } else { (high - low).length() };
        Self { model, tree: Arc::new(NearestTree::new(mesh)), tolerance_m: SAME * size }
    }

    pub fn model(&self) -> &Arc<ModalModel> {
        &self.model
    }

    /// The site nearest to a place in the body's own frame; `None` for a model without sites.
    pub fn find(&self, place: Vec3) -> Option<SiteBlend> {
        if let Some(point) = self.tree.nearest(place) {
            let sites = self.model.surface.triangles[point.triangle as usize];
            return Some(SiteBlend { sites, weights: point.barycentric });
        }
        self.model.nearest_contact(place).map(|c| c.blend)
    }

    /// The same for a place that moves: what was found last is kept until it has moved noticeably.
    pub fn follow(&self, place: Vec3, last: &mut Option<(Vec3, SiteBlend)>) -> Option<SiteBlend> {
        if let Some((there, site)) = last
            && there.distance(place) <= self.tolerance_m
        {
            return Some(*site);
        }
        let site = self.find(place)?;
        *last = Some((place, site));
        Some(site)
    }
}

//! From a place on a body's surface to the contact site of its model.

use eigentone_core::{ModalModel, SiteBlend, SiteTree, Vec3};
use std::sync::Arc;

/// A place that has moved less than this share of the body's size is the same place.
const SAME: f64 = 0.02;

/// Finds sites; made once per model.
#[derive(Clone, Debug)]
pub(super) struct SiteFinder {
    model: Arc<ModalModel>,
    tree: Arc<SiteTree>,
    tolerance_m: f64,
}

impl SiteFinder {
    pub fn new(model: Arc<ModalModel>) -> Self {
        let tree = SiteTree::new(&model.surface);
        Self { model, tolerance_m: SAME * tree.mesh().diagonal(), tree: Arc::new(tree) }
    }

    pub fn model(&self) -> &Arc<ModalModel> {
        &self.model
    }

    /// The site nearest to a place in the body's own frame; `None` for a model without sites.
    pub fn find(&self, place: Vec3) -> Option<SiteBlend> {
        self.tree.nearest(place)
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

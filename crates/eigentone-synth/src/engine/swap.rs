//! What the control side does to give a body another model: finds which modes go on, where the old sites are on the new model, and what bridges to it must be.

use super::handle::{Handle, Made};
use super::{MAX_SWAPS, Message};
use crate::body::{Exchange, NONE, Relink, Same, match_modes};
use crate::settings::{BodySettings, EngineError};
use crate::table::ModeTable;
use eigentone_core::event::BodyId;
use eigentone_core::{ModalModel, SiteTree, Vec3};
use std::sync::Arc;

impl Handle {
    /// Gives a body another model, noise, glide, strain sensitivity or nonlinearity while it sounds. Its id stays, and with it all that was sent to it and acts on it: events, contacts, streams, bridges, bodies that
    /// share it. It keeps gain, emphasis, damping, frequency and strain (`settings.gain` is not looked at).
    ///
    /// Modes that both models have (nearest in frequency, within half a semitone, in order) go on with their amplitude and phase; the others of the old model fade out over 20 ms. Places of events that wait are moved to the
    /// nearest ones of the new model. A model that is the same changes nothing.
    ///
    /// # Errors
    /// If the model is unusable or too large, the body is gone, or too many exchanges are under way.
    pub fn swap(&mut self, body: BodyId, settings: &BodySettings) -> Result<(), EngineError> {
        self.collect();
        let (id, old) = self.own_table(body)?;
        self.check(settings)?;
        if self.swaps >= MAX_SWAPS {
            return Err(EngineError::QueueFull);
        }
        let mut table = self.table(&settings.model);
        if *table == *old {
            // Another copy of the same model.
            table = old.clone();
        }
        let made = Made::of(settings);
        let before = self.made(id);
        let same = Same {
            table: Arc::ptr_eq(&table, &old),
            diffuse: made.diffuse == before.diffuse,
            sections: made.nonlinear == before.nonlinear,
            tuning: (made.glide, made.strain_sensitivity) == (before.glide, before.strain_sensitivity),
        };
        if same.table && same.diffuse && same.sections && same.tuning {
            return Ok(());
        }
        let (modes, sites) = if same.table {
            (Vec::new(), Vec::new())
        } else {
            (heard_modes(&settings.model, match_modes(&old, &table)), match_sites(&old, &settings.model))
        };
        let rate_hz = self.settings().sample_rate_hz;
        let mut exchange =
            Exchange { body: Some(self.make(settings, table.clone())), modes, sites, links: Vec::new(), same };
        let mut moved = Vec::new();
        for (&number, bridge) in self.links.iter().filter(|(_, bridge)| bridge.to == id && !same.table) {
            let mut site = bridge.site;
            exchange.move_site(&mut site);
            let peak = table.peak_gain_at(&site, bridge.direction, rate_hz);
            exchange.links.push(Relink { number, force_per_pa: bridge.force_per_pa(peak) });
            moved.push((number, site));
        }
        self.send_vital(Message::Exchange(id, Box::new(exchange)))?;
        for (number, site) in moved {
            self.links.entry(number).and_modify(|bridge| bridge.site = site);
        }
        self.swaps += 1;
        self.remake(id, table, made);
        Ok(())
    }
}

/// What is muted in the new model does not ring on in it: it fades out with the old one.
fn heard_modes(new: &ModalModel, mut matched: Vec<u32>) -> Vec<u32> {
    for (_, from) in new.modes.iter().zip(&mut matched).filter(|(mode, _)| mode.output_gain == 0.0) {
        *from = NONE;
    }
    matched
}

/// The site of a new model nearest to each of an old one, relative to their boxes, so that a body that has grown is touched where it was; empty if the sites are the same.
fn match_sites(old: &ModeTable, new: &ModalModel) -> Vec<u32> {
    let to = &new.surface.positions;
    if old.positions == *to {
        return Vec::new();
    }
    let bounds = |positions: &[[f32; 3]]| {
        let points = || positions.iter().map(|p| Vec3::from_array(p.map(f64::from)));
        (points().fold(Vec3::INFINITY, Vec3::min), points().fold(Vec3::NEG_INFINITY, Vec3::max))
    };
    let ((low, high), (new_low, new_high)) = (bounds(&old.positions), bounds(to));
    let tree = SiteTree::new(&new.surface);
    let nearest = |p: &[f32; 3]| {
        let share = (Vec3::from_array(p.map(f64::from)) - low) / (high - low).max(Vec3::splat(1e-12));
        let blend = tree.nearest(new_low + share * (new_high - new_low))?;
        let heaviest = (0..3).max_by(|&a, &b| blend.weights[a].total_cmp(&blend.weights[b]))?;
        Some(blend.sites[heaviest])
    };
    old.positions.iter().map(|p| nearest(p).unwrap_or(0)).collect()
}

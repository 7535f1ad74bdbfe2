//! Bridges between bodies: what there shall be is kept here, by key; the engine is told as soon as both bodies sound and what was there before has faded.

use super::World;
use crate::error::WorldError;
use crate::key::{BodyKey, BridgeKey};
use eigentone_core::Vec3;
use eigentone_core::event::BodyId;
use eigentone_synth::{BridgeId, BridgeSettings, Gap};
use std::collections::BTreeMap;

/// A body whose sound is a force on another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bridge {
    /// Where, in the second body's own frame; its top if not given.
    pub at: Option<Vec3>,
    /// Along which direction there.
    pub direction: Vec3,
    /// What it comes to at the second's strongest resonance, 0 to 0.7.
    pub coupling: f32,
    /// Cut-off of what is carried, in Hz.
    pub low_pass_hz: f64,
    /// Makes it buzz.
    pub gap: Gap,
    /// Share of what passes that is heard by itself.
    pub direct: f32,
}

impl Default for Bridge {
    fn default() -> Self {
        Self { at: None, direction: Vec3::Z, coupling: 0.3, low_pass_hz: 5000.0, gap: Gap::default(), direct: 0.0 }
    }
}

/// A bridge in a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BridgeSpec {
    pub from: BodyKey,
    pub to: BodyKey,
    pub bridge: Bridge,
}

/// A bridge in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BridgeState {
    pub spec: BridgeSpec,
    /// The two resonators it connects, what the engine calls it, and the coupling granted; `None` while it waits.
    link: Option<([BodyId; 2], BridgeId, f32)>,
}

impl World {
    /// Lets the sound of one body act on another, at a place in that one's own frame and along a direction there. Over all bridges into a body the coupling is 0.7 at most, and the later get what is left.
    ///
    /// # Errors
    /// If one is gone or makes no sound, or there are too many bridges.
    pub fn bridge(&mut self, from: BodyKey, to: BodyKey, bridge: &Bridge) -> Result<BridgeKey, WorldError> {
        let silent = WorldError::Unfit("a bridge needs two bodies that sound");
        for key in [from, to] {
            self.state(key)?.engine.ok_or(silent.clone())?;
        }
        self.model(to).ok_or(silent)?;
        let max = self.settings.max_bridges;
        let key = self.bridges.vacant().ok_or(WorldError::Full { what: "bridges", max, setting: "max_bridges" })?;
        self.insert_bridge(BridgeKey(key), BridgeSpec { from, to, bridge: *bridge });
        Ok(BridgeKey(key))
    }

    /// Takes a bridge away: what it does fades over 20 ms.
    ///
    /// # Errors
    /// If it is gone already, by itself or with one of its bodies.
    pub fn remove_bridge(&mut self, key: BridgeKey) -> Result<(), WorldError> {
        let state = self.bridges.remove(key.0).ok_or(WorldError::BridgeGone(key))?;
        self.unlink(&state);
        Ok(())
    }

    /// All bridges: from whom, to whom, and how.
    pub fn bridges(&self) -> impl Iterator<Item = (BridgeKey, [BodyKey; 2], &Bridge)> {
        self.bridges.iter().map(|(key, state)| (BridgeKey(key), [state.spec.from, state.spec.to], &state.spec.bridge))
    }

    /// The coupling that a bridge got; `None` if it is gone, or while it waits for its bodies to sound or for another to fade.
    pub fn bridge_coupling(&self, key: BridgeKey) -> Option<f32> {
        self.bridges.get(key.0)?.link.map(|(_, _, coupling)| coupling)
    }

    pub(crate) fn bridge_specs(&self) -> BTreeMap<BridgeKey, BridgeSpec> {
        self.bridges.iter().map(|(key, state)| (BridgeKey(key), state.spec)).collect()
    }

    /// Makes bridges what they were.
    pub(crate) fn restore_bridges(&mut self, wanted: &BTreeMap<BridgeKey, BridgeSpec>) {
        let other = |(key, spec): (BridgeKey, BridgeSpec)| (wanted.get(&key) != Some(&spec)).then_some(key);
        for key in self.bridge_specs().into_iter().filter_map(other).collect::<Vec<_>>() {
            // It was just listed.
            let _ = self.remove_bridge(key);
        }
        for (key, spec) in wanted {
            let ends = self.contains(spec.from) && self.contains(spec.to);
            if ends && self.bridges.fits(key.0) && self.bridges.get(key.0).is_none() {
                self.insert_bridge(*key, *spec);
            }
        }
    }

    fn insert_bridge(&mut self, key: BridgeKey, spec: BridgeSpec) {
        self.bridges.insert_at(key.0, BridgeState { spec, link: None });
        self.link(key);
    }

    /// Bridges go with their bodies.
    pub(super) fn remove_bridges_of(&mut self, body: BodyKey) {
        let of =
            |(key, state): (BodyKey, &BridgeState)| [state.spec.from, state.spec.to].contains(&body).then_some(key);
        for key in self.bridges.iter().filter_map(of).collect::<Vec<_>>() {
            if let Some(state) = self.bridges.remove(key) {
                self.unlink(&state);
            }
        }
    }

    fn unlink(&mut self, state: &BridgeState) {
        if let Some((_, id, _)) = state.link {
            // It may have gone with one of its resonators, or the audio side with all of them.
            let _ = self.engine.get().remove_bridge(id);
        }
    }

    /// Connects what waits, and anew what has other resonators than before.
    pub(super) fn flush_bridges(&mut self) {
        if self.bridges.len() > 0 {
            let all: Vec<BodyKey> = self.bridges.iter().map(|(key, _)| key).collect();
            all.into_iter().for_each(|key| self.link(BridgeKey(key)));
        }
    }

    /// Tells the engine of a bridge, if both ends sound and nothing else still fades there; else it goes on waiting.
    fn link(&mut self, key: BridgeKey) {
        let Some(state) = self.bridges.get(key.0).copied() else { return };
        let BridgeSpec { from, to, bridge } = state.spec;
        let engine_of = |key: BodyKey| self.bodies.get(key).and_then(|body| body.engine);
        let ends = engine_of(from).zip(engine_of(to)).map(|(from, to)| [from, to]);
        if state.link.is_some() && state.link.map(|(ends, ..)| ends) == ends {
            return;
        }
        self.unlink(&state);
        let link = ends.filter(|ends| !self.engine.get().is_bridge_fading(ends[1])).and_then(|ends| {
            let model = self.model(to)?;
            let at = bridge.at.unwrap_or_else(|| super::strike::top(model));
            let contact = model.nearest_contact(at)?;
            let direction = bridge.direction.to_array().map(|x| x as f32);
            // What finds no room is tried again with the next advance.
            let bridged = self.engine.get().bridge(&BridgeSettings {
                low_pass_hz: bridge.low_pass_hz,
                gap: bridge.gap,
                direct: bridge.direct,
                ..BridgeSettings::new(ends[0], ends[1], &contact, direction, bridge.coupling)
            });
            bridged.ok().map(|bridged| (ends, bridged.id, bridged.coupling))
        });
        if let Some(state) = self.bridges.get_mut(key.0) {
            state.link = link;
        }
    }
}

//! The control side.

use super::bridge::{BridgeId, BridgeSettings, Bridged};
use super::contacts::ContactPlace;
use super::probe::{ModeLevels, Probe};
use super::{Garbage, Message, bridge};
use crate::BLOCK;
use crate::body::{Body, Glide, Making, Nonlinear};
use crate::diffuse::DiffuseBank;
use crate::policy::Quality;
use crate::settings::{BodySettings, EngineError, Settings};
use crate::stats::{SharedStats, Stats};
use crate::table::ModeTable;
use eigentone_core::event::{BodyId, Event, Moment};
use eigentone_core::model::{Contact, SiteBlend};
use eigentone_core::{DiffuseBand, ModalModel};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

/// The control side of an engine: adds and removes bodies and sends events.
#[derive(Debug)]
pub struct Handle {
    settings: Settings,
    to_audio: rtrb::Producer<Message>,
    from_audio: rtrb::Consumer<Garbage>,
    places: Vec<Place>,
    free: Vec<u32>,
    /// SurfaceRuntime models by address, for bodies made of the same.
    tables: HashMap<usize, (Weak<ModalModel>, Weak<ModeTable>)>,
    /// Bridges by number.
    pub(super) links: BTreeMap<u64, BridgePlace>,
    next_link: u64,
    /// Exchanges of models that have not come back.
    pub(super) swaps: usize,
    pub(super) contacts: Vec<ContactPlace>,
    pub(super) free_contacts: Vec<u32>,
    stats: Arc<SharedStats>,
    probe: Arc<Probe>,
    overflow: u64,
}

#[derive(Clone, Debug, Default)]
struct Place {
    generation: u32,
    /// There, and not being removed.
    alive: bool,
    table: Option<Arc<ModeTable>>,
    made: Made,
    /// The body it sounds through, and the factor of its blows, if it is not its own.
    root: Option<(BodyId, f32)>,
    /// Sum of the couplings into it.
    coupling: f32,
}

/// How a body was made, besides its modes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Made {
    pub diffuse: Vec<DiffuseBand>,
    pub glide: Option<Glide>,
    pub strain_sensitivity: f32,
    pub nonlinear: Option<Nonlinear>,
}

impl Made {
    pub fn of(settings: &BodySettings) -> Self {
        let &BodySettings { ref diffuse, glide, strain_sensitivity, nonlinear, .. } = settings;
        Self { diffuse: diffuse.clone(), glide, strain_sensitivity, nonlinear }
    }
}

/// A bridge, as the control side knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BridgePlace {
    pub to: BodyId,
    pub site: SiteBlend,
    pub direction: [f32; 3],
    granted: f32,
    /// Removed, but not faded yet.
    leaving: bool,
}

impl BridgePlace {
    /// From pascals of the first body to newtons on the second, whose largest gain at the place is `peak`.
    pub fn force_per_pa(&self, peak: f32) -> f32 {
        let size = self.direction.iter().map(|x| x * x).sum::<f32>().sqrt();
        if size > 0.0 && peak > 0.0 { self.granted / peak } else { 0.0 }
    }
}

impl Handle {
    pub(super) fn new(
        settings: Settings,
        to_audio: rtrb::Producer<Message>,
        from_audio: rtrb::Consumer<Garbage>,
        stats: Arc<SharedStats>,
        probe: Arc<Probe>,
    ) -> Self {
        let places = vec![Place::default(); settings.max_bodies];
        let free = (0..settings.max_bodies as u32).rev().collect();
        let contacts = vec![ContactPlace::default(); settings.max_contacts];
        let free_contacts = (0..settings.max_contacts as u32).rev().collect();
        Self {
            settings,
            to_audio,
            from_audio,
            places,
            free,
            tables: HashMap::new(),
            links: BTreeMap::new(),
            next_link: 0,
            swaps: 0,
            contacts,
            free_contacts,
            stats,
            probe,
            overflow: 0,
        }
    }

    /// How the engine was made.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Adds a body. It is silent until something happens to it.
    ///
    /// # Errors
    /// If the model is unusable or too large, or there is no room.
    pub fn add(&mut self, settings: &BodySettings) -> Result<BodyId, EngineError> {
        self.check(settings)?;
        let id = self.take_place()?;
        let table = self.table(&settings.model);
        let body = self.make(settings, table.clone());
        self.settle_place(id, Some(table), Message::Add(id, body))?;
        self.places[id.slot as usize].made = Made::of(settings);
        Ok(id)
    }

    /// Whether a body can be made of this.
    pub(super) fn check(&self, settings: &BodySettings) -> Result<(), EngineError> {
        let model = &settings.model;
        let name = || model.info.name.clone();
        model.validate().map_err(|e| EngineError::Model { name: name(), why: e.to_string() })?;
        for band in &settings.diffuse {
            band.validate().map_err(|e| EngineError::Model { name: name(), why: e.to_string() })?;
        }
        let glide = settings.glide.map_or([0.0; 3], |g| [g.amount, g.energy_pa2, g.focus]);
        let nonlinear = settings.nonlinear.map_or([0.0; 2], |n| [n.coupling, n.reference_pa]);
        let other = [settings.gain, settings.strain_sensitivity];
        if !glide.iter().chain(&nonlinear).chain(&other).all(|x| x.is_finite()) {
            return Err(EngineError::NotFinite { name: name() });
        }
        let most = self.settings.max_modes_per_body;
        if model.modes.len() > most {
            return Err(EngineError::Modes { name: name(), modes: model.modes.len(), most });
        }
        Ok(())
    }

    /// A body with all memory it will ever need.
    pub(super) fn make(&self, settings: &BodySettings, table: Arc<ModeTable>) -> Box<Body> {
        let rate = self.settings.sample_rate_hz;
        let making = Making {
            glide: settings.glide,
            strain_sensitivity: settings.strain_sensitivity,
            nonlinear: settings.nonlinear,
            diffuse: DiffuseBank::new(&settings.diffuse, rate).map(Box::new),
            gain: settings.gain,
        };
        Box::new(Body::new(table, making, rate))
    }

    /// The body that an id sounds through, and its modes.
    pub(super) fn own_table(&self, id: BodyId) -> Result<(BodyId, Arc<ModeTable>), EngineError> {
        let own = self.place(id)?.root.map_or(id, |(body, _)| body);
        self.place(own)?.table.clone().map(|table| (own, table)).ok_or(EngineError::NoSuchBody)
    }

    pub(super) fn made(&self, id: BodyId) -> &Made {
        &self.places[id.slot as usize].made
    }

    /// A body has another model now.
    pub(super) fn remake(&mut self, id: BodyId, table: Arc<ModeTable>, made: Made) {
        let place = &mut self.places[id.slot as usize];
        (place.table, place.made) = (Some(table), made);
    }

    /// A second body that is struck in its own name but sounds through the resonator of another: a hundred leaves of one tree. Its
    /// blows count by `factor`. It lives no longer than the other.
    ///
    /// # Errors
    /// If the other is gone or there is no room.
    pub fn share(&mut self, with: BodyId, factor: f32) -> Result<BodyId, EngineError> {
        let other = self.place(with)?;
        let (table, root) = (other.table.clone(), other.root);
        // Always the body itself, also by way of one that shares it.
        let factor = if factor.is_finite() { factor } else { 1.0 };
        let (with, factor) = root.map_or((with, factor), |(body, first)| (body, first * factor));
        let id = self.take_place()?;
        self.settle_place(id, table, Message::Share(id, with, factor))?;
        self.places[id.slot as usize].root = Some((with, factor));
        Ok(id)
    }

    /// Removes a body, fading it out within a block. There is always room for that in the queue.
    ///
    /// # Errors
    /// If it is gone already, or the audio side is.
    pub fn remove(&mut self, body: BodyId) -> Result<(), EngineError> {
        self.remove_at(body, Moment::NOW)
    }

    /// Removes a body at a moment. There is always room for that in the queue.
    ///
    /// # Errors
    /// If it is gone already, or the audio side is.
    pub fn remove_at(&mut self, body: BodyId, time: Moment) -> Result<(), EngineError> {
        self.place(body)?;
        self.send_vital(Message::Remove(time, body))?;
        self.places[body.slot as usize].alive = false;
        Ok(())
    }

    /// Sends an event. Events may be sent in any order; those at the same moment happen in the order of sending.
    ///
    /// # Errors
    /// If the body is gone, or the queue is full; the latter is counted in [`Handle::overflow`].
    pub fn send(&mut self, event: Event) -> Result<(), EngineError> {
        self.collect();
        self.place(event.body)?;
        self.send_message(Message::Event(event))
    }

    /// Changes what may be left out, and the playback level, at a moment.
    ///
    /// # Errors
    /// If the queue is full.
    pub fn set_quality(&mut self, quality: Quality, time: Moment) -> Result<(), EngineError> {
        self.send_message(Message::Quality(time, quality))?;
        self.settings.quality = quality;
        Ok(())
    }

    /// Opens a force that acts on a body at a place, in newtons along `direction`, sample by sample as it is written, until the writer is dropped.
    /// `capacity` samples can wait; what is missing is silence, and counted.
    ///
    /// # Errors
    /// If the body is gone or the queue is full.
    pub fn stream(
        &mut self,
        body: BodyId,
        contact: &Contact,
        direction: [f32; 3],
        capacity: usize,
    ) -> Result<StreamWriter, EngineError> {
        self.collect();
        self.place(body)?;
        let (samples, source) = rtrb::RingBuffer::new(capacity.max(BLOCK));
        let message = Message::Stream { body, source: Box::new(source), site: contact.blend, direction };
        self.send_message(message)?;
        Ok(StreamWriter { samples })
    }

    /// Lets the sound of one body act on another, with as much of the coupling as the second can still bear. Bridges that were removed count until they have [faded](Self::is_bridge_fading).
    ///
    /// # Errors
    /// If a body is gone, there are too many bridges, or the queue is full.
    pub fn bridge(&mut self, settings: &BridgeSettings<'_>) -> Result<Bridged, EngineError> {
        let &BridgeSettings { from, to, contact, direction, coupling, low_pass_hz, gap, direct } = settings;
        self.collect();
        let own = |place: &Place, id: BodyId| place.root.map_or(id, |(body, _)| body);
        let (from, to) = (own(self.place(from)?, from), own(self.place(to)?, to));
        self.place(from)?;
        let place = self.place(to)?;
        let coupling = if coupling.is_finite() { coupling } else { 0.0 };
        if self.links.len() >= self.settings.max_bridges {
            return Err(EngineError::Bridges(self.settings.max_bridges));
        }
        let granted = coupling.clamp(0.0, (bridge::MAX_COUPLING - place.coupling).max(0.0));
        let Some(table) = &place.table else { return Err(EngineError::NoSuchBody) };
        let kept = BridgePlace { to, site: contact.blend, direction, granted, leaving: false };
        let peak = table.peak_gain_at(&contact.blend, direction, self.settings.sample_rate_hz);
        let follow = 1.0 - (-std::f64::consts::TAU * low_pass_hz.max(1.0) / self.settings.sample_rate_hz).exp();
        let link = bridge::Link {
            number: self.next_link,
            from,
            to,
            site: contact.blend,
            direction,
            force_per_pa: kept.force_per_pa(peak),
            follow: follow as f32,
            gap,
            direct: if direct.is_finite() { direct.clamp(0.0, 1.0) } else { 0.0 },
        };
        self.send_message(Message::Bridge(link, Box::new([0.0; BLOCK])))?;
        self.places[to.slot as usize].coupling += granted;
        self.links.insert(self.next_link, kept);
        let id = BridgeId(self.next_link);
        self.next_link += 1;
        Ok(Bridged { id, coupling: granted })
    }

    /// Removes a bridge, which fades over 20 ms. There is always room for that in the queue.
    ///
    /// # Errors
    /// If it is gone already, or the audio side is.
    pub fn remove_bridge(&mut self, bridge: BridgeId) -> Result<(), EngineError> {
        self.collect();
        if self.links.get(&bridge.0).is_none_or(|place| place.leaving) {
            return Err(EngineError::NoSuchBridge);
        }
        self.send_vital(Message::RemoveBridge(bridge.0))?;
        self.links.entry(bridge.0).and_modify(|place| place.leaving = true);
        Ok(())
    }

    /// Whether a bridge into a body has been removed and has not faded yet: it still takes some of what the body can bear.
    pub fn is_bridge_fading(&self, to: BodyId) -> bool {
        let own = self.place(to).ok().and_then(|place| place.root).map_or(to, |(body, _)| body);
        self.links.values().any(|place| place.leaving && place.to == own)
    }

    /// Frees what the audio side has handed back. Every call that adds or sends something does this too.
    pub fn collect(&mut self) {
        while let Ok(garbage) = self.from_audio.pop() {
            match garbage {
                Garbage::Body(id, _) => {
                    let place = &mut self.places[id.slot as usize];
                    *place = Place { generation: place.generation, ..Place::default() };
                    self.free.push(id.slot);
                }
                Garbage::Bridge(number, _) => self.forget_bridge(number),
                Garbage::Source(_) | Garbage::Tail(_) => {}
                Garbage::Exchange(_) => self.swaps = self.swaps.saturating_sub(1),
                Garbage::Voice(id, _) => {
                    self.contacts[id.slot as usize].alive = false;
                    self.free_contacts.push(id.slot);
                }
            }
        }
    }

    /// What a bridge took of the coupling that its second body can bear is free again.
    fn forget_bridge(&mut self, number: u64) {
        if let Some(bridge) = self.links.remove(&number)
            && let Some(place) = self.places.get_mut(bridge.to.slot as usize)
            && place.generation == bridge.to.generation
        {
            place.coupling = (place.coupling - bridge.granted).max(0.0);
        }
    }

    /// Messages that can be sent now. There is room beside it for removals, exchanges of models and ends of contacts.
    pub fn room(&self) -> usize {
        self.to_audio.slots().saturating_sub(super::reserve(&self.settings))
    }

    /// Whether the audio side has taken in all that was sent.
    pub fn drained(&self) -> bool {
        self.to_audio.slots() == self.to_audio.buffer().capacity()
    }

    /// Watches the modes of one body, or of none: see [`mode_levels`](Self::mode_levels).
    pub fn watch_modes(&self, body: Option<BodyId>) {
        self.probe.watch(body);
    }

    /// What the modes of the watched body were doing about 20 ms ago. False if nothing is known yet, or the body is not the one that is watched.
    pub fn mode_levels(&self, body: BodyId, levels: &mut ModeLevels) -> bool {
        self.probe.read(body, levels).is_some()
    }

    /// What the audio side has been doing.
    pub fn stats(&self) -> Stats {
        self.stats.snapshot()
    }

    /// Messages that found the queue full.
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    fn place(&self, body: BodyId) -> Result<&Place, EngineError> {
        let place = self.places.get(body.slot as usize).filter(|p| p.alive && p.generation == body.generation);
        place.ok_or(EngineError::NoSuchBody)
    }

    fn take_place(&mut self) -> Result<BodyId, EngineError> {
        self.collect();
        let slot = self.free.pop().ok_or(EngineError::Bodies(self.places.len()))?;
        Ok(BodyId { slot, generation: self.places[slot as usize].generation.wrapping_add(1) })
    }

    fn settle_place(
        &mut self,
        id: BodyId,
        table: Option<Arc<ModeTable>>,
        message: Message,
    ) -> Result<BodyId, EngineError> {
        if let Err(error) = self.send_message(message) {
            self.free.push(id.slot);
            return Err(error);
        }
        self.places[id.slot as usize] = Place { generation: id.generation, alive: true, table, ..Place::default() };
        Ok(id)
    }

    pub(super) fn send_message(&mut self, message: Message) -> Result<(), EngineError> {
        if self.to_audio.is_abandoned() {
            return Err(EngineError::Closed);
        }
        if self.room() == 0 {
            self.overflow += 1;
            return Err(EngineError::QueueFull);
        }
        self.send_vital(message)
    }

    /// Sends what must not get lost, for which there is room in reserve.
    pub(super) fn send_vital(&mut self, message: Message) -> Result<(), EngineError> {
        if self.to_audio.is_abandoned() {
            return Err(EngineError::Closed);
        }
        self.to_audio.push(message).map_err(|_| {
            self.overflow += 1;
            EngineError::QueueFull
        })
    }

    pub(super) fn table(&mut self, model: &Arc<ModalModel>) -> Arc<ModeTable> {
        let key = Arc::as_ptr(model) as usize;
        let held = self.tables.get(&key).and_then(|(held, table)| held.upgrade().zip(table.upgrade()));
        if let Some((_, table)) = held.filter(|(held, _)| Arc::ptr_eq(held, model)) {
            return table;
        }
        self.tables.retain(|_, (_, table)| table.strong_count() > 0);
        let table = Arc::new(ModeTable::new(model, self.settings.sample_rate_hz));
        self.tables.insert(key, (Arc::downgrade(model), Arc::downgrade(&table)));
        table
    }
}

/// Writes a force, sample by sample. Dropping it ends the force.
#[derive(Debug)]
pub struct StreamWriter {
    samples: rtrb::Producer<f32>,
}

impl StreamWriter {
    /// Writes as many samples (in newtons) as there is room for, and says how many that were.
    pub fn write(&mut self, force_n: &[f32]) -> usize {
        let room = self.samples.slots().min(force_n.len());
        for &f in &force_n[..room] {
            if self.samples.push(f).is_err() {
                break;
            }
        }
        room
    }

    /// Samples that can be written now.
    pub fn room(&self) -> usize {
        self.samples.slots()
    }
}

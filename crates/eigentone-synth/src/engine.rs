//! The engine: a [`Handle`] for the control side and a [`Processor`] for the audio side.
//!
//! They share a bounded queue in each direction and nothing else. The control side makes bodies, with all memory they will ever need, and sends
//! them over; it gets them back for freeing. The audio side never allocates, frees, locks or fails.
//!
//! There are two clocks. Sound is computed in blocks of [`BLOCK`] samples, whatever the host asks for; what happens inside a block happens at its
//! sample. What is worth computing is decided once per policy frame of 1024 samples (2048 above 50 kHz), a part of the bodies in each block so
//! that the load is even. A blow does not wait for that: it sounds at once.

mod act;
mod awake;
mod bridge;
mod cap;
mod contacts;
mod crowd;
mod handle;
mod leave;
mod pending;
mod perception;
mod probe;
mod processor;
mod receive;
mod swap;
mod voice;
mod voices;

pub use crate::body::ModeStatus;
pub use bridge::{BridgeId, BridgeSettings, Bridged, Gap};
pub use contacts::ContactSettings;
pub use handle::{Handle, StreamWriter};
pub use probe::{ModeLevel, ModeLevels};
pub use processor::Processor;
pub use voice::{ContactId, Keyframe, POINTS, PointState};

use crate::BLOCK;
use crate::body::{Body, Exchange};
use crate::drive::Source;
use crate::kernel::Kernels;
use crate::policy::Quality;
use crate::settings::{EngineError, Settings};
use crate::stats::SharedStats;
use eigentone_core::event::{BodyId, Event, Moment};
use eigentone_core::model::SiteBlend;
use std::sync::Arc;

/// Sample rates the engine runs at, in Hz.
pub const RATES_HZ: std::ops::RangeInclusive<f64> = 8000.0..=384_000.0;

/// Makes an engine. Its handle stays on the control side, its processor goes to the audio side.
///
/// # Errors
/// [`EngineError::SampleRate`].
pub fn engine(settings: Settings) -> Result<(Handle, Processor), EngineError> {
    engine_with(settings, Kernels::best())
}

/// The same with the loops of a chosen instruction set, for comparisons.
///
/// # Errors
/// [`EngineError::SampleRate`].
pub fn engine_with(settings: Settings, kernels: Kernels) -> Result<(Handle, Processor), EngineError> {
    if !RATES_HZ.contains(&settings.sample_rate_hz) {
        return Err(EngineError::SampleRate(settings.sample_rate_hz));
    }
    let stats = Arc::new(SharedStats::default());
    let (to_audio, from_control) = rtrb::RingBuffer::new(settings.max_events.max(64) + reserve(&settings));
    // Room for every body and every source that can exist: handing back cannot fail while the control side lives.
    let (to_control, from_audio) = rtrb::RingBuffer::new(
        settings.max_bodies * (1 + crate::body::DRIVES)
            + settings.max_bridges
            + settings.max_contacts
            + 2 * MAX_SWAPS
            + 16,
    );
    let probe = Arc::new(probe::Probe::new(settings.max_modes_per_body));
    let processor = Processor::new(&settings, kernels, from_control, to_control, stats.clone(), probe.clone());
    Ok((Handle::new(settings, to_audio, from_audio, stats, probe), processor))
}

/// Exchanges of models that can be under way at once.
const MAX_SWAPS: usize = 64;

/// Room in the queue to the audio side for what must not get lost: removals of bodies and bridges, exchanges of models, ends of contacts.
fn reserve(settings: &Settings) -> usize {
    settings.max_bodies + settings.max_bridges + settings.max_contacts + MAX_SWAPS
}

/// Room among the events that wait for what must not get lost: removals, and some changes of quality.
fn vital_events(settings: &Settings) -> usize {
    settings.max_bodies + 16
}

/// From control to audio.
#[derive(Debug)]
pub(crate) enum Message {
    Add(BodyId, Box<Body>),
    /// A second name for a body, whose blows count by a factor.
    Share(BodyId, BodyId, f32),
    /// Another model for a body.
    Exchange(BodyId, Box<Exchange>),
    Remove(Moment, BodyId),
    Event(Event),
    Quality(Moment, Quality),
    Stream {
        body: BodyId,
        source: Box<rtrb::Consumer<f32>>,
        site: SiteBlend,
        direction: [f32; 3],
    },
    Bridge(bridge::Link, Box<[f32; BLOCK]>),
    RemoveBridge(u64),
    OpenContact(ContactId, Box<voice::Voice>),
    Key(ContactId, Keyframe),
    CloseContact(ContactId, u64),
}

/// From audio to control: what must be freed.
#[derive(Debug)]
pub(crate) enum Garbage {
    Body(BodyId, #[allow(dead_code, reason = "carried to be dropped")] Option<Box<Body>>),
    Source(#[allow(dead_code, reason = "carried to be dropped")] Source),
    /// A bridge, by its number.
    Bridge(u64, #[allow(dead_code, reason = "carried to be dropped")] Box<[f32; BLOCK]>),
    /// What was left of a model that was exchanged.
    Tail(#[allow(dead_code, reason = "carried to be dropped")] Box<Body>),
    Exchange(#[allow(dead_code, reason = "carried to be dropped")] Box<Exchange>),
    Voice(ContactId, #[allow(dead_code, reason = "carried to be dropped")] Box<voice::Voice>),
}

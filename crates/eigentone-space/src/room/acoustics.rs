//! The control side of exchanges: the field, what follows from it, and what of it the audio side has.

use crate::air::Air;
use crate::canonical::{Canonical, early_start_s};
use crate::convolve::Reverb;
use crate::decode::{Decoder, DecoderSettings};
use crate::direct::DEFAULT_F_MAX_HZ;
use crate::doppler::Doppler;
use crate::exchange::{Exchange, Hall, MAX_HALLS, Returned};
use crate::tilt::TiltTable;
use eigentone_core::Vec3;
use eigentone_core::acoustics::Field;
use std::sync::Arc;

/// Messages that wait on their way to the audio side, or back.
pub(super) const WAITING: usize = 2 * MAX_HALLS;

/// The field and the filters, and what the audio side has of them.
#[derive(Debug)]
pub(super) struct Acoustics {
    sample_rate_hz: f64,
    max_sources: usize,
    air: Air,
    settings: DecoderSettings,
    pub decoder: Option<Decoder>,
    /// Made when there is a field for the first time.
    pub filters: Option<Canonical>,
    /// Whether sound is to take its time.
    pub doppler: bool,
    /// Where the field ends for which the audio side was last sent reverberation, in Hz: two fields that end alike share it.
    sent_f_max_hz: Option<f64>,
    sent_doppler: bool,
    /// Reverberations and delays that the audio side has.
    halls: usize,
    delays: usize,
    to_audio: rtrb::Producer<Exchange>,
    from_audio: rtrb::Consumer<Returned>,
}

/// The ends of the queues that belong to the audio side.
pub(super) type AudioEnds = (rtrb::Consumer<Exchange>, rtrb::Producer<Returned>);

impl Acoustics {
    /// Of free field, without delays.
    pub fn new(sample_rate_hz: f64, max_sources: usize, air: Air, settings: DecoderSettings) -> (Self, AudioEnds) {
        let (to_audio, exchanges) = rtrb::RingBuffer::new(WAITING);
        let (back, from_audio) = rtrb::RingBuffer::new(WAITING);
        let own = Self {
            sample_rate_hz,
            max_sources,
            air,
            settings,
            decoder: None,
            filters: None,
            doppler: false,
            sent_f_max_hz: None,
            sent_doppler: false,
            halls: 0,
            delays: 0,
            to_audio,
            from_audio,
        };
        (own, (exchanges, back))
    }

    /// Decodes another field from now on.
    pub fn set_field(&mut self, field: Option<Arc<Field>>, listener: Vec3) {
        if let Some(field) = &field {
            let filters = self.filters.take().unwrap_or_else(|| Canonical::new(self.sample_rate_hz, &self.air));
            self.filters = Some(filters.for_field(field.info().f_max_hz));
        }
        self.decoder = field.map(|field| Decoder::new(field, self.settings));
        if let Some(decoder) = &mut self.decoder {
            decoder.listen(listener);
        }
    }

    /// Reverberation for the field, made for a renderer that has none yet. From now on it counts as sent.
    pub fn first_reverb(&mut self) -> Option<Reverb> {
        let reverb = self.reverb();
        self.sent_f_max_hz = self.f_max_hz();
        self.halls += usize::from(reverb.is_some());
        reverb
    }

    /// Delays count as being there from now on.
    pub fn has_doppler(&mut self) {
        (self.doppler, self.sent_doppler, self.delays) = (true, true, 1);
    }

    /// Sends what the audio side lacks, as soon as it has room, and frees what it has given back.
    pub fn deliver(&mut self) {
        while let Ok(returned) = self.from_audio.pop() {
            match returned {
                Returned::Hall(hall) => {
                    drop(hall);
                    self.halls -= 1;
                }
                Returned::Doppler(delays) => {
                    drop(delays);
                    self.delays -= 1;
                }
            }
        }
        if self.sent_doppler != self.doppler && (self.delays == 0 || !self.doppler) && !self.to_audio.is_full() {
            let delays = self.doppler.then(|| Box::new(Doppler::new(self.sample_rate_hz, self.max_sources)));
            self.delays += usize::from(delays.is_some());
            self.sent_doppler = self.doppler;
            self.send(Exchange::Doppler(delays));
        }
        let wanted = self.f_max_hz();
        if wanted.map(f64::to_bits) == self.sent_f_max_hz.map(f64::to_bits)
            || (wanted.is_some() && self.halls == MAX_HALLS)
            || self.to_audio.is_full()
        {
            return;
        }
        let hall = self.reverb().map(|reverb| Box::new(Hall::new(reverb)));
        self.halls += usize::from(hall.is_some());
        self.sent_f_max_hz = wanted;
        let tilts = TiltTable::new(wanted.unwrap_or(DEFAULT_F_MAX_HZ), self.sample_rate_hz);
        self.send(Exchange::Field { hall, tilts });
    }

    fn send(&mut self, exchange: Exchange) {
        // There is room: that was seen before, and nobody else sends.
        let sent = self.to_audio.push(exchange).is_ok();
        debug_assert!(sent);
    }

    fn f_max_hz(&self) -> Option<f64> {
        self.decoder.as_ref().map(|decoder| decoder.field().info().f_max_hz)
    }

    fn reverb(&self) -> Option<Reverb> {
        let (f_max_hz, filters) = self.f_max_hz().zip(self.filters.as_ref())?;
        Some(Reverb::starting(self.sample_rate_hz, filters, early_start_s(f_max_hz)))
    }
}

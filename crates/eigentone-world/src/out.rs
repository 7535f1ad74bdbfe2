//! The audio side: from bodies to loudspeakers.
//!
//! For each block of 64 samples the synthesis gives the dry sound of every body, voices and soft bodies give theirs, the spatial renderer hears them all from where they are, and a limiter keeps the mix
//! below full scale. Whatever the host asks for is served from such blocks. Nothing here allocates, frees, locks or fails.

mod governor;
mod voice;

pub use voice::VoiceWriter;

pub(crate) use governor::Governor;
pub use governor::thread_time;
pub(crate) use voice::{Voice, VoiceMessage, voice};

use crate::shared::{AudioStats, Shared};
use eigentone_core::event::BodyId;
use eigentone_space::renderer::{Renderer, SourceSends};
use eigentone_synth::limiter::Limiter;
use eigentone_synth::{BLOCK, Processor, Stats};
use std::sync::Arc;

/// Samples beyond this many times full scale are cut before the rooms: no filter there overflows.
const CEILING: f32 = 1e9;

/// The audio side of a [`World`](crate::World): goes into the audio callback.
#[derive(Debug)]
pub struct AudioOut {
    synth: Processor,
    space: Renderer,
    voices: Vec<Option<Box<Voice>>>,
    from_control: rtrb::Consumer<VoiceMessage>,
    to_control: rtrb::Producer<Box<Voice>>,
    /// Slots below this are the engine's, those from here on are voices.
    first_voice: usize,
    limiter: Limiter<2>,
    scale: f32,
    governor: Governor,
    ready: [[f32; BLOCK]; 2],
    served: usize,
    /// Bits of the sources that sounded.
    bits: Vec<u64>,
    stats: AudioStats,
    shared: Arc<Shared>,
}

/// How voices come and go.
pub(crate) struct VoiceQueues {
    pub from_control: rtrb::Consumer<VoiceMessage>,
    pub to_control: rtrb::Producer<Box<Voice>>,
    /// Slots of voices begin here.
    pub first_voice: usize,
    pub max_voices: usize,
}

/// One source in the last block, for other mixers.
#[derive(Clone, Copy, Debug)]
pub struct SourceBlock<'a> {
    /// Which; [`World::key_of_source`](crate::World::key_of_source) knows whose it is.
    pub source: BodyId,
    /// Its dry sound, as at one metre and in Pa.
    pub dry: &'a [f32; BLOCK],
    /// What it gives to the direct sound and to each bus of the rooms; `None` before it was placed.
    pub sends: Option<SourceSends>,
}

impl AudioOut {
    /// Samples of one inner block.
    pub const BLOCK: usize = BLOCK;

    pub(crate) fn new(
        synth: Processor,
        space: Renderer,
        voices: VoiceQueues,
        full_scale_pa: f64,
        shared: Arc<Shared>,
    ) -> Self {
        let VoiceQueues { from_control, to_control, first_voice, max_voices } = voices;
        let rate = synth.sample_rate_hz();
        Self {
            synth,
            space,
            voices: (0..max_voices).map(|_| None).collect(),
            from_control,
            to_control,
            first_voice,
            limiter: Limiter::new(rate),
            scale: (1.0 / full_scale_pa) as f32,
            governor: Governor::default(),
            ready: [[0.0; BLOCK]; 2],
            served: BLOCK,
            bits: vec![0; (first_voice + max_voices).div_ceil(64)],
            stats: AudioStats { mode_limit: f32::INFINITY, limiter_gain: 1.0, ..AudioStats::default() },
            shared,
        }
    }

    /// Fills `out` with the next frames of so many interleaved channels: the first two are left and right, a single one gets the mean, others silence. Full scale is one.
    pub fn process(&mut self, out: &mut [f32], channels: usize) {
        let channels = channels.max(1);
        self.shared.saw_host_block(out.len() / channels);
        for frame in out.chunks_mut(channels) {
            if self.served == BLOCK {
                self.next_block();
            }
            let [left, right] = [self.ready[0][self.served], self.ready[1][self.served]];
            self.served += 1;
            match frame {
                [one] => *one = 0.5 * (left + right),
                [l, r, others @ ..] => {
                    (*l, *r) = (left, right);
                    others.fill(0.0);
                }
                [] => {}
            }
        }
    }

    /// Fills left and right with the next samples, as many as the shorter has room for.
    pub fn process_stereo(&mut self, left: &mut [f32], right: &mut [f32]) {
        self.shared.saw_host_block(left.len().min(right.len()));
        for (l, r) in left.iter_mut().zip(right) {
            if self.served == BLOCK {
                self.next_block();
            }
            [*l, *r] = [self.ready[0][self.served], self.ready[1][self.served]];
            self.served += 1;
        }
    }

    /// Renders the next block of 64 samples by itself and gives left and right; what [`process`](Self::process) has not yet served of the last one is lost. For hosts that want
    /// [`sources`](Self::sources) block by block.
    pub fn process_block(&mut self) -> &[[f32; BLOCK]; 2] {
        self.shared.saw_host_block(BLOCK);
        self.next_block();
        self.served = BLOCK;
        &self.ready
    }

    /// The dry sound of everything that sounded in the last inner block, and what it sends where: for mixers that do the rest themselves. The sound is as late as the motion says, without the
    /// [latency](Self::latency) of the mix.
    pub fn sources(&self) -> impl Iterator<Item = SourceBlock<'_>> {
        let voices = self.voices.iter().flatten().filter(|v| v.sounded).map(|v| (v.id, &v.block));
        self.synth.buses().chain(voices).map(|(source, dry)| SourceBlock {
            source,
            dry,
            sends: self.space.sends(source),
        })
    }

    fn next_block(&mut self) {
        let budget_us = self.shared.budget_us();
        let begin = governor::thread_time();
        self.render();
        let spent_us = governor::thread_time().saturating_sub(begin).as_secs_f32() * 1e6;
        self.stats.block_us = spent_us;
        if let Some(limit) = self.governor.judge(budget_us, spent_us, self.synth.stats().mixed as f32, &mut self.stats)
        {
            self.synth.limit_modes(limit);
        }
        self.stats.blocks += 1;
        self.shared.publish(&self.stats);
        self.shared.set_clock(self.synth.clock());
    }

    fn render(&mut self) {
        self.receive();
        let Self { synth, space, .. } = self;
        // What the synthesis has been told of was placed before: so the places are looked at after the messages, and none of a blow is lost.
        synth.receive_messages();
        space.begin(|body, audibility| synth.set_audibility(body, audibility));
        synth.next_block();
        self.bits.fill(0);
        let mut block = [0.0; BLOCK];
        for (id, bus) in self.synth.buses() {
            self.bits[id.slot as usize / 64] |= 1 << (id.slot % 64);
            self.stats.non_finite_samples += safe(bus, self.scale, &mut block);
            self.space.add(id, &block);
        }
        let now = self.synth.clock() - BLOCK as u64;
        for voice in self.voices.iter_mut().flatten() {
            self.stats.starved += voice.fill(now);
            if voice.sounded {
                self.bits[voice.id.slot as usize / 64] |= 1 << (voice.id.slot % 64);
                self.stats.non_finite_samples += safe(&voice.block, self.scale, &mut block);
                self.space.add(voice.id, &block);
            }
        }
        self.let_go();
        self.shared.publish_sounding(&self.bits);
        let mut mix = [[0.0f32; BLOCK]; 2];
        self.space.finish(&mut mix);
        self.stats.non_finite_samples += self.limiter.process(&mut mix, 1.0) as u64;
        self.stats.peak = mix.iter().flatten().fold(0.0, |peak, y| peak.max(y.abs()));
        self.stats.limiter_gain = self.limiter.gain();
        self.ready = mix;
        self.served = 0;
    }

    /// Takes in voices that come and go.
    fn receive(&mut self) {
        while let Ok(message) = self.from_control.pop() {
            match message {
                VoiceMessage::Add(voice) => {
                    let place = (voice.id.slot as usize).checked_sub(self.first_voice);
                    let refused = match place.and_then(|place| self.voices.get_mut(place)) {
                        Some(place) => place.replace(voice),
                        None => Some(voice),
                    };
                    refused.into_iter().for_each(|voice| self.hand_back(voice));
                }
                VoiceMessage::Gain(id, gain) => {
                    if let Some(voice) = self.voices.iter_mut().flatten().find(|v| v.id == id) {
                        voice.gain = gain;
                    }
                }
                VoiceMessage::Remove(id) => {
                    if let Some(voice) = self.voices.iter_mut().flatten().find(|v| v.id == id) {
                        (voice.gain, voice.leaving) = (0.0, true);
                    }
                }
            }
        }
    }

    /// Hands back voices that have faded out.
    fn let_go(&mut self) {
        for place in 0..self.voices.len() {
            if let Some(voice) = self.voices[place].take_if(|v| v.leaving) {
                self.hand_back(voice);
            }
        }
    }

    fn hand_back(&mut self, voice: Box<Voice>) {
        // The queue has room for every voice there can be; if the control side is gone, leaking is all that can be done without freeing here.
        if let Err(rtrb::PushError::Full(voice)) = self.to_control.push(voice) {
            std::mem::forget(voice);
        }
    }

    /// Samples by which all sound is late: the limiter looks ahead, and ears are apart.
    pub fn latency(&self) -> usize {
        BLOCK + self.space.latency()
    }

    /// Samples rendered so far: what happens before this comes late.
    pub fn clock(&self) -> u64 {
        self.synth.clock()
    }

    /// Samples per second.
    pub fn sample_rate_hz(&self) -> f64 {
        self.synth.sample_rate_hz()
    }

    /// What the synthesis has been doing.
    pub fn stats(&self) -> &Stats {
        self.synth.stats()
    }

    /// What has been done around it.
    pub fn audio_stats(&self) -> &AudioStats {
        &self.stats
    }
}

/// Scales a block; what is not a number becomes silence, and is counted.
fn safe(from: &[f32; BLOCK], scale: f32, to: &mut [f32; BLOCK]) -> u64 {
    let mut broken = 0;
    for (y, x) in to.iter_mut().zip(from) {
        let scaled = x * scale;
        *y = if scaled.is_finite() { scaled.clamp(-CEILING, CEILING) } else { 0.0 };
        broken += u64::from(!scaled.is_finite());
    }
    broken
}

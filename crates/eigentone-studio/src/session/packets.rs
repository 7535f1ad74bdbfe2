//! State, contacts and meters, as the page gets them some thirty times a second.

use super::Session;
use crate::loudness::Heard;
use crate::packet::{Kind, Packet};
use eigentone_world::BodyKey;
use std::collections::BTreeMap;

/// Contacts in one message at most; the others are not drawn.
const MAX_CONTACTS: usize = 256;

/// Hailstones that are drawn at most.
const MAX_STONES: usize = 4096;

/// Level of silence, in dB re 20 µPa.
const SILENCE_DB: f32 = -120.0;

/// What touched what.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactRow {
    bodies: [u64; 2],
    position: [f32; 3],
    impulse_ns: f32,
    kind: u32,
}

impl Session {
    /// Frame at which what happens now is heard.
    pub(super) fn heard_frame(&self) -> u64 {
        let latency = self.world.latency_s() * self.rate_hz();
        self.audio.pace().frames() + latency as u64 + self.out_latency
    }

    pub(super) fn note_contact(
        &mut self,
        bodies: [Option<BodyKey>; 2],
        position: [f32; 3],
        impulse_ns: f32,
        kind: u32,
    ) {
        if self.contacts.len() < MAX_CONTACTS {
            let bodies = bodies.map(|key| key.and_then(|key| self.by_key.get(&key).copied()).unwrap_or(0));
            self.contacts.push(ContactRow { bodies, position, impulse_ns, kind });
        }
    }

    pub(super) fn tell_contacts(&mut self) {
        if self.contacts.is_empty() {
            return;
        }
        let mut packet = Packet::new(Kind::Contacts, 16 + 40 * self.contacts.len());
        packet.u64(self.heard_frame()).u32(self.contacts.len() as u32).u32(0);
        for row in std::mem::take(&mut self.contacts) {
            packet.f64(row.bodies[0] as f64).f64(row.bodies[1] as f64);
            packet.f32s(&row.position).f32s(&[row.impulse_ns]).u32(row.kind).u32(0);
        }
        self.hub.packet(packet.finish());
    }

    /// Level of each body that sounds, in dB re 20 µPa at one metre.
    fn levels_db(&self) -> BTreeMap<BodyKey, f32> {
        let level = |(slot, generation, mean_square): (u32, u32, f32)| {
            let key = self.world.key_of_source(eigentone_core::event::BodyId { slot, generation })?;
            Some((key, 10.0 * (mean_square / 4e-10).max(1e-12).log10()))
        };
        self.levels.iter().filter_map(level).collect()
    }

    pub(super) fn tell_state(&mut self) {
        let levels = self.levels_db();
        let mut packet = Packet::new(Kind::State, 24 + 44 * self.entries.len());
        packet.u64(self.heard_frame()).f64(self.world.time_s()).u32(self.entries.len() as u32).u32(0);
        for (&id, entry) in &self.entries {
            let Some((pose, body)) = self.world.pose(entry.key).zip(self.world.body(entry.key)) else {
                packet.f64(id as f64).f32s(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, SILENCE_DB]).u32(4);
                continue;
            };
            let sounding = self.world.is_sounding(entry.key);
            let level = levels.get(&entry.key).copied().filter(|_| sounding).unwrap_or(SILENCE_DB);
            let past = self.tape.as_ref().and_then(|t| t.replayed()?.iter().find(|row| row.id == id));
            let (position, rotation) = past.map_or((pose.position, pose.rotation), |row| (row.position, row.rotation));
            let still = pose.velocity.iter().all(|v| v.abs() < 1e-4);
            let flags = u32::from(sounding) | u32::from(body.held) << 1 | u32::from(still) << 2;
            packet.f64(id as f64).f32s(&position).f32s(&rotation).f32s(&[level]).u32(flags);
        }
        self.hub.packet(packet.finish());
        self.tell_stones();
    }

    /// Where hailstones are.
    fn tell_stones(&mut self) {
        if self.world.hail().is_none() {
            return;
        }
        let stones: Vec<[f32; 3]> =
            self.world.hail_positions().take(MAX_STONES).map(|p| p.as_vec3().to_array()).collect();
        let mut packet = Packet::new(Kind::Hail, 16 + 12 * stones.len());
        packet.u64(self.heard_frame()).u32(stones.len() as u32).u32(0);
        stones.iter().for_each(|p| {
            packet.f32s(p);
        });
        self.hub.packet(packet.finish());
    }

    pub(super) fn tell_meters(&mut self, heard: Heard) {
        let (stats, audio, counts) = (self.world.stats(), self.world.audio_stats(), self.world.counts());
        let block_us = 64e6 / self.rate_hz() as f32;
        let load = audio.block_us / block_us;
        let in_time =
            if audio.budget_blocks == 0 { 1.0 } else { audio.budget_kept as f32 / audio.budget_blocks as f32 };
        let mut packet = Packet::new(Kind::Meters, 84);
        packet.u64(self.audio.pace().frames());
        packet.f32s(&[heard.peak[0], heard.peak[1], heard.rms[0], heard.rms[1], heard.loudness_lufs, load]);
        packet.f32s(&[stats.modes, stats.mixed, stats.masked, stats.truncated, stats.scaled].map(|n| n as f32));
        packet.f32s(&[
            stats.late as f32,
            (stats.shed + counts.shed + self.audio.pace().dropped()) as f32,
            audio.fixed_us,
            audio.mode_us,
            kept_share(&stats),
        ]);
        packet.f32s(&[1.0 / load.max(1e-6), in_time]);
        self.hub.packet(packet.finish());
    }
}

/// Modes that are mixed, of those that would be if none were masked, truncated or scaled away: all of the bodies that ring. Not a number if none does.
fn kept_share(stats: &eigentone_synth::Stats) -> f32 {
    // What is fading out is not kept any more.
    let kept = stats.mixed.saturating_sub(stats.leaving).min(stats.modes);
    kept as f32 / stats.modes as f32
}

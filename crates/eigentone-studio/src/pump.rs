//! Takes blocks off the audio thread: measures them, keeps them as a take, and sends them to whoever listens.

use crate::audio::{BLOCK, Block};
use crate::control::Presence;
use crate::hub::Hub;
use crate::loudness::{Heard, Meter};
use crate::packet::{Kind, Packet};
use crate::take::Take;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Blocks in one message at most.
const MAX_BLOCKS: usize = 8;

/// Frames between two readings of the meters.
const READ_EVERY: usize = 1470;

/// The take that is being recorded.
pub type SharedTake = Arc<Mutex<Take>>;

/// Runs until the studio ends.
pub async fn run(
    mut blocks: rtrb::Consumer<Block>,
    ready: Arc<Notify>,
    hub: Arc<Hub>,
    presence: Arc<Presence>,
    take: SharedTake,
    rate_hz: f64,
) {
    let mut meter = Meter::new(rate_hz);
    let mut since = 0;
    loop {
        ready.notified().await;
        while let Some(count) = Some(blocks.slots().min(MAX_BLOCKS)).filter(|n| *n > 0) {
            let waiting: Vec<Block> = (0..count).filter_map(|_| blocks.pop().ok()).collect();
            for block in &waiting {
                meter.hear(&block.samples);
            }
            since += count * BLOCK;
            if since >= READ_EVERY {
                publish(&presence, meter.read());
                since = 0;
            }
            send(&waiting, &hub, &take);
            if let Some(last) = waiting.last() {
                hub.set_sent_frames(last.frame + BLOCK as u64);
            }
        }
    }
}

fn publish(presence: &Presence, heard: Heard) {
    *presence.heard.lock().unwrap_or_else(PoisonError::into_inner) = heard;
}

/// Sends and keeps what a page has asked for.
fn send(blocks: &[Block], hub: &Hub, take: &SharedTake) {
    let streamed: Vec<&Block> = blocks.iter().filter(|b| b.streamed).collect();
    let Some(first) = streamed.first() else { return };
    let mut packet = Packet::new(Kind::Audio, 8 + 8 * BLOCK * streamed.len());
    packet.u64(first.frame);
    let mut take = take.lock().unwrap_or_else(PoisonError::into_inner);
    for block in &streamed {
        packet.f32s(&block.samples);
        take.push(&block.samples);
    }
    drop(take);
    hub.sound(packet.finish());
}

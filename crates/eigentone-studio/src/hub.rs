//! What everybody is told: events, state and sound go to all pages, each as fast as it can take them.

use axum::body::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::sync::broadcast;

/// Messages that may wait for a page before it is told that it missed some.
const EVENTS: usize = 1024;

/// The same for sound: at 128 frames each, three quarters of a second.
const PACKETS: usize = 256;

/// A message to all pages.
#[derive(Clone, Debug)]
pub enum News {
    /// Text.
    Event(Arc<str>),
    /// Binary.
    Packet(Bytes),
}

/// Where everything goes that all pages get.
#[derive(Debug)]
pub struct Hub {
    news: broadcast::Sender<News>,
    sound: broadcast::Sender<Bytes>,
    /// Frames that are on their way to whoever listens.
    sent_frames: AtomicU64,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            news: broadcast::Sender::new(EVENTS),
            sound: broadcast::Sender::new(PACKETS),
            sent_frames: AtomicU64::new(0),
        }
    }
}

impl Hub {
    /// Tells all pages something. It is no error if there is none.
    pub fn event(&self, event: &Value) {
        let _ = self.news.send(News::Event(event.to_string().into()));
    }

    /// The same in binary.
    pub fn packet(&self, packet: Bytes) {
        let _ = self.news.send(News::Packet(packet));
    }

    /// Sends sound.
    pub fn sound(&self, packet: Bytes) {
        let _ = self.sound.send(packet);
    }

    /// All frames before this one have been sent, or nobody listened.
    pub fn set_sent_frames(&self, frame: u64) {
        self.sent_frames.store(frame, Relaxed);
    }

    /// Frames that were sent so far: events told after this reach a page after their sound.
    pub fn sent_frames(&self) -> u64 {
        self.sent_frames.load(Relaxed)
    }

    /// Says something to people.
    pub fn log(&self, level: &str, text: &str) {
        self.event(&json!({ "event": "log", "level": level, "text": text }));
    }

    /// For a new page.
    pub fn news(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    /// For a page that listens.
    pub fn listen(&self) -> broadcast::Receiver<Bytes> {
        self.sound.subscribe()
    }
}

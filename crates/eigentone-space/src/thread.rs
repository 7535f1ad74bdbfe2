//! Decoding on a thread of its own, for programs that sound live.
//!
//! The program tells a [`Guide`] where the listener and the sources are, as often as it likes; the thread asks the field for all of them each time
//! [`update_s`](crate::room::SpaceSettings::update_s) has passed, and tells the audio side. Neither side ever waits for the other.

use crate::room::{Place, Space, SpaceStats};
use eigentone_core::Vec3;
use eigentone_core::event::BodyId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

enum Told {
    Listener(Vec3, Vec3),
    Place(BodyId, Place),
    Remove(BodyId),
}

/// What the thread has been doing, for whoever looks.
#[derive(Debug, Default)]
struct Shared {
    rounds: AtomicU64,
    /// The longest that all sources took, in µs.
    longest_us: AtomicU64,
    clamped: AtomicU64,
    unknown: AtomicU64,
    stop: AtomicBool,
}

/// Tells the decoding thread where everything is. The thread ends when this is dropped.
#[derive(Debug)]
pub struct Guide {
    to_thread: Sender<Told>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Guide {
    /// Starts the thread. `update_s` is that of the settings with which the space was made.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub fn start(space: Space, update_s: f64) -> std::io::Result<Self> {
        let (to_thread, from_program) = channel();
        let shared = Arc::new(Shared::default());
        let own = shared.clone();
        let sensible_s = if update_s.is_finite() { update_s.clamp(1e-3, 1.0) } else { 0.01 };
        let every = Duration::from_secs_f64(sensible_s);
        let thread = std::thread::Builder::new()
            .name("eigentone-decoder".to_owned())
            .spawn(move || decode(space, &from_program, &own, every))?;
        Ok(Self { to_thread, shared, thread: Some(thread) })
    }

    /// Where the listener is and looks.
    pub fn listen(&self, position: Vec3, look: Vec3) {
        self.tell(Told::Listener(position, look));
    }

    /// Where a source is from now on.
    pub fn place(&self, body: BodyId, place: Place) {
        self.tell(Told::Place(body, place));
    }

    /// A source that is no more.
    pub fn remove(&self, body: BodyId) {
        self.tell(Told::Remove(body));
    }

    /// Times that all sources were asked for, and the longest that took, in s.
    pub fn rounds(&self) -> (u64, f64) {
        let longest_us = self.shared.longest_us.load(Ordering::Relaxed);
        (self.shared.rounds.load(Ordering::Relaxed), 1e-6 * longest_us as f64)
    }

    /// Answers so far that the filters could not follow, and that the field did not know.
    pub fn clamped_and_unknown(&self) -> (u64, u64) {
        (self.shared.clamped.load(Ordering::Relaxed), self.shared.unknown.load(Ordering::Relaxed))
    }

    fn tell(&self, told: Told) {
        // The thread lives as long as this does.
        let _ = self.to_thread.send(told);
    }
}

impl Drop for Guide {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn decode(mut space: Space, from_program: &Receiver<Told>, shared: &Shared, every: Duration) {
    let mut places: Vec<Option<(BodyId, Place)>> = Vec::new();
    let mut removed: Vec<BodyId> = Vec::new();
    let mut next = Instant::now();
    while !shared.stop.load(Ordering::Relaxed) {
        loop {
            match from_program.try_recv() {
                Ok(Told::Listener(position, look)) => space.listen(position, look),
                Ok(Told::Place(body, place)) => {
                    let slot = body.slot as usize;
                    if slot >= places.len() && slot < space.most_sources() {
                        places.resize(slot + 1, None);
                    }
                    if let Some(known) = places.get_mut(slot) {
                        *known = Some((body, place));
                    }
                }
                Ok(Told::Remove(body)) => {
                    if let Some(known) = places.get_mut(body.slot as usize).filter(|k| k.is_some_and(|k| k.0 == body)) {
                        *known = None;
                    }
                    removed.push(body);
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        // Until the audio side has taken them all in.
        removed.retain(|body| {
            space.remove(*body);
            space.knows(*body)
        });
        let begin = Instant::now();
        for (body, place) in places.iter().flatten() {
            space.place(*body, place);
        }
        let SpaceStats { clamped, unknown, .. } = space.stats();
        shared.clamped.store(clamped, Ordering::Relaxed);
        shared.unknown.store(unknown, Ordering::Relaxed);
        shared.longest_us.fetch_max(begin.elapsed().as_micros() as u64, Ordering::Relaxed);
        shared.rounds.fetch_add(1, Ordering::Relaxed);
        // What could not be done in time is not made up for.
        next = (next + every).max(begin);
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}

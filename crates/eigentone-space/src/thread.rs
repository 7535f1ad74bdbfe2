//! Decoding on a thread of its own, for programs that sound live.
//!
//! The program tells a [`DecoderThread`] where the listener and the sources are, as often as it likes. Only the latest word on each of them is kept, so that memory is bounded however fast it talks. Each time
//! [`update_s`](crate::room::SpaceSettings::update_s) has passed the thread asks the field for all sources that are awake, and tells the audio side, which never waits for it. A source is awake if it was
//! [placed](DecoderThread::place), or if it was [placed idle](DecoderThread::place_idle) and then [woken](DecoderThread::wake), for as long as it sounds. New and woken sources are
//! decoded at once.

use crate::room::{Place, Space, SpaceStats};
use crate::slots::SlotSet;
use eigentone_core::acoustics::Field;
use eigentone_core::event::BodyId;
use eigentone_core::{DQuat, Vec3};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a source stays awake that was woken and does not sound.
const AWAKE: Duration = Duration::from_secs(1);

#[derive(Clone, Copy)]
enum Listener {
    Looking(Vec3, Vec3),
    Posed(Vec3, DQuat),
}

/// The latest word on a source.
#[derive(Clone, Copy)]
struct Wanted {
    body: BodyId,
    place: Place,
    /// Decoded only while it is awake.
    idle: bool,
    /// Woken since the thread has last looked.
    woken: bool,
}

/// The latest word on everything.
struct Inbox {
    listener: Option<Listener>,
    field: Option<Option<Arc<Field>>>,
    doppler: Option<bool>,
    sources: Vec<Option<Wanted>>,
    /// Slots of which the thread does not know the latest.
    changed: SlotSet,
    /// Something cannot wait for the next round.
    urgent: bool,
    stop: bool,
}

struct Shared {
    inbox: Mutex<Inbox>,
    bell: Condvar,
    rounds: AtomicU64,
    /// The longest that all sources took, in µs.
    longest_us: AtomicU64,
    clamped: AtomicU64,
    unknown: AtomicU64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the decoding thread where everything is. The thread ends when this is dropped.
pub struct DecoderThread {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for DecoderThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecoderThread").field("rounds", &self.rounds()).finish_non_exhaustive()
    }
}

impl DecoderThread {
    /// Starts the thread. `update_s` is that of the settings with which the space was made.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub fn start(space: Space, update_s: f64) -> std::io::Result<Self> {
        let limit = space.max_sources();
        let inbox = Inbox {
            listener: None,
            field: None,
            doppler: None,
            sources: vec![None; limit],
            changed: SlotSet::new(limit),
            urgent: false,
            stop: false,
        };
        let shared = Arc::new(Shared {
            inbox: Mutex::new(inbox),
            bell: Condvar::new(),
            rounds: AtomicU64::new(0),
            longest_us: AtomicU64::new(0),
            clamped: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
        });
        let own = shared.clone();
        let sensible_s = if update_s.is_finite() { update_s.clamp(1e-3, 1.0) } else { 0.01 };
        let every = Duration::from_secs_f64(sensible_s);
        let thread = std::thread::Builder::new()
            .name("eigentone-decoder".to_owned())
            .spawn(move || Decoding::new(space).run(&own, every))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Where the listener is and looks; see [`Space::listen`].
    pub fn listen(&self, position: Vec3, look: Vec3) {
        self.shared.lock().listener = Some(Listener::Looking(position, look));
    }

    /// Where the listener is, and how the head is held; see [`Space::listen_pose`].
    pub fn listen_pose(&self, position: Vec3, rotation: DQuat) {
        self.shared.lock().listener = Some(Listener::Posed(position, rotation));
    }

    /// Other rooms from the next round on, or free field; see [`Space::set_field`].
    pub fn set_field(&self, field: Option<Arc<Field>>) {
        self.shared.lock().field = Some(field);
    }

    /// Whether sound takes its time from the next round on; see [`Space::set_doppler`].
    pub fn set_doppler(&self, on: bool) {
        self.shared.lock().doppler = Some(on);
    }

    /// Where a source is from now on. It is decoded in every round.
    pub fn place(&self, body: BodyId, place: Place) {
        self.put(body, place, false);
    }

    /// Where a source is from now on that is decoded only while it sounds; [`wake`](Self::wake) it before.
    pub fn place_idle(&self, body: BodyId, place: Place) {
        self.put(body, place, true);
    }

    /// A source is about to sound: it is decoded at once, and in every round until it has been silent for a second.
    pub fn wake(&self, body: BodyId) {
        let mut inbox = self.shared.lock();
        let Some(Some(wanted)) = inbox.sources.get_mut(body.slot as usize) else { return };
        if wanted.body == body {
            wanted.woken = true;
            inbox.changed.insert(body.slot as usize);
            self.hurry(inbox);
        }
    }

    /// A source that is no more.
    pub fn remove(&self, body: BodyId) {
        let mut inbox = self.shared.lock();
        let Some(wanted) = inbox.sources.get_mut(body.slot as usize) else { return };
        if wanted.is_some_and(|w| w.body == body) {
            *wanted = None;
            inbox.changed.insert(body.slot as usize);
        }
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

    fn put(&self, body: BodyId, place: Place, idle: bool) {
        let mut inbox = self.shared.lock();
        let Some(wanted) = inbox.sources.get_mut(body.slot as usize) else { return };
        let before = wanted.filter(|w| w.body == body);
        let woken = before.is_some_and(|w| w.woken);
        *wanted = Some(Wanted { body, place, idle, woken });
        inbox.changed.insert(body.slot as usize);
        if before.is_none() && !idle {
            self.hurry(inbox);
        }
    }

    fn hurry(&self, mut inbox: MutexGuard<'_, Inbox>) {
        inbox.urgent = true;
        drop(inbox);
        self.shared.bell.notify_one();
    }
}

impl Drop for DecoderThread {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.bell.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The thread's own view.
struct Decoding {
    space: Space,
    sources: Vec<Option<Source>>,
    awake: SlotSet,
    /// Slots whose owner is gone, but the queue was full.
    leaving: SlotSet,
    /// What has changed since it last looked.
    news: Vec<(usize, Option<Wanted>)>,
}

#[derive(Clone, Copy)]
struct Source {
    body: BodyId,
    place: Place,
    idle: bool,
    /// When it was last woken or heard.
    alive: Instant,
}

impl Decoding {
    fn new(space: Space) -> Self {
        let limit = space.max_sources();
        Self {
            space,
            sources: vec![None; limit],
            awake: SlotSet::new(limit),
            leaving: SlotSet::new(limit),
            news: Vec::new(),
        }
    }

    fn run(mut self, shared: &Shared, every: Duration) {
        let mut next = Instant::now();
        loop {
            let mut inbox = shared.lock();
            loop {
                if inbox.stop {
                    return;
                }
                let wait = next.saturating_duration_since(Instant::now());
                if inbox.urgent || wait.is_zero() {
                    break;
                }
                inbox = shared.bell.wait_timeout(inbox, wait).unwrap_or_else(PoisonError::into_inner).0;
            }
            self.read(inbox);
            let begin = Instant::now();
            if begin < next {
                continue;
            }
            self.round(begin);
            let SpaceStats { clamped, unknown, .. } = self.space.stats();
            shared.clamped.store(clamped, Ordering::Relaxed);
            shared.unknown.store(unknown, Ordering::Relaxed);
            shared.longest_us.fetch_max(begin.elapsed().as_micros() as u64, Ordering::Relaxed);
            shared.rounds.fetch_add(1, Ordering::Relaxed);
            // What could not be done in time is not made up for.
            next = (next + every).max(begin);
        }
    }

    /// Takes the latest word on everything.
    fn read(&mut self, mut inbox: MutexGuard<'_, Inbox>) {
        inbox.urgent = false;
        let (listener, field, doppler) = (inbox.listener.take(), inbox.field.take(), inbox.doppler.take());
        let Inbox { sources, changed, .. } = &mut *inbox;
        for slot in changed.iter() {
            self.news.push((slot, sources[slot]));
            if let Some(wanted) = &mut sources[slot] {
                wanted.woken = false;
            }
        }
        changed.clear();
        drop(inbox);
        match listener {
            Some(Listener::Looking(position, look)) => self.space.listen(position, look),
            Some(Listener::Posed(position, rotation)) => self.space.listen_pose(position, rotation),
            None => {}
        }
        if let Some(on) = doppler {
            self.space.set_doppler(on);
        }
        if let Some(field) = field {
            self.space.set_field(field);
        }
        let mut news = std::mem::take(&mut self.news);
        for (slot, wanted) in news.drain(..) {
            self.learn(slot, wanted);
        }
        self.news = news;
    }

    fn learn(&mut self, slot: usize, wanted: Option<Wanted>) {
        let before = self.sources[slot];
        let Some(Wanted { body, place, idle, woken }) = wanted else {
            if let Some(before) = before {
                self.awake.remove(slot);
                self.leaving.insert(slot);
                self.let_go(slot, before.body);
            }
            return;
        };
        self.leaving.remove(slot);
        let now = Instant::now();
        let same = before.filter(|s| s.body == body);
        let alive = if woken { now } else { same.map_or(now, |s| s.alive) };
        self.sources[slot] = Some(Source { body, place, idle, alive });
        if same.is_none() {
            self.awake.remove(slot);
        }
        if woken {
            self.space.place_idle(body, &place);
            self.space.wake(body);
            self.awake.insert(slot);
        } else if !idle {
            if same.is_none() {
                self.space.place(body, &place);
            }
            self.awake.insert(slot);
        } else {
            self.space.place_idle(body, &place);
        }
    }

    /// Until the audio side has taken the removal in.
    fn let_go(&mut self, slot: usize, body: BodyId) {
        self.space.remove(body);
        if !self.space.knows(body) {
            self.leaving.remove(slot);
            self.sources[slot] = None;
        }
    }

    fn round(&mut self, now: Instant) {
        let mut from = 0;
        while let Some(slot) = self.leaving.next(from) {
            from = slot + 1;
            if let Some(source) = self.sources[slot] {
                self.let_go(slot, source.body);
            }
        }
        from = 0;
        while let Some(slot) = self.awake.next(from) {
            from = slot + 1;
            let Some(source) = &mut self.sources[slot] else { continue };
            if source.idle {
                if self.space.sounds(source.body) {
                    source.alive = now;
                } else if now.saturating_duration_since(source.alive) > AWAKE {
                    self.awake.remove(slot);
                    continue;
                }
            }
            self.space.place(source.body, &source.place);
        }
    }
}

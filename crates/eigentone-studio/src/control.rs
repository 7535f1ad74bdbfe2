//! The control thread: owns the session, does what it is asked, and lets time pass 250 times a second while a page is there.

use crate::fault::Fault;
use crate::loudness::Heard;
use crate::session::Session;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Requests that may wait.
const QUEUE: usize = 1024;

/// Length of a frame.
const FRAME: Duration = Duration::from_millis(4);

/// How long everything goes on after the last page has left.
const LINGER: Duration = Duration::from_secs(2);

/// How often it looks whether a page has come, while none is there.
const IDLE: Duration = Duration::from_millis(200);

/// Requests that are done between two frames at most.
const AT_ONCE: usize = 64;

type Job = Box<dyn FnOnce(&mut Session) + Send>;

enum Message {
    Job(Job),
    Over,
}

/// What the threads share beside the queue.
#[derive(Debug, Default)]
pub struct Presence {
    /// Pages that are there.
    pub pages: AtomicUsize,
    /// What was heard last.
    pub heard: Mutex<Heard>,
}

/// Asks the control thread.
#[derive(Clone)]
pub struct Control {
    queue: SyncSender<Message>,
    over: Arc<AtomicBool>,
}

impl Control {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub fn start(session: Session, presence: Arc<Presence>) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (queue, messages) = sync_channel(QUEUE);
        let handle = std::thread::Builder::new()
            .name("eigentone-control".to_owned())
            .spawn(move || run(session, &messages, &presence))?;
        Ok((Self { queue, over: Arc::default() }, handle))
    }

    /// Has something done with the session, and waits for the answer.
    ///
    /// # Errors
    /// If too much is waiting, or the studio is ending.
    pub async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Session) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let (answer, answered) = oneshot::channel();
        // Whoever asked may have left by then.
        self.tell(move |session| drop(answer.send(job(session))))?;
        answered.await.map_err(|_| Fault::busy())
    }

    /// Has something done without waiting.
    ///
    /// # Errors
    /// If too much is waiting, or the studio is ending.
    pub fn tell(&self, job: impl FnOnce(&mut Session) + Send + 'static) -> Result<(), Fault> {
        self.queue.try_send(Message::Job(Box::new(job))).map_err(|_| Fault::busy())
    }

    /// Whether it ends.
    pub fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }

    /// Ends the thread when it has done what was asked before.
    pub fn end(&self) {
        self.over.store(true, Relaxed);
        let _ = self.queue.send(Message::Over);
    }
}

fn run(mut session: Session, messages: &Receiver<Message>, presence: &Presence) {
    let mut last = Instant::now();
    let mut seen = Instant::now();
    let mut awake = false;
    'running: loop {
        let now = Instant::now();
        if presence.pages.load(Relaxed) > 0 {
            seen = now;
        }
        let stays = presence.pages.load(Relaxed) > 0 || (awake && now - seen < LINGER);
        if stays != awake {
            awake = stays;
            session.set_awake(awake);
            last = now;
        }
        let wait = if awake { (last + FRAME).saturating_duration_since(now) } else { IDLE };
        // All that wait go before the next frame: where frames take long, one each would be late.
        for patience in std::iter::once(wait).chain(std::iter::repeat_n(Duration::ZERO, AT_ONCE)) {
            match messages.recv_timeout(patience) {
                Ok(Message::Job(job)) => job(&mut session),
                Ok(Message::Over) | Err(RecvTimeoutError::Disconnected) => break 'running,
                Err(RecvTimeoutError::Timeout) => break,
            }
        }
        session.keep_work();
        if awake && last.elapsed() >= FRAME {
            let now = Instant::now();
            let heard = || *presence.heard.lock().unwrap_or_else(PoisonError::into_inner);
            session.frame((now - last).as_secs_f64(), heard);
            last = now;
        }
    }
    session.finish();
}

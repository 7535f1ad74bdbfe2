//! Models made in the background, while the world goes on.
//!
//! A [`ModelSource`] makes models of meshes: a provisional one at once, from the nearest closed form, then a draft and the true one on a pool of the world's own, with one thread of low priority, so that neither the
//! game nor the audio side waits. Tasks tell how far they are, and can be cancelled.

mod mesh;
mod provisional;

pub use mesh::MeshModels;
pub use provisional::closed_form;

use crate::key::BodyKey;
use eigentone_core::{Material, ModalModel, TriMesh};
use eigentone_modal::MeshModelSettings;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// What a model is to be made of.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Of the body, for messages.
    pub name: String,
    /// Its surface.
    pub mesh: Arc<TriMesh>,
    /// What it is made of.
    pub material: Arc<Material>,
    /// Thickness of its wall, in m, if it is one.
    pub thickness_m: Option<f64>,
    /// How, if it was said.
    pub settings: Option<Arc<MeshModelSettings>>,
}

impl ModelRequest {
    /// The settings that were said, or the usual ones for its shape.
    pub fn settings(&self) -> MeshModelSettings {
        match &self.settings {
            Some(settings) => (**settings).clone(),
            None => MeshModelSettings {
                name: self.name.clone(),
                thickness_m: self.thickness_m,
                ..MeshModelSettings::default()
            },
        }
    }
}

/// Makes models. Called from a thread of the world's own, except for [`provisional`](Self::provisional).
pub trait ModelSource: Send + Sync {
    /// Something that sounds about right, within 50 ms; `None` if it would make no sound. Called by whoever adds the body.
    ///
    /// # Errors
    /// Says why there is none.
    fn provisional(&self, request: &ModelRequest) -> Result<Option<Arc<ModalModel>>, String>;

    /// A first model that is soon there and better than the provisional one, if there is any between it and the final one.
    ///
    /// # Errors
    /// Says why there is none; the final one is made all the same.
    fn draft(&self, _request: &ModelRequest, _task: &TaskControl) -> Result<Option<Arc<ModalModel>>, String> {
        Ok(None)
    }

    /// The model; `None` if it would make no sound that can be heard. It should call [`TaskControl::report`] now and then: that is where it is cancelled.
    ///
    /// # Errors
    /// Says why there is none.
    fn model(&self, request: &ModelRequest, task: &TaskControl) -> Result<Option<Arc<ModalModel>>, String>;
}

/// A model that is being made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(u64);

/// How far a task is.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskStatus {
    /// Which.
    pub task: TaskId,
    /// For whom.
    pub body: BodyKey,
    /// What it is doing.
    pub stage: String,
    /// How much of that is done, 0 to 1.
    pub share: f32,
}

/// Where a task tells how far it is, and learns that nobody waits for it any more.
#[derive(Debug, Default)]
pub struct TaskControl {
    cancelled: AtomicBool,
    stage: Mutex<String>,
    share: AtomicU32,
}

/// Carried through the job's frames when it is cancelled.
struct Cancelled;

impl TaskControl {
    /// Tells how far the task is. If it has been cancelled, this does not return: the job is left here.
    pub fn report(&self, stage: &str, share: f64) {
        if self.cancelled.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Cancelled));
        }
        self.share.store((share as f32).to_bits(), Ordering::Relaxed);
        let mut known = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != stage {
            stage.clone_into(&mut known);
        }
    }

    /// Whether nobody waits for it any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// What came of a task.
pub(crate) struct Finished {
    pub task: TaskId,
    pub body: BodyKey,
    pub result: Result<Option<Arc<ModalModel>>, String>,
    /// A better one is being made.
    pub draft: bool,
}

/// Tasks under way, and the thread that does them.
pub(crate) struct Tasks {
    source: Arc<dyn ModelSource>,
    pool: Option<rayon::ThreadPool>,
    running: BTreeMap<TaskId, (BodyKey, Arc<TaskControl>)>,
    sender: Sender<Finished>,
    receiver: Receiver<Finished>,
    counter: u64,
}

impl Tasks {
    pub fn new(source: Arc<dyn ModelSource>) -> Self {
        let (sender, receiver) = channel();
        Self { source, pool: None, running: BTreeMap::new(), sender, receiver, counter: 0 }
    }

    pub fn source(&self) -> &Arc<dyn ModelSource> {
        &self.source
    }

    /// Starts a task.
    pub fn start(&mut self, body: BodyKey, request: ModelRequest) -> Result<TaskId, String> {
        let pool = match &mut self.pool {
            Some(pool) => pool,
            none => none.insert(pool()?),
        };
        self.counter += 1;
        let task = TaskId(self.counter);
        let control = Arc::new(TaskControl::default());
        self.running.insert(task, (body, control.clone()));
        let (source, sender) = (self.source.clone(), self.sender.clone());
        pool.spawn_fifo(move || {
            if control.is_cancelled() {
                return;
            }
            let made = catch_unwind(AssertUnwindSafe(|| {
                if let Ok(Some(model)) = source.draft(&request, &control) {
                    let _ = sender.send(Finished { task, body, result: Ok(Some(model)), draft: true });
                }
                source.model(&request, &control)
            }));
            let result = match made {
                Ok(result) => result,
                Err(cause) if cause.is::<Cancelled>() || control.is_cancelled() => return,
                Err(_) => Err("the program that makes models broke down".to_owned()),
            };
            // Nobody listens any more if the world is gone.
            let _ = sender.send(Finished { task, body, result, draft: false });
        });
        Ok(task)
    }

    /// Nobody waits for this any more.
    pub fn cancel(&mut self, task: TaskId) {
        if let Some((_, control)) = self.running.remove(&task) {
            control.cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Nobody waits for what is made for this body.
    pub fn cancel_for(&mut self, body: BodyKey) {
        self.running.retain(|_, (whose, control)| {
            if *whose == body {
                control.cancelled.store(true, Ordering::Relaxed);
            }
            *whose != body
        });
    }

    /// What has been made since the last call, of what somebody waits for.
    pub fn finished(&mut self) -> Vec<Finished> {
        let mut all = Vec::new();
        while let Ok(finished) = self.receiver.try_recv() {
            let awaited = if finished.draft {
                self.running.contains_key(&finished.task)
            } else {
                self.running.remove(&finished.task).is_some()
            };
            if awaited {
                all.push(finished);
            }
        }
        all
    }

    pub fn status(&self) -> impl Iterator<Item = TaskStatus> {
        self.running.iter().map(|(task, (body, control))| TaskStatus {
            task: *task,
            body: *body,
            stage: control.stage.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            share: f32::from_bits(control.share.load(Ordering::Relaxed)),
        })
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for (_, control) in self.running.values() {
            control.cancelled.store(true, Ordering::Relaxed);
        }
    }
}

/// One thread with a name, that steps back for all others.
fn pool() -> Result<rayon::ThreadPool, String> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .thread_name(|_| "eigentone-models".to_owned())
        .start_handler(|_| step_back())
        .build()
        .map_err(|e| format!("no thread can be had for it: {e}"))
}

/// Lowers the priority of this thread and of those that it starts. Where that is not possible they compete like any other.
pub fn step_back() {
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 10);
    }
}

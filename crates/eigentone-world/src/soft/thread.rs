//! Who moves the soft bodies: whoever advances the world, or a thread of their own.

use super::stage::{Command, Report, Stage};
use crate::error::WorldError;
use crate::exclusive::Exclusive;
use eigentone_sim::soft::SoftWorld;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

pub(super) enum Runner {
    InTurns { stage: Box<Stage>, reports: Vec<Report> },
    Thread(Box<Thread>),
}

pub(super) struct Thread {
    commands: Option<Exclusive<Sender<Command>>>,
    reports: Exclusive<Receiver<Report>>,
    thread: Option<JoinHandle<()>>,
}

impl Runner {
    pub fn in_turns(stage: Stage) -> Self {
        Self::InTurns { stage: Box::new(stage), reports: Vec::new() }
    }

    pub fn thread(mut stage: Stage) -> Result<Self, WorldError> {
        let (to_thread, commands) = channel();
        let (to_world, reports) = channel();
        let thread = std::thread::Builder::new()
            .name("eigentone-soft".to_owned())
            .spawn(move || {
                while let Ok(command) = commands.recv() {
                    // The world is gone if nobody listens.
                    if stage.act(command).is_some_and(|report| to_world.send(report).is_err()) {
                        return;
                    }
                }
            })
            .map_err(|_| WorldError::Unfit("the system has no more threads"))?;
        Ok(Self::Thread(Box::new(Thread {
            commands: Some(Exclusive::new(to_thread)),
            reports: Exclusive::new(reports),
            thread: Some(thread),
        })))
    }

    pub fn send(&mut self, command: Command) {
        match self {
            Self::InTurns { stage, reports } => reports.extend(stage.act(command)),
            Self::Thread(thread) => {
                if let Some(commands) = &mut thread.commands {
                    // It lives as long as this does.
                    let _ = commands.get().send(command);
                }
            }
        }
    }

    /// What has been reported since the last call.
    pub fn reports(&mut self) -> Vec<Report> {
        match self {
            Self::InTurns { reports, .. } => std::mem::take(reports),
            Self::Thread(thread) => thread.reports.get().try_iter().collect(),
        }
    }

    pub fn world(&self) -> Option<&SoftWorld> {
        match self {
            Self::InTurns { stage, .. } => Some(&stage.world),
            Self::Thread(_) => None,
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // Without a sender it ends after what it is doing.
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

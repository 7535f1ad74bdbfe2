//! The browser studio: a web server on the loopback interface over one live world.
//!
//! Three roles. The *network* (tokio) serves the page and speaks the protocol of `docs/studio-protocol.md`; the *control thread* owns the session, a world and the scene file it came from, and lets time pass 250 times a
//! second; the *audio thread* renders when the page's own sound clock asks for it. They meet in bounded queues, and nobody waits for a slow page. With no page open nothing runs.
//!
//! ```no_run
//! let studio = eigentone_studio::Studio::start(eigentone_studio::Options::default())?;
//! println!("open {}", studio.url());
//! studio.wait();
//! # Ok::<(), eigentone_studio::StartError>(())
//! ```
#![forbid(unsafe_code)]

mod api;
mod audio;
mod blow;
mod control;
mod document;
mod fault;
pub mod field;
mod guard;
mod history;
mod hub;
mod lines;
mod loudness;
mod own_files;
mod packet;
mod pump;
mod replay;
pub mod request;
mod server;
mod session;
pub mod shelf;
mod socket;
mod studio;
mod take;
pub mod take_file;
mod token;
mod variations;
mod zip;

pub use fault::Fault;
pub use lines::MAX_LINES;
pub use replay::{Replayed, render_take};
pub use server::LARGEST_UPLOAD;
pub use socket::MAX_SOCKETS;
pub use studio::{Options, StartError, Stopper, Studio};

/// Version of the protocol.
pub const PROTOCOL: u32 = 1;

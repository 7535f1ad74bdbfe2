//! The studio as a whole: started, waited for, ended.

use crate::control::{Control, Presence};
use crate::fault::Fault;
use crate::guard::Bucket;
use crate::hub::Hub;
use crate::pump;
use crate::server::{Shared, router};
use crate::session::{Folders, Session, prepare};
use crate::shelf;
use crate::take::Take;
use crate::token::Token;
use axum::serve::ListenerExt;
use eigentone_scene::scene::cache::ModelCache;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, Semaphore};

/// Requests over HTTP at once, and in a second.
const REQUESTS: (f64, f64) = (400.0, 200.0);

/// How the studio is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Scene file to open; a table of things if not given.
    pub scene: Option<PathBuf>,
    /// Port on 127.0.0.1; any that is free for 0.
    pub port: u16,
    /// Serve the page from this folder in place of the one that is built in.
    pub page_dir: Option<PathBuf>,
    /// Where models and unsaved work are kept; nowhere by default.
    pub cache: ModelCache,
    /// Where new scenes are saved; the current folder if not given.
    pub home: Option<PathBuf>,
}

/// Why the studio could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The scene cannot be used.
    #[error("{0}")]
    Scene(#[from] eigentone_scene::Error),
    /// Something in it cannot be put on stage.
    #[error("{0}")]
    Stage(#[from] Fault),
    /// The port is taken, or not ours to take.
    #[error("port {port} on 127.0.0.1 cannot be had: {source}; choose another with --port, or 0 for any")]
    Port {
        /// Which.
        port: u16,
        /// Why.
        source: std::io::Error,
    },
    /// The page is not there.
    #[error("{} has no index.html; build the page first, or leave --page-dir out", .0.display())]
    Page(PathBuf),
    /// Threads, folders or randomness are lacking.
    #[error("the system does not give what the studio needs: {0}")]
    System(#[from] std::io::Error),
}

/// A studio that runs.
pub struct Studio {
    address: SocketAddr,
    token: Token,
    control: Control,
    control_thread: Option<JoinHandle<()>>,
    over: Arc<Notify>,
    runtime: Option<Runtime>,
    served: Option<tokio::task::JoinHandle<()>>,
}

/// Ends a studio, from anywhere.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Notify>);

impl Stopper {
    /// Ends it.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Studio {
    /// Opens the scene and begins to serve.
    ///
    /// # Errors
    /// If the scene cannot be used, or the port not be had.
    pub fn start(options: Options) -> Result<Self, StartError> {
        if let Some(folder) = options.page_dir.as_ref().filter(|f| !f.join("index.html").is_file()) {
            return Err(StartError::Page(folder.clone()));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("eigentone-network")
            .enable_all()
            .build()?;
        let port = options.port;
        let bind = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let listener = runtime.block_on(bind).map_err(|source| StartError::Port { port, source })?;
        let address = listener.local_addr()?;
        let token = Token::new().map_err(|e| std::io::Error::other(e.to_string()))?;

        let mut folders = Folders::standard(options.cache, options.scene.as_deref())?;
        folders.home = options.home.unwrap_or(folders.home);
        folders.put_aside(options.scene.as_deref());
        let text = match &options.scene {
            Some(file) => {
                // Read as a scene first: its errors name the line.
                eigentone_scene::Scene::read(file)?;
                std::fs::read_to_string(file)?
            }
            None => shelf::scene("default")?.to_owned(),
        };
        let prepared = prepare(&text, options.scene, &folders)?;
        let rate_hz = prepared.out.sample_rate_hz();
        let (hub, ready, presence) = (Arc::new(Hub::default()), Arc::new(Notify::new()), Arc::new(Presence::default()));
        let (session, blocks) = Session::new(prepared, folders.clone(), hub.clone(), ready.clone())?;
        let throttle = session.audio().throttle().clone();
        let (control, control_thread) = Control::start(session, presence.clone())?;
        let take = Arc::new(Mutex::new(Take::new(rate_hz)));
        runtime.spawn(pump::run(blocks, ready, hub.clone(), presence.clone(), take.clone(), rate_hz));

        let over = Arc::new(Notify::new());
        let shared = Arc::new(Shared {
            token: token.clone(),
            port: address.port(),
            policy: crate::guard::policy(address.port()),
            control: control.clone(),
            throttle,
            hub,
            presence,
            take,
            folders,
            page_dir: options.page_dir,
            rate: Bucket::new(REQUESTS.0, REQUESTS.1),
            sockets: AtomicUsize::new(0),
            listeners: Mutex::new(Vec::new()),
            heavy: Semaphore::new(2),
        });
        let ended = over.clone();
        let served = runtime.spawn(async move {
            // A blow must not wait for the packet before it to be acknowledged. A socket that refuses this is only slower.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            let serving = axum::serve(listener, router(shared));
            tokio::select! {
                _ = serving => {},
                () = ended.notified() => {},
            }
        });
        Ok(Self {
            address,
            token,
            control,
            control_thread: Some(control_thread),
            over,
            runtime: Some(runtime),
            served: Some(served),
        })
    }

    /// Where it is served.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The secret that pages must know.
    pub fn token(&self) -> &str {
        self.token.text()
    }

    /// What to open in a browser.
    pub fn url(&self) -> String {
        format!("http://{}/#token={}", self.address, self.token.text())
    }

    /// Ends it from elsewhere.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.over.clone())
    }

    /// Waits until it is [stopped](Stopper::stop), and ends everything.
    pub fn wait(mut self) {
        if let (Some(runtime), Some(served)) = (&self.runtime, self.served.take()) {
            let _ = runtime.block_on(served);
        }
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        self.over.notify_one();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(std::time::Duration::from_millis(500));
        }
        self.control.end();
        if let Some(thread) = self.control_thread.take() {
            let _ = thread.join();
        }
    }
}

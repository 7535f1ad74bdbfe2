//! The web server: the page, the API and the WebSocket.

use crate::api;
use crate::audio::Throttle;
use crate::control::{Control, Presence};
use crate::fault::Fault;
use crate::guard::{Bucket, guard};
use crate::hub::Hub;
use crate::pump::SharedTake;
use crate::request::LARGEST_MESSAGE;
use crate::session::Folders;
use crate::socket;
use crate::token::Token;
use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use rust_embed::RustEmbed;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

/// Larger uploads are refused, in bytes.
pub const LARGEST_UPLOAD: usize = 64 << 20;

/// Longer scene files are refused, in bytes: read, a text takes many times its length.
pub const LARGEST_SCENE: usize = 4 << 20;

/// The page as it was built.
#[derive(RustEmbed)]
#[folder = "page/dist"]
struct Page;

/// What all requests share.
pub struct Shared {
    pub(crate) token: Token,
    pub(crate) port: u16,
    /// Content security policy of every answer.
    pub(crate) policy: String,
    pub(crate) control: Control,
    pub(crate) throttle: Throttle,
    pub(crate) hub: Arc<Hub>,
    pub(crate) presence: Arc<Presence>,
    pub(crate) take: SharedTake,
    pub(crate) folders: Folders,
    pub(crate) page_dir: Option<PathBuf>,
    /// Requests with the token.
    pub(crate) rate: Bucket,
    /// Requests for the page's files.
    pub(crate) page_rate: Bucket,
    /// WebSockets that are open.
    pub(crate) sockets: AtomicUsize,
    /// Pages that listen, in the order in which they came: the first leads the clock.
    pub(crate) listeners: Mutex<Vec<u64>>,
    /// Uploads and exports that may run at once.
    pub(crate) heavy: Arc<tokio::sync::Semaphore>,
    /// Scenes that are asked for over WebSockets at once.
    pub(crate) opening: Arc<tokio::sync::Semaphore>,
}

/// All paths.
pub fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/ws", get(socket::open))
        .route("/api/hello", get(api::hello))
        .route("/api/materials", get(api::materials))
        .route("/api/surfaces", get(api::surfaces))
        .route("/api/shelf", get(api::shelf))
        .route("/api/files", get(api::files))
        .route("/api/shelf/{name}/mesh", get(api::shelf_mesh))
        .route("/api/mesh/{body}", get(api::mesh))
        .route("/api/model/{body}", get(api::model))
        .route("/api/shape/{body}/{mode}", get(api::shape))
        .route("/api/surface/{body}", get(api::surface))
        .route("/api/resonator/{body}", get(api::resonator))
        .route("/api/map/{body}", get(api::map))
        .route("/api/map", post(api::add_map))
        .route("/api/mesh", post(api::add_mesh))
        .route("/api/fit", post(api::fit))
        .route("/api/export/take.wav", get(api::take))
        .route("/api/export/{recording}", get(api::recording))
        .route("/api/export/variations", post(api::variations).layer(DefaultBodyLimit::max(LARGEST_MESSAGE)))
        .route("/api/blow.wav", post(api::blow).layer(DefaultBodyLimit::max(LARGEST_MESSAGE)))
        .route("/api/scene.toml", get(api::scene_text))
        .route("/api/scene", post(api::replace_scene).layer(DefaultBodyLimit::max(LARGEST_SCENE)))
        .route("/api/field", get(api::rooms::field))
        .route("/api/field/slice", get(api::rooms::slice))
        .route("/api/field/walls", get(api::rooms::walls))
        .route("/api/{*rest}", get(unknown).post(unknown))
        .fallback(get(page))
        .layer(DefaultBodyLimit::max(LARGEST_UPLOAD))
        .layer(axum::middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

async fn unknown() -> Fault {
    Fault::missing("there is no such request", "see docs/studio-protocol.md")
}

/// A file of the page.
async fn page(State(shared): State<Arc<Shared>>, uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    // Nothing but plain names: no way up, no roots, no drives.
    let plain = !path.contains(['\\', '%', ':', '\0'])
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let bytes = match &shared.page_dir {
        _ if !plain => None,
        Some(folder) => from_disk(folder, path).await,
        None => Page::get(path).map(|file| file.data.into_owned()),
    };
    match bytes {
        Some(bytes) => ([(CONTENT_TYPE, content_type(path))], bytes).into_response(),
        None => (StatusCode::NOT_FOUND, "not found").into_response(),
    }
}

/// A file of a folder that is being worked on; links do not lead out of it.
async fn from_disk(folder: &Path, path: &str) -> Option<Vec<u8>> {
    let (folder, path) = (folder.to_owned(), path.to_owned());
    let read = move || {
        let folder = folder.canonicalize().ok()?;
        let file = folder.join(path).canonicalize().ok()?;
        (file.starts_with(&folder) && file.is_file()).then(|| std::fs::read(file).ok())?
    };
    tokio::task::spawn_blocking(read).await.ok()?
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

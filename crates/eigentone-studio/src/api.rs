//! Requests over HTTP.

pub mod rooms;

use crate::blow::{self, BlowRequest};
use crate::fault::Fault;
use crate::request::short;
use crate::server::Shared;
use crate::session::{Finished, plain, prepare, prepare_in_turns, sketch, uploads};
use crate::take::wav;
use crate::variations::{self, Variations};
use crate::{own_files, shelf, zip};
use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, PoisonError};
use tokio::sync::OwnedSemaphorePermit;

type Answer<T> = Result<T, Fault>;

const BINARY: [(axum::http::HeaderName, &str); 1] = [(CONTENT_TYPE, "application/octet-stream")];

/// `GET /api/hello`.
pub async fn hello() -> Json<Value> {
    Json(json!({ "protocol": crate::PROTOCOL, "version": env!("CARGO_PKG_VERSION") }))
}

/// `GET /api/materials`.
pub async fn materials(State(shared): State<Arc<Shared>>) -> Answer<Json<Value>> {
    let table = shared.control.ask(|s| s.world.settings().materials.clone()).await?;
    let row = |m: &eigentone_core::Material| {
        json!({
            "name": m.name, "young_pa": m.young_pa, "density_kg_m3": m.density_kg_m3, "poisson": m.poisson,
            "tan_phi": m.tan_phi,
        })
    };
    Ok(Json(table.iter().map(row).collect()))
}

/// `GET /api/surfaces`.
pub async fn surfaces(State(shared): State<Arc<Shared>>) -> Answer<Json<Value>> {
    let table = shared.control.ask(|s| s.surface_table()).await??;
    Ok(Json(table.iter().map(|t| Value::from(t.name.clone())).collect()))
}

/// `GET /api/shelf`.
pub async fn shelf() -> Json<Value> {
    Json(shelf::list())
}

/// `GET /api/mesh/BODY`.
pub async fn mesh(State(shared): State<Arc<Shared>>, Path(body): Path<u64>) -> Answer<Response> {
    let (mesh, size) = shared.control.ask(move |s| s.drawn(body)).await??;
    Ok((BINARY, mesh_bytes(&mesh, size)).into_response())
}

/// `GET /api/files`.
pub async fn files(State(shared): State<Arc<Shared>>) -> Answer<Json<Value>> {
    let home = shared.folders.home.clone();
    Ok(Json(blocking(move || Ok(own_files::list(&home))).await?.into()))
}

/// `GET /api/shelf/NAME/mesh`.
pub async fn shelf_mesh(Path(name): Path<String>) -> Answer<Response> {
    let object = shelf::find(&name)?;
    let bytes = blocking(move || object.mesh().map(|mesh| mesh_bytes(&mesh, 1.0))).await?;
    Ok((BINARY, bytes).into_response())
}

/// A surface for drawing, as `docs/studio-protocol.md` has it.
fn mesh_bytes(mesh: &eigentone_core::TriMesh, size: f64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + 12 * (mesh.positions.len() + mesh.triangles.len()));
    bytes.extend((mesh.positions.len() as u32).to_le_bytes());
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    bytes.extend(mesh.positions.iter().flat_map(|p| (*p * size).as_vec3().to_array()).flat_map(f32::to_le_bytes));
    bytes.extend(mesh.triangles.iter().flatten().flat_map(|v| v.to_le_bytes()));
    bytes
}

/// `GET /api/model/BODY`.
pub async fn model(State(shared): State<Arc<Shared>>, Path(body): Path<u64>) -> Answer<Json<Value>> {
    Ok(Json(shared.control.ask(move |s| s.model_json(body)).await??))
}

/// `GET /api/shape/BODY/MODE`.
pub async fn shape(State(shared): State<Arc<Shared>>, Path((body, mode)): Path<(u64, usize)>) -> Answer<Response> {
    let (mesh, _) = shared.control.ask(move |s| s.drawn(body)).await??;
    let (model, mode) = shared.control.ask(move |s| s.shape_of(body, mode)).await??;
    let bytes = tokio::task::spawn_blocking(move || shape_bytes(&mesh, &model, mode));
    Ok((BINARY, bytes.await.map_err(|_| Fault::busy())??).into_response())
}

/// Displacement of a mode at each drawn vertex, the largest of length one.
fn shape_bytes(mesh: &eigentone_core::TriMesh, model: &eigentone_core::ModalModel, mode: usize) -> Answer<Vec<u8>> {
    if mode >= model.modes.len() {
        let hint = format!("this body has {}, counted from 0", model.modes.len());
        return Err(Fault::missing(format!("there is no mode {mode}"), hint));
    }
    let tree = eigentone_core::SiteTree::new(&model.surface);
    let at = |p: &eigentone_core::Vec3| {
        let blend = tree.on_triangle(*p).or_else(|| model.nearest_contact(*p).map(|c| c.blend))?;
        Some((0..3).map(|k| model.shapes.get(blend.sites[k] as usize, mode) * blend.weights[k]).sum())
    };
    let shape: Vec<eigentone_core::Vec3> = mesh.positions.iter().map(|p| at(p).unwrap_or_default()).collect();
    let largest = shape.iter().map(|d| d.length()).fold(0.0, f64::max).max(1e-30);
    Ok(shape.iter().flat_map(|d| (*d / largest).as_vec3().to_array()).flat_map(f32::to_le_bytes).collect())
}

/// How a contact moves that is drawn.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Scrape {
    speed_m_s: Option<f32>,
    force_n: Option<f32>,
}

/// `GET /api/surface/BODY`.
pub async fn surface(
    State(shared): State<Arc<Shared>>,
    Path(body): Path<u64>,
    Query(scrape): Query<Scrape>,
) -> Answer<Json<Value>> {
    let (mut info, surface, rate_hz) = shared.control.ask(move |s| s.surface_info(body)).await??;
    let speed = scrape.speed_m_s.filter(|v| v.is_finite()).unwrap_or(0.3).clamp(0.01, 10.0);
    let force = scrape.force_n.filter(|n| n.is_finite()).unwrap_or(5.0).clamp(0.01, 1e3);
    info["sketch"] = blocking(move || Ok(sketch(&surface, speed, force, rate_hz))).await?;
    Ok(Json(info))
}

/// `GET /api/resonator/BODY`.
pub async fn resonator(State(shared): State<Arc<Shared>>, Path(body): Path<u64>) -> Answer<Json<Value>> {
    Ok(Json(shared.control.ask(move |s| s.resonator_info(body)).await??))
}

/// `GET /api/map/BODY`.
pub async fn map(State(shared): State<Arc<Shared>>, Path(body): Path<u64>) -> Answer<Response> {
    let file = shared.control.ask(move |s| s.map_file(body)).await??;
    let missing = |_| Fault::missing("the picture of this map is gone", "lay another over the body");
    let bytes = blocking(move || std::fs::read(file).map_err(missing)).await?;
    Ok(([(CONTENT_TYPE, "image/png")], bytes).into_response())
}

/// Over which body a picture is laid.
#[derive(Clone, Debug, Deserialize)]
pub struct MapUpload {
    name: String,
    body: u64,
    dark: Option<f64>,
    bright: Option<f64>,
}

/// `POST /api/map`.
pub async fn add_map(
    State(shared): State<Arc<Shared>>,
    Query(upload): Query<MapUpload>,
    _turn: Turn,
    bytes: Bytes,
) -> Answer<Json<Value>> {
    let folders = shared.folders.clone();
    let name = short(&upload.name);
    let picture = blocking(move || uploads::picture(&name, &bytes, &folders)).await?;
    let factors = [upload.dark.unwrap_or(0.0), upload.bright.unwrap_or(1.0)];
    Ok(Json(shared.control.ask(move |s| s.lay_map(upload.body, &picture, factors)).await??))
}

/// A turn at something that takes memory and time. Stands before the body of a request, which is read only when it is one's turn.
pub struct Turn {
    _permit: OwnedSemaphorePermit,
}

impl Turn {
    async fn of(shared: &Shared) -> Answer<Self> {
        let permit = shared.heavy.clone().acquire_owned().await;
        Ok(Self { _permit: permit.map_err(|_| Fault::busy())? })
    }
}

impl FromRequestParts<Arc<Shared>> for Turn {
    type Rejection = Fault;

    async fn from_request_parts(_: &mut Parts, shared: &Arc<Shared>) -> Answer<Self> {
        Self::of(shared).await
    }
}

/// What an uploaded file is.
#[derive(Clone, Debug, Deserialize)]
pub struct Upload {
    name: String,
    material: Option<String>,
    scale: Option<f64>,
    thickness_m: Option<f64>,
}

/// `POST /api/mesh`.
pub async fn add_mesh(
    State(shared): State<Arc<Shared>>,
    Query(upload): Query<Upload>,
    _turn: Turn,
    bytes: Bytes,
) -> Answer<Json<Value>> {
    let folders = shared.folders.clone();
    let about = uploads::MeshUpload {
        name: short(&upload.name),
        material: upload.material,
        scale: upload.scale.unwrap_or(1.0),
        thickness_m: upload.thickness_m,
    };
    let table = blocking(move || uploads::mesh(&about, &bytes, &folders)).await?;
    Ok(Json(add(&shared, table, "add a mesh").await?))
}

/// `POST /api/fit`.
pub async fn fit(
    State(shared): State<Arc<Shared>>,
    Query(upload): Query<Upload>,
    _turn: Turn,
    bytes: Bytes,
) -> Answer<Json<Value>> {
    let folders = shared.folders.clone();
    let name = short(&upload.name);
    let fitted = blocking(move || uploads::recording(&name, &bytes, &folders)).await?;
    let mut answer = add(&shared, fitted.table, "fit a recording").await?;
    answer["warnings"] = fitted.warnings.into();
    answer["report"] = fitted.report;
    Ok(Json(answer))
}

/// Adds a body; the control thread does not wait for its mesh.
async fn add(shared: &Shared, table: toml_edit::Table, label: &'static str) -> Answer<Value> {
    let draft = shared.control.ask(move |s| s.draft(&table)).await?;
    let ready = blocking(move || draft.plan()).await?;
    shared.control.ask(move |s| s.add_ready(ready, label)).await?
}

/// How much of a take.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Length {
    seconds: Option<f64>,
}

/// `GET /api/export/take.wav`.
pub async fn take(State(shared): State<Arc<Shared>>, Query(length): Query<Length>) -> Answer<Response> {
    let _turn = shared.heavy.acquire().await.map_err(|_| Fault::busy())?;
    let take = shared.take.clone();
    let seconds = length.seconds.filter(|s| s.is_finite());
    let bytes = blocking(move || Ok(take.lock().unwrap_or_else(PoisonError::into_inner).wav(seconds))).await?;
    let headers = [(CONTENT_TYPE, "audio/wav"), (CONTENT_DISPOSITION, "attachment; filename=\"take.wav\"")];
    Ok((headers, bytes).into_response())
}

/// Makes a file of a take.
type MakeFile = fn(&Finished) -> Answer<Vec<u8>>;

/// `GET /api/export/recording.wav`, `.take.json` and `.zip`.
pub async fn recording(State(shared): State<Arc<Shared>>, Path(ending): Path<String>) -> Answer<Response> {
    let _turn = shared.heavy.acquire().await.map_err(|_| Fault::busy())?;
    let take = shared.control.ask(|s| s.finished_take()).await??;
    let name = take.name.clone();
    let (kind, make): (&str, MakeFile) = match ending.as_str() {
        "recording.wav" => ("audio/wav", |take| Ok(take.wav())),
        "recording.take.json" => ("application/json", |take| Ok(take.json())),
        "recording.zip" => ("application/zip", |take| take.files().map(|files| zip::pack(&files))),
        _ => return Err(Fault::missing("there is no such export", "see docs/studio-protocol.md")),
    };
    let bytes = blocking(move || make(&take)).await?;
    let safe: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let ending = ending.trim_start_matches("recording");
    let file = format!("attachment; filename=\"{safe}{ending}\"");
    Ok(([(CONTENT_TYPE, kind.to_owned()), (CONTENT_DISPOSITION, file)], bytes).into_response())
}

/// Begins or ends a take.
pub async fn record(shared: &Arc<Shared>, on: bool, settle: bool) -> Answer<Value> {
    if !on {
        return shared.control.ask(|s| s.stop_take()).await?;
    }
    let _turn = shared.heavy.acquire().await.map_err(|_| Fault::busy())?;
    let (text, file) = shared.control.ask(move |s| s.before_take(settle)).await??;
    let (folders, hub) = (shared.folders.clone(), shared.hub.clone());
    hub.event(&json!({ "event": "task", "body": null, "stage": "preparing the take", "share": 0.0 }));
    let prepared = blocking(move || prepare_in_turns(&text, file, &folders)).await;
    hub.event(&json!({ "event": "task", "body": null, "stage": "preparing the take", "share": 1.0 }));
    let prepared = prepared?;
    shared.control.ask(move |s| s.begin_take(prepared)).await?
}

/// `POST /api/export/variations`.
pub async fn variations(State(shared): State<Arc<Shared>>, bytes: Bytes) -> Answer<Response> {
    let wanted: Variations =
        serde_json::from_slice(&bytes).map_err(|e| Fault::bad(short(&e.to_string()), "see docs/studio-protocol.md"))?;
    let _turn = shared.heavy.acquire().await.map_err(|_| Fault::busy())?;
    let body = wanted.body;
    let (model, name, gain, rate_hz) = shared.control.ask(move |s| s.sounding_model(body)).await??;
    let files = blocking(move || variations::render(&wanted, &model, &name, gain, rate_hz).map(|f| zip::pack(&f)));
    let headers = [(CONTENT_TYPE, "application/zip"), (CONTENT_DISPOSITION, "attachment; filename=\"variations.zip\"")];
    Ok((headers, files.await?).into_response())
}

/// `POST /api/blow.wav`.
pub async fn blow(State(shared): State<Arc<Shared>>, bytes: Bytes) -> Answer<Response> {
    let wanted: BlowRequest =
        serde_json::from_slice(&bytes).map_err(|e| Fault::bad(short(&e.to_string()), "see docs/studio-protocol.md"))?;
    let _turn = shared.heavy.acquire().await.map_err(|_| Fault::busy())?;
    let body = wanted.body;
    let (model, _, gain, rate_hz) = shared.control.ask(move |s| s.sounding_model(body)).await??;
    let sound = blocking(move || blow::render(&wanted, &model, gain, rate_hz)).await?;
    let file = wav(sound.iter().copied(), sound.len(), 1, rate_hz as u32);
    Ok(([(CONTENT_TYPE, "audio/wav")], file).into_response())
}

/// `GET /api/scene.toml`.
pub async fn scene_text(State(shared): State<Arc<Shared>>) -> Answer<Response> {
    let text = shared.control.ask(|s| s.scene_text()).await?;
    let headers = [
        (CONTENT_TYPE, "application/toml; charset=utf-8"),
        (CONTENT_DISPOSITION, "attachment; filename=\"scene.toml\""),
    ];
    Ok((headers, text).into_response())
}

/// `POST /api/scene`.
pub async fn replace_scene(State(shared): State<Arc<Shared>>, turn: Turn, text: String) -> Answer<Json<Value>> {
    open_text(&shared, text, None, turn).await?;
    Ok(Json(json!({})))
}

/// Opens a scene by its name.
pub async fn open_named(shared: &Arc<Shared>, name: &str) -> Answer<Value> {
    let turn = Turn::of(shared).await?;
    if let Some(file) = name.strip_prefix("./").map(str::to_owned) {
        let home = shared.folders.home.clone();
        let (text, path) = blocking(move || own_files::read(&home, &file)).await?;
        open_text(shared, text, Some(path), turn).await?;
        return Ok(json!({}));
    }
    if name != "autosave" {
        open_text(shared, shelf::scene(name)?.to_owned(), None, turn).await?;
        return Ok(json!({}));
    }
    let (folders, file) = shared.control.ask(|s| s.places()).await?;
    let kept = folders.recovery(file.as_deref());
    let text =
        blocking(move || plain::read(&kept).ok_or_else(|| Fault::missing("there is no unsaved work", ""))).await?;
    open_text(shared, text, file, turn).await?;
    Ok(json!({}))
}

async fn open_text(shared: &Arc<Shared>, text: String, file: Option<std::path::PathBuf>, _turn: Turn) -> Answer<()> {
    let (folders, hub) = (shared.folders.clone(), shared.hub.clone());
    hub.event(&json!({ "event": "task", "body": null, "stage": "opening", "share": 0.0 }));
    let prepared = blocking(move || prepare(&text, file, &folders)).await;
    hub.event(&json!({ "event": "task", "body": null, "stage": "opening", "share": 1.0 }));
    let prepared = prepared?;
    shared.control.ask(move |s| s.open(prepared)).await?
}

/// Does something that takes time where nobody waits for it.
async fn blocking<T: Send + 'static>(job: impl FnOnce() -> Answer<T> + Send + 'static) -> Answer<T> {
    tokio::task::spawn_blocking(job).await.map_err(|_| Fault::failed("this broke down on the way", ""))?
}

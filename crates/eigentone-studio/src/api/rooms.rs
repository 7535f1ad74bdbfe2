//! The acoustic field over HTTP, and bakes.

use super::{Answer, BINARY, blocking, mesh_bytes};
use crate::control::Control;
use crate::fault::Fault;
use crate::field::Shown;
use crate::hub::Hub;
use crate::request::short;
use crate::server::Shared;
use crate::session::rooms::{BakeOrder, Switches, kept_file, no_field};
use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use eigentone_core::Vec3;
use eigentone_core::acoustics::Field;
use eigentone_scene::bake::job::{self, Options, Outcome, Progress};
use eigentone_scene::bake::{self, Estimate, Prepared};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Bakes that would take longer than this on one core belong into a terminal, in s.
const LONGEST_BAKE_S: f64 = 3600.0;

/// Memory that a bake may take, in bytes.
const LARGEST_BAKE: usize = 2 << 30;

/// `GET /api/field`.
pub async fn field(State(shared): State<Arc<Shared>>) -> Answer<Json<Value>> {
    let view = shared.control.ask(|s| s.field_view()).await?;
    let told = match view {
        Some(view) => blocking(move || Ok(view.describe())).await?,
        None => Value::Null,
    };
    Ok(Json(json!({ "field": told })))
}

/// Which slice.
#[derive(Clone, Debug, Deserialize)]
pub struct SliceAsked {
    parameter: String,
    height_m: f64,
    source: String,
    step_m: Option<f64>,
}

/// `GET /api/field/slice`.
pub async fn slice(State(shared): State<Arc<Shared>>, Query(asked): Query<SliceAsked>) -> Answer<Response> {
    let shown = Shown::named(&asked.parameter)?;
    let source = point(&asked.source)?;
    let view = shared.control.ask(|s| s.field_view()).await?.ok_or_else(no_field)?;
    let _turn = shared.heavy.acquire().await.map_err(|_| Fault::busy())?;
    let slice = blocking(move || view.slice(shown, source, asked.height_m, asked.step_m)).await?;
    Ok((BINARY, slice.to_bytes()).into_response())
}

/// `x,y,z`.
fn point(text: &str) -> Answer<Vec3> {
    let bad = || Fault::bad(format!("`{}` is no place", short(text)), "write it as x,y,z in metres");
    let numbers: Vec<f64> = text.split(',').map(|x| x.trim().parse().map_err(|_| bad())).collect::<Answer<_>>()?;
    let [x, y, z] = <[f64; 3]>::try_from(numbers).map_err(|_| bad())?;
    Some(Vec3::new(x, y, z)).filter(|p| p.is_finite()).ok_or_else(bad)
}

/// `GET /api/field/walls`.
pub async fn walls(State(shared): State<Arc<Shared>>) -> Answer<Response> {
    let scene = shared.control.ask(|s| s.scene_with_rooms()).await??;
    let _turn = shared.heavy.acquire().await.map_err(|_| Fault::busy())?;
    let walls = blocking(move || Ok(bake::walls(&scene)?)).await?;
    Ok((BINARY, mesh_bytes(&walls.mesh, 1.0)).into_response())
}

/// What a bake would take.
pub async fn estimate(shared: &Shared) -> Answer<Value> {
    let scene = shared.control.ask(|s| s.scene_with_rooms()).await??;
    let _turn = shared.heavy.acquire().await.map_err(|_| Fault::busy())?;
    let prepared = blocking(move || Ok(bake::prepare(&scene)?)).await?;
    let Estimate { probes, cell_m, bytes_per_probe, seconds_one_core, stored_bytes, .. } = prepared.estimate;
    Ok(json!({
        "probes": probes, "cell_m": cell_m, "seconds": seconds_one_core, "memory_bytes": bytes_per_probe,
        "stored_bytes": stored_bytes, "warnings": prepared.warnings, "allowed": too_much(&prepared).is_none(),
    }))
}

/// Why rooms are not baked here.
fn too_much(prepared: &Prepared) -> Option<Fault> {
    let e = &prepared.estimate;
    (e.seconds_one_core > LONGEST_BAKE_S || e.bytes_per_probe > LARGEST_BAKE).then(|| {
        let (hours, gigabytes) = (e.seconds_one_core / 3600.0, e.bytes_per_probe as f64 / 1e9);
        let hint = "save the scene and run `eigentone bake SCENE.toml -o SCENE.field.safetensors` in a terminal: the studio finds it there";
        Fault::bad(format!("this bake would take about {hours:.1} hours and {gigabytes:.1} GB"), hint)
    })
}

/// Begins a bake; answers when it is under way.
pub async fn bake(shared: &Shared) -> Answer<Value> {
    let order = shared.control.ask(|s| s.order_bake()).await??;
    let number = order.number;
    let begun = begin(shared, order).await;
    if let Err(fault) = &begun {
        let fault = fault.clone();
        shared.control.ask(move |s| s.end_bake(number, Err(fault))).await?;
    }
    begun
}

async fn begin(shared: &Shared, order: BakeOrder) -> Answer<Value> {
    let BakeOrder { number, scene, folders, switches, turn: only } = order;
    let turn = shared.heavy.acquire().await.map_err(|_| Fault::busy())?;
    let ready = move || {
        let prepared = bake::prepare(&scene)?;
        let output = kept_file(&folders, &prepared.hash)?;
        too_much(&prepared).map_or(Ok((prepared, output)), Err)
    };
    let (prepared, output) = blocking(ready).await?;
    drop(turn);
    let answer = json!({ "probes": prepared.probes.len(), "seconds": prepared.estimate.seconds_one_core });
    let (control, hub) = (shared.control.clone(), shared.hub.clone());
    let work = Work { prepared, output, switches, hub };
    let thread = std::thread::Builder::new().name("eigentone-bake".to_owned()).spawn(move || {
        let only = only.lock().unwrap_or_else(PoisonError::into_inner);
        let result = work.run();
        drop(only);
        end(&control, number, result);
    });
    let thread = thread.map_err(|e| Fault::failed(format!("no thread can be had for it: {e}"), ""))?;
    shared.control.ask(move |s| s.own_bake(number, thread)).await?;
    Ok(answer)
}

/// The control thread may have much to do at this moment, and this must not be lost.
fn end(control: &Control, number: u64, result: Result<Option<Arc<Field>>, Fault>) {
    while !control.is_over() {
        let result = result.clone();
        if control.tell(move |s| s.end_bake(number, result)).is_ok() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// A bake on its own thread.
struct Work {
    prepared: Prepared,
    output: PathBuf,
    switches: Switches,
    hub: Arc<Hub>,
}

impl Work {
    /// Bakes with one thread of low priority. `None` if it was cancelled: then nothing is left of it.
    fn run(&self) -> Result<Option<Arc<Field>>, Fault> {
        eigentone_world::step_back();
        let options = Options {
            // What a studio that was killed has finished need not be done again.
            resume: true,
            threads: Some(1),
            memory_bytes: Some(LARGEST_BAKE),
            pause: Some(self.switches.pause.clone()),
            ..Options::default()
        };
        let start = Instant::now();
        let tell = |p: Progress| {
            let done = (p.finished - p.resumed) as f64;
            let left = (done > 0.0).then(|| start.elapsed().as_secs_f64() / done * (p.of - p.finished) as f64);
            let share = p.finished as f64 / p.of.max(1) as f64;
            self.hub.event(&json!({
                "event": "bake", "stage": "baking", "finished": p.finished, "of": p.of, "share": share,
                "seconds_left": left,
            }));
        };
        let outcome = job::bake(&self.prepared, &self.output, &options, &self.switches.stop, &tell);
        let stopped = self.switches.stop.load(Relaxed);
        if !matches!(outcome, Ok(Outcome::Done { .. })) || stopped {
            let _ = std::fs::remove_dir_all(job::parts_folder(&self.output));
        }
        match outcome? {
            Outcome::Stopped { .. } => Ok(None),
            Outcome::Done { .. } if stopped => Ok(None),
            Outcome::Done { .. } => {
                let field = eigentone_io::read_field(&self.output).map_err(|e| Fault::failed(e.to_string(), ""))?;
                Ok(Some(Arc::new(field)))
            }
        }
    }
}

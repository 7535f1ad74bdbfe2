//! A take played again, without a page: the same requests before the same turns.

use crate::fault::Fault;
use crate::hub::Hub;
use crate::request::Request;
use crate::session::{Folders, Session, prepare_in_turns};
use crate::take_file::{Input, LARGEST, TakeFile, digest};
use eigentone_modal::Progress;
use eigentone_scene::scene::cache::ModelCache;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Notify;

/// The sound of a take.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Left, right, …
    pub samples: Vec<f32>,
    /// Samples per second.
    pub sample_rate_hz: u32,
    /// Whether it is what was recorded, to the last bit.
    pub same: bool,
    /// What the take says of differences, and what was found now.
    pub differences: Vec<String>,
    /// Files that the take names and that are not beside it.
    pub missing: Vec<PathBuf>,
}

/// Plays a take's file again. Files that its scene reads are looked for beside it.
///
/// # Errors
/// If it is no take, or its scene cannot be put on stage.
pub fn render_take(file: &Path, cache: ModelCache, progress: &Progress<'_>) -> Result<Replayed, Fault> {
    let failed = |e: std::io::Error| Fault::failed(format!("{}: {e}", file.display()), "");
    if std::fs::metadata(file).map_err(failed)?.len() > LARGEST {
        return Err(Fault::bad(format!("{} is too large for a take", file.display()), ""));
    }
    let take = TakeFile::read(&std::fs::read(file).map_err(failed)?)?;
    let folder = file.parent().filter(|f| *f != Path::new("")).unwrap_or(Path::new("."));
    let missing: Vec<PathBuf> = take.files.iter().map(|name| folder.join(name)).filter(|f| !f.is_file()).collect();
    let folders = Folders::temporary(cache, folder.to_owned()).map_err(failed)?;
    let prepared = prepare_in_turns(&take.scene, Some(folder.join(&take.scene_file)), &folders)?;
    let (mut session, _blocks) =
        Session::new(prepared, folders, Arc::new(Hub::default()), Arc::new(Notify::new())).map_err(failed)?;
    session.number_as(&take)?;
    let samples = play(&mut session, &take, progress)?;
    let same = digest(&samples) == take.sha256;
    let mut differences = take.differences.clone();
    if !same {
        let version = env!("CARGO_PKG_VERSION");
        differences.push(if take.engine == version {
            "the sound is not bit for bit what was recorded: another processor rounds otherwise, or a file has changed"
                .to_owned()
        } else {
            format!(
                "the sound is not bit for bit what was recorded: that was version {}, this is {version}",
                take.engine
            )
        });
    }
    Ok(Replayed { samples, sample_rate_hz: take.sample_rate_hz as u32, same, differences, missing })
}

fn play(session: &mut Session, take: &TakeFile, progress: &Progress<'_>) -> Result<Vec<f32>, Fault> {
    let wanted = 2 * take.frames as usize;
    session.keep_sound();
    let mut inputs = take.inputs.iter().peekable();
    for turn in 0..take.turns {
        while let Some(input) = inputs.next_if(|input| input.turn <= turn) {
            apply(session, input)?;
        }
        session.turn(false);
        session.drain_events();
        if turn % 64 == 0 {
            progress.report("rendering", turn as f64 / take.turns as f64);
        }
        if session.kept_frames() as u64 > take.frames {
            break;
        }
    }
    let mut samples = session.kept_sound();
    samples.truncate(wanted);
    Ok(samples)
}

fn apply(session: &mut Session, input: &Input) -> Result<(), Fault> {
    if let Some(request) = &input.request {
        let request = Request::deserialize(request).map_err(|e| {
            Fault::bad(format!("a request of the take is not known: {e}"), "use the program that wrote it")
        })?;
        if matches!(request, Request::Save { .. }) {
            return Err(Fault::bad("a take does not save files", "record it anew"));
        }
        // What was refused when it was recorded is refused again, and has the same effect.
        let _ = session.request(request);
    }
    if let Some(body) = &input.body {
        let text = crate::document::SceneText::parse(body)?;
        let table = text.body(0).cloned().ok_or_else(|| Fault::bad("a body of the take is none", "record it anew"))?;
        let ready = session.draft(&table).plan()?;
        session.add(ready, None, "add")?;
    }
    Ok(())
}

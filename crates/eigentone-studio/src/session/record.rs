//! A take: what was heard, the scene it began with, and all that was asked for since, by the turn in which it took effect.

use super::files::Staged;
use super::{Entry, Prepared, Session};
use crate::audio::InnerBlock;
use crate::fault::Fault;
use crate::request::Request;
use crate::session::adding::Ready;
use crate::take::{LONGEST_S, wav};
use crate::take_file::{Input, MAX_INPUTS, TakeFile, digest};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Memory that the inputs of a take may use, in bytes.
const MAX_INPUT_BYTES: usize = 32 << 20;

/// Files of a scene that go with its take, all together, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// A take that is being recorded.
#[derive(Debug)]
pub struct Recording {
    file: TakeFile,
    /// Left, right, … as it was rendered.
    samples: Vec<f32>,
    /// Frames before these are the latency of the mix.
    skip: usize,
    max: usize,
    input_bytes: usize,
    /// Blocks that nobody took, at the beginning.
    dropped: u64,
}

impl Recording {
    /// Keeps a block.
    pub fn hear(&mut self, block: &InnerBlock) {
        let skipped = self.skip.min(block.len() / 2);
        self.skip -= skipped;
        self.samples.extend(&block[2 * skipped..]);
    }

    /// Whether it must end here.
    pub fn is_full(&self) -> bool {
        self.samples.len() >= self.max || self.file.inputs.len() >= MAX_INPUTS || self.input_bytes >= MAX_INPUT_BYTES
    }

    fn note(&mut self, input: Input, bytes: usize) {
        self.input_bytes += bytes;
        self.file.inputs.push(input);
    }

    fn seconds(&self) -> f64 {
        self.samples.len() as f64 / 2.0 / self.file.sample_rate_hz
    }
}

/// A take that is complete.
#[derive(Debug)]
pub struct Finished {
    file: TakeFile,
    samples: Vec<f32>,
    /// What its files are called, without ending.
    pub name: String,
    /// Files that the scene reads: by the name that it has for them, and where they are.
    files: Vec<(String, PathBuf)>,
}

impl Finished {
    /// The sound, as 32-bit floats.
    pub fn wav(&self) -> Vec<u8> {
        wav(self.samples.iter().copied(), self.samples.len(), 2, self.file.sample_rate_hz as u32)
    }

    /// What it was made of.
    pub fn json(&self) -> Vec<u8> {
        let file = TakeFile { sha256: digest(&self.samples), ..self.file.clone() };
        file.to_bytes()
    }

    /// All of it: sound, take file, and the files that its scene reads.
    ///
    /// # Errors
    /// If a file that the scene reads cannot be read any more, or they are too large.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, Fault> {
        let mut all =
            vec![(format!("{}.wav", self.name), self.wav()), (format!("{}.take.json", self.name), self.json())];
        let mut left = MAX_FILE_BYTES;
        for (name, path) in &self.files {
            let failed = |e: std::io::Error| Fault::failed(format!("{}: {e}", path.display()), "export the WAV alone");
            let size = std::fs::metadata(path).map_err(failed)?.len();
            let large = || Fault::bad("the scene's files are too large for one ZIP", "export the WAV alone");
            left = left.checked_sub(size).ok_or_else(large)?;
            all.push((name.clone(), std::fs::read(path).map_err(failed)?));
        }
        Ok(all)
    }
}

/// Numbers of bodies by their names, and what pages know of them.
pub type Numbers = BTreeMap<String, (u64, Entry)>;

impl Session {
    /// The numbers that bodies have now.
    pub(super) fn numbers(&self) -> Numbers {
        let name = |entry: &Entry| self.world.body(entry.key).map(|b| b.name.clone());
        self.entries.iter().filter_map(|(id, entry)| Some((name(entry)?, (*id, entry.clone())))).collect()
    }

    /// Gives bodies their numbers: those that were there before keep theirs.
    pub(super) fn enter_named(&mut self, staged: &[Staged], mut numbers: Numbers) {
        for one in staged {
            let name = self.world.body(one.key).map(|b| b.name.clone()).unwrap_or_default();
            match numbers.remove(&name) {
                Some((id, before)) => {
                    self.enter_as(id, one);
                    if let Some(entry) = self.entries.get_mut(&id) {
                        entry.mesh_version = before.mesh_version + 1;
                        entry.model_version = before.model_version + 1;
                    }
                }
                None => {
                    self.enter(one);
                }
            }
        }
    }

    /// What the scene is now, and where: what a take begins with.
    ///
    /// # Errors
    /// If bodies cannot begin where they are.
    pub fn before_take(&mut self, settle: bool) -> Result<(String, Option<PathBuf>), Fault> {
        if settle {
            self.settle(None)?;
        }
        Ok((self.text.text(), self.file.clone()))
    }

    /// Begins a take, with the scene put on stage anew.
    ///
    /// # Errors
    /// If the scene has changed since it was asked for.
    pub fn begin_take(&mut self, prepared: Prepared) -> Result<Value, Fault> {
        if prepared.text.text() != self.text.text() || prepared.file != self.file {
            return Err(Fault::bad("the scene was changed while the take was being prepared", "record again"));
        }
        let budget_us = self.world.settings().budget_us;
        let carried = self.carried();
        (self.playing, self.speed) = (true, 1.0);
        self.install_with(prepared, true);
        self.history.end_gesture();
        let turns = self.turns.as_ref().ok_or_else(|| Fault::failed("a take is rendered in turns", ""))?;
        let rate_hz = self.rate_hz();
        let mut differences = Vec::new();
        if let Some(us) = budget_us {
            differences.push(format!(
                "the budget of {us} µs per block, which depends on the machine, does not count in a take"
            ));
        }
        let recording = Recording {
            skip: turns.latency(),
            max: 2 * (LONGEST_S * rate_hz) as usize,
            samples: Vec::new(),
            input_bytes: 0,
            dropped: self.audio.pace().dropped(),
            file: TakeFile {
                sample_rate_hz: rate_hz,
                scene_file: self.scene_file_name(),
                scene: self.text.text(),
                bodies: self.staged_numbers(),
                next_body: self.next_id,
                next_grab: self.grab_count,
                differences,
                ..TakeFile::default()
            },
        };
        self.finished = None;
        self.recording = Some(recording);
        for (request, raw) in carried {
            self.asked(request, &raw)?;
        }
        self.tell_take();
        Ok(self.take_json())
    }

    /// What is heard now and not in the scene's file: where the listener was led, hail by hand, modes that are soloed.
    fn carried(&self) -> Vec<(Request, Value)> {
        let mut carried = Vec::new();
        if self.listener_led {
            let pose = self.world.listener();
            let (position, look) = (pose.position.to_array(), pose.look().to_array());
            let up = (pose.rotation * glam::DVec3::Z).to_array();
            carried.push(json!({ "do": "listener", "position": position, "look": look, "up": up }));
        }
        if self.world.hail().is_some() && !self.hail.is_own() {
            let mut hail = self.hail.to_json(&self.world);
            hail["do"] = "hail".into();
            carried.push(hail);
        }
        for (id, entry) in &self.entries {
            let soloed = entry.modes.iter().filter(|(_, state)| state.solo).map(|(mode, _)| *mode);
            carried.extend(soloed.map(|mode| json!({ "do": "mode", "body": id, "mode": mode, "solo": true })));
        }
        let read = |raw: Value| Some((Request::deserialize(&raw).ok()?, raw));
        carried.into_iter().filter_map(read).collect()
    }

    /// Ends a take, if one is being recorded.
    pub fn end_take(&mut self) {
        let Some(mut recording) = self.recording.take() else { return };
        let file = &mut recording.file;
        file.turns = self.turns.as_ref().map_or(0, |turns| turns.count);
        file.frames = recording.samples.len() as u64 / 2;
        let lost = self.audio.pace().dropped().saturating_sub(recording.dropped);
        if lost > 0 {
            file.differences
                .push(format!("{lost} blocks of 128 samples are in the take, but were lost on the way to the page"));
        }
        let files = self.files_of_scene();
        file.files = files.iter().map(|(name, _)| name.clone()).collect();
        let stem = Path::new(&file.scene_file).file_stem().map(|s| s.to_string_lossy().into_owned());
        let name = stem.filter(|s| !s.is_empty()).unwrap_or_else(|| "take".to_owned());
        self.finished = Some(Arc::new(Finished { file: recording.file, samples: recording.samples, name, files }));
        self.tell_take();
    }

    /// Ends the take that is being recorded.
    ///
    /// # Errors
    /// If there is none.
    pub fn stop_take(&mut self) -> Result<Value, Fault> {
        if self.recording.is_none() {
            return Err(Fault::bad("nothing is being recorded", "begin with {\"do\":\"record\",\"on\":true}"));
        }
        self.end_take();
        Ok(self.take_json())
    }

    /// The last take that was completed.
    ///
    /// # Errors
    /// If there is none.
    pub fn finished_take(&self) -> Result<Arc<Finished>, Fault> {
        self.finished.clone().ok_or_else(|| Fault::missing("no take has been recorded", "record one first"))
    }

    /// Gives bodies the numbers that a take has for them.
    ///
    /// # Errors
    /// If there are not as many as the take has.
    pub(crate) fn number_as(&mut self, take: &TakeFile) -> Result<(), Fault> {
        let old = std::mem::take(&mut self.entries);
        if old.len() != take.bodies.len() {
            let error = format!("the take has {} bodies, and its scene {}", take.bodies.len(), old.len());
            return Err(Fault::bad(error, "record it anew"));
        }
        self.by_key.clear();
        for (entry, id) in old.into_values().zip(&take.bodies) {
            self.by_key.insert(entry.key, *id);
            let name = self.world.body(entry.key).map(|b| b.name.clone()).unwrap_or_default();
            self.world.set_label(entry.key, &name, *id)?;
            self.entries.insert(*id, entry);
        }
        if self.entries.len() != take.bodies.len() {
            return Err(Fault::bad("a take with two bodies of one number", "record it anew"));
        }
        (self.next_id, self.grab_count) = (take.next_body, take.next_grab);
        Ok(())
    }

    /// Keeps what is rendered from now on.
    pub(crate) fn keep_sound(&mut self) {
        let skip = self.turns.as_ref().map_or(0, super::turns::Turns::latency);
        let max = 4 * (LONGEST_S * self.rate_hz()) as usize;
        let file = TakeFile { sample_rate_hz: self.rate_hz(), ..TakeFile::default() };
        self.recording = Some(Recording { file, samples: Vec::new(), skip, max, input_bytes: 0, dropped: 0 });
    }

    /// Frames kept so far.
    pub(crate) fn kept_frames(&self) -> usize {
        self.recording.as_ref().map_or(0, |r| r.samples.len() / 2)
    }

    /// What was kept.
    pub(crate) fn kept_sound(&mut self) -> Vec<f32> {
        self.recording.take().map(|r| r.samples).unwrap_or_default()
    }

    /// Passes over what the world tells of itself.
    pub(crate) fn drain_events(&mut self) {
        self.world.drain_events().for_each(drop);
    }

    /// Where the take stands, for pages.
    pub(super) fn take_json(&self) -> Value {
        let (file, seconds) = match (&self.recording, &self.finished) {
            (Some(recording), _) => (Some(&recording.file), recording.seconds()),
            (None, Some(take)) => (Some(&take.file), take.samples.len() as f64 / 2.0 / take.file.sample_rate_hz),
            (None, None) => (None, 0.0),
        };
        json!({
            "recording": self.recording.is_some(),
            "ready": self.finished.is_some(),
            "seconds": seconds,
            "inputs": file.map_or(0, |f| f.inputs.len()),
            "differences": file.map(|f| f.differences.clone()).unwrap_or_default(),
        })
    }

    pub(super) fn tell_take(&mut self) {
        let mut event = self.take_json();
        event["event"] = "take".into();
        self.hub.event(&event);
    }

    /// Does what a page asks, and keeps it if a take is being recorded: also what is refused, for it may have been done in part.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn asked(&mut self, request: Request, raw: &Value) -> Result<Value, Fault> {
        if is_heard(&request) {
            self.note(
                |turn, time_s| Input { turn, time_s, request: Some(raw.clone()), body: None },
                || raw.to_string().len(),
            );
        }
        self.request(request)
    }

    /// Adds a body of a file that was dropped on the page.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn add_ready(&mut self, ready: Ready, label: &str) -> Result<Value, Fault> {
        let table = self.text.alone(ready.table());
        let bytes = table.len();
        self.note(|turn, time_s| Input { turn, time_s, request: None, body: Some(table) }, || bytes);
        self.add(ready, None, label)
    }

    fn note(&mut self, input: impl FnOnce(u64, f64) -> Input, bytes: impl FnOnce() -> usize) {
        let time_s = self.world.time_s();
        let turn = self.turns.as_ref().map_or(0, |turns| turns.count);
        if let Some(recording) = &mut self.recording {
            recording.note(input(turn, time_s), bytes());
        }
    }

    /// Something is heard from now on that a take file cannot hold.
    pub(super) fn differ(&mut self, what: &str) {
        if let Some(recording) = &mut self.recording {
            let at_s = recording.seconds();
            recording.file.differences.push(format!("after {at_s:.2} s {what}, which rendering does not know of"));
        }
    }

    fn scene_file_name(&self) -> String {
        let name = self.file.as_ref().and_then(|f| f.file_name()).map(|f| f.to_string_lossy().into_owned());
        name.unwrap_or_else(|| "untitled.toml".to_owned())
    }

    /// Numbers of bodies in the order in which the scene has put them on stage.
    fn staged_numbers(&self) -> Vec<u64> {
        self.world.bodies().filter_map(|(key, _)| self.by_key.get(&key).copied()).collect()
    }

    /// Files that the scene reads, by the names that it has for them.
    fn files_of_scene(&self) -> Vec<(String, PathBuf)> {
        let folder = &self.scene.folder;
        let name = |path: &Path| {
            let inside = path.strip_prefix(folder).or_else(|_| path.strip_prefix(&self.folders.session)).ok()?;
            let plain = inside.components().all(|c| matches!(c, std::path::Component::Normal(_)));
            plain.then(|| inside.to_string_lossy().replace('\\', "/"))
        };
        let Ok(mut scene) = eigentone_scene::Scene::parse(&self.text.text(), folder, "the take") else {
            return Vec::new();
        };
        scene.file = folder.join(self.scene_file_name());
        scene.more_folders = vec![self.folders.session.clone()];
        let mut files: Vec<(String, PathBuf)> = scene
            .inputs()
            .into_iter()
            .filter(|path| path.is_file() && *path != scene.file)
            .filter_map(|path| Some((name(&path)?, path)))
            .collect();
        files.sort();
        files.dedup();
        files
    }
}

/// Whether a request can change what is heard or how things move.
fn is_heard(request: &Request) -> bool {
    !matches!(
        request,
        Request::Save { .. }
            | Request::Why { .. }
            | Request::Modes { .. }
            | Request::QueryField { .. }
            | Request::PauseBake { .. }
            | Request::CancelBake
    )
}

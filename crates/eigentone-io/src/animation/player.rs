//! A web page that plays an animation to its sound, in one file without any other.
//!
//! The page holds the sound as a data URI, a description of the scene as JSON, and the frames as Base64 in blocks that the browser decodes when it
//! needs them. In a block, little-endian, frame by frame and moving mesh by moving mesh: the low corner of the box around the mesh and the size of
//! that box as `f32` x, y, z, then x, y, z of each vertex as `u16` from 0 (low) to 65535 (high).

use super::{Mesh, Recorded, scratch::BodyFrame};
use crate::{
    atomic::{WriteSeek, write_atomic},
    base64::{self, Base64},
    error::WriteError,
};
use serde_json::{Value, json};
use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

const PAGE: &str = include_str!("player/page.html");
const STYLE: &str = include_str!("player/style.css");
const SCRIPTS: [&str; 3] =
    [include_str!("player/picture.js"), include_str!("player/flat.js"), include_str!("player/player.js")];

/// Bytes of frames in a block, about: the browser decodes one within a few milliseconds.
const BLOCK_BYTES: usize = 1 << 20;

/// Columns of the waveform: as many as a wide screen shows.
const COLUMNS: usize = 2048;

pub(super) fn write(recorded: &Recorded, path: &Path, wav: &Path, title: &str) -> Result<(), WriteError> {
    let impossible = |reason: String| WriteError::Impossible { file: path.to_owned(), reason };
    if recorded.frames == 0 {
        return Err(impossible("there are no frames: add some before the animation is finished".to_owned()));
    }
    let unreadable = |e: String| impossible(format!("its sound {} cannot be read: {e}", wav.display()));
    let waveform = waveform(wav).map_err(|e| unreadable(e.to_string()))?;
    let mut sound = File::open(wav).map_err(|e| unreadable(e.to_string()))?;
    let frames_per_block = (BLOCK_BYTES / recorded.page_frame_bytes().max(1)).clamp(1, recorded.frames);
    write_atomic(path, |w| {
        let scene = recorded.page_scene(frames_per_block, &waveform)?;
        let mut rest = PAGE;
        while let Some((before, after)) = rest.split_once("{{") {
            w.write_all(before.as_bytes())?;
            let (slot, after) = after.split_once("}}").unwrap_or((after, ""));
            match slot {
                "title" => w.write_all(escape(title).as_bytes())?,
                "style" => w.write_all(STYLE.as_bytes())?,
                // A name must not end the element that it stands in.
                "scene" => w.write_all(scene.to_string().replace('<', "\\u003c").as_bytes())?,
                "script" => SCRIPTS.iter().try_for_each(|script| w.write_all(script.as_bytes()))?,
                "sound" => {
                    let mut coded = Base64::new(&mut *w);
                    io::copy(&mut sound, &mut coded)?;
                    coded.finish()?;
                }
                "frames" => recorded.write_blocks(w, frames_per_block)?,
                _ => {}
            }
            rest = after;
        }
        w.write_all(rest.as_bytes())
    })
}

impl Recorded {
    /// Bytes of a frame in the page.
    fn page_frame_bytes(&self) -> usize {
        self.meshes.iter().filter(|m| m.body.is_some()).map(|m| 24 + 6 * m.positions.len()).sum()
    }

    /// What the page knows about the scene besides its frames.
    fn page_scene(&self, frames_per_block: usize, waveform: &[u8]) -> io::Result<Value> {
        let (low, high) = self.bounds()?;
        let meshes: Result<Vec<Value>, io::Error> = self.meshes.iter().map(page_mesh).collect();
        Ok(json!({
            "frames": self.frames, "framesPerSecond": self.frames_per_s, "framesPerBlock": frames_per_block,
            "low": low, "high": high, "meshes": meshes?, "waveform": base64::encode(waveform),
        }))
    }

    /// The box around everything that moves, at any time; around everything if nothing does.
    fn bounds(&self) -> io::Result<([f32; 3], [f32; 3])> {
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        let mut frame = BodyFrame::default();
        let bodies = self.meshes.iter().filter_map(|m| m.body).count();
        for body in 0..bodies {
            for number in 0..self.frames {
                self.scratch.read(body, number, &mut frame)?;
                frame.positions.iter().for_each(|&p| extend(&mut low, &mut high, p));
            }
        }
        if bodies == 0 {
            self.meshes.iter().flat_map(|m| &m.positions).for_each(|&p| extend(&mut low, &mut high, p));
        }
        if low[0] > high[0] {
            return Ok(([-1.0; 3], [1.0; 3]));
        }
        Ok((low, high))
    }

    fn write_blocks(&self, w: &mut dyn WriteSeek, frames_per_block: usize) -> io::Result<()> {
        let bodies = self.meshes.iter().filter_map(|m| m.body).count();
        let mut frame = BodyFrame::default();
        for start in (0..self.frames).step_by(frames_per_block) {
            w.write_all(b"<script type=\"text/plain\" class=\"frames\">")?;
            let mut coded = Base64::new(&mut *w);
            for number in start..self.frames.min(start + frames_per_block) {
                for body in 0..bodies {
                    self.scratch.read(body, number, &mut frame)?;
                    write_positions(&mut coded, &frame.positions)?;
                }
            }
            coded.finish()?;
            w.write_all(b"</script>\n")?;
        }
        Ok(())
    }
}

fn page_mesh(mesh: &Mesh) -> io::Result<Value> {
    let corners: Vec<u8> = mesh.triangles.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    let mut value = json!({
        "name": mesh.name, "color": mesh.color, "vertices": mesh.positions.len(), "moves": mesh.body.is_some(),
        "corners": base64::encode(&corners),
    });
    if mesh.body.is_none() {
        let mut rest = Vec::new();
        write_positions(&mut rest, &mesh.positions)?;
        value["rest"] = json!(base64::encode(&rest));
    }
    Ok(value)
}

/// The box and the positions in it in 16 bits.
fn write_positions(w: &mut impl Write, positions: &[[f32; 3]]) -> io::Result<()> {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    positions.iter().for_each(|&p| extend(&mut low, &mut high, p));
    let size = [0, 1, 2].map(|k| high[k] - low[k]);
    low.iter().chain(&size).try_for_each(|x| w.write_all(&x.to_le_bytes()))?;
    for p in positions {
        for k in 0..3 {
            let share = if size[k] > 0.0 { (p[k] - low[k]) / size[k] } else { 0.0 };
            w.write_all(&((share * 65535.0).round() as u16).to_le_bytes())?;
        }
    }
    Ok(())
}

fn extend(low: &mut [f32; 3], high: &mut [f32; 3], p: [f32; 3]) {
    for k in 0..3 {
        low[k] = low[k].min(p[k]);
        high[k] = high[k].max(p[k]);
    }
}

/// Lowest and highest sample of each column as `i8`, with the loudest at ±127. Read as a stream.
fn waveform(wav: &Path) -> Result<Vec<u8>, hound::Error> {
    let mut reader = hound::WavReader::open(wav)?;
    let spec = reader.spec();
    let samples = reader.len() as usize;
    let columns = COLUMNS.min(samples);
    let mut extremes = vec![[0f32; 2]; columns];
    let mut take = |number: usize, x: f32| {
        let [low, high] = &mut extremes[number * columns / samples];
        (*low, *high) = (low.min(x), high.max(x));
    };
    match spec.sample_format {
        hound::SampleFormat::Float => {
            reader.samples::<f32>().enumerate().try_for_each(|(n, x)| x.map(|x| take(n, x)))?;
        }
        hound::SampleFormat::Int => {
            reader.samples::<i32>().enumerate().try_for_each(|(n, x)| x.map(|x| take(n, x as f32)))?;
        }
    }
    let loudest = extremes.iter().flatten().fold(f32::MIN_POSITIVE, |m, x| m.max(x.abs()));
    Ok(extremes.iter().flatten().map(|x| (x / loudest * 127.0).round() as i8 as u8).collect())
}

/// Text as it may stand in HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

//! What can be done with an animation once its frames are there.

use super::{Mesh, player, scratch::BodyFrame, scratch::Scratch};
use crate::{atomic::write_atomic, error::WriteError};
use std::{
    io,
    path::{Path, PathBuf},
};

/// How well a moving body is told by the glTF.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BodyFit {
    /// Its name.
    pub name: String,
    /// Which of the meshes it is.
    pub mesh: usize,
    /// Shapes between which it deforms; none if it is rigid.
    pub targets: usize,
    /// Largest distance of a vertex in a frame of the glTF from its true place, in metres.
    pub error_m: f64,
    /// What was allowed, in metres. Met unless the body deforms in more ways than a glTF should hold.
    pub tolerance_m: f64,
}

/// A written animation. Its frames are still at hand, for other formats and pictures; they go with it.
pub struct Recorded {
    /// Number of frames.
    pub frames: usize,
    /// Frames per second.
    pub frames_per_s: f64,
    /// Largest distance of a vertex in a frame of the glTF from its true place, in metres.
    pub error_m: f64,
    /// Every moving body.
    pub bodies: Vec<BodyFit>,
    pub(super) path: PathBuf,
    pub(super) meshes: Vec<Mesh>,
    pub(super) scratch: Scratch,
}

impl std::fmt::Debug for Recorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("Recorded");
        debug.field("path", &self.path).field("frames", &self.frames).field("error_m", &self.error_m);
        debug.field("bodies", &self.bodies).finish_non_exhaustive()
    }
}

impl Recorded {
    /// Positions of the vertices of a mesh in a frame, exactly as they were given. A mesh that does not move is at rest in any frame.
    ///
    /// # Errors
    /// If there is no such mesh or frame, or the system refuses.
    pub fn read_frame(&self, mesh: usize, frame: usize) -> Result<Vec<[f32; 3]>, WriteError> {
        let file = || self.path.clone();
        let impossible = |reason| WriteError::Impossible { file: file(), reason };
        let count = self.meshes.len();
        let found = self.meshes.get(mesh);
        let found = found.ok_or_else(|| impossible(format!("expected a mesh below {count}, found {mesh}")))?;
        let Some(body) = found.body else { return Ok(found.positions.clone()) };
        if frame >= self.frames {
            return Err(impossible(format!("expected a frame below {}, found {frame}", self.frames)));
        }
        let mut content = BodyFrame::default();
        self.scratch.read(body, frame, &mut content).map_err(|source| WriteError::Io { file: file(), source })?;
        Ok(content.positions)
    }

    /// Triangles of a mesh; none if there is no such mesh.
    pub fn triangles(&self, mesh: usize) -> &[[u32; 3]] {
        self.meshes.get(mesh).map_or(&[], |mesh| &mesh.triangles)
    }

    /// Writes all frames of a moving mesh as a point cache, without any loss: the format `.pc2` that Blender's Mesh Cache modifier and 3ds Max
    /// read. For a mesh of the same vertices in the same order without a transform of its own, z up, in a scene with as many frames per
    /// second; frame 0 is the first.
    ///
    /// Little-endian: `POINTCACHE2\0`, the version 1 as `i32`, the number of vertices as `i32`, the first frame as `f32`, frames per sample as
    /// `f32`, the number of samples as `i32`, and then x, y, z as `f32` of each vertex of each sample.
    ///
    /// # Errors
    /// If the mesh does not move, there are no frames or too many, or the system refuses.
    pub fn write_point_cache(&self, mesh: usize, path: &Path) -> Result<(), WriteError> {
        let impossible = |reason| WriteError::Impossible { file: path.to_owned(), reason };
        let count = self.meshes.len();
        let found = self.meshes.get(mesh);
        let found = found.ok_or_else(|| impossible(format!("expected a mesh below {count}, found {mesh}")))?;
        let body = found.body.ok_or_else(|| impossible(format!("mesh “{}” does not move", found.name)))?;
        let large = |_| impossible("a point cache holds at most 2³¹ − 1 vertices and frames".to_owned());
        let vertices = i32::try_from(found.positions.len()).map_err(large)?;
        let samples = i32::try_from(self.frames).map_err(large)?;
        if samples == 0 {
            return Err(impossible("there are no frames: add some before the animation is finished".to_owned()));
        }
        write_atomic(path, |w| {
            w.write_all(b"POINTCACHE2\0")?;
            [1, vertices].iter().try_for_each(|x| w.write_all(&x.to_le_bytes()))?;
            [0f32, 1.0].iter().try_for_each(|x| w.write_all(&x.to_le_bytes()))?;
            w.write_all(&samples.to_le_bytes())?;
            let mut content = BodyFrame::default();
            for frame in 0..self.frames {
                self.scratch.read(body, frame, &mut content)?;
                content.positions.as_flattened().iter().try_for_each(|x| w.write_all(&x.to_le_bytes()))?;
            }
            io::Result::Ok(())
        })
    }

    /// Writes a web page that plays the animation to its sound, without a server and without any other file. The sound is the clock: whatever
    /// is paused, sought or slowed down, the picture is the frame that is heard. The page holds positions in 16 bits of the body's size.
    /// Scripts and tests find it as `window.player`, with `frame`, `frames`, `time`, `duration`, `paused`, `seek(time)`, `step(frames)`, `play()` and
    /// `pause()`.
    ///
    /// # Errors
    /// If there are no frames, the WAV file cannot be read, or the system refuses.
    pub fn write_player(&self, path: &Path, wav: &Path, title: &str) -> Result<(), WriteError> {
        player::write(self, path, wav, title)
    }
}

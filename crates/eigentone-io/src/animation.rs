//! Animations of deforming bodies, written frame by frame: memory does not grow with their length.
//!
//! Frames go to a scratch file. In the end each body's motion is told as glTF viewers can play it: a node that moves rigidly ([`pose`]) and,
//! for what is left, the fewest shapes whose weights change ([`basis`], [`deform`]). These are lossy, with the error reported; the same frames are
//! also written without loss as a point cache, or as a web page with the sound ([`Recorded`]).
//!
//! ```
//! use eigentone_io::{AnimatedMesh, AnimationWriter};
//!
//! let folder = tempfile::tempdir()?;
//! let positions = vec![[0.0, 0.0, 1.0], [0.1, 0.0, 1.0], [0.0, 0.1, 1.0], [0.0, 0.0, 1.1]];
//! let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
//! let drop = AnimatedMesh { name: "drop".into(), color: [0.1, 0.3, 0.8], positions, triangles, moves: true };
//! let mut writer = AnimationWriter::create(&folder.path().join("drop.glb"), &[drop.clone()], 60.0)?;
//! for frame in 0..20u8 {
//!     let time_s = f32::from(frame) / 60.0;
//!     let fallen: Vec<[f32; 3]> = drop.positions.iter().map(|p| [p[0], p[1], p[2] - 4.9 * time_s * time_s]).collect();
//!     writer.frame(&[&fallen])?;
//! }
//! let recorded = writer.finish()?;
//! assert_eq!((recorded.frames, recorded.bodies[0].targets), (20, 0));
//! assert!(recorded.error_m < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod basis;
mod deform;
mod eigen;
mod gltf;
mod player;
mod pose;
mod recorded;
mod scratch;

pub use recorded::{BodyFit, Recorded};

use crate::{
    error::{WriteError, quote},
    file::extension,
};
use deform::Shapes;
use pose::{Pose, Rest};
use scratch::Scratch;
use std::path::{Path, PathBuf};

/// Largest error of a vertex unless told otherwise, as a share of the body's diagonal: below what shows at the size of a screen.
const TOLERANCE: f64 = 2e-3;

/// Furthest coordinate, in metres. Beyond it, single precision has steps of centimetres, and a simulation that has blown up is the likelier cause.
const FURTHEST_M: f32 = 1e6;

/// A body of an animation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnimatedMesh {
    /// What the node is called.
    pub name: String,
    /// Linear red, green and blue, 0 to 1.
    pub color: [f32; 3],
    /// The rest shape in world coordinates, in metres, z up.
    pub positions: Vec<[f32; 3]>,
    /// Corners of each triangle, anticlockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Whether frames are given for it. Otherwise it is scenery.
    pub moves: bool,
}

/// A mesh as it is kept while frames come in.
struct Mesh {
    name: String,
    color: [f32; 3],
    positions: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
    rest: Rest,
    /// Which of the moving ones it is.
    body: Option<usize>,
    /// Its pose in the first frame.
    first: Pose,
    /// Its pose in the last frame so far.
    last: Pose,
}

/// Writes an animation frame by frame.
pub struct AnimationWriter {
    path: PathBuf,
    meshes: Vec<Mesh>,
    frames_per_s: f64,
    tolerance: f64,
    scratch: Scratch,
    poses: Vec<Pose>,
}

impl AnimationWriter {
    /// Begins an animation that will be a `.glb` or `.gltf` file (the latter with its data inside). Until then the frames are in a nameless file
    /// in the same folder.
    ///
    /// # Errors
    /// If the path has another extension, a mesh is empty or contradicts itself, a number is not finite, or the system refuses.
    pub fn create(path: &Path, meshes: &[AnimatedMesh], frames_per_s: f64) -> Result<Self, WriteError> {
        let impossible = |reason: String| WriteError::Impossible { file: path.to_owned(), reason };
        if !["glb", "gltf"].contains(&extension(path).as_str()) {
            return Err(impossible("expected a name that ends in .glb or .gltf".to_owned()));
        }
        if !(frames_per_s.is_finite() && frames_per_s > 0.0) {
            return Err(impossible(format!("expected frames per second above zero, found {frames_per_s}")));
        }
        let mut kept = Vec::new();
        let mut counts = Vec::new();
        for mesh in meshes {
            check(path, mesh)?;
            let rest = Rest::new(&mesh.positions, &mesh.triangles);
            let body = mesh.moves.then_some(counts.len());
            counts.extend(body.map(|_| mesh.positions.len()));
            let AnimatedMesh { name, color, positions, triangles, .. } = mesh.clone();
            kept.push(Mesh { name, color, positions, triangles, first: rest.pose, last: rest.pose, rest, body });
        }
        let scratch =
            Scratch::beside(path, counts).map_err(|source| WriteError::Io { file: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), meshes: kept, frames_per_s, tolerance: TOLERANCE, scratch, poses: Vec::new() })
    }

    /// Allows another error of vertices than 0.2 % of the body's diagonal. More exact files are larger, and at most 48 shapes are used.
    pub fn with_tolerance(mut self, share_of_diagonal: f64) -> Self {
        self.tolerance = share_of_diagonal;
        self
    }

    /// Adds a frame: the positions of all vertices of each moving mesh, in the order of the meshes. The first frame is at time zero.
    ///
    /// # Errors
    /// If there are too few or too many positions, one is not finite or further than a thousand kilometres, or the system refuses. The frame is then
    /// not there; those before it are.
    pub fn frame(&mut self, positions: &[&[[f32; 3]]]) -> Result<(), WriteError> {
        let number = self.scratch.frames;
        let impossible = |reason: String| WriteError::Impossible { file: self.path.clone(), reason };
        if number >= u32::MAX as usize {
            return Err(impossible("an animation holds at most 2³² − 1 frames".to_owned()));
        }
        let moving = self.meshes.iter().filter(|m| m.body.is_some()).count();
        if positions.len() != moving {
            let found = positions.len();
            return Err(impossible(format!("frame {number}: expected {moving} moving meshes, found {found}")));
        }
        for (mesh, found) in self.meshes.iter().filter(|m| m.body.is_some()).zip(positions) {
            let (expected, vertices) = (mesh.positions.len(), found.len());
            if expected != vertices {
                let name = quote(mesh.name.as_bytes());
                return Err(impossible(format!(
                    "frame {number}: expected {expected} vertices of mesh {name}, found {vertices}"
                )));
            }
            check_positions(&self.path, &mesh.name, found, Some(number))?;
        }
        self.poses.clear();
        let bodies = self.meshes.iter().filter(|m| m.body.is_some()).zip(positions);
        self.poses.extend(bodies.map(|(mesh, positions)| mesh.rest.fit(positions, &mesh.last)));
        let io = |source| WriteError::Io { file: self.path.clone(), source };
        self.scratch.append(&self.poses, positions).map_err(io)?;
        for (mesh, pose) in self.meshes.iter_mut().filter(|m| m.body.is_some()).zip(&self.poses) {
            mesh.last = *pose;
            if number == 0 {
                mesh.first = *pose;
            }
        }
        Ok(())
    }

    /// Finds the shapes of each body and writes the file. Without animation, viewers show the first frame. Without morph targets they show a shape that
    /// the body never has, so a reader of plain meshes should be given another file.
    ///
    /// # Errors
    /// If the file would pass the limits of its format, or the system refuses.
    pub fn finish(self) -> Result<Recorded, WriteError> {
        let Self { path, meshes, frames_per_s, tolerance, scratch, .. } = self;
        let io = |source| WriteError::Io { file: path.clone(), source };
        let (mut bodies, mut shapes) = (Vec::new(), Vec::new());
        for (index, mesh) in meshes.iter().enumerate() {
            let Some(body) = mesh.body else { continue };
            let tolerance_m = tolerance * mesh.rest.diagonal_m;
            let found = Shapes::of(body, &mesh.rest, &scratch, tolerance_m).map_err(io)?;
            let (name, targets) = (mesh.name.clone(), found.targets.len());
            bodies.push(BodyFit { name, mesh: index, targets, error_m: 0.0, tolerance_m });
            shapes.push(found);
        }
        let content = gltf::Content { meshes: &meshes, shapes: &shapes, scratch: &scratch, frames_per_s };
        let errors = gltf::write(&path, &content)?;
        bodies.iter_mut().zip(errors).for_each(|(body, error_m)| body.error_m = error_m);
        let error_m = bodies.iter().map(|b| b.error_m).fold(0.0, f64::max);
        Ok(Recorded { frames: scratch.frames, frames_per_s, error_m, bodies, path, meshes, scratch })
    }

    /// Bytes of everything that could grow with frames.
    #[cfg(test)]
    fn memory_bytes(&self) -> usize {
        self.scratch.memory_bytes() + self.poses.capacity() * size_of::<Pose>()
    }
}

fn check(path: &Path, mesh: &AnimatedMesh) -> Result<(), WriteError> {
    let name = quote(mesh.name.as_bytes());
    let impossible = |reason: String| Err(WriteError::Impossible { file: path.to_owned(), reason });
    let count = mesh.positions.len();
    if count == 0 || mesh.triangles.is_empty() {
        return impossible(format!("mesh {name} is empty: leave it out"));
    }
    if u32::try_from(count).is_err() || u32::try_from(3 * mesh.triangles.len()).is_err() {
        return impossible(format!("mesh {name} has more than 2³² − 1 vertices or corners"));
    }
    if let Some(v) = mesh.triangles.iter().flatten().find(|&&v| v as usize >= count) {
        return impossible(format!("mesh {name}: expected corners below {count}, found {v}"));
    }
    if !mesh.color.iter().all(|c| (0.0..=1.0).contains(c)) {
        return impossible(format!("mesh {name}: expected a colour of 0 to 1, found {:?}", mesh.color));
    }
    check_positions(path, &mesh.name, &mesh.positions, None)
}

fn check_positions(path: &Path, name: &str, positions: &[[f32; 3]], frame: Option<usize>) -> Result<(), WriteError> {
    let bad = positions.as_flattened().iter().position(|x| x.is_nan() || x.abs() > FURTHEST_M);
    let Some(at) = bad else { return Ok(()) };
    let when = frame.map_or("at rest".to_owned(), |f| format!("in frame {f}"));
    let (x, file) = (positions.as_flattened()[at], path.to_owned());
    let found = format!("{x} at vertex {} of mesh {} {when}", at / 3, quote(name.as_bytes()));
    if x.is_finite() {
        let reason = format!("expected coordinates within {FURTHEST_M:e} m, found {found}");
        return Err(WriteError::Impossible { file, reason });
    }
    Err(WriteError::NotFinite { file, found })
}

#[cfg(test)]
#[path = "animation_tests.rs"]
mod tests;

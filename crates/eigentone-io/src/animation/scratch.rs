//! Frames on the disk instead of in memory. One record per frame; in it, for each moving body, seven numbers of its pose and then the positions
//! of its vertices, all little-endian `f32`. The file has no name (or is deleted when it is closed), so nothing is left behind, not even by a
//! crash.

use super::pose::Pose;
use crate::file::folder_of;
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

const POSE_BYTES: usize = 4 * Pose::NUMBERS;

/// The scratch file.
pub(super) struct Scratch {
    file: Mutex<File>,
    /// Vertices of each moving body.
    counts: Vec<usize>,
    /// First byte of each moving body in a record.
    starts: Vec<u64>,
    record_bytes: u64,
    pub frames: usize,
    record: Vec<u8>,
}

/// One body in one frame; reused from frame to frame.
#[derive(Default)]
pub(super) struct BodyFrame {
    pub positions: Vec<[f32; 3]>,
    bytes: Vec<u8>,
}

impl Scratch {
    /// A file in the folder of `path`, where there must be room for the result anyway.
    pub fn beside(path: &Path, counts: Vec<usize>) -> io::Result<Self> {
        let folder = folder_of(path);
        let (mut starts, mut record_bytes) = (Vec::new(), 0);
        for &count in &counts {
            starts.push(record_bytes);
            record_bytes += (POSE_BYTES + 12 * count) as u64;
        }
        let file = Mutex::new(tempfile::tempfile_in(folder)?);
        Ok(Self { file, counts, starts, record_bytes, frames: 0, record: Vec::new() })
    }

    /// Adds a frame. After an error the frames before it are still there.
    pub fn append(&mut self, poses: &[Pose], positions: &[&[[f32; 3]]]) -> io::Result<()> {
        self.record.clear();
        for (pose, positions) in poses.iter().zip(positions) {
            for x in pose.numbers().iter().chain(positions.as_flattened()) {
                self.record.extend(x.to_le_bytes());
            }
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.frames as u64 * self.record_bytes))?;
        file.write_all(&self.record)?;
        self.frames += 1;
        Ok(())
    }

    /// The pose of a body in a frame, without its vertices.
    pub fn pose(&self, body: usize, frame: usize) -> io::Result<Pose> {
        let mut bytes = [0; POSE_BYTES];
        self.read_bytes(body, frame, &mut bytes)?;
        Ok(parse_pose(&bytes))
    }

    pub fn read(&self, body: usize, frame: usize, out: &mut BodyFrame) -> io::Result<Pose> {
        out.bytes.resize(POSE_BYTES + 12 * self.counts[body], 0);
        self.read_bytes(body, frame, &mut out.bytes)?;
        let (pose, vertices) = out.bytes.split_at(POSE_BYTES);
        out.positions.clear();
        out.positions.extend(vertices.chunks_exact(12).map(|v| [number(&v[..4]), number(&v[4..8]), number(&v[8..])]));
        Ok(parse_pose(pose))
    }

    fn read_bytes(&self, body: usize, frame: usize, bytes: &mut [u8]) -> io::Result<()> {
        let start = frame as u64 * self.record_bytes + self.starts[body];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(bytes)
    }

    /// Bytes held in memory.
    #[cfg(test)]
    pub fn memory_bytes(&self) -> usize {
        self.record.capacity() + 8 * (self.counts.capacity() + self.starts.capacity())
    }
}

fn parse_pose(bytes: &[u8]) -> Pose {
    let mut numbers = [0.0; Pose::NUMBERS];
    numbers.iter_mut().zip(bytes.chunks_exact(4)).for_each(|(x, b)| *x = number(b));
    Pose::from_numbers(numbers)
}

fn number(bytes: &[u8]) -> f32 {
    let mut array = [0; 4];
    array.copy_from_slice(bytes);
    f32::from_le_bytes(array)
}

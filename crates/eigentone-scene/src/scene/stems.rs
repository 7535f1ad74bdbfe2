//! The dry sound of every body, as files: for mixers that do rooms and levels themselves.

use super::Scene;
use super::stage::Stage;
use crate::Error;
use crate::level::FULL_SCALE_PA;
use eigentone_io::{SampleFormat, Tape};
use eigentone_world::{AudioOut, BodyKey};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most bodies that get a file of their own.
const MAX_STEMS: usize = 256;

/// Writes stems while a scene is rendered.
pub(super) struct Stems {
    folder: PathBuf,
    rate_hz: u32,
    length: usize,
    blocks: usize,
    tapes: BTreeMap<BodyKey, (String, Tape)>,
}

impl Stems {
    pub fn new(folder: &Path, scene: &Scene) -> Result<Self, Error> {
        std::fs::create_dir_all(folder)
            .map_err(|source| eigentone_io::WriteError::Io { file: folder.to_owned(), source })?;
        let end_s = scene.duration_s + scene.output.tail_s.unwrap_or(0.0);
        let rate_hz = scene.output.sample_rate_hz;
        Ok(Self {
            folder: folder.to_owned(),
            rate_hz: rate_hz as u32,
            length: (end_s * rate_hz) as usize,
            blocks: 0,
            tapes: BTreeMap::new(),
        })
    }

    /// Takes the last block of all that sounds.
    pub fn take(&mut self, stage: &Stage, out: &AudioOut) -> Result<(), Error> {
        let before = self.blocks * AudioOut::BLOCK;
        self.blocks += 1;
        let mut sums: BTreeMap<BodyKey, [f32; AudioOut::BLOCK]> = BTreeMap::new();
        for source in out.sources() {
            // A body that has just been exchanged sounds twice: what it was, and what it is.
            if let Some(key) = stage.world.key_of_source(source.source) {
                let sum = sums.entry(key).or_insert([0.0; AudioOut::BLOCK]);
                sum.iter_mut().zip(source.dry).for_each(|(y, x)| *y += x);
            }
        }
        for (key, sum) in sums {
            if !self.tapes.contains_key(&key) {
                if self.tapes.len() >= MAX_STEMS {
                    continue;
                }
                let name = stage.name(Some(key));
                let mut tape = Tape::beside(&self.folder.join("stem.wav"))?;
                (0..before).try_for_each(|_| tape.push([0.0; 2]))?;
                self.tapes.insert(key, (name, tape));
            }
            if let Some((_, tape)) = self.tapes.get_mut(&key) {
                for _ in tape.frames()..before as u64 {
                    tape.push([0.0; 2])?;
                }
                sum.iter().try_for_each(|y| tape.push([*y; 2]))?;
            }
        }
        Ok(())
    }

    /// Writes all files, with the same full scale.
    pub fn finish(self, scene: &Scene) -> Result<(), Error> {
        let full_scale_pa = scene.output.full_scale_pa.unwrap_or(FULL_SCALE_PA);
        for (key, (name, mut tape)) in self.tapes {
            for _ in tape.frames()..self.length as u64 {
                tape.push([0.0; 2])?;
            }
            let safe: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
            let file = self.folder.join(format!("{:04}-{safe}.wav", key.number()));
            tape.write_wav(&file, self.rate_hz, (1.0 / full_scale_pa) as f32, SampleFormat::Float32)?;
        }
        Ok(())
    }
}

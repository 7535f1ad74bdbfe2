//! The bake itself. Every finished probe is a file of its own in a folder beside the output, written whole or not at all, so that nothing is lost
//! if the job is stopped or killed.

use super::Prepared;
use crate::Error;
use eigentone_core::acoustics::{EncodedProbe, FieldInfo, Occupancy, encode_probe};
use eigentone_io::{probe_bytes, read_probe_bytes, write_atomic, write_field};
use eigentone_wave::Pace;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a bake runs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Goes on where an earlier bake was stopped.
    pub resume: bool,
    /// Only every `n`th probe, from number `i` on: `[i, n]`.
    pub shard: Option<[u32; 2]>,
    /// Threads; all cores if not given. The result is the same.
    pub threads: Option<usize>,
    /// Memory that all simulations together may take, in bytes; 8 GB if not given.
    pub memory_bytes: Option<usize>,
    /// The bake waits while this is set, within a step of the simulation.
    pub pause: Option<Arc<AtomicBool>>,
}

/// How often a bake that waits looks whether it may go on.
const PAUSE: Duration = Duration::from_millis(20);

/// Stops and pauses.
struct Watch<'a> {
    stop: &'a AtomicBool,
    pause: Option<&'a AtomicBool>,
}

impl Pace for Watch<'_> {
    fn stops(&self) -> bool {
        while self.pause.is_some_and(|p| p.load(Ordering::Relaxed)) && !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(PAUSE);
        }
        self.stop.load(Ordering::Relaxed)
    }
}

/// How a bake ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The field is written.
    Done {
        /// Probes in it.
        probes: usize,
        /// Of these, found finished.
        resumed: usize,
    },
    /// It was stopped.
    Stopped {
        /// Probes finished so far.
        finished: usize,
        /// Of so many.
        of: usize,
        /// Where they are kept.
        parts: PathBuf,
    },
}

/// How far a bake is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Probes that are finished.
    pub finished: usize,
    /// Of so many.
    pub of: usize,
    /// Of the finished ones, those that were so at the start.
    pub resumed: usize,
}

/// Where finished probes are kept until all are.
pub fn parts_folder(output: &Path) -> PathBuf {
    let mut name = output.file_name().unwrap_or_default().to_owned();
    name.push(".parts");
    output.with_file_name(name)
}

/// Bakes a scene into a file.
///
/// # Errors
/// If there is an unfinished bake that is not to be resumed or is of another scene, or a file cannot be written.
pub fn bake(
    prepared: &Prepared,
    output: &Path,
    options: &Options,
    stop: &AtomicBool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Outcome, Error> {
    let numbers: Vec<usize> = match options.shard {
        Some([i, n]) => (i as usize..prepared.probes.len()).step_by(n.max(1) as usize).collect(),
        None => (0..prepared.probes.len()).collect(),
    };
    let parts = parts_folder(output);
    let mut encoded = open(prepared, &parts, &numbers, options)?;
    let resumed = encoded.iter().flatten().count();
    let finished = AtomicUsize::new(resumed);
    let tell = || {
        progress(Progress { finished: finished.load(Ordering::Relaxed), of: numbers.len(), resumed });
    };
    tell();
    let failure = Mutex::new(None);
    let watch = Watch { stop, pause: options.pause.as_deref() };
    let bake_one = |(slot, &number): (&mut Option<EncodedProbe>, &usize), parallel: bool| {
        if slot.is_some() || stop.load(Ordering::Relaxed) {
            return;
        }
        let Some(field) = prepared.acoustics.simulate(prepared.probes[number], parallel, &watch) else { return };
        let probe = encode_probe(&field, prepared.acoustics.settings.quantum);
        match write_atomic(&part(&parts, number), |w| w.write_all(&probe_bytes(&probe))) {
            Ok(()) => {
                *slot = Some(probe);
                finished.fetch_add(1, Ordering::Relaxed);
                tell();
            }
            Err(e) => {
                // No room on the disk, most likely: the others would fail as well.
                failure.lock().unwrap_or_else(|p| p.into_inner()).get_or_insert(e);
                stop.store(true, Ordering::Relaxed);
            }
        }
    };
    let threads = options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Error::Bake(format!("cannot start {threads} threads: {e}; give fewer")))?;
    let memory = options.memory_bytes.unwrap_or(8 << 30);
    // Probes side by side are faster than boxes side by side, if there is the memory.
    let at_once = memory / prepared.estimate.bytes_per_probe.max(1);
    pool.install(|| {
        if at_once >= threads && numbers.len() > 1 {
            encoded.par_iter_mut().zip(&numbers).with_max_len(1).for_each(|one| bake_one(one, false));
        } else {
            encoded.iter_mut().zip(&numbers).for_each(|one| bake_one(one, true));
        }
    });
    if let Some(e) = failure.into_inner().unwrap_or_else(|p| p.into_inner()) {
        return Err(e.into());
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(Outcome::Stopped { finished: finished.into_inner(), of: numbers.len(), parts });
    }
    let probes: Vec<EncodedProbe> = encoded.into_iter().flatten().collect();
    if probes.len() != numbers.len() {
        return Err(Error::Bake(format!("only {} of {} probes have air around them", probes.len(), numbers.len())));
    }
    write_field(output, &info(prepared, options.shard), &prepared.acoustics.cubes, &occupancy(prepared), &probes)?;
    // The field is safe; what is left over does no harm.
    let _ = std::fs::remove_dir_all(&parts);
    Ok(Outcome::Done { probes: probes.len(), resumed })
}

fn part(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number:06}.probe"))
}

/// Opens or makes the folder of finished probes, and reads those that are there.
fn open(
    prepared: &Prepared,
    parts: &Path,
    numbers: &[usize],
    options: &Options,
) -> Result<Vec<Option<EncodedProbe>>, Error> {
    let key_file = parts.join("key");
    let there = parts.exists();
    if there && !options.resume {
        return Err(Error::UnfinishedBake { parts: parts.to_owned() });
    }
    if there {
        let key = std::fs::read_to_string(&key_file).unwrap_or_default();
        // Without a key it was stopped before it had begun.
        if !key.is_empty() && key != prepared.hash {
            return Err(Error::Bake(format!(
                "{} holds a bake of another scene or of other settings; delete the folder, or bring the scene back to what it was",
                parts.display()
            )));
        }
    }
    std::fs::create_dir_all(parts)
        .map_err(|e| Error::Bake(format!("cannot make the folder {}: {e}", parts.display())))?;
    write_atomic(&key_file, |w| w.write_all(prepared.hash.as_bytes()))?;
    let read = |number: &usize| {
        let bytes = std::fs::read(part(parts, *number)).ok()?;
        let probe = read_probe_bytes(&bytes).ok()?;
        (probe.place().position == prepared.probes[*number] && probe.quantum() == prepared.acoustics.settings.quantum)
            .then_some(probe)
    };
    Ok(numbers.iter().map(read).collect())
}

fn info(prepared: &Prepared, shard: Option<[u32; 2]>) -> FieldInfo {
    FieldInfo {
        name: prepared.name.clone(),
        f_max_hz: prepared.acoustics.settings.f_max_hz,
        cell_m: prepared.acoustics.voxels.lattice.step_m,
        quantum: prepared.acoustics.settings.quantum,
        source_hash: prepared.hash.clone(),
        engine_version: eigentone_core::ENGINE_VERSION.to_owned(),
        settings: prepared.settings.clone(),
        warnings: prepared.warnings.clone(),
        shard,
    }
}

fn occupancy(prepared: &Prepared) -> Occupancy {
    let voxels = &prepared.acoustics.voxels;
    Occupancy { lattice: voxels.lattice, solid: voxels.solid.clone() }
}

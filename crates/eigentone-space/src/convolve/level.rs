//! Convolution with blocks of one size.
//!
//! A level holds the spectra of the last blocks of its inputs and of the blocks of its filters. For every new block of an input there is one transform, one
//! multiplication per block of the filter, and one transform back for each output. All this is a list of [units](Unit) with estimated costs. During each call the
//! level does its share of the sum of costs, so that the last unit is done when the next block is there.

use super::transform::{TILE, Tile, Transform};
use super::{History, Pending};
use crate::BLOCK;
use std::ops::Range;

/// Transforms are done in parts of not more than this, where the level has time for that: a larger one would be felt as a burst.
const LARGEST_PART: usize = 1024;
/// Products of tiles in one unit of work, about.
const PRODUCTS: usize = 32;

/// The part of a filter that a level computes.
pub struct Filter {
    /// Which input it filters.
    pub input: usize,
    /// Its samples for both outputs.
    pub channels: [Vec<f32>; 2],
}

/// A filter in the frequency domain and the spectra of its input.
struct Line {
    input: usize,
    blocks: usize,
    /// By part, tile and block, the latter from the least delay on.
    filter: Vec<[Tile; 2]>,
    /// By block, part and tile. Blocks go round.
    spectra: Vec<Tile>,
    /// For each block of `spectra` whether there is sound in it.
    sounding: Vec<bool>,
    /// Which block of `spectra` is the newest.
    newest: usize,
}

/// A piece of work that is not interrupted.
enum Unit {
    Forward { line: usize },
    Multiply { line: usize, tiles: Range<usize> },
    Inverse { channel: usize },
}

/// A unit, the part of the transform it belongs to, and the estimated cost of all units up to it.
struct Task {
    unit: Unit,
    part: usize,
    until: f32,
}

/// Blocks of one size of several filters.
pub struct Level {
    size: usize,
    delay: usize,
    transform: Transform,
    lines: Vec<Line>,
    tasks: Vec<Task>,
    /// The first task that is not done.
    next: usize,
    /// The first sample of the block at work.
    first: u64,
    /// Products of one part for both outputs, and whether there is anything in them.
    sums: [Vec<Tile>; 2],
    sounding: bool,
}

impl Level {
    /// Transforms the filters. Their first sample is heard after `delay`, which must be twice the size or more; any if the size is one [`BLOCK`].
    pub fn new(size: usize, delay: usize, filters: &[Filter]) -> Self {
        let mut transform = Transform::new(size, (size / LARGEST_PART).max(1));
        let lines: Vec<Line> = filters
            .iter()
            .map(|filter| Line::new(filter, size, &mut transform))
            .filter(|line| line.blocks > 0)
            .collect();
        let tasks = tasks(&lines, &transform);
        let sums = std::array::from_fn(|_| vec![Tile::SILENT; transform.tiles()]);
        Self { size, delay, transform, lines, next: tasks.len(), tasks, first: 0, sums, sounding: false }
    }

    /// Samples per block.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How far ahead of the input's end it adds to what is heard.
    pub fn reach(&self) -> usize {
        self.delay + 2 * self.size
    }

    /// How long after a sound it is at rest.
    pub fn tail(&self) -> usize {
        let blocks = self.lines.iter().map(|line| line.blocks).max().unwrap_or(0);
        self.delay + (blocks + 2) * self.size
    }

    /// Whether a block is done in the call that completes it.
    pub fn works_at_once(&self) -> bool {
        self.size == BLOCK
    }

    /// Does the share of one call. `now` is the end of what can be read from `history`.
    pub fn advance(&mut self, now: u64, history: &History, heard: &mut Pending) {
        let size = self.size as u64;
        if now >= size && now.is_multiple_of(size) {
            self.first = now - size;
            self.next = 0;
            for line in &mut self.lines {
                line.newest = (line.newest + 1) % line.blocks;
                line.sounding[line.newest] = history.sounding(line.input, self.first, self.size).is_some();
            }
        }
        if !self.lines.iter().any(|line| line.sounding.contains(&true)) {
            return;
        }
        let calls = (self.size / BLOCK) as f32;
        let call = ((now % size) / BLOCK as u64 + 1) as f32;
        let end = self.tasks.last().map_or(0.0, |task| task.until);
        let mut done = self.next.checked_sub(1).map_or(0.0, |last| self.tasks[last].until);
        while let Some(task) = self.tasks.get(self.next) {
            // What is done by less than half in its share is left to the next call.
            if call < calls && 0.5 * (done + task.until) > end * call / calls {
                break;
            }
            done = task.until;
            self.work(self.next, history, heard);
            self.next += 1;
        }
    }

    fn work(&mut self, task: usize, history: &History, heard: &mut Pending) {
        let Task { unit, part, .. } = &self.tasks[task];
        match unit {
            Unit::Forward { line } => {
                let line = &mut self.lines[*line];
                if let Some(block) = history.sounding(line.input, self.first, self.size).filter(|_| line.hears()) {
                    let at = (line.newest * self.transform.parts() + part) * self.transform.tiles();
                    let spectrum = &mut line.spectra[at..at + self.transform.tiles()];
                    self.transform.forward(*part, block, spectrum);
                }
            }
            Unit::Multiply { line, tiles } => {
                let line = &self.lines[*line];
                self.sounding |= line.sounding.contains(&true);
                line.multiply(*part, tiles.clone(), &self.transform, &mut self.sums);
            }
            Unit::Inverse { channel } => {
                if self.sounding {
                    let first = self.first + self.delay as u64;
                    self.transform.inverse(*part, &self.sums[*channel], *channel, first, heard);
                    self.sums[*channel].fill(Tile::SILENT);
                    self.sounding = *channel == 0;
                }
            }
        }
    }
}

impl Line {
    fn new(filter: &Filter, size: usize, transform: &mut Transform) -> Self {
        let blocks = filter.channels.iter().map(|samples| samples.len().div_ceil(size)).max().unwrap_or(0);
        let (parts, tiles) = (transform.parts(), transform.tiles());
        let mut spectra = vec![[Tile::SILENT; 2]; parts * tiles * blocks];
        let mut spectrum = vec![Tile::SILENT; tiles];
        let mut samples = vec![0.0; size];
        for (channel, all) in filter.channels.iter().enumerate() {
            for (block, given) in all.chunks(size).enumerate() {
                samples.fill(0.0);
                samples.iter_mut().zip(given).for_each(|(sample, x)| *sample = x / transform.scale());
                for part in 0..parts {
                    transform.forward(part, &samples, &mut spectrum);
                    for (tile, bins) in spectrum.iter().enumerate() {
                        spectra[(part * tiles + tile) * blocks + block][channel] = *bins;
                    }
                }
            }
        }
        Self {
            input: filter.input,
            blocks,
            filter: spectra,
            spectra: vec![Tile::SILENT; blocks * parts * tiles],
            sounding: vec![false; blocks],
            newest: 0,
        }
    }

    /// Whether there is sound in the newest block.
    fn hears(&self) -> bool {
        self.sounding[self.newest]
    }

    /// Adds the products of all blocks for some tiles of a part.
    fn multiply(&self, part: usize, tiles: Range<usize>, transform: &Transform, sums: &mut [Vec<Tile>; 2]) {
        let [left, right] = sums;
        for tile in tiles {
            let row = part * transform.tiles() + tile;
            let filter = &self.filter[row * self.blocks..(row + 1) * self.blocks];
            let (left, right) = (&mut left[tile], &mut right[tile]);
            // From the newest block back to the first, and on from the last.
            let order = (0..=self.newest).rev().chain((self.newest + 1..self.blocks).rev());
            for (block, filter) in order.zip(filter) {
                if self.sounding[block] {
                    let x = &self.spectra[block * transform.parts() * transform.tiles() + row];
                    Tile::accumulate([left, right], x, filter);
                }
            }
        }
    }
}

/// All work on one block, part by part.
fn tasks(lines: &[Line], transform: &Transform) -> Vec<Task> {
    let tiles = transform.tiles();
    let bins = (tiles * TILE) as f32;
    let passes = transform.parts() as f32;
    // In nanoseconds as measured at 44.1 kHz, but only ratios count.
    let forward = bins * (0.25 * bins.log2() + 0.5 + 0.3 * passes);
    let inverse = bins * (0.25 * bins.log2() + 0.5 + 0.9 * passes);
    let product = 40.0;
    let mut tasks: Vec<Task> = Vec::new();
    let mut push = |unit, part, cost| {
        let before = tasks.last().map_or(0.0, |task| task.until);
        tasks.push(Task { unit, part, until: before + cost });
    };
    for part in 0..transform.parts() {
        for (line, held) in lines.iter().enumerate() {
            push(Unit::Forward { line }, part, forward);
            let step = (PRODUCTS / held.blocks).max(1);
            for first in (0..tiles).step_by(step) {
                let tiles = first..(first + step).min(tiles);
                let cost = product * (tiles.len() * held.blocks) as f32;
                push(Unit::Multiply { line, tiles }, part, cost);
            }
        }
        for channel in 0..2 {
            push(Unit::Inverse { channel }, part, inverse);
        }
    }
    tasks
}

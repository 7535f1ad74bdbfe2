//! The wave equation in a voxelised scene, by adaptive rectangular decomposition (Raghuvanshi, Narain & Lin 2009).
//!
//! The air is cut into boxes. Within a box with rigid walls the wave equation is solved exactly by its modes, two cosine transforms per step, so that
//! two and two thirds cells per wavelength suffice. Neighbours push each other through sixth-order stencils across their common face. Boxes too thin for modes to pay, and
//! the sponge at the rim that lets sound leave, are computed by the same sixth-order stencil directly.
//!
//! - [`domain`]: what is simulated: cells, wall admittances, the sponge
//! - [`boxes`]: how the air is cut
//! - `modal`, `grid`: the two kinds of boxes
//! - `interface`: what passes between them
//! - `wall`: what walls take away
//!
//! A step is: forces from the pressures of the last one (interfaces, the source), every box by itself, walls. Boxes are independent of each other
//! within each of these, so that they can be computed on any number of threads with the same result.

pub mod boxes;
pub mod domain;
mod grid;
mod interface;
mod modal;
mod wall;

use crate::kernel::cosine::Scratch;
use boxes::{Block, Kind};
use domain::Domain;
use eigentone_core::acoustics::SOUND_M_S;
use interface::Link;
use rayon::prelude::*;
use wall::Wall;

/// Cells that a wave travels in a step. The stencil across interfaces is stable up to 0.4697 in three dimensions.
pub const COURANT: f64 = 0.45;

/// Cells per wavelength at the highest frequency: a cell is three eighths of a wavelength.
pub const CELLS_PER_WAVELENGTH: f64 = 8.0 / 3.0;

/// What a source in a single cell is louder than it should be: 1.017 along the axes to 1.022 along diagonals.
const LOUDER: f64 = 1.019;

/// Side of a cell for simulations up to a frequency, in m.
pub fn cell_for(f_max_hz: f64) -> f64 {
    SOUND_M_S / f_max_hz / CELLS_PER_WAVELENGTH
}

/// Time step for cells of this side, in s.
pub fn step_for(cell_m: f64) -> f64 {
    COURANT * cell_m / SOUND_M_S
}

/// A simulation.
pub struct Solver {
    rooms: Vec<Room>,
    /// Pressures of each box.
    pressures: Vec<Vec<f32>>,
    /// Forces on each box, times the square of the step.
    forces: Vec<Vec<f32>>,
    /// For each box what it has in common with others.
    links: Vec<Vec<Link>>,
    size: [usize; 3],
    cell_m: f64,
    parallel: bool,
    profile: Profile,
}

/// Seconds that parts of all steps have taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Profile {
    /// What passes between boxes.
    pub interfaces: f64,
    /// Transforms and modes, and the direct stencils.
    pub boxes: f64,
    /// Walls, with the transform of what they take away.
    pub walls: f64,
}

/// A box with its state.
struct Room {
    block: Block,
    state: State,
    walls: Vec<Wall>,
    /// Whether a source pushes in this step.
    pushed: bool,
}

enum State {
    Modal(modal::Modes),
    Grid(grid::Grid),
}

/// A cell, found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    room: u32,
    index: u32,
}

impl Solver {
    /// Silence in a domain. If it is the only simulation, `parallel` computes its boxes on all threads.
    pub fn new(domain: &Domain, parallel: bool) -> Self {
        Self::with_blocks(domain, boxes::decompose(domain), parallel)
    }

    /// With a decomposition of one's own: every air cell in exactly one box.
    pub fn with_blocks(domain: &Domain, blocks: Vec<Block>, parallel: bool) -> Self {
        let mut tables = modal::Tables::default();
        let walls = wall::sort(domain, &blocks);
        let rooms: Vec<Room> = blocks
            .iter()
            .zip(walls)
            .map(|(block, walls)| Room {
                block: *block,
                state: match block.kind {
                    Kind::Modal => State::Modal(modal::Modes::new(block.size, &mut tables)),
                    Kind::Grid => State::Grid(grid::Grid::new(block, domain)),
                },
                walls,
                pushed: false,
            })
            .collect();
        let zeros: Vec<Vec<f32>> = blocks.iter().map(|b| vec![0.0; b.cells()]).collect();
        Self {
            rooms,
            forces: zeros.clone(),
            pressures: zeros,
            links: interface::find(&blocks, domain.size),
            size: domain.size,
            cell_m: domain.cell_m,
            parallel,
            profile: Profile::default(),
        }
    }

    /// How many boxes there are.
    pub fn boxes(&self) -> usize {
        self.rooms.len()
    }

    /// What has taken how long.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Finds cells, given as `x + nx (y + ny z)`; `None` for those without air.
    pub fn places(&self, cells: &[usize]) -> Vec<Option<Place>> {
        let [nx, ny, _] = self.size;
        let mut order: Vec<usize> = (0..self.rooms.len()).collect();
        // Large boxes first: most cells are there.
        order.sort_by_key(|&r| std::cmp::Reverse(self.rooms[r].block.cells()));
        cells
            .iter()
            .map(|&cell| {
                let at = [cell % nx, cell / nx % ny, cell / nx / ny];
                order.iter().find_map(|&room| {
                    let index = self.rooms[room].block.index(at)? as u32;
                    Some(Place { room: room as u32, index })
                })
            })
            .collect()
    }

    /// The pressure in a cell.
    pub fn pressure(&self, place: Place) -> f32 {
        self.pressures[place.room as usize][place.index as usize]
    }

    /// A step, with a source in a cell. `strength` is the pressure that it has at 1 m in free field.
    pub fn step(&mut self, source: Option<(Place, f64)>) {
        let parallel = self.parallel;
        let start = std::time::Instant::now();
        let (pressures, links, rooms) = (&self.pressures, &self.links, &mut self.rooms);
        let all = self.forces.par_iter_mut().zip(rooms.par_iter_mut()).zip(links.par_iter().zip(pressures));
        for_each(parallel, all, |((force, room), (links, own))| {
            // Where nothing pushes the force stays zero and needs no transform.
            if !links.is_empty() || room.pushed {
                force.fill(0.0);
                links.iter().for_each(|link| link.push(pressures, own, force));
            }
            room.pushed = !links.is_empty();
        });
        if let Some((place, strength)) = source {
            // p_tt = c²∇²p + 4πc²/Δ³ s(t), times the square of the step.
            let amount = 4.0 * std::f64::consts::PI * COURANT * COURANT / self.cell_m * strength / LOUDER;
            self.forces[place.room as usize][place.index as usize] += amount as f32;
            self.rooms[place.room as usize].pushed = true;
        }
        let pushed = std::time::Instant::now();
        let (forces, pressures) = (&mut self.forces, &mut self.pressures);
        let seconds: f64 = map_sum(
            parallel,
            self.rooms.par_iter_mut().zip(forces.par_iter_mut()).zip(pressures.par_iter_mut()),
            |((room, force), pressure)| room.advance(force, pressure),
        );
        let done = std::time::Instant::now();
        self.profile.interfaces += (pushed - start).as_secs_f64();
        let rest = (done - pushed).as_secs_f64();
        let walls = if parallel { seconds.min(rest) } else { seconds };
        self.profile.walls += walls;
        self.profile.boxes += rest - walls;
    }
}

/// Calls for each, on all threads or one.
fn for_each<I: IndexedParallelIterator>(parallel: bool, all: I, f: impl Fn(I::Item) + Sync + Send) {
    if parallel {
        all.for_each(f);
    } else {
        all.with_min_len(usize::MAX).for_each(f);
    }
}

fn map_sum<I: IndexedParallelIterator>(parallel: bool, all: I, f: impl Fn(I::Item) -> f64 + Sync + Send) -> f64 {
    if parallel { all.map(f).sum() } else { all.with_min_len(usize::MAX).map(f).sum() }
}

thread_local! {
    static SCRATCH: std::cell::RefCell<Scratch> = std::cell::RefCell::default();
}

impl Room {
    /// Moves on by a step and returns the seconds that walls took.
    fn advance(&mut self, force: &mut [f32], pressure: &mut Vec<f32>) -> f64 {
        let walls = &mut self.walls;
        match &mut self.state {
            State::Modal(modes) => SCRATCH.with_borrow_mut(|scratch| {
                modes.advance(self.pushed.then_some(&mut *force), pressure, scratch);
                if walls.is_empty() {
                    return 0.0;
                }
                let start = std::time::Instant::now();
                force.fill(0.0);
                wall::absorb(walls, pressure, Some(&mut *force));
                modes.add(force, scratch);
                // It holds no force of the next step.
                force.fill(0.0);
                start.elapsed().as_secs_f64()
            }),
            State::Grid(grid) => {
                grid.advance(force, pressure);
                let start = std::time::Instant::now();
                wall::absorb(walls, pressure, None);
                grid.damp(pressure);
                start.elapsed().as_secs_f64()
            }
        }
    }
}

//! What is heard around one probe: the domain around it, the simulation, and the parameters at every cube of the lattice.

use crate::absorption::admittance;
use crate::encode::{Encoder, Timing};
use crate::settings::{Ground, Settings};
use crate::smooth::Openings;
use crate::solver::domain::{AIR, Domain, SOLID, SPONGE_CELLS};
use crate::solver::{Place, Solver, cell_for, step_for};
use crate::voxel::{self, LatticeError, SceneError, Voxels, check, lattice_around};
use eigentone_core::Vec3;
use eigentone_core::acoustics::{Bounds, Lattice, MaterialMesh, Parameter, ProbeField};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cells per cube at which sound is recorded, at most.
const EARS_PER_CUBE: usize = 8;

/// Steps that are recorded before they are sorted by ear.
const CHUNK: usize = 16;

/// Asked before each step of a simulation.
pub trait Pace: Sync {
    /// Whether to give up. It may wait before it answers: the simulation pauses meanwhile.
    fn stops(&self) -> bool;
}

/// Gives up when it is set.
impl Pace for AtomicBool {
    fn stops(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

/// A voxelised scene, ready to be simulated.
pub struct Acoustics {
    /// Where there is something.
    pub voxels: Voxels,
    /// Admittance of each material of the scene's mesh.
    admittances: Vec<f32>,
    /// The cubes in which parameters are told, over all of the scene.
    pub cubes: Lattice,
    /// How to simulate.
    pub settings: Settings,
}

/// What a simulation from one probe takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Cells with air.
    pub cells: usize,
    /// Places at which sound is recorded.
    pub ears: usize,
    /// Time steps.
    pub steps: usize,
    /// Bytes of memory.
    pub bytes: usize,
}

/// Somewhere to listen: cells of one cube.
struct Ears {
    cube: usize,
    cells: Vec<usize>,
}

/// A domain around a probe, with the places where sound is recorded.
pub struct Surroundings {
    /// The cells.
    pub domain: Domain,
    /// The cell of the common lattice of cells that is the domain's first.
    pub first: [i64; 3],
    /// The probe's own cell in the domain.
    pub source: usize,
    ears: Vec<Ears>,
    cubes_first: [i64; 3],
    cubes_size: [u32; 3],
    steps: usize,
}

/// Why a scene cannot be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The triangles make no sense.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The cells make no sense, or there are too many.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
}

/// Cells that a scene may have, walls and air around it included: 270 million, a square kilometre 16 m high up to 500 Hz.
pub const MAX_CELLS: usize = 1 << 28;

impl Acoustics {
    /// A scene with the absorption of each of its materials, by sound from all directions.
    ///
    /// # Errors
    /// If the triangles or the size of the scene make no sense.
    pub fn new(scene: &MaterialMesh, absorptions: &[f64], settings: Settings) -> Result<Self, SetupError> {
        check(scene)?;
        let cell_m = cell_for(settings.f_max_hz);
        let mut bounds = Bounds::of(scene.mesh.positions.iter().copied()).unwrap_or_default();
        if let Some(ground) = &settings.ground {
            bounds.min.z = bounds.min.z.min(ground.z_m);
            bounds.max.z = bounds.max.z.max(ground.z_m);
        }
        let sponge = sponge_cells(&settings, cell_m);
        let margin = (settings.margin_m / cell_m).ceil().clamp(1.0, 1e6) as usize + sponge;
        let lattice = lattice_around(&bounds, cell_m, margin as u32, MAX_CELLS)?;
        let mut admittances: Vec<f32> = absorptions.iter().map(|&a| admittance(a) as f32).collect();
        let voxels = match &settings.ground {
            Some(Ground { z_m, absorption }) => {
                // A name that no file can have, so that it is a material of its own.
                let mut all = scene.clone();
                all.append(&voxel::ground(&lattice.bounds(), *z_m, "\0ground"));
                admittances.resize(all.names.len(), 0.0);
                admittances[all.names.len() - 1] = admittance(*absorption) as f32;
                Voxels::new(&all, lattice)
            }
            None => Voxels::new(scene, lattice),
        };
        let inner = lattice.bounds();
        let size = ((inner.max - inner.min) / settings.grid_m).ceil().to_array().map(|n| (n as u32).max(1));
        let cubes = Lattice { origin: lattice.origin, step_m: settings.grid_m, size };
        Ok(Self { voxels, admittances, cubes, settings })
    }

    /// Times of the simulation.
    pub fn timing(&self) -> Timing {
        let s = &self.settings;
        let mut timing = Timing::new(s.f_max_hz, step_for(self.voxels.lattice.step_m));
        (timing.direct_s, timing.early_s, timing.late_s, timing.onset_db) =
            (s.direct_s, s.early_s, s.late_s, s.onset_db);
        timing
    }

    /// The domain around a probe: the air that sound reaches within the cylinder, and the sponge around it. `None` if the probe is inside something.
    pub fn around(&self, probe: Vec3) -> Option<Surroundings> {
        let (s, lattice) = (&self.settings, &self.voxels.lattice);
        let cell_m = lattice.step_m;
        let middle = lattice.cube(probe);
        if self.voxels.is_solid(middle) {
            return None;
        }
        let sponge = sponge_cells(s, cell_m);
        // Not less than was asked for: in the last cell before the sponge, sound that passes along it is weaker by half a decibel after 25 m.
        let cells = |m: f64| (m / cell_m).ceil() as i64;
        let (radius, half) = (cells(s.radius_m), cells(0.5 * s.height_m));
        // What is heard: within the cylinder, and not beyond the scene's margin; the sponge is the lattice's last cells then.
        let inner = lattice.size.map(|n| i64::from(n) - 1 - sponge as i64);
        let reach = [radius, radius, half];
        let low: [i64; 3] = [0, 1, 2].map(|a| (middle[a] - reach[a]).max((sponge as i64).min(middle[a])));
        let high: [i64; 3] = [0, 1, 2].map(|a| (middle[a] + reach[a]).min(inner[a].max(middle[a])));
        let first = low.map(|l| l - sponge as i64);
        let size = [0, 1, 2].map(|a| (high[a] - low[a] + 1) as usize + 2 * sponge);
        let mut domain = Domain { size, cell_m, cells: vec![SOLID; size.iter().product()], sponge, walls: Vec::new() };
        let global = |at: [usize; 3]| [0, 1, 2].map(|a| first[a] + at[a] as i64);
        let kind = |at: [usize; 3]| {
            let at = global(at);
            if self.voxels.is_solid(at) {
                return SOLID;
            }
            // A box, not the cylinder itself: steps along a round rim would cost boxes, and every face between boxes reflects a little.
            let depth = (0..3).map(|a| (low[a] - at[a]).max(at[a] - high[a])).max().unwrap_or(0).max(0);
            if depth <= sponge as i64 { AIR + depth as u8 } else { SOLID }
        };
        // Only what sound reaches.
        let source = domain.index([0, 1, 2].map(|a| (middle[a] - first[a]) as usize));
        domain.cells[source] = AIR;
        let mut waiting = vec![source];
        while let Some(cell) = waiting.pop() {
            for direction in 0..6 {
                if let Some(next) = domain.neighbour(cell, direction).filter(|&n| domain.cells[n] == SOLID) {
                    let kind = kind(domain.at(next));
                    if kind != SOLID {
                        domain.cells[next] = kind;
                        waiting.push(next);
                    }
                }
            }
        }
        let (rim_low, rim_high) = (first, [0, 1, 2].map(|a| first[a] + size[a] as i64));
        let (mut domain, cut) = domain.cropped();
        let first = [0, 1, 2].map(|a| first[a] + cut[a] as i64);
        let source = domain.index([0, 1, 2].map(|a| (middle[a] - first[a]) as usize));
        let size = domain.size;
        domain.line_with(|cell, direction| {
            let at = [cell % size[0], cell / size[0] % size[1], cell / size[0] / size[1]];
            let mut beside = [0, 1, 2].map(|a| first[a] + at[a] as i64);
            let axis = usize::from(direction / 2);
            beside[axis] += if direction % 2 == 0 { -1 } else { 1 };
            if beside[axis] < rim_low[axis] || beside[axis] >= rim_high[axis] {
                // The far side of the sponge.
                return 1.0;
            }
            // The side of the solid that looks back.
            let material = self.voxels.material(beside, usize::from(direction ^ 1));
            material.and_then(|m| self.admittances.get(usize::from(m))).copied().unwrap_or(0.0)
        });
        let (ears, cubes_first, cubes_size) = self.listen(&domain, first, probe);
        let farthest = s
            .radius_m
            .hypot(0.5 * s.height_m)
            .min((0..3).map(|a| ((high[a] - low[a] + 1) as f64 * cell_m).powi(2)).sum::<f64>().sqrt());
        let timing = self.timing();
        let steps = (timing.duration_s(farthest) / timing.step_s).ceil() as usize;
        Some(Surroundings { domain, first, source, ears, cubes_first, cubes_size, steps })
    }

    /// Cells in which to record, for every cube that has air.
    fn listen(&self, domain: &Domain, first: [i64; 3], probe: Vec3) -> (Vec<Ears>, [i64; 3], [u32; 3]) {
        let (cells, cubes) = (&self.voxels.lattice, &self.cubes);
        let corner = |at: [i64; 3]| cells.origin + cells.step_m * Vec3::from_array(at.map(|i| i as f64));
        let last = [0, 1, 2].map(|a| first[a] + domain.size[a] as i64);
        let (low, high) = (cubes.cube(corner(first)), cubes.cube(corner(last)));
        let size = [0, 1, 2].map(|a| (high[a] - low[a] + 1) as u32);
        let mut ears = Vec::new();
        let mut index = 0;
        for z in 0..i64::from(size[2]) {
            for y in 0..i64::from(size[1]) {
                for x in 0..i64::from(size[0]) {
                    let base = cubes.origin
                        + cubes.step_m * Vec3::from_array([low[0] + x, low[1] + y, low[2] + z].map(|i| i as f64));
                    let away = base + 0.5 * cubes.step_m - probe;
                    if away.truncate().length() > self.settings.radius_m + 0.5 * cubes.step_m {
                        index += 1;
                        continue;
                    }
                    let heard = hear_in(base, cubes.step_m, cells, domain, first);
                    if !heard.is_empty() {
                        ears.push(Ears { cube: index, cells: heard });
                    }
                    index += 1;
                }
            }
        }
        (ears, low, size)
    }

    /// What the simulation of these surroundings takes.
    pub fn cost(&self, around: &Surroundings) -> Cost {
        let cells = around.domain.cells.iter().filter(|&&c| c != SOLID).count();
        let ears = around.ears.iter().map(|e| e.cells.len()).sum::<usize>();
        // Pressures, forces, modes and what they gain; tables; the cells themselves; recordings.
        let bytes = cells * (4 * 4 + 8) + around.domain.cells.len() * 6 + ears * around.steps * 4;
        Cost { cells, ears, steps: around.steps, bytes }
    }

    /// The sound at some points when the pulse goes off at another, with its time step that of [`timing`](Self::timing): what parameters are made of. `None` if the source or a point is inside something or
    /// out of reach, or if `pace` says so.
    pub fn hear(&self, source: Vec3, points: &[Vec3], parallel: bool, pace: &dyn Pace) -> Option<Vec<Vec<f32>>> {
        let mut around = self.around(source)?;
        let local = |point: &Vec3| {
            let at = self.voxels.lattice.cube(*point);
            let at = [0, 1, 2].map(|a| at[a] - around.first[a]);
            let inside = (0..3).all(|a| at[a] >= 0 && at[a] < around.domain.size[a] as i64);
            let cell = inside.then(|| around.domain.index(at.map(|i| i as usize)))?;
            (around.domain.cells[cell] == AIR).then_some(cell)
        };
        let cells: Vec<usize> = points.iter().map(local).collect::<Option<_>>()?;
        around.ears = cells.into_iter().enumerate().map(|(cube, cell)| Ears { cube, cells: vec![cell] }).collect();
        let recordings = around.record(&self.timing(), parallel, pace)?;
        Some(recordings.chunks_exact(around.steps).map(<[f32]>::to_vec).collect())
    }

    /// Simulates sound from a probe and describes what arrives everywhere around. `None` if it is inside something, or if `pace` says so.
    pub fn simulate(&self, probe: Vec3, parallel: bool, pace: &dyn Pace) -> Option<ProbeField> {
        let around = self.around(probe)?;
        let recordings = around.record(&self.timing(), parallel, pace)?;
        let mut field = ProbeField::new(probe, around.cubes_first.map(|i| i as i32), around.cubes_size);
        let from = around.centre(around.source, &self.voxels.lattice);
        let steps = |ears: &Ears, first: usize, encoder: &mut Encoder| {
            let sounds = ears.cells.iter().enumerate().map(|(i, &cell)| {
                let distance = (around.centre(cell, &self.voxels.lattice) - from).length();
                let sound = &recordings[(first + i) * around.steps..][..around.steps];
                (sound, distance.max(0.5 * self.voxels.lattice.step_m))
            });
            encoder.encode_all(sounds).map(|parameters| parameters.to_steps())
        };
        let starts: Vec<usize> = around
            .ears
            .iter()
            .scan(0, |next, ears| {
                let start = *next;
                *next += ears.cells.len();
                Some(start)
            })
            .collect();
        let all = around.ears.par_iter().zip(&starts);
        let encoder = || Encoder::new(&self.timing());
        let values: Vec<_> = if parallel {
            all.map_init(encoder, |encoder, (ears, &first)| steps(ears, first, encoder)).collect()
        } else {
            let mut encoder = encoder();
            around.ears.iter().zip(&starts).map(|(ears, &first)| steps(ears, first, &mut encoder)).collect()
        };
        for (ears, values) in around.ears.iter().zip(values) {
            if let Some(values) = values {
                field.valid.set(ears.cube, true);
                for (all, value) in field.values.iter_mut().zip(values) {
                    all[ears.cube] = value;
                }
            }
        }
        let cells = &self.voxels.lattice;
        let openings =
            Openings::new(&self.cubes, around.cubes_first, around.cubes_size, cells, &around.domain, around.first);
        for decay in [Parameter::EarlyDecay, Parameter::LateDecay] {
            // Rates, not times: they are what is measured, and a rate near zero is a time without end.
            let values = &mut field.values[decay as usize];
            values.iter_mut().for_each(|x| *x = decay.from_steps(*x).recip() as f32);
            openings.smooth(values, &field.valid);
            values.iter_mut().for_each(|x| *x = decay.to_steps(f64::from(*x).recip()));
        }
        Some(field)
    }
}

fn sponge_cells(settings: &Settings, cell_m: f64) -> usize {
    ((settings.padding_m / cell_m).ceil() as usize).clamp(SPONGE_CELLS, 200)
}

/// Cells of a cube in which to record: around the middles of its eight parts, or any that has air.
fn hear_in(base: Vec3, side_m: f64, cells: &Lattice, domain: &Domain, first: [i64; 3]) -> Vec<usize> {
    let local = |point: Vec3| {
        let at = cells.cube(point);
        let mut local = [0; 3];
        for axis in 0..3 {
            let i = at[axis] - first[axis];
            if i < 0 || i >= domain.size[axis] as i64 {
                return None;
            }
            local[axis] = i as usize;
        }
        Some(domain.index(local)).filter(|&cell| domain.cells[cell] == AIR)
    };
    let mut heard: Vec<usize> = (0..EARS_PER_CUBE)
        .filter_map(|i| {
            let part = Vec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64);
            local(base + side_m * (0.25 + 0.5 * part))
        })
        .collect();
    if heard.is_empty() {
        // A niche: the air cell that is nearest to the middle.
        let n = (side_m / cells.step_m).ceil() as i64;
        let mut best: Option<(f64, usize)> = None;
        for z in 0..n {
            for y in 0..n {
                for x in 0..n {
                    let offset = (Vec3::new(x as f64, y as f64, z as f64) + 0.5) / n as f64;
                    let away = (offset - 0.5).length_squared();
                    if best.is_none_or(|b| away < b.0)
                        && let Some(cell) = local(base + side_m * offset)
                    {
                        best = Some((away, cell));
                    }
                }
            }
        }
        heard.extend(best.map(|b| b.1));
    }
    heard.sort_unstable();
    heard.dedup();
    heard
}

impl Surroundings {
    /// The middle of a cell.
    pub fn centre(&self, cell: usize, cells: &Lattice) -> Vec3 {
        let at = self.domain.at(cell);
        cells.centre([0, 1, 2].map(|a| self.first[a] + at[a] as i64))
    }

    /// The sound at every ear, one after the other. `None` if `pace` says so.
    fn record(&self, timing: &Timing, parallel: bool, pace: &dyn Pace) -> Option<Vec<f32>> {
        let mut solver = Solver::new(&self.domain, parallel);
        let cells: Vec<usize> = self.ears.iter().flat_map(|e| &e.cells).copied().chain([self.source]).collect();
        // All are cells with air.
        let mut places: Vec<Place> = solver.places(&cells).into_iter().flatten().collect();
        let source = places.pop()?;
        let mut sound = vec![0.0f32; places.len() * self.steps];
        // Some steps of all ears at a time, then each ear's: a step by itself would touch a line of memory per ear.
        let mut recent = vec![0.0f32; places.len() * CHUNK];
        let pulse_s = 2.0 * timing.pulse_delay_s();
        for start in (0..self.steps).step_by(CHUNK) {
            let count = CHUNK.min(self.steps - start);
            for n in 0..count {
                if pace.stops() {
                    return None;
                }
                let t = (start + n) as f64 * timing.step_s;
                solver.step((t < pulse_s).then(|| (source, timing.pulse(t))));
                let now = &mut recent[n * places.len()..][..places.len()];
                now.iter_mut().zip(&places).for_each(|(y, &place)| *y = solver.pressure(place));
            }
            for (ear, sound) in sound.chunks_exact_mut(self.steps).enumerate() {
                for (n, y) in sound[start..start + count].iter_mut().enumerate() {
                    *y = recent[n * places.len() + ear];
                }
            }
        }
        Some(sound)
    }
}

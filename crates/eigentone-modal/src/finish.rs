//! From undamped eigenpairs to a model: which modes can be heard, how they decay, how loud they radiate.

use crate::ModeLimit;
use crate::eigen::Pencil;
use crate::mesh_model::{MeshModelError, MeshModelSettings};
use eigentone_core::{
    AIR_IMPEDANCE_PA_S_PER_M, Material, ModalModel, Mode, ModelInfo, ShapeTable, Surface, TriMesh, Vec3,
};
use faer::Mat;
use std::f64::consts::{PI, TAU};

/// Below this frequency a motion counts as rigid, in Hz: rounding leaves true zeros well under it, and no object of everyday
/// size has an elastic mode there.
const RIGID_HZ: f64 = 0.5;

/// A mode whose largest displacement at a contact site is below this share of all modes' largest cannot be struck.
const UNREACHED: f64 = 1e-9;

/// Eigenvalues with mode shapes at the contact sites.
pub struct Undamped {
    values: Vec<f64>,
    /// Three rows per site, one column per mode.
    shapes: Mat<f64>,
    surface: TriMesh,
    /// Pressure at one metre per unit of modal velocity, signed.
    gains: Vec<f64>,
    rigid: usize,
    expected_rigid: usize,
}

impl Undamped {
    /// Collects what a solver found. `shapes` has three rows for each vertex of `surface`.
    pub fn new(values: Vec<f64>, shapes: Mat<f64>, surface: TriMesh, pencil: &Pencil, expected_rigid: usize) -> Self {
        let zero = (TAU * RIGID_HZ).powi(2).max(3e-14 * pencil.largest_eigenvalue_scale());
        let rigid = values.iter().filter(|&&v| v < zero).count();
        let gains = radiation_gains(&surface, &shapes);
        Self { values, shapes, surface, gains, rigid, expected_rigid }
    }

    /// Keeps at most `most` contact sites. Radiation stays as computed from all of them.
    pub fn thin_sites(mut self, most: usize) -> Self {
        if self.surface.positions.len() > most {
            let kept = self.surface.simplify(most);
            self.shapes = Mat::from_fn(3 * kept.len(), self.shapes.ncols(), |r, c| {
                self.shapes[(3 * kept[r / 3] as usize + r % 3, c)]
            });
        }
        self
    }

    /// Modes, rigid motions included.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// See [`ModeLimit::ends_sparsely`].
    pub fn ends_sparsely(&self, limit: &ModeLimit) -> bool {
        limit.ends_sparsely(&self.values)
    }

    /// How far each mode moves the contact site that it moves most.
    fn largest_displacements(&self) -> Vec<f64> {
        let column = |c: usize| (0..self.shapes.nrows()).map(|r| self.shapes[(r, c)].abs()).fold(0.0, f64::max);
        (0..self.shapes.ncols()).map(column).collect()
    }

    /// Damps the modes and keeps those in the band.
    ///
    /// # Errors
    /// [`MeshModelError::Silent`] if none is left.
    pub fn into_model(
        self,
        mut info: ModelInfo,
        material: &Material,
        settings: &MeshModelSettings,
    ) -> Result<ModalModel, MeshModelError> {
        if self.rigid != self.expected_rigid {
            info.warnings.push(format!(
                "{} motions cost no energy where {} were expected (six per piece): part of the mesh hangs by a corner or is too coarse",
                self.rigid, self.expected_rigid
            ));
        }
        let law = material.damping(settings.damping);
        let (mut modes, mut columns) = (Vec::new(), Vec::new());
        let (mut overdamped, mut nearest_hz, mut unreached) = (0, None::<f64>, 0);
        let largest = self.largest_displacements();
        let touch = UNREACHED * largest.iter().copied().fold(0.0, f64::max);
        for (n, &value) in self.values.iter().enumerate().skip(self.rigid) {
            let omega = settings.frequency_scale * value.max(0.0).sqrt();
            let decay_per_s = law.decay_per_s(omega / TAU);
            if decay_per_s >= omega {
                overdamped += 1;
                continue;
            }
            let frequency_hz = (omega * omega - decay_per_s * decay_per_s).sqrt() / TAU;
            if frequency_hz < settings.lowest_hz || frequency_hz > settings.highest_hz {
                nearest_hz = nearest_hz.or(Some(frequency_hz));
            } else if largest[n].is_nan() || largest[n] <= touch {
                unreached += 1;
            } else if modes.len() < settings.max_modes {
                modes.push(Mode { frequency_hz, decay_per_s, output_gain: self.gains[n] });
                columns.push(n);
            }
        }
        if overdamped > 0 {
            info.warnings.push(format!("{overdamped} modes are damped beyond ringing and were left out"));
        }
        if unreached > 0 {
            info.notes.push(format!("{unreached} modes move none of the contact sites and were left out"));
        }
        if modes.is_empty() {
            if unreached > 0 {
                return Err(MeshModelError::OutOfReach { modes: unreached, sites: self.surface.positions.len() });
            }
            let (lowest_hz, highest_hz) = (settings.lowest_hz, settings.highest_hz);
            return Err(MeshModelError::Silent { lowest_hz, highest_hz, nearest_hz, overdamped, way_out: None });
        }
        // Strong damping bends frequencies down; the order may change.
        let mut order: Vec<usize> = (0..modes.len()).collect();
        order.sort_by(|&a, &b| modes[a].frequency_hz.total_cmp(&modes[b].frequency_hz));
        let shape = |s: usize, m: usize| {
            let c = columns[order[m]];
            Vec3::from_array(std::array::from_fn(|k| self.shapes[(3 * s + k, c)]))
        };
        Ok(ModalModel {
            shapes: ShapeTable::from_fn(self.surface.positions.len(), modes.len(), shape),
            modes: order.iter().map(|&m| modes[m]).collect(),
            surface: Surface::from_mesh(&self.surface),
            diffuse: Vec::new(),
            info,
        })
    }
}

/// `ρ₀c/√(4π) · √(Σ a (n·u)²)` with the sign of the net volume velocity `Σ a n·u`, for each mode.
fn radiation_gains(surface: &TriMesh, shapes: &Mat<f64>) -> Vec<f64> {
    let areas = surface.vertex_areas();
    let normals = surface.vertex_normals();
    (0..shapes.ncols())
        .map(|c| {
            let (mut net, mut power) = (0.0, 0.0);
            for (s, (area, n)) in areas.iter().zip(&normals).enumerate() {
                let v = n.x * shapes[(3 * s, c)] + n.y * shapes[(3 * s + 1, c)] + n.z * shapes[(3 * s + 2, c)];
                net += area * v;
                power += area * v * v;
            }
            AIR_IMPEDANCE_PA_S_PER_M / (4.0 * PI).sqrt() * power.sqrt().copysign(net)
        })
        .collect()
}

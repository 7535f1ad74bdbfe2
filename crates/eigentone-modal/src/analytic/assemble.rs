//! From partials to a [`ModalModel`]: band, damping, contact sites and gains, the same for every shape.

use super::{AnalyticError, AnalyticSettings, BarSupport, PlateSupport, Shape, bar, disc, ritz, string, supported};
use eigentone_core::{
    AIR_IMPEDANCE_PA_S_PER_M, Material, Method, ModalModel, Mode, ModelInfo, ShapeTable, Surface, TriMesh, Vec3,
    mesh::primitives,
};
use std::f64::consts::{PI, TAU};

/// One undamped mode of a body in the xy plane.
pub(super) struct Partial {
    /// Undamped frequency in Hz.
    pub frequency_hz: f64,
    /// Wave number of the bending wave in rad/m.
    pub wavenumber: f64,
    /// Net volume displacement `∫ φ dA`, up to a positive factor; exactly zero where symmetry or freedom makes it so.
    pub net: f64,
    /// Mass-normalised displacement along z at `(x, y)`, in 1/√kg.
    pub shape: Box<dyn Fn(f64, f64) -> f64>,
}

/// What a solver is asked for: all modes up to a frequency, but not more than so many.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub low_hz: f64,
    pub high_hz: f64,
    pub max_modes: usize,
}

impl Wanted {
    /// Sorts, drops what lies outside the band, and keeps the lowest.
    fn select(self, mut partials: Vec<Partial>) -> Vec<Partial> {
        partials.retain(|p| (self.low_hz..=self.high_hz).contains(&p.frequency_hz));
        partials.sort_by(|a, b| a.frequency_hz.total_cmp(&b.frequency_hz));
        partials.truncate(self.max_modes);
        partials
    }

    /// Number of modes of a thin plate below the band, by the first term of Weyl's law.
    fn modes_below(self, area: f64, stiffness_per_mass: f64) -> f64 {
        0.5 * area * self.low_hz / stiffness_per_mass.sqrt()
    }

    /// Wave number up to which a thin plate of this area, bending stiffness per areal mass `D/ρh` and outline must be
    /// searched: the band's, or that at which Weyl's law `N ≈ A k²/4π − s·P k/4π` counts enough modes. `s` is 1 for held
    /// edges; for free ones the law's next term adds modes and 0 is on the safe side.
    pub(super) fn plate_wavenumber(self, area: f64, edge: f64, stiffness_per_mass: f64, s: f64) -> f64 {
        let at = |hz: f64| (TAU * hz / stiffness_per_mass.sqrt()).sqrt();
        // Modes below the band take part in the count but are not kept.
        let wanted = 4.0 * PI * (self.max_modes as f64 + self.modes_below(area, stiffness_per_mass) + 4.0);
        let counted = (s * edge + ((s * edge).powi(2) + 4.0 * area * wanted).sqrt()) / (2.0 * area);
        at(self.high_hz).min(1.1 * counted)
    }
}

/// The model of a shape made of a material.
///
/// # Errors
/// If a measure, the material or the band is impossible, or no mode falls into the band.
pub fn model(shape: &Shape, material: &Material, settings: &AnalyticSettings) -> Result<ModalModel, AnalyticError> {
    shape.validate()?;
    material.validate()?;
    settings.validate()?;
    let wanted = Wanted { low_hz: settings.low_hz, high_hz: settings.high_hz, max_modes: settings.max_modes };
    let (all, mut warnings) = partials(shape, material, wanted)?;
    let lowest_hz = all.iter().map(|p| p.frequency_hz).min_by(f64::total_cmp);
    let damping = material.damping(settings.damping);
    let mut kept = wanted.select(all);
    // An overdamped mode does not ring.
    kept.retain(|p| damping.decay_per_s(p.frequency_hz) < 0.99 * TAU * p.frequency_hz);
    if kept.is_empty() {
        return Err(AnalyticError::NoModes { low_hz: wanted.low_hz, high_hz: wanted.high_hz, lowest_hz });
    }
    let radiation = AIR_IMPEDANCE_PA_S_PER_M / (4.0 * PI).sqrt();
    let everywhere = radiation / shape.areal_mass(material).sqrt();
    let pickup = settings.pickup.map(|p| shape.project(p));
    let modes = kept
        .iter()
        .map(|p| {
            let decay_per_s = damping.decay_per_s(p.frequency_hz).max(1e-6);
            let output_gain = match pickup {
                Some([x, y]) => radiation * shape.face_area().sqrt() * (p.shape)(x, y),
                None if p.net < 0.0 => -everywhere,
                None => everywhere,
            };
            let frequency_hz = (p.frequency_hz.powi(2) - (decay_per_s / TAU).powi(2)).sqrt();
            Mode { frequency_hz, decay_per_s, output_gain }
        })
        .collect();
    let highest = kept.iter().map(|p| p.wavenumber).fold(0.0, f64::max);
    let (mesh, spacing) = contact_mesh(shape, highest);
    warnings.extend(thickness_warning(shape, &kept));
    warnings.extend(spacing_warning(&kept, spacing, mesh.positions.len()));
    let name = if settings.name.is_empty() { shape.kind() } else { &settings.name };
    let info = ModelInfo {
        mass_kg: Some(shape.mass_kg(material)),
        warnings,
        ..ModelInfo::new(name, Method::Analytic, &material.name)
    };
    let columns: Vec<Vec<f64>> =
        kept.iter().map(|p| mesh.positions.iter().map(|q| (p.shape)(q.x, q.y)).collect()).collect();
    let shapes = ShapeTable::from_fn(mesh.positions.len(), kept.len(), |s, n| Vec3::Z * columns[n][s]);
    Ok(ModalModel { info, modes, surface: Surface::from_mesh(&mesh), shapes, diffuse: Vec::new() })
}

/// More modes below the band than this cannot be told from a continuum, and would take minutes to solve.
const MAX_BELOW: f64 = 2000.0;

/// All modes that may fall into the band, with what should be known about them.
pub(super) fn partials(
    shape: &Shape,
    material: &Material,
    wanted: Wanted,
) -> Result<(Vec<Partial>, Vec<String>), AnalyticError> {
    let areal_mass = shape.areal_mass(material);
    if let Shape::Plate { thickness, .. } | Shape::Disc { thickness, .. } = shape {
        let stiffness = material.bending_stiffness_n_m(*thickness) / areal_mass;
        let below = wanted.modes_below(shape.face_area(), stiffness);
        if below > MAX_BELOW {
            return Err(AnalyticError::Dense { below, low_hz: wanted.low_hz });
        }
    }
    let found = match shape {
        Shape::String { length, diameter, pull } => string::partials(*length, *diameter, *pull, material, wanted)?,
        Shape::Bar { length, width, thickness, support, tuning } => {
            let wave = (material.young_pa * thickness.powi(2) / (12.0 * material.density_kg_m3)).sqrt();
            let mass = areal_mass * width * length;
            let bar = bar::Bar { length: *length, mass, wave, clamped: *support == BarSupport::ClampedFree };
            bar.partials(tuning.as_ref(), wanted)
        }
        Shape::Plate { length, width, thickness, support } => {
            let stiffness = material.bending_stiffness_n_m(*thickness) / areal_mass;
            match support {
                PlateSupport::SimplySupported => supported::partials([*length, *width], areal_mass, stiffness, wanted),
                PlateSupport::Free => {
                    return Ok(ritz::partials([*length, *width], areal_mass, stiffness, material.poisson, wanted));
                }
            }
        }
        Shape::Disc { radius, thickness, support } => {
            let stiffness = material.bending_stiffness_n_m(*thickness) / areal_mass;
            disc::partials(*radius, areal_mass, stiffness, material.poisson, *support, wanted)
        }
    };
    Ok((found, Vec::new()))
}

/// Sites per wavelength that the contact mesh aims at: linear interpolation between them then stays within 8 % of a
/// sine's crest (`1 − cos(π/8)`).
const SITES_PER_WAVE: f64 = 8.0;
/// Most contact sites.
const MAX_SITES: usize = 1024;

/// The surface on which the body is touched, and the distance between its sites.
fn contact_mesh(shape: &Shape, highest_wavenumber: f64) -> (TriMesh, f64) {
    let ideal = TAU / highest_wavenumber / SITES_PER_WAVE;
    let points = |l: f64, spacing: f64| (l / spacing).ceil() as usize + 1;
    match *shape {
        Shape::String { length, diameter: width, .. } | Shape::Bar { length, width, .. } => {
            let nx = points(length, ideal).clamp(33, MAX_SITES / 2);
            (primitives::plate(length, width, nx, 2), length / (nx - 1) as f64)
        }
        Shape::Plate { length, width, .. } => {
            let mut spacing = ideal.min(length.min(width) / 8.0);
            while points(length, spacing) * points(width, spacing) > MAX_SITES {
                spacing *= 1.02;
            }
            let [nx, ny] = [length, width].map(|l| points(l, spacing));
            (primitives::plate(length, width, nx, ny), spacing)
        }
        Shape::Disc { radius, .. } => {
            // 1 + 3·17·18 = 919 sites.
            let rings = (points(radius, ideal) - 1).clamp(6, 17);
            (primitives::disc(radius, rings), radius / rings as f64)
        }
    }
}

/// Thin-plate and slender-bar theory leaves out shear and rotary inertia, which lower modes whose wave is short against the
/// thickness: by Timoshenko's dispersion relation 6 % at ten thicknesses and 14 % at six (ν = 0.29; compare
/// [`super::timoshenko_free_bar`]).
const SHORTEST_WAVE_IN_THICKNESSES: f64 = 6.0;

fn thickness_warning(shape: &Shape, kept: &[Partial]) -> Option<String> {
    let (Shape::Bar { thickness, .. } | Shape::Plate { thickness, .. } | Shape::Disc { thickness, .. }) = shape else {
        return None;
    };
    let shortest = SHORTEST_WAVE_IN_THICKNESSES * thickness;
    let first = kept.iter().position(|p| TAU / p.wavenumber < shortest)?;
    Some(format!(
        "the {} modes from {:.0} Hz up have waves shorter than six thicknesses: a real {} sounds them a seventh lower or more",
        kept.len() - first,
        kept[first].frequency_hz,
        shape.kind()
    ))
}

fn spacing_warning(kept: &[Partial], spacing: f64, sites: usize) -> Option<String> {
    let first = kept.iter().position(|p| TAU / p.wavenumber < 3.0 * spacing)?;
    Some(format!(
        "the {} modes from {:.0} Hz up have waves too short for {sites} contact sites: they are excited more \
         evenly over the surface than they should be",
        kept.len() - first,
        kept[first].frequency_hz
    ))
}

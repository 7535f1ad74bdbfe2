//! What can be kept in memory and counted in the numbers of the code.

use super::{FieldError, ProbePlace, QUANTUM_RANGE, is_quantum};
use crate::acoustics::{FieldInfo, Lattice, Occupancy};

/// The most cubes of one probe, so that its bits can be counted in 32: no cube takes more than five times 36.
pub(super) const MAX_CUBES: u64 = 1 << 24;
/// The most cubes of all probes together, and the most cells of a scene.
const MAX_CELLS: u64 = 1 << 31;
/// The most lines of all probes together. Each takes 32 bytes in memory.
const MAX_LINES: u64 = 1 << 25;

/// Whether a lattice can be stored: finite, with cubes that can be counted.
///
/// # Errors
/// If not.
pub fn check_lattice(lattice: &Lattice) -> Result<(), FieldError> {
    let cubes = lattice.size.iter().try_fold(1u64, |n, &k| n.checked_mul(u64::from(k)));
    let fits = lattice.origin.is_finite()
        && lattice.step_m.is_finite()
        && lattice.step_m > 0.0
        && cubes.is_some_and(|n| n <= MAX_CELLS)
        // Also without the empty axes: rows and layers are counted as well.
        && lattice.size.iter().all(|&n| u64::from(n) <= MAX_CELLS);
    if fits {
        return Ok(());
    }
    let expected = "a lattice with a finite origin, a positive step and at most 2³¹ cubes";
    Err(FieldError::new(None, expected, format!("{lattice:?}")))
}

/// Whether probes with such grids can be kept in memory, before anything is allocated for them.
///
/// # Errors
/// If not.
pub fn check_places(places: &[ProbePlace]) -> Result<(), FieldError> {
    let mut all = Places::default();
    places.iter().try_for_each(|place| all.add(place))
}

/// Cubes and lines of all probes so far.
#[derive(Default)]
pub(super) struct Places {
    probes: usize,
    cubes: u64,
    lines: u64,
}

impl Places {
    pub fn add(&mut self, place: &ProbePlace) -> Result<(), FieldError> {
        let i = self.probes;
        self.probes += 1;
        if !place.position.is_finite() {
            let found = format!("{} of probe {i}", place.position);
            return Err(FieldError::new(Some("probe_position"), "finite numbers", found));
        }
        let (cubes, lines) = (place.cubes(), place.lines());
        (self.cubes, self.lines) = (self.cubes.saturating_add(cubes), self.lines.saturating_add(lines));
        if cubes > MAX_CUBES || self.cubes > MAX_CELLS || self.lines > MAX_LINES {
            let expected = format!(
                "at most {MAX_CUBES} cubes of a probe, {MAX_CELLS} cubes and {MAX_LINES} lines of all together"
            );
            return Err(FieldError::new(Some("probe_size"), expected, format!("{:?} of probe {i}", place.size)));
        }
        Ok(())
    }
}

/// Whether all but the probes can be stored.
pub(super) fn check_scene(info: &FieldInfo, lattice: &Lattice, occupancy: &Occupancy) -> Result<(), FieldError> {
    for (name, number) in [("f_max_hz", info.f_max_hz), ("cell_m", info.cell_m)] {
        if !number.is_finite() {
            return Err(FieldError::new(None, "finite numbers", format!("{name} = {number}")));
        }
    }
    if !is_quantum(info.quantum) {
        let [least, most] = QUANTUM_RANGE;
        return Err(FieldError::new(None, format!("a quantum from {least} to {most}"), info.quantum.to_string()));
    }
    check_lattice(lattice)?;
    check_lattice(&occupancy.lattice)?;
    if occupancy.solid.len() != occupancy.lattice.len() {
        let expected = format!("{} cells of the scene", occupancy.lattice.len());
        return Err(FieldError::new(None, expected, occupancy.solid.len().to_string()));
    }
    Ok(())
}

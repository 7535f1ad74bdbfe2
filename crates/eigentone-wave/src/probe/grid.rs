//! Points of the grid, and free cells near them.

use super::{MAX_POINTS, PlaceError, Region, Settings};
use crate::voxel::Voxels;
use eigentone_core::{Vec3, acoustics::Bounds};
use rayon::prelude::*;

/// Why a point is dropped.
pub(super) enum Lost {
    Outside,
    InGeometry,
}

/// Points in any of the regions, x fastest, then y, then z.
pub(super) fn points(voxels: &Voxels, regions: &[Region], settings: &Settings) -> Result<Vec<Vec3>, PlaceError> {
    let above = settings.above_floor_m.unwrap_or(1.0);
    let distances = [
        ("the spacing of probes", settings.spacing_m),
        ("their vertical spacing", settings.vertical_m),
        ("their height above the floor", above),
    ];
    if let Some((what, found)) = distances.into_iter().find(|(_, d)| !(d.is_finite() && *d > 0.0)) {
        return Err(PlaceError::Spacing { what, found });
    }
    let Some(bounds) = around(voxels, regions)? else { return Ok(Vec::new()) };
    let columns = [0, 1].map(|axis| level(bounds.min[axis], bounds.max[axis], settings.spacing_m));
    let layers = level(bounds.min.z, bounds.max.z, settings.vertical_m);
    let count = columns[0].1 * columns[1].1 * layers.1;
    if count.is_nan() || count > MAX_POINTS {
        return Err(PlaceError::TooMany { points: count });
    }
    let along = |(first, n): (f64, f64), step: f64| (0..n as usize).map(move |k| first + step * k as f64);
    let (xs, ys): (Vec<f64>, Vec<f64>) =
        (along(columns[0], settings.spacing_m).collect(), along(columns[1], settings.spacing_m).collect());
    // For each column its heights; then sorted so that the lowest probe of all columns comes first.
    let mut points: Vec<(usize, usize, Vec3)> = (0..ys.len() * xs.len())
        .into_par_iter()
        .flat_map_iter(|column| {
            let (x, y) = (xs[column % xs.len()], ys[column / xs.len()]);
            let heights: Vec<f64> = match settings.above_floor_m {
                Some(above) => above_floors(voxels, [x, y], [bounds.min.z, bounds.max.z], above, settings.vertical_m),
                None => along(layers, settings.vertical_m).collect(),
            };
            let inside = |p: &Vec3| regions.is_empty() || regions.iter().any(|r| r.contains(*p));
            heights
                .into_iter()
                .enumerate()
                .map(move |(k, z)| (k, column, Vec3::new(x, y, z)))
                .filter(move |(.., p)| inside(p))
        })
        .collect();
    points.sort_by_key(|&(layer, column, _)| (layer, column));
    Ok(points.into_iter().map(|p| p.2).collect())
}

/// The box around all regions, or around the scene.
fn around(voxels: &Voxels, regions: &[Region]) -> Result<Option<Bounds>, PlaceError> {
    if regions.is_empty() {
        return Ok(voxels.bounds);
    }
    let mut corners = Vec::new();
    for (region, r) in regions.iter().enumerate() {
        let fit = |b: &Bounds| b.min.is_finite() && b.max.is_finite() && b.min.cmple(b.max).all();
        let bounds = r.bounds().filter(fit).ok_or(PlaceError::Region { region })?;
        if let Region::Mesh(mesh) = r {
            let count = mesh.positions.len();
            if mesh.triangles.iter().flatten().any(|&v| v as usize >= count) {
                return Err(PlaceError::Region { region });
            }
        }
        corners.extend([bounds.min, bounds.max]);
    }
    Ok(Bounds::of(corners))
}

/// The first of the points that lie in the middle of a range with a distance, and their number. At least one.
fn level(from: f64, to: f64, step: f64) -> (f64, f64) {
    let count = ((to - from) / step + 1e-9).floor().max(1.0);
    (0.5 * (from + to - step * (count - 1.0)), count)
}

/// Heights in a column within a range: over each floor, and where the air has no floor within the cells, from the lower end of the range.
fn above_floors(voxels: &Voxels, [x, y]: [f64; 2], [low, high]: [f64; 2], above: f64, step: f64) -> Vec<f64> {
    let lattice = &voxels.lattice;
    let cell = |z: f64| lattice.cube(Vec3::new(x, y, z));
    let bottom = |k: i64| lattice.origin.z + lattice.step_m * k as f64;
    let last = i64::from(lattice.size[2]) - 1;
    // The floor of the lowest air may lie below the range.
    let [i, j, first] = cell(low + 1e-9 * lattice.step_m);
    let (mut k, end) = (first.clamp(0, last), cell(high)[2].clamp(0, last));
    while k > 0 && !voxels.is_solid([i, j, k]) && !voxels.is_solid([i, j, k - 1]) {
        k -= 1;
    }
    let mut heights = Vec::new();
    while k <= end {
        if voxels.is_solid([i, j, k]) {
            k += 1;
            continue;
        }
        let (from, has_floor) = (k, k > 0);
        while k <= end && !voxels.is_solid([i, j, k]) {
            k += 1;
        }
        let (start, ceiling) =
            (if has_floor { bottom(from) + above } else { low.max(bottom(from)) + above }, bottom(k).min(high));
        let count = ((ceiling - start) / step).floor();
        if start < ceiling {
            heights.extend((0..=count as usize).map(|n| start + step * n as f64).filter(|z| *z >= low));
        }
    }
    heights
}

/// A place that is clear of walls at a point or, failing that, in the middle of the nearest cell in any region within half a spacing, and whether it had to be moved.
pub(super) fn free_near(
    voxels: &Voxels,
    regions: &[Region],
    settings: &Settings,
    point: Vec3,
) -> Result<(Vec3, bool), Lost> {
    let lattice = &voxels.lattice;
    let at = lattice.cube(point);
    if voxels.is_clear(at) {
        return Ok((point, false));
    }
    let reach = 0.5 * Vec3::new(settings.spacing_m, settings.spacing_m, settings.vertical_m);
    let cells = (reach / lattice.step_m).ceil().to_array().map(|r| (r as i64).min(1 << 10));
    let mut best: Option<(f64, Vec3)> = None;
    for z in -cells[2]..=cells[2] {
        for y in -cells[1]..=cells[1] {
            for x in -cells[0]..=cells[0] {
                let offset = [x, y, z];
                let cell = std::array::from_fn(|axis| at[axis].saturating_add(offset[axis]));
                let centre = lattice.centre(cell);
                let away = centre - point;
                let distance = away.length_squared();
                let nearer = best.is_none_or(|(d, _)| distance < d);
                if nearer
                    && away.abs().cmple(reach).all()
                    && voxels.is_clear(cell)
                    && (regions.is_empty() || regions.iter().any(|r| r.contains(centre)))
                {
                    best = Some((distance, centre));
                }
            }
        }
    }
    match best {
        Some((_, centre)) => Ok((centre, true)),
        None if lattice.index(at).is_none() => Err(Lost::Outside),
        None => Err(Lost::InGeometry),
    }
}

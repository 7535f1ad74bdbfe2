//! The cosine transform of a box, which turns the Laplacian with rigid walls into factors.
//!
//! Orthonormal, so that the inverse is the transpose. Along each axis the even modes come first and then the odd ones: `0, 2, 4, …, 1, 3, 5, …`; see
//! [`mode`].

use super::tile::{COLUMNS, Multiply, ROWS, Tile, best};

/// The mode number that is stored at a place along an axis of `n` cells.
pub fn mode(place: usize, n: usize) -> usize {
    let even = n.div_ceil(2);
    if place < even { 2 * place } else { 2 * (place - even) + 1 }
}

/// Transforms of boxes of one size.
pub struct Cosine {
    size: [usize; 3],
    axes: [Axis; 3],
    multiply: Multiply,
}

/// Room for intermediate results, for boxes of any size.
#[derive(Default)]
pub struct Scratch {
    even: Vec<f32>,
    odd: Vec<f32>,
}

/// Matrices of one axis, laid out for tiles.
struct Axis {
    n: usize,
    /// Even modes by even parts, and odd ones by odd parts: `half × half`.
    even: Half,
    odd: Half,
}

/// A square matrix over modes `k` and places `j`, in the orders in which tiles read it.
struct Half {
    n: usize,
    /// Six modes at a time, by place.
    modes: Vec<f32>,
    /// Six places at a time, by mode.
    places: Vec<f32>,
    /// Sixteen modes at a time, by place.
    wide_modes: Vec<f32>,
    /// Sixteen places at a time, by mode.
    wide_places: Vec<f32>,
}

impl Half {
    fn new(n: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let entry = |k: usize, j: usize| if k < n && j < n { value(k, j) as f32 } else { 0.0 };
        let panels = |width: usize, entry: &dyn Fn(usize, usize) -> f32| {
            let mut all = Vec::with_capacity(n.next_multiple_of(width) * n);
            for panel in 0..n.div_ceil(width) {
                for inner in 0..n {
                    all.extend((0..width).map(|i| entry(panel * width + i, inner)));
                }
            }
            all
        };
        Self {
            n,
            modes: panels(ROWS, &|k, j| entry(k, j)),
            places: panels(ROWS, &|j, k| entry(k, j)),
            wide_modes: panels(COLUMNS, &|k, j| entry(k, j)),
            wide_places: panels(COLUMNS, &|j, k| entry(k, j)),
        }
    }
}

impl Axis {
    fn new(n: usize) -> Self {
        let value = |k: usize, j: usize| {
            let size = if k == 0 { 1.0 / n as f64 } else { 2.0 / n as f64 };
            size.sqrt() * (std::f64::consts::PI * k as f64 * (j as f64 + 0.5) / n as f64).cos()
        };
        Self {
            n,
            // The cell in the middle of an odd number is its own mirror image.
            even: Half::new(n.div_ceil(2), |k, j| value(2 * k, j)),
            odd: Half::new(n / 2, |k, j| value(2 * k + 1, j)),
        }
    }
}

impl Cosine {
    /// For boxes of so many cells.
    pub fn new(size: [usize; 3]) -> Self {
        Self { size, axes: size.map(Axis::new), multiply: best() }
    }

    /// Cells of a box.
    pub fn len(&self) -> usize {
        self.size.iter().product()
    }

    /// From values to modes, in place.
    pub fn forward(&self, data: &mut [f32], scratch: &mut Scratch) {
        assert_eq!(data.len(), self.len());
        let [nx, ny, nz] = self.size;
        self.rows(data, scratch, Self::rows_forward);
        for layer in data.chunks_exact_mut(nx * ny).take(nz) {
            self.columns(&self.axes[1], layer, nx, scratch, Self::columns_forward);
        }
        self.columns(&self.axes[2], data, nx * ny, scratch, Self::columns_forward);
    }

    /// From modes to values, in place.
    pub fn inverse(&self, data: &mut [f32], scratch: &mut Scratch) {
        assert_eq!(data.len(), self.len());
        let [nx, ny, nz] = self.size;
        self.columns(&self.axes[2], data, nx * ny, scratch, Self::columns_inverse);
        for layer in data.chunks_exact_mut(nx * ny).take(nz) {
            self.columns(&self.axes[1], layer, nx, scratch, Self::columns_inverse);
        }
        self.rows(data, scratch, Self::rows_inverse);
    }

    /// Sixteen columns at a time, all of an axis whose neighbours are `stride` apart.
    fn columns(
        &self,
        axis: &Axis,
        data: &mut [f32],
        stride: usize,
        scratch: &mut Scratch,
        transform: fn(&Self, &Axis, &mut [f32], usize, usize, &mut Scratch),
    ) {
        if axis.n == 1 {
            return;
        }
        scratch.even.resize(axis.even.n * COLUMNS, 0.0);
        scratch.odd.resize(axis.odd.n * COLUMNS, 0.0);
        for first in (0..stride).step_by(COLUMNS) {
            transform(self, axis, &mut data[first..], stride, COLUMNS.min(stride - first), scratch);
        }
    }

    fn columns_forward(&self, axis: &Axis, data: &mut [f32], stride: usize, width: usize, scratch: &mut Scratch) {
        let n = axis.n;
        let (even, odd) = (&mut scratch.even[..], &mut scratch.odd[..]);
        for (j, sums) in even.chunks_exact_mut(COLUMNS).enumerate() {
            let (a, b) = (&data[j * stride..][..width], &data[(n - 1 - j) * stride..][..width]);
            if j < axis.odd.n {
                let differences = &mut odd[j * COLUMNS..][..width];
                for i in 0..width {
                    (sums[i], differences[i]) = (a[i] + b[i], a[i] - b[i]);
                }
            } else {
                sums[..width].copy_from_slice(a);
            }
        }
        for (half, values, first) in [(&axis.even, &*even, 0), (&axis.odd, &*odd, axis.even.n)] {
            for (panel, modes) in half.modes.chunks_exact(half.n.max(1) * ROWS).enumerate() {
                let mut tile = Tile::default();
                (self.multiply)(modes, values, &mut tile);
                for (k, row) in (panel * ROWS..half.n).zip(&tile) {
                    data[(first + k) * stride..][..width].copy_from_slice(&row[..width]);
                }
            }
        }
    }

    fn columns_inverse(&self, axis: &Axis, data: &mut [f32], stride: usize, width: usize, scratch: &mut Scratch) {
        let n = axis.n;
        let (even, odd) = (&mut scratch.even[..], &mut scratch.odd[..]);
        for (k, values) in even.chunks_exact_mut(COLUMNS).chain(odd.chunks_exact_mut(COLUMNS)).enumerate() {
            values[..width].copy_from_slice(&data[k * stride..][..width]);
        }
        for (panel, places) in axis.even.places.chunks_exact(axis.even.n * ROWS).enumerate() {
            let (mut sums, mut differences) = (Tile::default(), Tile::default());
            (self.multiply)(places, even, &mut sums);
            if let Some(places) = axis.odd.places.chunks_exact(axis.odd.n.max(1) * ROWS).nth(panel) {
                (self.multiply)(places, odd, &mut differences);
            }
            for ((j, e), o) in (panel * ROWS..axis.even.n).zip(&sums).zip(&differences) {
                let left = &mut data[j * stride..][..width];
                for (y, (e, o)) in left.iter_mut().zip(e.iter().zip(o)) {
                    *y = e + o;
                }
                let right = &mut data[(n - 1 - j) * stride..][..width];
                if j < axis.odd.n {
                    for (y, (e, o)) in right.iter_mut().zip(e.iter().zip(o)) {
                        *y = e - o;
                    }
                }
            }
        }
    }

    /// Six rows along x at a time.
    fn rows(&self, data: &mut [f32], scratch: &mut Scratch, transform: fn(&Self, &mut [f32], &mut Scratch)) {
        let axis = &self.axes[0];
        if axis.n == 1 {
            return;
        }
        scratch.even.resize(axis.even.n * ROWS, 0.0);
        scratch.odd.resize(axis.odd.n * ROWS, 0.0);
        for rows in data.chunks_mut(axis.n * ROWS) {
            transform(self, rows, scratch);
        }
    }

    fn rows_forward(&self, rows: &mut [f32], scratch: &mut Scratch) {
        let axis = &self.axes[0];
        let n = axis.n;
        let (even, odd) = (&mut scratch.even[..], &mut scratch.odd[..]);
        for (r, row) in rows.chunks_exact(n).enumerate() {
            for (j, sum) in even.chunks_exact_mut(ROWS).enumerate() {
                sum[r] = if j < axis.odd.n { row[j] + row[n - 1 - j] } else { row[j] };
            }
            for (j, difference) in odd.chunks_exact_mut(ROWS).enumerate() {
                difference[r] = row[j] - row[n - 1 - j];
            }
        }
        for (half, values, first) in [(&axis.even, &*even, 0), (&axis.odd, &*odd, axis.even.n)] {
            for (panel, modes) in half.wide_modes.chunks_exact(half.n.max(1) * COLUMNS).enumerate() {
                let mut tile = Tile::default();
                (self.multiply)(values, modes, &mut tile);
                let k = first + panel * COLUMNS;
                let width = COLUMNS.min(first + half.n - k);
                for (row, out) in rows.chunks_exact_mut(n).zip(&tile) {
                    row[k..k + width].copy_from_slice(&out[..width]);
                }
            }
        }
    }

    fn rows_inverse(&self, rows: &mut [f32], scratch: &mut Scratch) {
        let axis = &self.axes[0];
        let n = axis.n;
        let (even, odd) = (&mut scratch.even[..], &mut scratch.odd[..]);
        for (r, row) in rows.chunks_exact(n).enumerate() {
            let (low, high) = row.split_at(axis.even.n);
            even.chunks_exact_mut(ROWS).zip(low).for_each(|(e, x)| e[r] = *x);
            odd.chunks_exact_mut(ROWS).zip(high).for_each(|(o, x)| o[r] = *x);
        }
        for (panel, places) in axis.even.wide_places.chunks_exact(axis.even.n * COLUMNS).enumerate() {
            let (mut sums, mut differences) = (Tile::default(), Tile::default());
            (self.multiply)(even, places, &mut sums);
            if let Some(places) = axis.odd.wide_places.chunks_exact(axis.odd.n.max(1) * COLUMNS).nth(panel) {
                (self.multiply)(odd, places, &mut differences);
            }
            let j = panel * COLUMNS;
            let width = COLUMNS.min(axis.even.n - j);
            let mirrored = COLUMNS.min(axis.odd.n.saturating_sub(j));
            for (row, (e, o)) in rows.chunks_exact_mut(n).zip(sums.iter().zip(&differences)) {
                for (y, (e, o)) in row[j..j + width].iter_mut().zip(e.iter().zip(o)) {
                    *y = e + o;
                }
                let right = &mut row[n - j - mirrored..n - j];
                for (y, (e, o)) in right.iter_mut().rev().zip(e.iter().zip(o)) {
                    *y = e - o;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::Noise;

    #[test]
    fn modes_are_those_of_the_definition_for_any_size() {
        let mut noise = Noise::new(5);
        for size in [[1, 1, 1], [2, 3, 1], [7, 5, 6], [16, 12, 3], [33, 17, 20], [40, 6, 13]] {
            let [nx, ny, nz] = size;
            let data: Vec<f32> = (0..nx * ny * nz).map(|_| noise.bipolar() as f32).collect();
            let (mut modes, mut scratch) = (data.clone(), Scratch::default());
            let cosine = Cosine::new(size);
            cosine.forward(&mut modes, &mut scratch);
            let factor = |k: usize, j: usize, n: usize| {
                let scale = if k == 0 { 1.0 } else { 2.0 } / n as f64;
                scale.sqrt() * (std::f64::consts::PI * k as f64 * (j as f64 + 0.5) / n as f64).cos()
            };
            for at in [[0, 0, 0], [nx - 1, ny - 1, nz - 1], [nx / 2, ny / 3, nz / 2], [nx / 3, ny - 1, 0]] {
                let k = [0, 1, 2].map(|a| mode(at[a], size[a]));
                let mut sum = 0.0;
                for z in 0..nz {
                    for y in 0..ny {
                        for x in 0..nx {
                            sum += f64::from(data[(z * ny + y) * nx + x])
                                * factor(k[0], x, nx)
                                * factor(k[1], y, ny)
                                * factor(k[2], z, nz);
                        }
                    }
                }
                let found = f64::from(modes[(at[2] * ny + at[1]) * nx + at[0]]);
                assert!((found - sum).abs() < 1e-4, "{size:?} {k:?}: {found} {sum}");
            }
            cosine.inverse(&mut modes, &mut scratch);
            let worst = modes.iter().zip(&data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 1e-5, "{size:?}: {worst}");
        }
    }
}

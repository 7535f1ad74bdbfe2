//! A tile of a matrix product, in registers.

/// Columns of a tile.
pub const COLUMNS: usize = 16;
/// Rows of a tile: twelve registers of eight hold six rows of sixteen, and four are left for the factors.
pub const ROWS: usize = 6;

/// A tile.
pub type Tile = [[f32; COLUMNS]; ROWS];

/// Adds to a tile the product of `a`, whose columns of [`ROWS`] follow each other, with `b`, whose rows of [`COLUMNS`] do.
pub type Multiply = fn(a: &[f32], b: &[f32], tile: &mut Tile);

/// The fastest for this machine.
pub fn best() -> Multiply {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        return avx2;
    }
    portable
}

/// For any machine.
pub fn portable(a: &[f32], b: &[f32], tile: &mut Tile) {
    product(a, b, tile, |x, y, sum| x * y + sum);
}

#[cfg(target_arch = "x86_64")]
fn avx2(a: &[f32], b: &[f32], tile: &mut Tile) {
    #[target_feature(enable = "avx2,fma")]
    unsafe fn run(a: &[f32], b: &[f32], tile: &mut Tile) {
        product(a, b, tile, f32::mul_add);
    }
    // SAFETY: `best` hands this function out only after it has found both instruction sets.
    unsafe { run(a, b, tile) }
}

#[inline(always)]
fn product(a: &[f32], b: &[f32], tile: &mut Tile, multiply_add: impl Fn(f32, f32, f32) -> f32) {
    // A copy, which stays in registers.
    let mut sums = *tile;
    for (a, b) in a.chunks_exact(ROWS).zip(b.chunks_exact(COLUMNS)) {
        for (sums, &a) in sums.iter_mut().zip(a) {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum = multiply_add(a, b, *sum);
            }
        }
    }
    *tile = sums;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_matrix_products_in_every_instruction_set() {
        let inner = 13;
        let a: Vec<f32> = (0..inner * ROWS).map(|i| (i as f32 * 0.7).sin()).collect();
        let b: Vec<f32> = (0..inner * COLUMNS).map(|i| (i as f32 * 0.3).cos()).collect();
        for multiply in [best(), portable] {
            let mut tile = [[1.0; COLUMNS]; ROWS];
            multiply(&a, &b, &mut tile);
            for (r, row) in tile.iter().enumerate() {
                for (c, x) in row.iter().enumerate() {
                    let terms = (0..inner).map(|k| f64::from(a[k * ROWS + r]) * f64::from(b[k * COLUMNS + c]));
                    assert!((f64::from(*x) - 1.0 - terms.sum::<f64>()).abs() < 1e-5);
                }
            }
        }
    }
}

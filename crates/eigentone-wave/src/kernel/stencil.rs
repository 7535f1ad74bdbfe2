//! The sixth-order Laplacian of a row of cells.

/// The second derivative: weights of a cell and of its neighbours one, two and three cells away.
const STENCIL: [f32; 4] = [-490.0 / 180.0, 270.0 / 180.0, -27.0 / 180.0, 2.0 / 180.0];

/// A row with its neighbours, one, two and three rows away.
pub struct Row<'a> {
    /// The row itself.
    pub here: &'a [f32],
    /// With three cells more at either end.
    pub row: &'a [f32],
    /// Rows before and after it in y.
    pub above: [[&'a [f32]; 2]; 3],
    /// Rows before and after it in z.
    pub beyond: [[&'a [f32]; 2]; 3],
    /// What else pushes.
    pub force: &'a [f32],
    /// Square of the Courant number.
    pub scale: f32,
}

/// From the pressures before to those after.
pub fn row(r: &Row<'_>, old: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        unsafe fn wide(r: &Row<'_>, old: &mut [f32]) {
            run(r, old);
        }
        // The answer is kept by the standard library: this costs one load.
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: both instruction sets are there.
            return unsafe { wide(r, old) };
        }
    }
    run(r, old);
}

#[inline(always)]
fn run(r: &Row<'_>, old: &mut [f32]) {
    let n = old.len();
    let (here, force) = (&r.here[..n], &r.force[..n]);
    let left: [&[f32]; 3] = std::array::from_fn(|m| &r.row[2 - m..][..n]);
    let right: [&[f32]; 3] = std::array::from_fn(|m| &r.row[4 + m..][..n]);
    let above = r.above.map(|pair| pair.map(|row| &row[..n]));
    let beyond = r.beyond.map(|pair| pair.map(|row| &row[..n]));
    for x in 0..n {
        let mut sum = 3.0 * STENCIL[0] * here[x];
        for m in 0..3 {
            let sides = left[m][x] + right[m][x];
            let others = above[m][0][x] + above[m][1][x] + beyond[m][0][x] + beyond[m][1][x];
            sum += STENCIL[m + 1] * (sides + others);
        }
        old[x] = 2.0 * here[x] - old[x] + r.scale * sum + force[x];
    }
}

//! Principal components of a stream of vectors in memory that does not grow with its length.
//!
//! Incremental PCA (Levy and Lindenbaum, *Sequential Karhunen–Loève basis extraction*, 2000): the components so far, stretched by their strengths,
//! stand for all vectors seen. With a batch of new ones beside them, the eigenvectors of the Gram matrix `CᵀC` of these columns `C` give the next
//! components `C v / σ`. About the rest shape, not about the mean, so that weight zero is the rest shape.

use super::eigen;

/// Vectors that are taken in together.
const BATCH: usize = 32;

/// Components weaker than this share of the strongest are rounding of `f32`.
const WEAKEST: f64 = 1e-6;

/// Elements that are combined together, so that they stay in the first cache.
const STRIP: usize = 512;

/// Principal components.
pub(super) struct Basis {
    most: usize,
    vectors: Vec<Vec<f32>>,
    strengths: Vec<f64>,
    batch: Vec<Vec<f32>>,
}

impl Basis {
    /// At most so many components.
    pub fn new(most: usize) -> Self {
        Self { most, vectors: Vec::new(), strengths: Vec::new(), batch: Vec::with_capacity(BATCH) }
    }

    pub fn push(&mut self, vector: &[f32]) {
        self.batch.push(vector.to_vec());
        if self.batch.len() == BATCH {
            self.take_in();
        }
    }

    /// The unit vectors of the components, strongest first.
    pub fn finish(mut self) -> Vec<Vec<f32>> {
        self.take_in();
        self.vectors
    }

    fn take_in(&mut self) {
        let n = self.vectors.len() + self.batch.len();
        let columns: Vec<&[f32]> = self.vectors.iter().chain(&self.batch).map(Vec::as_slice).collect();
        let stretch = |i: usize| self.strengths.get(i).copied().unwrap_or(1.0);
        // Also between the components, though they should be orthogonal: their rounding would add up over the batches.
        let mut gram = vec![0.0; n * n];
        for i in 0..n {
            for j in i..n {
                gram[i * n + j] = stretch(i) * stretch(j) * dot(columns[i], columns[j]);
                gram[j * n + i] = gram[i * n + j];
            }
        }
        let (values, directions) = eigen::symmetric(gram, n);
        let strengths: Vec<f64> = values.iter().map(|v| v.max(0.0).sqrt()).collect();
        let strongest = strengths.first().copied().unwrap_or(0.0);
        let kept = strengths.iter().take(self.most).take_while(|&&s| s > WEAKEST * strongest).count();
        let combine = |(direction, strength): (&Vec<f64>, &f64)| {
            let shares: Vec<f64> = direction.iter().enumerate().map(|(i, v)| v * stretch(i) / strength).collect();
            combination(&columns, &shares)
        };
        let vectors = directions.iter().zip(&strengths).take(kept).map(combine).collect();
        self.vectors = vectors;
        self.strengths = strengths[..kept].to_vec();
        self.batch.clear();
    }
}

fn combination(columns: &[&[f32]], shares: &[f64]) -> Vec<f32> {
    let length = columns.first().map_or(0, |c| c.len());
    let mut sum = Vec::with_capacity(length);
    let mut strip = [0.0; STRIP];
    for start in (0..length).step_by(STRIP) {
        let strip = &mut strip[..STRIP.min(length - start)];
        strip.fill(0.0);
        for (column, share) in columns.iter().zip(shares) {
            strip.iter_mut().zip(&column[start..]).for_each(|(s, &x)| *s += share * f64::from(x));
        }
        sum.extend(strip.iter().map(|&x| x as f32));
    }
    sum
}

/// The scalar product. In double precision: the Gram matrix holds squares, and single precision would drown all components below a
/// thousandth of the strongest.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    let (a_parts, b_parts) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_parts.remainder().iter().zip(b_parts.remainder()).map(|(&x, &y)| f64::from(x) * f64::from(y));
    let rest: f64 = rest.sum();
    for (x, y) in a_parts.zip(b_parts) {
        for k in 0..LANES {
            lanes[k] += f64::from(x[k]) * f64::from(y[k]);
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three orthogonal patterns of falling strength in 300 vectors: the components are these patterns, in this order.
    #[test]
    fn components_of_a_long_stream_are_the_patterns_it_is_made_of() {
        let length = 1200;
        let pattern = |k: usize| -> Vec<f64> {
            (0..length)
                .map(|i| (std::f64::consts::PI * (k as f64 + 1.0) * (i as f64 + 0.5) / length as f64).cos())
                .collect()
        };
        let patterns = [pattern(0), pattern(1), pattern(2)];
        let mut basis = Basis::new(5);
        for t in 0..300 {
            let weights = [1.0, 1e-2, 1e-4].map(|s| s * (f64::from(t) * (1.3 + s)).sin());
            let vector: Vec<f32> =
                (0..length).map(|i| patterns.iter().zip(weights).map(|(p, w)| w * p[i]).sum::<f64>() as f32).collect();
            basis.push(&vector);
        }
        let components = basis.finish();
        assert!((3..=5).contains(&components.len()));
        for (k, expected) in patterns.iter().enumerate() {
            let expected: Vec<f32> = expected.iter().map(|x| (x * (2.0 / length as f64).sqrt()) as f32).collect();
            assert!(dot(&components[k], &expected).abs() > 1.0 - 1e-3, "component {k}");
            assert!((dot(&components[k], &components[k]) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn silence_has_no_components() {
        let mut basis = Basis::new(5);
        (0..100).for_each(|_| basis.push(&[0.0; 12]));
        assert!(basis.finish().is_empty());
        assert!(Basis::new(5).finish().is_empty());
    }
}

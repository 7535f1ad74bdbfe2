//! Reproducible random numbers: the same seed gives the same numbers on every machine.

/// The SplitMix64 generator (Steele, Lea & Flood 2014): one word of state, passes the usual batteries, good enough for noise and
/// starting vectors.
#[derive(Clone, Debug)]
pub struct Noise(u64);

impl Noise {
    /// A stream of its own for each seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in `[−1, 1)`.
    pub fn bipolar(&mut self) -> f64 {
        2.0 * self.uniform() - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs for seed 1234567, as published with the algorithm.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut noise = Noise::new(1_234_567);
        assert_eq!([noise.bits(), noise.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn uniform_numbers_have_their_mean_and_variance() {
        let mut noise = Noise::new(1);
        let draws: Vec<f64> = (0..100_000).map(|_| noise.bipolar()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.01 && (variance - 1.0 / 3.0).abs() < 0.01);
    }
}

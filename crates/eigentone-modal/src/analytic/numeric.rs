//! Integrals and roots of smooth functions.

/// Nodes and weights of the eight-point Gauss–Legendre rule on [−1, 1], the positive half (Abramowitz & Stegun, table 25.4).
const RULE: [[f64; 2]; 4] = [
    [0.183_434_642_495_649_8, 0.362_683_783_378_362],
    [0.525_532_409_916_329, 0.313_706_645_877_887_29],
    [0.796_666_477_413_626_7, 0.222_381_034_453_374_47],
    [0.960_289_856_497_536_2, 0.101_228_536_290_376_26],
];

/// `∫ f` over `[a, b]`, cut into equal panels.
pub(super) fn integrate(a: f64, b: f64, panels: usize, f: impl Fn(f64) -> f64) -> f64 {
    let half = 0.5 * (b - a) / panels as f64;
    (0..panels)
        .map(|p| {
            let centre = a + half * (2 * p + 1) as f64;
            RULE.iter().map(|[x, w]| w * half * (f(centre - x * half) + f(centre + x * half))).sum::<f64>()
        })
        .sum()
}

/// The root of `f` in a bracket at whose ends its signs differ, to rounding.
pub(super) fn bisect([mut low, mut high]: [f64; 2], f: impl Fn(f64) -> f64) -> f64 {
    let at_low = f(low);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(middle) * at_low > 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

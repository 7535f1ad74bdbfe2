//! Bessel functions of integer order by Miller's backward recurrence, which is stable for both kinds.
//!
//! `J_{n−1} = (2n/x) J_n − J_{n+1}`, normalised with `J₀ + 2ΣJ_{2k} = 1`; `I_{n−1} = (2n/x) I_n + I_{n+1}`, normalised with
//! `I₀ + 2ΣI_k = e^x` (Abramowitz & Stegun 9.1.27, 9.1.46, 9.6.26, 9.6.37). `I` is returned times `e^{−x}`.

/// `J_n` and its derivative at `x ≥ 0`.
pub(super) fn j(n: usize, x: f64) -> [f64; 2] {
    value_and_slope(n, x, -1.0)
}

/// `e^{−x} I_n(x)` and `e^{−x} I_n′(x)` at `x ≥ 0`.
pub(super) fn scaled_i(n: usize, x: f64) -> [f64; 2] {
    value_and_slope(n, x, 1.0)
}

fn value_and_slope(n: usize, x: f64, sign: f64) -> [f64; 2] {
    if x < 1e-300 {
        return match n {
            0 => [1.0, 0.0],
            1 => [0.0, 0.5],
            _ => [0.0, 0.0],
        };
    }
    // Far enough above both n and x that the functions have fallen below rounding.
    let top = n.max(x as usize) as f64;
    let start = (top + 20.0 + 6.0 * top.sqrt().max(top.cbrt() * 2.0)) as usize;
    let (mut above, mut here, mut sum) = (0.0, 1e-280, 0.0);
    let mut wanted = [0.0; 3]; // orders n−1, n, n+1
    for k in (0..=start).rev() {
        // `here` is order k.
        for (slot, order) in wanted.iter_mut().zip([n.wrapping_sub(1), n, n + 1]) {
            if order == k {
                *slot = here;
            }
        }
        if sign > 0.0 || k % 2 == 0 {
            sum += if k == 0 { here } else { 2.0 * here };
        }
        if k > 0 {
            let below = 2.0 * k as f64 / x * here + sign * above;
            (above, here) = (here, below);
            if here.abs() > 1e250 {
                for v in [&mut above, &mut here, &mut sum].into_iter().chain(&mut wanted) {
                    *v *= 1e-250;
                }
            }
        }
    }
    let [below, value, above] = wanted.map(|v| v / sum);
    let slope = if n == 0 { sign * above } else { 0.5 * (below + sign * above) };
    [value, slope]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Abramowitz & Stegun, tables 9.1, 9.4 and 9.8, 9.11.
    #[test]
    fn values_are_those_of_the_tables() {
        let table = [
            (0, 1.0, 0.765_197_686_557_966_6),
            (1, 2.0, 0.576_724_807_756_873_4),
            (2, 5.0, 0.046_565_116_277_752_21),
            (10, 10.0, 0.207_486_106_633_358_9),
            (20, 1.0, 3.873_503_008_524_658e-25),
            (0, 50.0, 0.055_812_327_669_251_75),
            (30, 100.0, 0.081_460_129_581_172_2),
        ];
        for (n, x, truth) in table {
            assert!((j(n, x)[0] / truth - 1.0).abs() < 1e-11, "J_{n}({x}) = {}", j(n, x)[0]);
        }
        let table = [
            (0, 1.0, 1.266_065_877_752_008_4),
            (1, 1.0, 0.565_159_103_992_485),
            (5, 10.0, 777.188_286_403_259_9),
            (20, 1.0, 3.966_835_985_819_02e-25),
        ];
        for (n, x, truth) in table {
            assert!((scaled_i(n, x)[0] * x.exp() / truth - 1.0).abs() < 1e-11, "I_{n}({x})");
        }
    }

    /// `I_{n+1} K…` has no short identity without `K`; the differential equations do: `x²y″ + xy′ + (±x² − n²)y = 0`.
    #[test]
    fn slopes_are_the_derivatives() {
        for n in [0, 1, 2, 7, 30] {
            for x in [0.3, 2.0, 11.0, 60.0] {
                let h = 1e-5 * x;
                let difference = (j(n, x + h)[0] - j(n, x - h)[0]) / (2.0 * h);
                assert!((difference - j(n, x)[1]).abs() <= 1e-7 * (1.0 + j(n, x)[1].abs()), "J_{n}′({x})");
                let i = |x: f64| scaled_i(n, x)[0] * x.exp();
                let slope = scaled_i(n, x)[1] * x.exp();
                let difference = (i(x + h) - i(x - h)) / (2.0 * h);
                assert!((difference / slope - 1.0).abs() < 1e-6, "I_{n}′({x}): {difference} {slope}");
            }
        }
    }
}

//! Selection among proposed poles: order-recursive matching pursuit.
//!
//! Again and again the pole is taken that explains most of what the chosen ones leave (Chen, Billings & Luo 1989). All
//! inner products are known in closed form, so projecting off a chosen pole is one step of elimination in the matrix
//! `ΦᵀΦ` of all candidates and in `Φᵀx`.

use super::{
    gram::{C64, LogPole, correlate},
    linalg::Square,
    refine::gram_matrix,
};
use rayon::prelude::*;

/// A selection under way.
pub(super) struct Pursuit {
    poles: Vec<LogPole>,
    /// Inner products of what is left of the candidates, cosine and sine part each.
    gram: Square<f64>,
    /// Their products with what is left of each take.
    products: Vec<Vec<f64>>,
    /// Determinant of each candidate's block at the beginning.
    full: Vec<f64>,
    free: Vec<bool>,
}

impl Pursuit {
    /// Starts with nothing chosen. All takes have the same length.
    pub fn new(takes: &[Vec<f64>], poles: Vec<LogPole>) -> Self {
        let products = takes
            .iter()
            .map(|x| poles.par_iter().map(|&s| correlate(x, s)[0]).collect::<Vec<C64>>())
            .map(|products| products.iter().flat_map(|p| [p.re, -p.im]).collect())
            .collect();
        let gram = gram_matrix(&poles, takes.first().map_or(0, Vec::len));
        let full = (0..poles.len()).map(|i| determinant(&gram, i)).collect();
        let free = vec![true; poles.len()];
        Self { poles, gram, products, full, free }
    }

    /// Chooses poles until none explains its `least` energy, `most` at most.
    pub fn run(&mut self, least: impl Fn(LogPole) -> f64, most: usize) -> Vec<LogPole> {
        let least: Vec<f64> = self.poles.iter().map(|&s| least(s)).collect();
        let mut chosen = Vec::new();
        while chosen.len() < most {
            let best = (0..self.poles.len())
                .filter(|&i| self.usable(i))
                .map(|i| (i, self.products.iter().map(|b| explained(&self.gram, b, i)).sum::<f64>()))
                .filter(|&(i, energy)| energy > least[i])
                .max_by(|x, y| x.1.total_cmp(&y.1).then(y.0.cmp(&x.0)));
            let Some((i, _)) = best else { break };
            eliminate(&mut self.gram, &mut self.products, i);
            self.free[i] = false;
            chosen.push(self.poles[i]);
        }
        chosen
    }

    /// A pole almost spanned by the chosen ones would only be fitted against them.
    fn usable(&self, i: usize) -> bool {
        self.free[i] && determinant(&self.gram, i) > 1e-3 * self.full[i]
    }
}

fn determinant(g: &Square<f64>, i: usize) -> f64 {
    g.at(2 * i, 2 * i) * g.at(2 * i + 1, 2 * i + 1) - g.at(2 * i, 2 * i + 1).powi(2)
}

/// Energy of the projection of what is left on candidate `i`.
fn explained(g: &Square<f64>, b: &[f64], i: usize) -> f64 {
    let (p, q) = (b[2 * i], b[2 * i + 1]);
    let (a, c, d) = (g.at(2 * i, 2 * i), g.at(2 * i, 2 * i + 1), g.at(2 * i + 1, 2 * i + 1));
    (d * p * p - 2.0 * c * p * q + a * q * q) / determinant(g, i)
}

/// Projects everything off the two columns of candidate `i`.
fn eliminate(g: &mut Square<f64>, b: &mut [Vec<f64>], i: usize) {
    for pivot in [2 * i, 2 * i + 1] {
        let row = g.row(pivot).to_vec();
        if row[pivot] <= 0.0 {
            continue;
        }
        for (k, weight) in row.iter().map(|x| x / row[pivot]).enumerate() {
            if weight != 0.0 {
                let order = g.order;
                g.data[k * order..(k + 1) * order].iter_mut().zip(&row).for_each(|(y, x)| *y -= weight * x);
            }
        }
        for b in b.iter_mut() {
            let value = b[pivot] / row[pivot];
            b.iter_mut().zip(&row).for_each(|(y, x)| *y -= value * x);
        }
    }
}

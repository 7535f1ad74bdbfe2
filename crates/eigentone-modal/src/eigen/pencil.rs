//! The pair of matrices of an elastic body: stiffness K and mass M, with three unknowns per node.

use eigentone_core::Vec3;
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use glam::DMat3;

/// A 3×3 block, row by row.
pub type Block = [[f64; 3]; 3];

/// `K` (symmetric, positive semi-definite, 3×3 blocks) and `M` (symmetric, positive definite, one number per pair of
/// nodes, the same for all three directions) on one sparsity pattern.
///
/// Both triangles are stored, rows in order, columns of a row in rising order.
#[derive(Clone, Debug, PartialEq)]
pub struct Pencil {
    row_start: Vec<usize>,
    columns: Vec<u32>,
    stiffness: Vec<Block>,
    mass: Vec<f64>,
    /// Nodes in the order of elimination, if one is known that is better than what the pattern alone tells.
    order: Option<Vec<u32>>,
}

impl Pencil {
    /// An empty pencil whose pattern couples all nodes of each group with each other (and each node with itself).
    pub fn with_groups<'a>(nodes: usize, groups: impl Iterator<Item = &'a [u32]> + Clone) -> Self {
        let mut count = vec![0usize; nodes + 1];
        for group in groups.clone() {
            group.iter().for_each(|&i| count[i as usize + 1] += group.len());
        }
        (0..nodes).for_each(|i| count[i + 1] += count[i]);
        let mut fill = count.clone();
        let mut entries = vec![0u32; count[nodes]];
        for group in groups {
            for &i in group {
                entries[fill[i as usize]..fill[i as usize] + group.len()].copy_from_slice(group);
                fill[i as usize] += group.len();
            }
        }
        let mut row_start = vec![0];
        let mut columns = Vec::new();
        for i in 0..nodes {
            let row = &mut entries[count[i]..count[i + 1]];
            row.sort_unstable();
            let begin = columns.len();
            columns.extend(row.chunk_by(|a, b| a == b).map(|equal| equal[0]));
            if let Err(place) = columns[begin..].binary_search(&(i as u32)) {
                columns.insert(begin + place, i as u32);
            }
            row_start.push(columns.len());
        }
        let len = columns.len();
        Self { row_start, columns, stiffness: vec![[[0.0; 3]; 3]; len], mass: vec![0.0; len], order: None }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.row_start.len() - 1
    }

    /// Number of unknowns: three per node.
    pub fn unknowns(&self) -> usize {
        3 * self.nodes()
    }

    /// Number of stored entries of K, zeros included.
    pub fn entries(&self) -> usize {
        9 * self.columns.len()
    }

    fn slot(&self, i: u32, j: u32) -> usize {
        let row = self.row_start[i as usize]..self.row_start[i as usize + 1];
        let place = self.columns[row.clone()].binary_search(&j);
        row.start + place.unwrap_or_else(|_| panic!("nodes {i} and {j} are not in one group of the pattern"))
    }

    /// Sets the order in which factorisations eliminate the nodes; every node must come once.
    ///
    /// # Panics
    /// If it is not a permutation of the nodes.
    pub fn set_elimination_order(&mut self, order: Vec<u32>) {
        let mut seen = vec![false; self.nodes()];
        order.iter().for_each(|&n| assert!(!std::mem::replace(&mut seen[n as usize], true), "node {n} comes twice"));
        assert_eq!(order.len(), self.nodes(), "every node must come once");
        self.order = Some(order);
    }

    /// The order set by [`set_elimination_order`](Self::set_elimination_order).
    pub fn elimination_order(&self) -> Option<&[u32]> {
        self.order.as_deref()
    }

    /// Adds the matrices of an element: for its nodes `a ≤ b` (row by row) the block of K and the mass.
    ///
    /// # Panics
    /// If the nodes are not in one group of the pattern.
    pub fn add_element(&mut self, nodes: &[u32], stiffness: &[Block], mass: &[f64]) {
        let n = nodes.len();
        let pair = |a: usize, b: usize| a * (2 * n - a + 1) / 2 + b - a;
        let mut sorted: Vec<usize> = (0..n).collect();
        sorted.sort_unstable_by_key(|&k| nodes[k]);
        for a in 0..n {
            // One walk along the row meets all nodes of the element in turn.
            let mut slot = self.row_start[nodes[a] as usize];
            for &b in &sorted {
                while self.columns[slot] < nodes[b] {
                    slot += 1;
                }
                assert_eq!(self.columns[slot], nodes[b], "the nodes are not in one group of the pattern");
                let target = &mut self.stiffness[slot];
                if a <= b {
                    let block = &stiffness[pair(a, b)];
                    (0..9).for_each(|k| target[k / 3][k % 3] += block[k / 3][k % 3]);
                } else {
                    let block = &stiffness[pair(b, a)];
                    (0..9).for_each(|k| target[k / 3][k % 3] += block[k % 3][k / 3]);
                }
                self.mass[slot] += mass[if a <= b { pair(a, b) } else { pair(b, a) }];
            }
        }
    }

    /// Adds to the block of K that couples nodes `i` and `j`. The caller adds the transposed block for `(j, i)`.
    ///
    /// # Panics
    /// If the pattern does not couple the two.
    pub fn add_stiffness(&mut self, i: u32, j: u32, block: &Block) {
        let slot = self.slot(i, j);
        for (row, add) in self.stiffness[slot].iter_mut().zip(block) {
            for (x, a) in row.iter_mut().zip(add) {
                *x += a;
            }
        }
    }

    /// Adds to the mass that couples nodes `i` and `j`. The caller adds the same for `(j, i)`.
    ///
    /// # Panics
    /// If the pattern does not couple the two.
    pub fn add_mass(&mut self, i: u32, j: u32, mass: f64) {
        let slot = self.slot(i, j);
        self.mass[slot] += mass;
    }

    /// The block of K that couples nodes `i` and `j`; `None` if the pattern does not couple them.
    pub fn stiffness(&self, i: u32, j: u32) -> Option<&Block> {
        let row = self.row_start[i as usize]..self.row_start[i as usize + 1];
        let place = self.columns[row.clone()].binary_search(&j).ok()?;
        self.stiffness.get(row.start + place)
    }

    /// Holds a node along a unit direction, exactly if the mass is lumped (diagonal): with `P = 1 − n nᵀ` its rows and columns
    /// of K become `P K P + far·m n nᵀ`. The motion along `n` is then a mode of its own with the eigenvalue `far`; chosen
    /// above the band of interest it is neither found nor counted there.
    pub fn hold(&mut self, node: u32, direction: Vec3, far: f64) {
        let n = direction;
        let along = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        for slot in self.row_start[node as usize]..self.row_start[node as usize + 1] {
            let block = DMat3::from_cols_array_2d(&self.stiffness[slot]).transpose();
            let mut held = block - along * block;
            if self.columns[slot] == node {
                held = held - held * along + along * (far * self.mass[slot]);
            } else {
                let mirrored = self.slot(self.columns[slot], node);
                self.stiffness[mirrored] = held.to_cols_array_2d();
            }
            self.stiffness[slot] = held.transpose().to_cols_array_2d();
        }
    }

    /// Total mass: the sum of all entries.
    pub fn total_mass(&self) -> f64 {
        self.mass.iter().sum()
    }

    /// Writes the rows of both matrices: `(i, j, K block, M)`.
    pub fn for_each(&self, mut visit: impl FnMut(usize, usize, &Block, f64)) {
        for i in 0..self.nodes() {
            for slot in self.row_start[i]..self.row_start[i + 1] {
                visit(i, self.columns[slot] as usize, &self.stiffness[slot], self.mass[slot]);
            }
        }
    }

    /// The connected parts of the body, as lists of nodes in rising order.
    pub fn components(&self) -> Vec<Vec<u32>> {
        let mut component = vec![usize::MAX; self.nodes()];
        let mut parts: Vec<Vec<u32>> = Vec::new();
        for seed in 0..self.nodes() {
            if component[seed] != usize::MAX {
                continue;
            }
            component[seed] = parts.len();
            let mut part = vec![seed as u32];
            let mut next = 0;
            while next < part.len() {
                let i = part[next] as usize;
                next += 1;
                for &j in &self.columns[self.row_start[i]..self.row_start[i + 1]] {
                    if component[j as usize] == usize::MAX {
                        component[j as usize] = parts.len();
                        part.push(j);
                    }
                }
            }
            part.sort_unstable();
            parts.push(part);
        }
        parts
    }

    /// The pencil of some of the nodes, which must not be coupled to any other.
    pub fn part(&self, nodes: &[u32]) -> Self {
        let new_index = |j: u32| nodes.binary_search(&j).unwrap_or(0) as u32;
        let order = self
            .order
            .as_ref()
            .map(|order| order.iter().filter_map(|n| nodes.binary_search(n).ok().map(|k| k as u32)).collect());
        let mut part = Self { row_start: vec![0], columns: Vec::new(), stiffness: Vec::new(), mass: Vec::new(), order };
        for &i in nodes {
            let row = self.row_start[i as usize]..self.row_start[i as usize + 1];
            part.columns.extend(self.columns[row.clone()].iter().map(|&j| new_index(j)));
            part.stiffness.extend_from_slice(&self.stiffness[row.clone()]);
            part.mass.extend_from_slice(&self.mass[row]);
            part.row_start.push(part.columns.len());
        }
        part
    }

    /// `M x` for several vectors at once, columns of `unknowns()` numbers.
    pub fn mass_times(&self, x: faer::MatRef<'_, f64>) -> faer::Mat<f64> {
        self.mass_operator().times(x)
    }

    /// The mass matrix without its zeros: for products by the hundred.
    pub fn mass_operator(&self) -> MassOperator {
        let mut operator = MassOperator { row_start: vec![0], columns: Vec::new(), mass: Vec::new() };
        for i in 0..self.nodes() {
            for slot in (self.row_start[i]..self.row_start[i + 1]).filter(|&slot| self.mass[slot] != 0.0) {
                operator.columns.push(self.columns[slot]);
                operator.mass.push(self.mass[slot]);
            }
            operator.row_start.push(operator.columns.len());
        }
        operator
    }

    /// `K x` for several vectors at once.
    pub fn stiffness_times(&self, x: faer::MatRef<'_, f64>) -> faer::Mat<f64> {
        let mut y = faer::Mat::<f64>::zeros(x.nrows(), x.ncols());
        for c in 0..x.ncols() {
            for i in 0..self.nodes() {
                let mut sum = Vec3::ZERO;
                for slot in self.row_start[i]..self.row_start[i + 1] {
                    let j = 3 * self.columns[slot] as usize;
                    let v = Vec3::new(x[(j, c)], x[(j + 1, c)], x[(j + 2, c)]);
                    let [a, b, c] = self.stiffness[slot].map(Vec3::from_array);
                    sum += Vec3::new(a.dot(v), b.dot(v), c.dot(v));
                }
                (0..3).for_each(|k| y[(3 * i + k, c)] = sum[k]);
            }
        }
        y
    }

    /// The upper triangle of `K − σM` as a sparse matrix.
    pub fn shifted(&self, sigma: f64) -> SparseColMat<usize, f64> {
        let n = self.unknowns();
        let mut col_ptr = Vec::with_capacity(n + 1);
        let mut rows = Vec::new();
        let mut values = Vec::new();
        col_ptr.push(0);
        for i in 0..self.nodes() {
            for k in 0..3 {
                for slot in self.row_start[i]..self.row_start[i + 1] {
                    let j = self.columns[slot] as usize;
                    for l in (0..3).filter(|l| 3 * j + l <= 3 * i + k) {
                        rows.push(3 * j + l);
                        values.push(self.stiffness[slot][k][l] - if k == l { sigma * self.mass[slot] } else { 0.0 });
                    }
                }
                col_ptr.push(rows.len());
            }
        }
        SparseColMat::new(SymbolicSparseColMat::new_checked(n, n, col_ptr, None, rows), values)
    }

    /// An upper bound of the largest eigenvalue of `Kx = λMx` if M is diagonal, by Gershgorin's circles of `M^−½ K M^−½`; for a
    /// consistent mass an estimate of the same order. Used as the scale against which an eigenvalue is zero.
    pub fn largest_eigenvalue_scale(&self) -> f64 {
        // Scaled on both sides: rows of displacements and of rotations differ by decades in mass.
        let root = |i: usize| {
            let place = self.columns[self.row_start[i]..self.row_start[i + 1]].binary_search(&(i as u32));
            place.map_or(0.0, |place| self.mass[self.row_start[i] + place].max(0.0).sqrt())
        };
        let roots: Vec<f64> = (0..self.nodes()).map(root).collect();
        (0..self.nodes())
            .map(|i| {
                let mut sums = [0.0; 3];
                for slot in self.row_start[i]..self.row_start[i + 1] {
                    let scale = roots[i] * roots[self.columns[slot] as usize];
                    for (sum, row) in sums.iter_mut().zip(&self.stiffness[slot]).filter(|_| scale > 0.0) {
                        *sum += row.iter().map(|x| x.abs()).sum::<f64>() / scale;
                    }
                }
                sums.into_iter().fold(0.0, f64::max)
            })
            .fold(0.0, f64::max)
    }
}

/// The mass matrix in compressed rows, one number per pair of nodes.
#[derive(Clone, Debug)]
pub struct MassOperator {
    row_start: Vec<usize>,
    columns: Vec<u32>,
    mass: Vec<f64>,
}

impl MassOperator {
    /// `M x` for several vectors at once.
    ///
    /// The columns are interleaved first: then all that belongs to one node lies together, and the inner loop runs over
    /// neighbouring numbers.
    pub fn times(&self, x: faer::MatRef<'_, f64>) -> faer::Mat<f64> {
        let (rows, width) = (x.nrows(), x.ncols());
        let stride = 3 * width;
        let mut interleaved = vec![0.0; rows * width];
        for (c, column) in x.col_iter().enumerate() {
            for (r, &value) in column.iter().enumerate() {
                interleaved[r * width + c] = value;
            }
        }
        let mut product = vec![0.0; rows * width];
        for (i, out) in product.chunks_exact_mut(stride.max(1)).enumerate() {
            let slots = self.row_start[i]..self.row_start[i + 1];
            for (&j, &m) in self.columns[slots.clone()].iter().zip(&self.mass[slots]) {
                let begin = j as usize * stride;
                for (o, v) in out.iter_mut().zip(&interleaved[begin..begin + stride]) {
                    *o += m * v;
                }
            }
        }
        faer::Mat::from_fn(rows, width, |r, c| product[r * width + c])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_the_assembled_matrix() {
        let groups: [&[u32]; 2] = [&[0, 2], &[1, 2, 3]];
        let mut p = Pencil::with_groups(4, groups.into_iter());
        for (n, (i, j)) in [(0, 2), (1, 2), (2, 3)].into_iter().enumerate() {
            let b: Block = std::array::from_fn(|r| std::array::from_fn(|c| (n + 3 * r + c) as f64));
            let t: Block = std::array::from_fn(|r| std::array::from_fn(|c| b[c][r]));
            p.add_stiffness(i, j, &b);
            p.add_stiffness(j, i, &t);
            p.add_mass(i, j, 0.5);
            p.add_mass(j, i, 0.5);
            p.add_mass(i, i, 2.0);
        }
        let full = p.shifted(0.7).to_dense();
        let full = faer::Mat::from_fn(12, 12, |i, j| if i <= j { full[(i, j)] } else { full[(j, i)] });
        let x = faer::Mat::from_fn(12, 2, |i, c| ((7 * i + 3 * c) % 5) as f64 - 1.5);
        let expected = &full * &x;
        let got = p.stiffness_times(x.as_ref()) - faer::Scale(0.7) * p.mass_times(x.as_ref());
        assert!((expected - got).norm_max() < 1e-12);
        assert_eq!(p.total_mass(), 9.0);
    }

    /// Three masses in a row on springs, the middle one held along the diagonal of x and y: K on the motions that remain is
    /// unchanged, the held one has the given eigenvalue.
    #[test]
    fn a_held_direction_leaves_the_others_as_they_were() {
        let groups: [&[u32]; 2] = [&[0, 1], &[1, 2]];
        let mut p = Pencil::with_groups(3, groups.into_iter());
        for (i, j) in [(0, 1), (1, 2)] {
            let k: Block = [[5.0, 1.0, 0.5], [1.0, 4.0, 0.2], [0.5, 0.2, 3.0]];
            let minus = k.map(|row| row.map(|x| -x));
            for (a, b, block) in [(i, i, &k), (j, j, &k), (i, j, &minus), (j, i, &minus)] {
                p.add_stiffness(a, b, block);
            }
            p.add_mass(i, i, 1.0);
            p.add_mass(j, j, 1.0);
        }
        let n = Vec3::new(1.0, 1.0, 0.0).normalize();
        let mut held = p.clone();
        held.hold(1, n, 1e3);
        let moves = faer::Mat::from_fn(9, 9, |r, c| if r == c { 1.0 } else { 0.0 });
        let tangent = faer::Mat::from_fn(9, 8, |r, c| match c {
            0 => [1.0, -1.0, 0.0].get(r.wrapping_sub(3)).map_or(0.0, |v| v / 2f64.sqrt()),
            1 => moves[(r, 5)],
            c => moves[(r, if c < 5 { c - 2 } else { c + 1 })],
        });
        let before = tangent.transpose() * p.stiffness_times(tangent.as_ref());
        let after = tangent.transpose() * held.stiffness_times(tangent.as_ref());
        assert!((before - after).norm_max() < 1e-12);
        let along = faer::Mat::from_fn(9, 1, |r, _| if (3..6).contains(&r) { n[r - 3] } else { 0.0 });
        let pushed = held.stiffness_times(along.as_ref()) - faer::Scale(1e3) * held.mass_times(along.as_ref());
        assert!(pushed.norm_max() < 1e-9);
    }
}

//! Which probes a listener is heard from, and how much each counts.

use super::sight;
use eigentone_core::Vec3;
use eigentone_core::acoustics::{Field, Occupancy};

/// Probes that are blended at most.
const MOST: usize = 8;
/// Probes that are looked at, the nearest ones.
const LOOKED_AT: usize = 24;

/// Weight of probes beyond the distance at which the next ones stand. So little that it counts for nothing where there are others, and is all there is where
/// there are none.
const FAR: f64 = 1e-3;

/// Confidence in probes of which none can be seen.
const BLIND: f32 = 0.05;

/// Where the probes are.
#[derive(Debug)]
pub struct Probes {
    positions: Vec<Vec3>,
    /// Their usual distance along x and y, and along z, in m.
    spacing_m: Vec3,
}

/// The probes around a listener with their weights.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chosen {
    list: [(usize, f32); MOST],
    len: usize,
    /// The share of weights that can be seen.
    pub confidence: f32,
}

impl Chosen {
    /// The heaviest first; their weights add up to one.
    pub fn list(&self) -> &[(usize, f32)] {
        &self.list[..self.len]
    }
}

impl Probes {
    pub fn new(field: &Field) -> Self {
        let positions: Vec<Vec3> = field.probes().map(|p| p.position).collect();
        let spacing_m = spacing(&positions);
        Self { positions, spacing_m }
    }

    /// On a regular grid these are the eight corners around the point with the weights of trilinear interpolation, less those that cannot be seen.
    pub fn around(&self, point: Vec3, occupancy: &Occupancy) -> Chosen {
        let mut nearest = [(f64::INFINITY, usize::MAX); LOOKED_AT];
        for (probe, &at) in self.positions.iter().enumerate() {
            let away = ((at - point) / self.spacing_m).length_squared();
            if away < nearest[LOOKED_AT - 1].0 {
                let place = nearest.partition_point(|n| n.0 <= away);
                nearest.copy_within(place..LOOKED_AT - 1, place + 1);
                nearest[place] = (away, probe);
            }
        }
        let mut weighed = [(0.0f64, false, usize::MAX); LOOKED_AT];
        let (mut all, mut seen) = (0.0, 0.0);
        for (slot, &(away, probe)) in weighed.iter_mut().zip(&nearest).filter(|(_, n)| n.1 != usize::MAX) {
            let apart = ((self.positions[probe] - point) / self.spacing_m).abs();
            let tent = (1.0 - apart).max(Vec3::ZERO);
            let weight = tent.x * tent.y * tent.z + FAR / (1.0 + away * away);
            let visible = sight::is_clear(occupancy, point, self.positions[probe]);
            all += weight;
            seen += if visible { weight } else { 0.0 };
            *slot = (weight, visible, probe);
        }
        let mut chosen = Chosen { confidence: if all > 0.0 { (seen / all) as f32 } else { 0.0 }, ..Chosen::default() };
        // If none can be seen, the nearest ones are better than nothing, but not by much.
        let blind = seen == 0.0;
        if blind && all > 0.0 {
            chosen.confidence = BLIND;
        }
        weighed.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
        for &(weight, visible, probe) in weighed.iter().filter(|w| w.2 != usize::MAX) {
            if chosen.len < MOST && (visible || blind) {
                chosen.list[chosen.len] = (probe, weight as f32);
                chosen.len += 1;
            }
        }
        let sum: f32 = chosen.list().iter().map(|c| c.1).sum();
        chosen.list[..chosen.len].iter_mut().for_each(|c| c.1 /= sum.max(f32::MIN_POSITIVE));
        // Far from all probes even those that are seen say little.
        let nearest_away = nearest[0].0.sqrt();
        if nearest_away > 1.0 && nearest_away.is_finite() {
            chosen.confidence /= nearest_away as f32;
        }
        chosen
    }
}

/// The median of the distances to the next probe beside, and to the next above or below.
fn spacing(positions: &[Vec3]) -> Vec3 {
    // Fields of many probes are regular: some of them tell as much as all.
    let every = positions.len().div_ceil(256).max(1);
    let (mut beside, mut above) = (Vec::new(), Vec::new());
    for &from in positions.iter().step_by(every) {
        let (mut least_beside, mut least_above) = (f64::INFINITY, f64::INFINITY);
        for &to in positions {
            let (flat, up) = ((to - from).truncate().length(), (to.z - from.z).abs());
            if flat > 0.05 {
                least_beside = least_beside.min(flat);
            } else if up > 0.05 {
                least_above = least_above.min(up);
            }
        }
        beside.extend(least_beside.is_finite().then_some(least_beside));
        above.extend(least_above.is_finite().then_some(least_above));
    }
    let median = |mut values: Vec<f64>, otherwise: f64| {
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(otherwise)
    };
    let flat = median(beside, 3.0);
    // Where probes stand in one layer only, height does not matter much.
    Vec3::new(flat, flat, median(above, 20.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigentone_core::acoustics::{Bits, Lattice};

    fn air() -> Occupancy {
        let lattice = Lattice { origin: Vec3::ZERO, step_m: 0.5, size: [1, 1, 1] };
        Occupancy { lattice, solid: Bits::new(1) }
    }

    fn grid() -> Probes {
        let positions: Vec<Vec3> = (0..75)
            .map(|k| Vec3::new(3.0 * f64::from(k % 5), 3.0 * f64::from(k / 5 % 5), 1.6 * f64::from(k / 25)))
            .collect();
        Probes { spacing_m: spacing(&positions), positions }
    }

    #[test]
    fn on_a_grid_weights_are_those_of_trilinear_interpolation() {
        let probes = grid();
        assert!((probes.spacing_m - Vec3::new(3.0, 3.0, 1.6)).length() < 1e-9);
        let point = Vec3::new(4.2, 7.1, 0.9);
        let chosen = probes.around(point, &air());
        // A function linear in each coordinate is met.
        let f = |p: Vec3| 2.0 + 3.0 * p.x - p.y + 0.5 * p.x * p.y + 4.0 * p.z;
        let found: f64 = chosen.list().iter().map(|&(i, w)| f64::from(w) * f(probes.positions[i])).sum();
        assert!((found / f(point) - 1.0).abs() < 2e-3, "{found} {}", f(point));
        assert!(chosen.list().len() == 8 && chosen.confidence > 0.999);
        let on = probes.around(probes.positions[31], &air());
        assert!(on.list()[0].0 == 31 && on.list()[0].1 > 0.99);
    }

    #[test]
    fn weights_are_continuous_and_there_is_always_a_probe() {
        let probes = grid();
        let weight = |chosen: &Chosen, i: usize| chosen.list().iter().find(|c| c.0 == i).map_or(0.0, |c| c.1);
        let mut last = probes.around(Vec3::new(-30.0, 5.0, 1.0), &air());
        for k in 0..6000 {
            let now = probes.around(Vec3::new(-30.0 + 0.01 * f64::from(k), 5.0 + 0.001 * f64::from(k), 1.0), &air());
            assert!(!now.list().is_empty());
            // Where the last tent ends the far weights take over within a centimetre or so; everywhere else steps are small.
            let most = (0..75).map(|i| (weight(&now, i) - weight(&last, i)).abs()).fold(0.0, f32::max);
            assert!(most < 0.75, "{k}: {most}");
            last = now;
        }
        let far = probes.around(Vec3::new(1e9, -1e9, 1e9), &air());
        assert!(!far.list().is_empty() && far.confidence < 1e-3);
        let none = Probes { positions: Vec::new(), spacing_m: Vec3::ONE };
        assert!(none.around(Vec3::ZERO, &air()).list().is_empty());
    }
}

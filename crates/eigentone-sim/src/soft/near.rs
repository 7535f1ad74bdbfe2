//! Which nodes are near which colliders, so that not all have to be looked at in every step.

use super::kernel::Four;
use super::world::Placed;

/// Nodes that may touch colliders.
#[derive(Clone, Debug, Default)]
pub(super) struct Near {
    /// Nodes and colliders.
    pub pairs: Vec<(u32, u32)>,
    left_m: f64,
}

impl Near {
    /// To be called before every step with the farthest that nodes and surfaces of colliders approach each other in it.
    pub fn moved(&mut self, farthest_m: f64, colliders: &[Placed], positions: &[Four], margin_m: f64) {
        self.left_m -= farthest_m;
        if self.left_m > 0.0 || colliders.is_empty() {
            return;
        }
        self.pairs.clear();
        let mut gap_m = f64::INFINITY;
        for (n, p) in positions.iter().enumerate() {
            for (number, collider) in colliders.iter().enumerate() {
                let distance_m = collider.distance_m(p.point());
                if distance_m < margin_m {
                    self.pairs.push((n as u32, number as u32));
                } else {
                    gap_m = gap_m.min(distance_m);
                }
            }
        }
        // Nothing else gets there before it has gone that far.
        self.left_m = if gap_m.is_finite() { gap_m } else { f64::INFINITY };
    }
}

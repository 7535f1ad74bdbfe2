//! Parabolas, and the boxes they pass through.

use super::roots::quadratic;
use eigentone_core::Vec3;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) low: Vec3,
    pub(super) high: Vec3,
}

impl Bounds {
    /// Around nothing: no box overlaps it.
    pub(super) const NOTHING: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    /// What two boxes have in common.
    pub(super) fn shared(&self, other: &Self) -> Option<Self> {
        let shared = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        shared.low.cmple(shared.high).all().then_some(shared)
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Larger by `margin` in all directions.
    pub(super) fn padded(self, margin: f64) -> Self {
        Self { low: self.low - margin, high: self.high + margin }
    }

    pub(super) fn holds(&self, other: &Self) -> bool {
        self.contains(other.low) && self.contains(other.high)
    }

    /// How far a point is outside, along the axis where it is farthest; 0 inside.
    pub(super) fn distance(&self, point: Vec3) -> f64 {
        (self.low - point).max(point - self.high).max_element().max(0.0)
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }

    pub(super) fn contains(&self, point: Vec3) -> bool {
        self.low.cmple(point).all() && point.cmple(self.high).all()
    }
}

/// One flight between two impacts: `p(t) = x₀ + v₀ t + ½ a t²`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub(super) position: Vec3,
    pub(super) velocity: Vec3,
    pub(super) acceleration: Vec3,
}

impl Path {
    pub(super) fn at(&self, t: f64) -> Vec3 {
        self.position + t * (self.velocity + 0.5 * t * self.acceleration)
    }

    pub(super) fn velocity_at(&self, t: f64) -> Vec3 {
        self.velocity + t * self.acceleration
    }

    /// The box around the path from 0 to `t`: its ends, and in every axis the turning point `−v/a`.
    pub(super) fn bounds(&self, t: f64) -> Bounds {
        let end = self.at(t);
        let mut bounds = Bounds { low: self.position.min(end), high: self.position.max(end) };
        for axis in 0..3 {
            let turn = -self.velocity[axis] / self.acceleration[axis];
            if turn > 0.0 && turn < t {
                let extreme = self.position[axis] + 0.5 * turn * self.velocity[axis];
                bounds.low[axis] = bounds.low[axis].min(extreme);
                bounds.high[axis] = bounds.high[axis].max(extreme);
            }
        }
        bounds
    }

    /// When the path leaves a box for the last time; 0 if it is outside for good, infinite if it stays.
    pub(super) fn leaves(&self, bounds: &Bounds) -> f64 {
        (0..3).map(|axis| self.leaves_slab(axis, bounds.low[axis], bounds.high[axis])).fold(f64::INFINITY, f64::min)
    }

    /// A time before which the path does not enter a box: the latest of the times at which its coordinates first are within their slabs; infinite
    /// if one never is.
    pub(super) fn enters(&self, bounds: &Bounds) -> f64 {
        (0..3).map(|axis| self.enters_slab(axis, bounds.low[axis], bounds.high[axis])).fold(0.0, f64::max)
    }

    fn enters_slab(&self, axis: usize, low: f64, high: f64) -> f64 {
        let (x, v, a) = (self.position[axis], self.velocity[axis], self.acceleration[axis]);
        if x >= low && x <= high {
            return 0.0;
        }
        let wall = if x < low { low } else { high };
        quadratic([x - wall, v, 0.5 * a]).as_slice().iter().copied().find(|t| *t > 0.0).unwrap_or(f64::INFINITY)
    }

    /// The largest `t ≥ 0` at which one coordinate is between `low` and `high`. It leaves through the wall towards which it falls.
    fn leaves_slab(&self, axis: usize, low: f64, high: f64) -> f64 {
        let (x, v, a) = (self.position[axis], self.velocity[axis], self.acceleration[axis]);
        if v == 0.0 && a == 0.0 {
            return if x >= low && x <= high { f64::INFINITY } else { 0.0 };
        }
        let heading = if a == 0.0 { v } else { a };
        let wall = if heading < 0.0 { low } else { high };
        quadratic([x - wall, v, 0.5 * a]).as_slice().last().map_or(0.0, |t| t.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thrown upwards at 10 m/s with g = 10 m/s²: the top of 5 m is reached after 1 s, the ground after 2 s.
    #[test]
    fn a_throw_rises_turns_and_leaves_through_the_floor() {
        let path = Path { position: Vec3::ZERO, velocity: 10.0 * Vec3::Y, acceleration: -10.0 * Vec3::Y };
        let bounds = path.bounds(2.0);
        assert!((bounds.high.y - 5.0).abs() < 1e-12 && bounds.low.y.abs() < 1e-12);
        let room = Bounds { low: Vec3::splat(-1.0), high: Vec3::ONE };
        assert!((path.leaves(&room) - (1.0 + 1.2f64.sqrt())).abs() < 1e-12);
        let above = Bounds { low: Vec3::new(-1.0, 3.2, -1.0), high: Vec3::new(1.0, 9.0, 1.0) };
        assert!((path.enters(&above) - (1.0 - 0.36f64.sqrt())).abs() < 1e-12);
        assert_eq!(path.enters(&Bounds { low: above.low + 2.0, high: above.high + 2.0 }), f64::INFINITY);
        assert_eq!(path.enters(&room), 0.0);
        let sideways = Path { velocity: Vec3::new(4.0, 10.0, 0.0), ..path };
        assert!((sideways.leaves(&room) - 0.25).abs() < 1e-12);
    }
}

//! Piecewise linear maps.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Most points of a curve.
pub const MAX_POINTS: usize = 32;

/// A piecewise linear map through points `[x, y]` of rising `x`, constant outside them. Written as a list: `[[0, 200], [1, 15000]]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<[f32; 2]>", into = "Vec<[f32; 2]>")]
pub struct Curve {
    points: [[f32; 2]; MAX_POINTS],
    len: usize,
}

/// Why a list of points is no curve.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CurveError {
    /// None, or too many.
    #[error("a curve has 1 to {MAX_POINTS} points [x, y], not {0}")]
    Count(usize),
    /// A coordinate that is not a number.
    #[error("point {0} of the curve is not finite")]
    NotFinite(usize),
    /// A point that is not to the right of the one before it.
    #[error("point {0} of the curve is not to the right of the one before it")]
    NotRising(usize),
}

impl Curve {
    /// The curve through some points.
    ///
    /// # Errors
    /// If there are none or more than [`MAX_POINTS`], or one is not finite or not to the right of the one before.
    pub fn new(points: &[[f32; 2]]) -> Result<Self, CurveError> {
        if points.is_empty() || points.len() > MAX_POINTS {
            return Err(CurveError::Count(points.len()));
        }
        if let Some(bad) = points.iter().position(|p| !p[0].is_finite() || !p[1].is_finite()) {
            return Err(CurveError::NotFinite(bad));
        }
        if let Some(bad) = points.windows(2).position(|w| w[1][0] <= w[0][0]) {
            return Err(CurveError::NotRising(bad + 1));
        }
        Ok(Self::of(points))
    }

    /// Points that are known to be good.
    pub(super) const fn of(points: &[[f32; 2]]) -> Self {
        let mut curve = Self { points: [[0.0; 2]; MAX_POINTS], len: points.len() };
        let mut i = 0;
        while i < points.len() {
            curve.points[i] = points[i];
            i += 1;
        }
        curve
    }

    /// The same value everywhere.
    pub const fn constant(y: f32) -> Self {
        Self::of(&[[0.0, y]])
    }

    /// The points.
    pub fn points(&self) -> &[[f32; 2]] {
        &self.points[..self.len]
    }

    /// The value at `x`.
    pub fn at(&self, x: f32) -> f32 {
        let points = self.points();
        let right = points.partition_point(|p| p[0] <= x);
        match (right.checked_sub(1).map(|left| points[left]), points.get(right)) {
            (Some([x0, y0]), Some([x1, y1])) => y0 + (y1 - y0) * ((x - x0) / (x1 - x0)),
            (Some([_, y]), None) | (None, Some(&[_, y])) => y,
            (None, None) => 0.0,
        }
    }

    /// The largest value.
    pub fn largest(&self) -> f32 {
        self.points().iter().fold(f32::NEG_INFINITY, |m, p| m.max(p[1]))
    }

    /// The smallest value.
    pub fn smallest(&self) -> f32 {
        self.points().iter().fold(f32::INFINITY, |m, p| m.min(p[1]))
    }
}

impl TryFrom<Vec<[f32; 2]>> for Curve {
    type Error = CurveError;
    fn try_from(points: Vec<[f32; 2]>) -> Result<Self, CurveError> {
        Self::new(&points)
    }
}

impl From<Curve> for Vec<[f32; 2]> {
    fn from(curve: Curve) -> Self {
        curve.points().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_linear_between_its_points_and_constant_outside() {
        let curve = Curve::new(&[[0.0, 200.0], [1.0, 1200.0], [3.0, 200.0]]).unwrap();
        let found = [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 1e9].map(|x| curve.at(x));
        assert_eq!(found, [200.0, 200.0, 700.0, 1200.0, 700.0, 200.0, 200.0]);
        assert_eq!((curve.smallest(), curve.largest()), (200.0, 1200.0));
        assert_eq!(Curve::constant(3.0).at(-7.0), 3.0);
    }

    #[test]
    fn bad_points_are_named() {
        assert_eq!(Curve::new(&[]), Err(CurveError::Count(0)));
        assert_eq!(Curve::new(&[[0.0; 2]; 33]), Err(CurveError::Count(33)));
        assert_eq!(Curve::new(&[[0.0, 1.0], [1.0, f32::NAN]]), Err(CurveError::NotFinite(1)));
        assert_eq!(Curve::new(&[[0.0, 1.0], [0.0, 2.0]]), Err(CurveError::NotRising(1)));
    }
}

//! Roughness over a body, read off a picture.
//!
//! The picture is laid over the body along its own z axis: its lower left corner is the corner of least x and y of the body's box, its upper right one that of largest x and y, so
//! that whoever looks down on the body sees the picture upright. A grey value `g` of 0 (black) to 1 (white) is a factor of the surface's roughness,
//!
//! `dark + (bright − dark) · g`,
//!
//! bilinear between the centres of pixels and constant beyond the outermost ones.

use std::sync::Arc;
use thiserror::Error;

/// Most pixels of a map.
pub const MAX_PIXELS: usize = 1 << 22;

/// A factor of roughness for every place of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceMap {
    width: usize,
    grey: Arc<[u8]>,
    low_m: [f64; 2],
    high_m: [f64; 2],
    dark: f32,
    bright: f32,
}

/// Why a picture is no map.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MapError {
    /// No pixels, too many, or not so many as width times height.
    #[error("a map of {width} × {height} pixels with {found} values; it needs one for each, and at most {MAX_PIXELS}")]
    Pixels {
        /// Pixels in a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Grey values.
        found: usize,
    },
    /// A factor that is not one.
    #[error("a map makes surfaces {0} times as rough; give a factor of 0 to 100")]
    Factor(f32),
    /// Nothing that it could be laid over.
    #[error("a map over a body without extent along its x and y axes")]
    Flat,
}

impl SurfaceMap {
    /// A map of `width × height` grey values, row by row from the top, over the box from `low_m` to `high_m` in x and y of the body's own frame. Black makes the surface `dark` times as rough, white `bright` times.
    ///
    /// # Errors
    /// If the numbers do not fit together.
    pub fn new(
        [width, height]: [usize; 2],
        grey: Arc<[u8]>,
        [low_m, high_m]: [[f64; 2]; 2],
        [dark, bright]: [f32; 2],
    ) -> Result<Self, MapError> {
        let found = grey.len();
        if width == 0 || width.checked_mul(height) != Some(found) || found == 0 || found > MAX_PIXELS {
            return Err(MapError::Pixels { width, height, found });
        }
        if let Some(bad) = [dark, bright].into_iter().find(|f| !(0.0..=100.0).contains(f)) {
            return Err(MapError::Factor(bad));
        }
        let extent = |k: usize| high_m[k] - low_m[k];
        if !(0..2).all(|k| extent(k) > 0.0 && extent(k).is_finite()) {
            return Err(MapError::Flat);
        }
        Ok(Self { width, grey, low_m, high_m, dark, bright })
    }

    /// The same picture with other factors for black and white.
    ///
    /// # Errors
    /// If one is not from 0 to 100.
    pub fn with_factors(&self, factors: [f32; 2]) -> Result<Self, MapError> {
        let height = self.grey.len() / self.width;
        Self::new([self.width, height], self.grey.clone(), [self.low_m, self.high_m], factors)
    }

    /// Factors for black and for white.
    pub fn factors(&self) -> [f32; 2] {
        [self.dark, self.bright]
    }

    /// The factor at a place of the body, at size one.
    pub fn at(&self, x_m: f64, y_m: f64) -> f32 {
        let height = self.grey.len() / self.width;
        let share = |v: f64, k: usize| ((v - self.low_m[k]) / (self.high_m[k] - self.low_m[k])).clamp(0.0, 1.0);
        let pixel = |share: f64, count: usize| (share * count as f64 - 0.5).clamp(0.0, (count - 1) as f64);
        let (u, v) = (pixel(share(x_m, 0), self.width), pixel(1.0 - share(y_m, 1), height));
        let (left, top) = (u as usize, v as usize);
        let (right, below) = ((left + 1).min(self.width - 1), (top + 1).min(height - 1));
        let grey = |column: usize, row: usize| f64::from(self.grey[row * self.width + column]);
        let mix = |a: f64, b: f64, share: f64| a + (b - a) * share;
        let (across, down) = (u - left as f64, v - top as f64);
        let upper = mix(grey(left, top), grey(right, top), across);
        let lower = mix(grey(left, below), grey(right, below), across);
        let level = (mix(upper, lower, down) / 255.0) as f32;
        self.dark + (self.bright - self.dark) * level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two by two pixels over a square: their centres lie at a quarter and three quarters, halfway between them the factor is the mean of their four, and beyond the outermost it stays.
    #[test]
    fn a_map_is_bilinear_and_upright() {
        let map = SurfaceMap::new([2, 2], [0, 255, 51, 102].into(), [[-1.0, -1.0], [1.0, 1.0]], [0.5, 2.5]).unwrap();
        let factor = |grey: f32| 0.5 + 2.0 * grey / 255.0;
        for (x, y, grey) in
            [(-0.5, 0.5, 0.0), (0.5, 0.5, 255.0), (-0.5, -0.5, 51.0), (0.5, -0.5, 102.0), (0.0, 0.0, 102.0)]
        {
            assert!((map.at(x, y) - factor(grey)).abs() < 1e-5, "({x}, {y}): {}", map.at(x, y));
        }
        assert_eq!((map.at(9.0, 9.0), map.at(-9.0, 9.0)), (2.5, 0.5));
        assert!((map.at(0.0, 0.5) - factor(127.5)).abs() < 1e-5);
    }

    #[test]
    fn impossible_maps_are_refused() {
        let square = [[0.0, 0.0], [1.0, 1.0]];
        let grey: Arc<[u8]> = [0; 6].into();
        assert!(matches!(
            SurfaceMap::new([2, 2], grey.clone(), square, [0.0, 1.0]),
            Err(MapError::Pixels { found: 6, .. })
        ));
        assert!(SurfaceMap::new([usize::MAX, 2], grey.clone(), square, [0.0, 1.0]).is_err());
        assert!(matches!(SurfaceMap::new([3, 2], grey.clone(), square, [0.0, f32::NAN]), Err(MapError::Factor(_))));
        assert_eq!(SurfaceMap::new([3, 2], grey, [[0.0, 0.0], [0.0, 1.0]], [0.0, 1.0]), Err(MapError::Flat));
    }
}

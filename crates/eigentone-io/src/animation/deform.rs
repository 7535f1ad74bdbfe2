//! How a body deforms, as a few shapes whose weights change: the fewest principal components of its deformation with which no vertex is further
//! from its place than the tolerance.
//!
//! Weights run from 0 to 1 and no further, since Blender and game engines hold them there. So the shapes do not start from the rest shape, but from one
//! in which the body does the most it ever does in every way at once, the other way round.

use super::{
    basis::{Basis, dot},
    pose::{Rest, deformation},
    scratch::{BodyFrame, Scratch},
};
use std::io;

/// Most shapes of a body. Viewers keep all of them in the memory of the graphics card.
pub(super) const MAX_TARGETS: usize = 48;

/// Components that are followed beyond those that may be used: the last of a stream's components are the least certain.
const SPARE: usize = 8;

/// A frame whose deformation is below this share of the tolerance has nothing to say about the shapes. So rigid bodies cost nothing.
const UNDEFORMED: f64 = 0.05;

/// The shapes of a body.
pub(super) struct Shapes {
    /// The body about its centre with all weights zero; the rest shape if there are no targets.
    pub base: Vec<[f32; 3]>,
    /// What weight one adds to x, y, z of each vertex, in metres.
    pub targets: Vec<Vec<f32>>,
    /// One over their squared lengths.
    inverse_squares: Vec<f64>,
    /// What the weights are in the first frame.
    pub first: Vec<f32>,
}

impl Shapes {
    /// Reads all frames of a body twice: once for the components, once for what they leave.
    pub fn of(body: usize, rest: &Rest, scratch: &Scratch, tolerance_m: f64) -> io::Result<Self> {
        let mut basis = Basis::new(MAX_TARGETS + SPARE);
        each_deformation(body, rest, scratch, |left| {
            if largest(left) > UNDEFORMED * tolerance_m {
                basis.push(left);
            }
        })?;
        let mut components = basis.finish();
        components.truncate(MAX_TARGETS);
        let mut left_m = vec![0f64; components.len() + 1];
        // The rest shape is always within reach.
        let mut ranges = vec![[0f32; 2]; components.len()];
        each_deformation(body, rest, scratch, |left| {
            left_m[0] = left_m[0].max(largest(left));
            for (k, component) in components.iter().enumerate() {
                let weight = dot(component, left) as f32;
                take_off(left, component, weight);
                ranges[k] = [ranges[k][0].min(weight), ranges[k][1].max(weight)];
                left_m[k + 1] = left_m[k + 1].max(largest(left));
            }
        })?;
        let best = || (0..left_m.len()).min_by(|&a, &b| left_m[a].total_cmp(&left_m[b])).unwrap_or(0);
        components.truncate(left_m.iter().position(|&e| e <= tolerance_m).unwrap_or_else(best));
        let mut shapes = Self::within(rest, components, &ranges);
        if scratch.frames > 0 {
            let (mut frame, mut left, mut first) = (BodyFrame::default(), Vec::new(), Vec::new());
            let pose = scratch.read(body, 0, &mut frame)?;
            deformation(&shapes.base, &pose, &frame.positions, &mut left);
            shapes.weights(&mut left, &mut first);
            shapes.first = first;
        }
        Ok(shapes)
    }

    /// Components as shapes whose weights of 0 to 1 cover their ranges.
    fn within(rest: &Rest, mut components: Vec<Vec<f32>>, ranges: &[[f32; 2]]) -> Self {
        let mut base = rest.local.clone();
        for (component, [low, high]) in components.iter_mut().zip(ranges) {
            take_off(base.as_flattened_mut(), component, -low);
            component.iter_mut().for_each(|x| *x *= high - low);
        }
        let inverse_squares = components.iter().map(|t| 1.0 / dot(t, t).max(f64::MIN_POSITIVE)).collect();
        Self { base, targets: components, inverse_squares, first: Vec::new() }
    }

    /// The weights of a deformation from the base, of which only what they miss is left.
    pub fn weights(&self, left: &mut [f32], weights: &mut Vec<f32>) {
        weights.clear();
        for (target, inverse) in self.targets.iter().zip(&self.inverse_squares) {
            let weight = ((dot(target, left) * inverse) as f32).clamp(0.0, 1.0);
            take_off(left, target, weight);
            weights.push(weight);
        }
    }
}

/// The longest of the vectors x, y, z.
pub(super) fn largest(deformation: &[f32]) -> f64 {
    let square = deformation.chunks_exact(3).map(|v| v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).fold(0f32, f32::max);
    f64::from(square).sqrt()
}

fn take_off(left: &mut [f32], shape: &[f32], weight: f32) {
    left.iter_mut().zip(shape).for_each(|(x, s)| *x -= weight * s);
}

fn each_deformation(
    body: usize,
    rest: &Rest,
    scratch: &Scratch,
    mut visit: impl FnMut(&mut Vec<f32>),
) -> io::Result<()> {
    let (mut frame, mut left) = (BodyFrame::default(), Vec::new());
    for number in 0..scratch.frames {
        let pose = scratch.read(body, number, &mut frame)?;
        deformation(&rest.local, &pose, &frame.positions, &mut left);
        visit(&mut left);
    }
    Ok(())
}

//! Evening out the vertices along the surface, and bringing them back onto the input.

use super::web::{Freedom, Web, may_become};
use crate::Vec3;
use crate::mesh::{NearestTree, nearest_on_triangle};

/// The surface and the creases of the input.
pub struct Input {
    pub surface: NearestTree,
    pub creases: NearestTree,
    /// Unit normals of the surface's triangles.
    pub normals: Vec<Vec3>,
}

impl Input {
    /// The place of the input nearest to `p` that faces about as `facing` does, no further away than triangle `near` is.
    fn project(&self, p: Vec3, facing: Vec3, near: u32) -> (Vec3, u32) {
        let corners = self.surface.mesh().corners(near as usize);
        let w = nearest_on_triangle(p, corners);
        let place = corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2];
        let limit = place.distance(p) * (1.0 + 1e-9) + f64::MIN_POSITIVE;
        let faces = |t: u32| self.normals[t as usize].dot(facing) > 0.3 * facing.length();
        let found = self.surface.nearest_where(p, limit, faces);
        found.map_or((place, near), |found| (found.position, found.triangle))
    }

    /// The triangle of the input nearest to a place that faces about as `facing` does.
    pub fn source(&self, p: Vec3, facing: Vec3) -> u32 {
        let faces = |t: u32| self.normals[t as usize].dot(facing) > 0.3 * facing.length();
        let same_side = self.surface.nearest_where(p, f64::INFINITY, faces);
        same_side.or_else(|| self.surface.nearest(p)).map_or(0, |found| found.triangle)
    }

    /// The place on a crease nearest to `p` that runs about along `tangent`.
    fn on_crease(&self, p: Vec3, tangent: Vec3, limit: f64) -> Option<Vec3> {
        let along = |t: u32| {
            let [a, b, _] = self.creases.mesh().corners(t as usize);
            (b - a).dot(tangent).abs() > 0.7 * (b - a).length() * tangent.length()
        };
        self.creases.nearest_where(p, limit, along).map(|found| found.position)
    }
}

impl Web {
    /// Moves every vertex once toward the middle of its surroundings, along the surface or its crease.
    pub fn smooth(&mut self, input: &Input, edge: f64) {
        for v in 0..self.positions.len() as u32 {
            if !self.alive(v) {
                continue;
            }
            match self.freedom(v) {
                Freedom::Surface => self.smooth_on_surface(v, input),
                Freedom::Crease => self.smooth_on_crease(v, input, edge),
                Freedom::Fixed => {}
            }
        }
    }

    fn smooth_on_surface(&mut self, v: u32, input: &Input) {
        let here = self.positions[v as usize];
        let (mut facing, mut middle, mut area) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        for &t in &self.around[v as usize] {
            let ([a, b, c], n) = (self.corners(t), self.normal(t));
            facing += n;
            middle += (a + b + c - 3.0 * here) * n.length();
            area += 3.0 * n.length();
        }
        let Some(n) = facing.try_normalize() else { return };
        let way = middle / f64::max(area, f64::MIN_POSITIVE);
        let way = way - n * n.dot(way);
        for share in [1.0, 0.4, 0.0] {
            let (place, triangle) = input.project(here + share * way, n, self.source[v as usize]);
            if self.move_to(v, place, n) {
                self.source[v as usize] = triangle;
                return;
            }
        }
    }

    fn smooth_on_crease(&mut self, v: u32, input: &Input, edge: f64) {
        let [a, b] = self.creases[v as usize][..] else { return };
        let [here, a, b] = [v, a, b].map(|w| self.positions[w as usize]);
        let Some(tangent) = (b - a).try_normalize() else { return };
        let way = tangent * (0.5 * tangent.dot(0.5 * (a + b) - here));
        let facing = self.facing(v);
        for share in [1.0, 0.4, 0.0] {
            let wanted = here + share * way;
            let limit = way.length() + 0.25 * edge;
            if input.on_crease(wanted, tangent, limit).is_some_and(|place| self.move_to(v, place, facing)) {
                return;
            }
        }
    }

    /// Moves a vertex if its triangles stand it.
    fn move_to(&mut self, v: u32, place: Vec3, facing: Vec3) -> bool {
        let fits = self.around[v as usize].iter().all(|&t| {
            let after = self.triangles[t as usize].map(|w| if w == v { place } else { self.positions[w as usize] });
            may_become(self.corners(t), after, facing)
        });
        if fits {
            self.positions[v as usize] = place;
        }
        fits
    }
}

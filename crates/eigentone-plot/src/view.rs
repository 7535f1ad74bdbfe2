//! Meshes seen from outside: orthographic view, z-buffer, flat shading, drawn at twice the size and averaged.

use super::{
    canvas::{Area, Canvas, Colour},
    style,
};
use eigentone_core::{TriMesh, Vec3};

/// Direction from which everything is seen: a little from the right of −y, and from above.
const AZIMUTH: f64 = -1.02;
const ELEVATION: f64 = 0.52;
/// Samples per pixel and axis.
const FINE: usize = 2;
/// Faces seen from outside and, for open meshes, from inside.
const OUTSIDE: [f64; 3] = [150.0, 176.0, 204.0];
const INSIDE: [f64; 3] = [203.0, 185.0, 164.0];

/// Which lines to draw over the faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// The boundary of open meshes, thin and dark.
    Outline,
    /// Mesh edges where they are far enough apart, boundary and non-manifold edges always.
    Marked,
}

/// How an edge is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EdgeKind {
    Inner,
    Boundary,
    NonManifold,
}

/// An orthographic camera that fits a box into an area.
pub(super) struct View {
    right: Vec3,
    up: Vec3,
    toward: Vec3,
    centre: Vec3,
    scale: f64,
    middle: [f64; 2],
}

impl View {
    /// Fits the mesh's drawable triangles (and their bounding box, if wanted) into the area, leaving a margin. Also returns
    /// the box; `None` if there is nothing to see.
    pub fn new(mesh: &TriMesh, area: Area, margin: f32, with_box: bool) -> Option<(Self, [Vec3; 2])> {
        let mut points = drawable(mesh).flat_map(|(_, corners)| corners);
        let first = points.next()?;
        let [low, high] = points.fold([first; 2], |[l, h], p| [l.min(p), h.max(p)]);
        let ((sin_a, cos_a), (sin_e, cos_e)) = (AZIMUTH.sin_cos(), ELEVATION.sin_cos());
        let toward = Vec3::new(cos_a * cos_e, sin_a * cos_e, sin_e);
        let right = Vec3::new(-sin_a, cos_a, 0.0);
        let mut view =
            Self { right, up: toward.cross(right), toward, centre: Vec3::ZERO, scale: 1.0, middle: [0.0; 2] };
        view.centre = 0.5 * (low + high);
        let corners = (0..if with_box { 8 } else { 0 }).map(|k| corner([low, high], k));
        let seen = drawable(mesh).flat_map(|(_, corners)| corners).chain(corners).map(|p| view.flat(p));
        let [lo, hi] = seen.fold([[f64::MAX; 2], [f64::MIN; 2]], |[l, h], p| {
            [[l[0].min(p[0]), l[1].min(p[1])], [h[0].max(p[0]), h[1].max(p[1])]]
        });
        let (width, height) = (f64::from(area.w - 2.0 * margin).max(1.0), f64::from(area.h - 2.0 * margin).max(1.0));
        let scale = (width / (hi[0] - lo[0])).min(height / (hi[1] - lo[1]));
        if !scale.is_finite() {
            return None;
        }
        view.scale = scale;
        view.middle = [
            f64::from(area.x + 0.5 * area.w) - 0.5 * scale * (lo[0] + hi[0]),
            f64::from(area.y + 0.5 * area.h) + 0.5 * scale * (lo[1] + hi[1]),
        ];
        Some((view, [low, high]))
    }

    fn flat(&self, p: Vec3) -> [f64; 2] {
        [(p - self.centre).dot(self.right), (p - self.centre).dot(self.up)]
    }

    /// Pixel position and nearness of a point.
    pub fn project(&self, p: Vec3) -> [f64; 3] {
        let [x, y] = self.flat(p);
        let depth = (p - self.centre).dot(self.toward) * self.scale;
        [self.middle[0] + self.scale * x, self.middle[1] - self.scale * y, depth]
    }

    /// Draws the mesh into the area.
    pub fn draw(&self, canvas: &mut Canvas, mesh: &TriMesh, area: Area, lines: Lines) {
        self.draw_coloured(canvas, mesh, area, lines, |_| None);
    }

    /// The same with triangles that have a colour of their own.
    pub fn draw_coloured(
        &self,
        canvas: &mut Canvas,
        mesh: &TriMesh,
        area: Area,
        lines: Lines,
        own: impl Fn(usize) -> Option<Colour>,
    ) {
        let mut film = Film::new(area);
        for (t, corners) in drawable(mesh) {
            let normal = mesh.area_normal(t).normalize_or_zero();
            let colour = match own(t) {
                Some([r, g, b, _]) => self.lit([r, g, b].map(f64::from), normal, 0.75),
                None => self.shade(normal),
            };
            film.triangle(corners.map(|p| film.place(self.project(p))), colour);
        }
        self.draw_edges(&mut film, mesh, lines);
        film.develop(canvas, area);
    }

    /// Two soft lights, from above left and from the eye. Faces that look away are seen from inside.
    fn shade(&self, normal: Vec3) -> Colour {
        let facing = normal.dot(self.toward);
        self.lit(if facing >= 0.0 { OUTSIDE } else { INSIDE }, normal, 0.45)
    }

    /// A colour under the lights, with so much of it everywhere.
    fn lit(&self, base: [f64; 3], normal: Vec3, ambient: f64) -> Colour {
        let facing = normal.dot(self.toward);
        let normal = if facing >= 0.0 { normal } else { -normal };
        let key = (self.toward + 1.1 * self.up - 0.7 * self.right).normalize();
        let light = ambient + (0.95 - ambient) * (0.5 + 0.5 * normal.dot(key)) + 0.2 * facing.abs();
        let [r, g, b] = base.map(|c| (c * light).clamp(0.0, 255.0) as u8);
        [r, g, b, 255]
    }

    fn draw_edges(&self, film: &mut Film, mesh: &TriMesh, lines: Lines) {
        let edges = classified_edges(mesh);
        let ends = |[i, j]: [u32; 2]| [i, j].map(|v| self.project(mesh.positions[v as usize]));
        let length = |e: [u32; 2]| {
            let [p, q] = ends(e);
            (p[0] - q[0]).hypot(p[1] - q[1])
        };
        let mean = edges.iter().map(|(e, _)| length(*e)).sum::<f64>() / edges.len().max(1) as f64;
        // Closer together than this, lines are only a darker face.
        let opacity = ((mean - 3.0) / 9.0).clamp(0.0, 1.0) * 70.0;
        for wanted in [EdgeKind::Inner, EdgeKind::Boundary, EdgeKind::NonManifold] {
            let (ink, hidden, width) = match (wanted, lines) {
                (EdgeKind::Boundary, Lines::Outline) => ([48, 66, 90, 190], 0, 2),
                (_, Lines::Outline) => continue,
                (EdgeKind::Inner, Lines::Marked) => ([25, 40, 60, opacity as u8], 0, 1),
                (EdgeKind::Boundary, Lines::Marked) => (style::ORANGE, 60, 4),
                (EdgeKind::NonManifold, Lines::Marked) => (style::RED, 110, 6),
            };
            if ink[3] < 4 {
                continue;
            }
            for (edge, _) in edges.iter().filter(|(_, kind)| *kind == wanted) {
                let [p, q] = ends(*edge).map(|p| film.place(p));
                film.line(p, q, width, ink, hidden);
            }
        }
    }
}

/// A corner of a box: bit by bit low or high in x, y and z.
pub(super) fn corner([low, high]: [Vec3; 2], k: usize) -> Vec3 {
    let pick = |bit: usize, l: f64, h: f64| if k >> bit & 1 == 1 { h } else { l };
    Vec3::new(pick(0, low.x, high.x), pick(1, low.y, high.y), pick(2, low.z, high.z))
}

/// Triangles with finite corners that exist.
fn drawable(mesh: &TriMesh) -> impl Iterator<Item = (usize, [Vec3; 3])> {
    let exists = |t: &[u32; 3]| t.iter().all(|&v| mesh.positions.get(v as usize).is_some_and(|p| p.is_finite()));
    let corners = |t: &[u32; 3]| t.map(|v| mesh.positions[v as usize]);
    mesh.triangles.iter().enumerate().filter(move |(_, t)| exists(t)).map(move |(k, t)| (k, corners(t)))
}

/// Every edge once, with how it is shared. Sorting keys is an order of magnitude faster than a map for a million faces.
fn classified_edges(mesh: &TriMesh) -> Vec<([u32; 2], EdgeKind)> {
    let mut keys: Vec<[u32; 2]> = drawable(mesh)
        .flat_map(|(t, _)| {
            let [a, b, c] = mesh.triangles[t];
            [[a, b], [b, c], [c, a]].map(|[i, j]| [i.min(j), i.max(j)])
        })
        .filter(|[i, j]| i != j)
        .collect();
    keys.sort_unstable();
    keys.chunk_by(|a, b| a == b)
        .map(|same| {
            let kind = match same.len() {
                1 => EdgeKind::Boundary,
                2 => EdgeKind::Inner,
                _ => EdgeKind::NonManifold,
            };
            (same[0], kind)
        })
        .collect()
}

/// Fine samples of colour and nearness.
struct Film {
    width: usize,
    height: usize,
    origin: [f64; 2],
    colour: Vec<Colour>,
    near: Vec<f32>,
}

impl Film {
    fn new(area: Area) -> Self {
        let (width, height) = (FINE * area.w as usize, FINE * area.h as usize);
        let origin = [f64::from(area.x.floor()), f64::from(area.y.floor())];
        Self { width, height, origin, colour: vec![[0; 4]; width * height], near: vec![f32::MIN; width * height] }
    }

    /// From pixels of the picture to samples of the film.
    fn place(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let fine = FINE as f64;
        [fine * (x - self.origin[0]), fine * (y - self.origin[1]), fine * z]
    }

    fn triangle(&mut self, [a, b, c]: [[f64; 3]; 3], ink: Colour) {
        let cross = |p: [f64; 3], q: [f64; 3], x: f64, y: f64| (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]);
        let twice = cross(a, b, c[0], c[1]);
        let bound = |axis: usize, size: usize| {
            let low = a[axis].min(b[axis]).min(c[axis]).floor().max(0.0) as usize;
            let high = a[axis].max(b[axis]).max(c[axis]).ceil().clamp(0.0, size as f64) as usize;
            low..high
        };
        if twice.abs() < 1e-9 {
            return;
        }
        for row in bound(1, self.height) {
            for column in bound(0, self.width) {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                let [u, v, w] = [cross(b, c, x, y), cross(c, a, x, y), cross(a, b, x, y)].map(|s| s / twice);
                // A hair of overlap closes the cracks between neighbours.
                if u < -1e-6 || v < -1e-6 || w < -1e-6 {
                    continue;
                }
                let near = (u * a[2] + v * b[2] + w * c[2]) as f32;
                let at = row * self.width + column;
                if near > self.near[at] {
                    (self.near[at], self.colour[at]) = (near, ink);
                }
            }
        }
    }

    /// A line some samples wide; where faces cover it, with the opacity `hidden`.
    fn line(&mut self, p: [f64; 3], q: [f64; 3], width: usize, ink: Colour, hidden: u8) {
        let steps = (q[0] - p[0]).abs().max((q[1] - p[1]).abs()).ceil().clamp(1.0, 20_000.0);
        // Lines lie on the faces they bound: allow for the slope across a few samples.
        let allowance = 3.0 + 1.5 * width as f64;
        for k in 0..=steps as usize {
            let t = k as f64 / steps;
            let at = |c: usize| p[c] + t * (q[c] - p[c]);
            for dy in 0..width {
                for dx in 0..width {
                    let x = (at(0) + dx as f64 - 0.5 * (width - 1) as f64).floor();
                    let y = (at(1) + dy as f64 - 0.5 * (width - 1) as f64).floor();
                    if x < 0.0 || y < 0.0 || x >= self.width as f64 || y >= self.height as f64 {
                        continue;
                    }
                    let index = y as usize * self.width + x as usize;
                    let covered = f64::from(self.near[index]) > at(2) + allowance;
                    self.mark(index, if covered { style::faded(ink, hidden) } else { ink });
                }
            }
        }
    }

    fn mark(&mut self, index: usize, ink: Colour) {
        let under = &mut self.colour[index];
        if under[3] == 0 {
            *under = ink;
            return;
        }
        let alpha = u16::from(ink[3]);
        for c in 0..3 {
            under[c] = ((u16::from(under[c]) * (255 - alpha) + u16::from(ink[c]) * alpha) / 255) as u8;
        }
        under[3] = under[3].max(ink[3]);
    }

    /// Averages the samples of each pixel onto the canvas.
    fn develop(&self, canvas: &mut Canvas, area: Area) {
        canvas.image(area, |column, row| {
            let mut sum = [0u32; 4];
            for k in 0..FINE * FINE {
                let (x, y) = (FINE * column + k % FINE, FINE * row + k / FINE);
                let [r, g, b, a] = self.colour[y * self.width + x].map(u32::from);
                // Weighted by opacity, so that empty samples do not darken the rim.
                for (s, v) in sum.iter_mut().zip([r * a, g * a, b * a, a]) {
                    *s += v;
                }
            }
            let weight = sum[3].max(1);
            [sum[0] / weight, sum[1] / weight, sum[2] / weight, sum[3] / (FINE * FINE) as u32].map(|v| v as u8)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_told_apart() {
        let mut mesh = eigentone_core::mesh::primitives::plate(1.0, 1.0, 3, 3);
        let count = |mesh: &TriMesh, kind| classified_edges(mesh).iter().filter(|(_, k)| *k == kind).count();
        assert_eq!((count(&mesh, EdgeKind::Boundary), count(&mesh, EdgeKind::Inner)), (8, 8));
        mesh.positions.push(Vec3::Z);
        let inner = classified_edges(&mesh).iter().find(|(_, k)| *k == EdgeKind::Inner).unwrap().0;
        mesh.triangles.push([inner[0], inner[1], 9]);
        assert_eq!(count(&mesh, EdgeKind::NonManifold), 1);
    }
}

//! Things seen along an axis of the world: outlines of points, arrows, floors edge-on, and names that do not cover each
//! other.

use super::super::{
    axis::{Axis, Frame, Panel},
    canvas::{Area, Canvas, Colour, Text, text_width},
    style,
};
use eigentone_core::Vec3;

/// A view of the world with equal scales along both axes.
pub(super) struct Sketch {
    panel: Panel,
    /// Which coordinates run to the right and up.
    axes: [usize; 2],
    names: Vec<Area>,
}

impl Sketch {
    /// Shows what is between `low` and `high` in an area, at this many pixels per metre.
    pub fn new(area: Area, axes: [usize; 2], [low, high]: [Vec3; 2], pixels_per_m: f64) -> Self {
        let range = |axis: usize, pixels: f32| {
            let (middle, half) = (0.5 * (low[axis] + high[axis]), 0.5 * f64::from(pixels) / pixels_per_m);
            Axis::linear(middle - half, middle + half, ["x (m)", "y (m)", "z (m)"][axis])
        };
        let (x, y) = (range(axes[0], area.w), range(axes[1], area.h));
        Self { panel: Panel { area, x, y }, axes, names: Vec::new() }
    }

    pub fn ground(&self, canvas: &mut Canvas) {
        self.panel.ground(canvas, Frame::default());
    }

    pub fn border(&self, canvas: &mut Canvas) {
        self.panel.border(canvas, Frame::default());
    }

    /// Where a point of the world is; far points just outside of the panel.
    pub fn at(&self, p: Vec3) -> [f32; 2] {
        self.panel.at(p[self.axes[0]], p[self.axes[1]])
    }

    /// Whether a point of the world lies in the panel.
    pub fn shows(&self, p: Vec3) -> bool {
        let inside = |axis: &Axis, value: f64| value >= axis.low && value <= axis.high;
        inside(&self.panel.x, p[self.axes[0]]) && inside(&self.panel.y, p[self.axes[1]])
    }

    /// The convex outline of points, filled and stroked. Returns the middle of its upper edge.
    pub fn outline(
        &self,
        canvas: &mut Canvas,
        points: impl Iterator<Item = Vec3>,
        fill: Colour,
        line: Colour,
    ) -> Option<[f32; 2]> {
        let mut outline = hull(points.filter(|p| p.is_finite()).map(|p| self.at(p)).collect());
        let top = outline.iter().copied().min_by(|a, b| a[1].total_cmp(&b[1]))?;
        let sides = outline.iter().fold([f32::MAX, f32::MIN], |[l, r], p| [l.min(p[0]), r.max(p[0])]);
        fill_convex(canvas, &outline, fill);
        outline.push(outline[0]);
        canvas.stroke(&outline, 1.3, line);
        Some([0.5 * (sides[0] + sides[1]), top[1]])
    }

    /// A floor that is seen edge-on: a line with hatches below. One that is seen from the side of its face is everywhere.
    pub fn floor(&self, canvas: &mut Canvas, place: Vec3, normal: Vec3) {
        let [i, j] = self.axes;
        let (n, up) = ([normal[i], normal[j]], [place[i], place[j]]);
        let length = n[0].hypot(n[1]);
        if length < 0.99 {
            return;
        }
        let area = self.panel.area;
        // Pixels run downward; one pixel is as long in both directions.
        let (along, below) = ([n[1] / length, n[0] / length], [-n[0] / length, n[1] / length]);
        let from = [self.panel.area.x, self.panel.area.bottom()];
        let per_m = f64::from(area.w) / (self.panel.x.high - self.panel.x.low);
        let origin = [
            f64::from(from[0]) + per_m * (up[0] - self.panel.x.low),
            f64::from(from[1]) - per_m * (up[1] - self.panel.y.low),
        ];
        let point = |t: f64, depth: f64| {
            [(origin[0] + t * along[0] + depth * below[0]) as f32, (origin[1] + t * along[1] + depth * below[1]) as f32]
        };
        let inside = |p: [f32; 2]| p[0] >= area.x && p[0] <= area.right() && p[1] >= area.y && p[1] <= area.bottom();
        let reach = f64::from(2.0 * (area.w + area.h));
        // Only what is near the panel is walked along.
        let nearest = (f64::from(area.x + 0.5 * area.w) - origin[0]) * along[0]
            + (f64::from(area.y + 0.5 * area.h) - origin[1]) * along[1];
        let mut t = nearest - reach;
        while t < nearest + reach {
            let (here, next) = (point(t, 0.0), point(t + 4.0, 0.0));
            if inside(here) && inside(next) {
                canvas.line(here, next, 1.5, style::MUTED);
                let hatch = point(t - 4.0, 6.0);
                if (t / 4.0).rem_euclid(3.0) < 1.0 && inside(hatch) {
                    canvas.line(here, hatch, 1.0, style::AXIS);
                }
            }
            t += 4.0;
        }
    }

    /// Someone at a place of the picture who looks this way. Returns whether that is upward, where a name would be.
    pub fn looker(&self, canvas: &mut Canvas, at: [f32; 2], look: Vec3) -> bool {
        canvas.dot(at, 6.0, style::RED);
        self.arrow(canvas, at, 28.0, look, style::RED);
        look.normalize_or_zero()[self.axes[1]] > 0.2
    }

    /// An arrow along the part of a direction that this view shows.
    pub fn arrow(&self, canvas: &mut Canvas, at: [f32; 2], length: f32, direction: Vec3, ink: Colour) {
        let direction = direction.normalize_or_zero();
        let [dx, dy] = [direction[self.axes[0]] as f32, -direction[self.axes[1]] as f32];
        if dx.hypot(dy) < 0.15 {
            return canvas.ring(at, 9.0, 1.6, ink);
        }
        let tip = [at[0] + length * dx, at[1] + length * dy];
        canvas.line(at, tip, 2.0, ink);
        for side in [-1.0, 1.0] {
            let (back, out) = (7.0 / dx.hypot(dy), 4.0 * side / dx.hypot(dy));
            canvas.line(tip, [tip[0] - back * dx - out * dy, tip[1] - back * dy + out * dx], 2.0, ink);
        }
    }

    /// The nearest place in the panel to a point, with some room to the border.
    pub fn edge(&self, p: Vec3) -> [f32; 2] {
        let (area, [x, y]) = (self.panel.area, self.at(p));
        const ROOM: f32 = 34.0;
        [x.clamp(area.x + ROOM, area.right() - ROOM), y.clamp(area.y + ROOM, area.bottom() - ROOM)]
    }

    /// Writes a name above a place, unless another is there.
    pub fn name(&mut self, canvas: &mut Canvas, [x, y]: [f32; 2], name: &str, ink: Colour) {
        let text = Text::new(style::TICK - 1.0).colour(ink);
        let area = self.panel.area;
        let width = text_width(name, text).min(0.5 * area.w);
        let x = (x - 0.5 * width).clamp(area.x + 4.0, area.right() - width - 4.0);
        let y = (y - 10.0).clamp(area.y + 10.0, area.bottom() - 10.0);
        let own = Area::new(x - 3.0, y - 7.0, width + 6.0, 14.0);
        let clear = |o: &Area| own.right() < o.x || o.right() < own.x || own.bottom() < o.y || o.bottom() < own.y;
        if self.names.iter().all(clear) {
            canvas.text_within([x, y], width + 1.0, name, text);
            self.names.push(own);
        }
    }
}

/// The convex hull, by Andrew's monotone chain.
fn hull(mut points: Vec<[f32; 2]>) -> Vec<[f32; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let turn = |a: [f32; 2], b: [f32; 2], c: [f32; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let half = |points: &mut dyn Iterator<Item = [f32; 2]>| {
        let mut chain: Vec<[f32; 2]> = Vec::new();
        for p in points {
            while chain.len() > 1 && turn(chain[chain.len() - 2], chain[chain.len() - 1], p) <= 0.0 {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut outline = half(&mut points.iter().copied());
    outline.extend(half(&mut points.iter().rev().copied()));
    outline
}

/// Fills a convex polygon line by line.
fn fill_convex(canvas: &mut Canvas, outline: &[[f32; 2]], fill: Colour) {
    let [top, bottom] = outline.iter().fold([f32::MAX, f32::MIN], |[t, b], p| [t.min(p[1]), b.max(p[1])]);
    for row in top.floor() as i32..bottom.ceil() as i32 {
        let y = row as f32 + 0.5;
        let crossings = outline.iter().zip(outline.iter().cycle().skip(1)).filter(|(a, b)| (a[1] <= y) != (b[1] <= y));
        let [left, right] = crossings
            .map(|(a, b)| a[0] + (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]))
            .fold([f32::MAX, f32::MIN], |[l, r], x| [l.min(x), r.max(x)]);
        if left < right {
            canvas.rect(Area::new(left, row as f32, right - left, 1.0), fill);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hull_leaves_out_what_is_inside() {
        let square = vec![[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [2.0, 2.0], [0.0, 2.0], [1.0, 0.0], [0.0, 0.0]];
        let outline = hull(square);
        assert_eq!(outline.len(), 4, "{outline:?}");
        assert!(!outline.contains(&[1.0, 1.0]) && !outline.contains(&[1.0, 0.0]));
        assert_eq!(hull(vec![[1.0, 1.0]; 5]), [[1.0, 1.0]]);
    }
}

//! A mesh: what it looks like, how large it is, and where it is torn.

use super::{
    Picture,
    canvas::{Align, Area, Canvas, Colour, Text, text_width},
    model::empty,
    style,
    view::{Lines, View, corner},
};
use eigentone_core::{TriMesh, Vec3, mesh::report::MeshReport};

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 720;

/// A shaded view of a mesh with its bounding box, boundary and non-manifold edges marked, and the figures of its report.
/// Faces seen from inside are brown. Draws what can be drawn of any mesh, however broken.
///
/// With a thickness in metres for each triangle, faces have its colour, from thin (dark) to thick (bright); those that nothing lies opposite to (infinite) stay grey.
pub fn mesh_picture(mesh: &TriMesh, report: &MeshReport, thickness_m: &[f64], title: &str) -> Picture {
    let scale = ThicknessScale::of(mesh, thickness_m);
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    canvas.text_within([40.0, 40.0], 1120.0, title, Text::new(style::TITLE).medium());
    let faces = match mesh.triangles.len() {
        1 => "1 triangle".to_owned(),
        n => format!("{} triangles", number(n)),
    };
    let size = size_text(report.bounds);
    let facts = facts_line(&[faces, format!("{} vertices", number(mesh.positions.len())), size]);
    canvas.text_within([40.0, 74.0], 1120.0, &facts, Text::new(style::SUBTITLE).colour(style::MUTED));
    let area = Area::new(40.0, 104.0, 840.0, 590.0);
    canvas.rect(area, style::PANEL);
    match View::new(mesh, area, 58.0, true) {
        Some((view, bounds)) => {
            draw_box(&mut canvas, &view, bounds);
            label_box(&mut canvas, &view, bounds);
            let own = |t: usize| scale.as_ref()?.colour(*thickness_m.get(t)?);
            view.draw_coloured(&mut canvas, mesh, area, Lines::Marked, own);
            if let Some(scale) = &scale {
                scale.draw_key(&mut canvas);
            }
        }
        None => empty(&mut canvas, area, "nothing to draw: the mesh has no triangle with an area"),
    }
    canvas.frame(Area::new(40.5, 104.5, 839.0, 589.0), 1.0, style::GRID);
    draw_report(&mut canvas, report, Area::new(920.0, 104.0, 240.0, 590.0));
    canvas.finish()
}

/// Colours from thin to thick, even in the logarithm.
struct ThicknessScale {
    thin_m: f64,
    thick_m: f64,
}

impl ThicknessScale {
    /// From the thinnest to the thickest twentieth of the area; `None` if most of the surface has nothing opposite.
    fn of(mesh: &TriMesh, thickness_m: &[f64]) -> Option<Self> {
        let exists = |t: usize| mesh.triangles[t].iter().all(|&v| (v as usize) < mesh.positions.len());
        let area = |t: usize| if exists(t) { mesh.triangle_area(t) } else { 0.0 };
        let measured = thickness_m.iter().copied().enumerate().take(mesh.triangles.len());
        let mut sorted: Vec<(f64, f64)> =
            measured.filter(|(_, d)| d.is_finite() && *d > 0.0).map(|(t, d)| (d, area(t))).collect();
        let total: f64 = (0..mesh.triangles.len()).map(area).sum();
        let whole: f64 = sorted.iter().map(|(_, area)| area).sum();
        if whole <= 0.5 * total || !whole.is_finite() {
            return None;
        }
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = |share: f64| {
            let mut passed = 0.0;
            let reached = sorted.iter().find(|(_, area)| {
                passed += area;
                passed >= share * whole
            });
            reached.or(sorted.last()).map(|(d, _)| *d)
        };
        let (thin_m, thick_m) = (at(0.05)?, at(0.95)?);
        // Walls of one thickness are not made to look uneven by rounding.
        Some(Self { thin_m: thin_m.min(thick_m / 1.25), thick_m })
    }

    fn colour(&self, thickness_m: f64) -> Option<Colour> {
        let share = (thickness_m / self.thin_m).ln() / (self.thick_m / self.thin_m).ln();
        share.is_finite().then(|| style::map_level(share))
    }

    fn draw_key(&self, canvas: &mut Canvas) {
        const STEPS: usize = 40;
        let (left, top, width) = (60.0, 664.0, 200.0);
        for step in 0..STEPS {
            let colour = style::map_level(step as f64 / (STEPS - 1) as f64);
            let x = left + width * step as f32 / STEPS as f32;
            canvas.rect(Area::new(x, top, width / STEPS as f32 + 0.5, 10.0), colour);
        }
        let style = Text::new(style::TICK).colour(style::MUTED);
        let text = format!("thickness {} to {}", length_text(self.thin_m), length_text(self.thick_m));
        canvas.text([left, top - 8.0], &text, style);
    }
}

fn flat([x, y, _]: [f64; 3]) -> [f32; 2] {
    [x as f32, y as f32]
}

fn draw_box(canvas: &mut Canvas, view: &View, bounds: [Vec3; 2]) {
    for k in 0..8 {
        for bit in (0..3).filter(|bit| k >> bit & 1 == 0) {
            let ends = [k, k | 1 << bit].map(|c| flat(view.project(corner(bounds, c))));
            canvas.line(ends[0], ends[1], 1.0, style::GRID);
        }
    }
}

/// Lengths beside the three edges of the box that lie on the outside of the view: front, right and left.
fn label_box(canvas: &mut Canvas, view: &View, bounds: [Vec3; 2]) {
    let size = bounds[1] - bounds[0];
    let edges: [(usize, [usize; 2], [f32; 2], Align); 3] = [
        (0, [0b000, 0b001], [-10.0, 22.0], Align::Right),
        (1, [0b001, 0b011], [12.0, 20.0], Align::Left),
        (2, [0b000, 0b100], [-12.0, 0.0], Align::Right),
    ];
    for (axis, ends, [dx, dy], align) in edges {
        if size[axis] < 1e-3 * size.max_element() {
            continue;
        }
        let [p, q] = ends.map(|c| flat(view.project(corner(bounds, c))));
        canvas.line(p, q, 1.0, style::AXIS);
        let text = format!("{} {}", ["x", "y", "z"][axis], length_text(size[axis]));
        let style = Text::new(style::TICK).colour(style::MUTED).align(align);
        let mut x = 0.5 * (p[0] + q[0]) + dx;
        let width = text_width(&text, style);
        // Keep the text inside the panel.
        x = if align == Align::Right { x.max(46.0 + width) } else { x.min(874.0 - width) };
        canvas.text([x, (0.5 * (p[1] + q[1]) + dy).clamp(114.0, 684.0)], &text, style);
    }
}

fn draw_report(canvas: &mut Canvas, report: &MeshReport, area: Area) {
    let yes = |v: bool| if v { "yes" } else { "no" }.to_owned();
    let mut rows: Vec<(&str, String, Option<Colour>)> = vec![
        ("closed", yes(report.watertight), None),
        ("pieces", number(report.components), None),
        ("boundary edges", number(report.boundary_edges), Some(style::ORANGE)),
        ("holes", number(report.holes), None),
        ("non-manifold edges", number(report.nonmanifold_edges), Some(style::RED)),
        ("misoriented edges", number(report.misoriented_edges), None),
        ("area", power_text(report.area_m2, 2), None),
    ];
    if report.watertight {
        rows.push(("volume", power_text(report.volume_m3, 3), None));
    }
    rows.push(("mean edge", length_text(report.mean_edge_m), None));
    for (axis, name) in ["size x", "size y", "size z"].into_iter().enumerate() {
        rows.push((name, length_text(report.bounds[1][axis] - report.bounds[0][axis]), None));
    }
    for (k, (name, value, mark)) in rows.iter().enumerate() {
        let y = area.y + 16.0 + 32.0 * k as f32;
        canvas.text([area.x, y], name, Text::new(style::SUBTITLE - 1.0).colour(style::MUTED));
        if let Some(colour) = mark {
            let x = area.x + text_width(name, Text::new(style::SUBTITLE - 1.0)) + 9.0;
            canvas.line([x, y], [x + 18.0, y], 3.0, *colour);
        }
        let text = Text::new(style::SUBTITLE).medium().align(Align::Right);
        canvas.text([area.right(), y], value, text);
        canvas.line([area.x, y + 16.0], [area.right(), y + 16.0], 1.0, style::FAINT_GRID);
    }
}

/// Facts between dots.
pub(super) fn facts_line(facts: &[String]) -> String {
    facts.join("   ·   ")
}

/// A count with thin spaces between thousands.
pub(super) fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (k, c) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push('\u{a0}');
        }
        text.push(c);
    }
    text
}

/// A length in the unit that suits it, with three digits.
pub(super) fn length_text(metres: f64) -> String {
    let (value, unit) = match metres.abs() {
        v if v >= 1.0 => (metres, "m"),
        v if v >= 1e-4 => (1e3 * metres, "mm"),
        v if v > 0.0 => (1e6 * metres, "µm"),
        _ => (0.0, "mm"),
    };
    format!("{} {unit}", three_digits(value))
}

pub(super) fn three_digits(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.abs() >= 1e6 {
        return format!("{value:.2e}");
    }
    let digits = (2.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 3.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// An area or a volume, in m, cm or mm to the power.
fn power_text(value: f64, power: i32) -> String {
    let mark = if power == 2 { '²' } else { '³' };
    let units = [(1.0_f64, "m"), (1e-2, "cm"), (1e-3, "mm")];
    let suited = units.into_iter().find(|(u, _)| value.abs() >= u.powi(power)).unwrap_or(units[2]);
    format!("{} {}{mark}", three_digits(value / suited.0.powi(power)), suited.1)
}

/// `200 × 20 × 10 mm`, in one unit.
fn size_text([low, high]: [[f64; 3]; 2]) -> String {
    let size: [f64; 3] = std::array::from_fn(|k| high[k] - low[k]);
    let (factor, unit) = if size.iter().any(|s| *s >= 1.0) { (1.0, "m") } else { (1e3, "mm") };
    let [x, y, z] = size.map(|s| three_digits(factor * s));
    format!("{x} × {y} × {z} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_written_in_the_unit_that_suits_them() {
        assert_eq!([2.5, 0.2, 0.0125, 2e-5, 0.0].map(length_text), ["2.5 m", "200 mm", "12.5 mm", "20 µm", "0 mm"]);
        assert_eq!(power_text(0.0006, 2), "6 cm²");
        assert_eq!(power_text(4e-5, 3), "40 cm³");
        assert_eq!(number(1_234_567), "1\u{a0}234\u{a0}567");
        assert_eq!(size_text([[0.0; 3], [0.2, 0.02, 0.01]]), "200 × 20 × 10 mm");
    }
}

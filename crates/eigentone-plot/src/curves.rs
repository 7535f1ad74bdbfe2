//! Curves over time or anything else.

use super::Picture;
use super::axis::{Axis, Frame, Panel};
use super::canvas::{Align, Area, Canvas, Text};
use super::style;

/// A named line.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it shows.
    pub name: String,
    /// Points, in rising order of their first number.
    pub points: Vec<(f64, f64)>,
}

/// Up to four curves over a common axis, from zero up.
pub fn curves_picture(title: &str, x_title: &str, y_title: &str, curves: &[Curve]) -> Picture {
    let mut canvas = Canvas::new(1000, 460);
    canvas.text_within([40.0, 36.0], 920.0, title, Text::new(style::TITLE).medium());
    let points = || curves.iter().flat_map(|c| &c.points).filter(|p| p.0.is_finite() && p.1.is_finite());
    let (low, high) = points().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p.0), h.max(p.0)));
    let top = points().fold(0.0f64, |t, p| t.max(p.1));
    let (low, high) = if low < high { (low, high) } else { (0.0, 1.0) };
    let panel = Panel {
        area: Area::new(90.0, 80.0, 870.0, 310.0),
        x: Axis::linear(low, high, x_title),
        y: Axis::linear(0.0, if top > 0.0 { 1.06 * top } else { 1.0 }, y_title),
    };
    panel.ground(&mut canvas, Frame::default());
    let inks = [style::BLUE, style::ORANGE, style::RED, style::INK];
    let mut x = panel.area.right();
    for (curve, ink) in curves.iter().zip(inks).rev() {
        let line: Vec<[f32; 2]> = curve.points.iter().map(|p| panel.at(p.0, p.1)).collect();
        canvas.stroke(&line, 1.8, ink);
        let text = Text::new(style::TICK).colour(ink).align(Align::Right);
        x -= canvas.text([x, 66.0], &curve.name, text) + 20.0;
    }
    panel.border(&mut canvas, Frame::default());
    canvas.finish()
}

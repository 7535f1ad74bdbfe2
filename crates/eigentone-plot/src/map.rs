//! Views from above with equal scales along both axes.

use super::{
    axis::{Axis, Frame, Panel},
    canvas::{Align, Area, Canvas, Colour},
    style,
};
use eigentone_core::acoustics::Lattice;

/// A rectangle of the world, seen from above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ground {
    pub low: [f64; 2],
    pub high: [f64; 2],
}

impl Ground {
    /// Around points, with some room; `None` if not one of them is finite.
    pub fn around(points: impl IntoIterator<Item = [f64; 2]>, room_m: f64) -> Option<Self> {
        // Farther out nothing can be told apart any more.
        let sensible = |p: &[f64; 2]| p.iter().all(|x| x.abs() < 1e9);
        let both = |f: fn(f64, f64) -> f64, a: [f64; 2], b: [f64; 2]| [f(a[0], b[0]), f(a[1], b[1])];
        let all = points.into_iter().filter(sensible).fold(None, |all: Option<Self>, p| {
            Some(all.map_or(Self { low: p, high: p }, |g| Self {
                low: both(f64::min, g.low, p),
                high: both(f64::max, g.high, p),
            }))
        })?;
        let room_m = if room_m.is_finite() { room_m.clamp(0.1, 1e6) } else { 1.0 };
        Some(Self { low: all.low.map(|x| x - room_m), high: all.high.map(|x| x + room_m) })
    }

    /// Width over height.
    pub fn aspect(&self) -> f64 {
        (self.high[0] - self.low[0]) / (self.high[1] - self.low[1])
    }
}

/// Part of the world in a panel.
pub(super) struct Map {
    pub panel: Panel,
    m_per_pixel: f64,
}

impl Map {
    /// As large as there is room, in its upper left corner.
    pub fn new(room: Area, ground: &Ground) -> Self {
        let [w, h] = [0, 1].map(|a| ground.high[a] - ground.low[a]);
        let m_per_pixel = (w / f64::from(room.w)).max(h / f64::from(room.h));
        let pixels = |m: f64| (m / m_per_pixel).round().max(1.0) as f32;
        let area = Area::new(room.x.round(), room.y.round(), pixels(w), pixels(h));
        let axis = |a: usize, n: f32| {
            Axis::linear(ground.low[a], ground.low[a] + f64::from(n) * m_per_pixel, ["x (m)", "y (m)"][a])
        };
        Self { panel: Panel { area, x: axis(0, area.w), y: axis(1, area.h) }, m_per_pixel }
    }

    /// Colours each pixel by the place at its middle; those without a colour are left empty.
    pub fn fill(&self, canvas: &mut Canvas, colour: impl Fn([f64; 2]) -> Option<Colour>) {
        let area = self.panel.area;
        canvas.rect(area, style::PANEL);
        canvas.image(area, |column, row| {
            let x = self.panel.x.low + (column as f64 + 0.5) * self.m_per_pixel;
            let y = self.panel.y.high - (row as f64 + 0.5) * self.m_per_pixel;
            colour([x, y]).unwrap_or([0; 4])
        });
    }

    /// The cells of a lattice whose middles are in the pixel around a place, at most nine of them; always the one at the place itself.
    pub fn cells(&self, lattice: &Lattice, at: [f64; 2]) -> impl Iterator<Item = [i64; 2]> + use<> {
        let half = 0.5 * self.m_per_pixel;
        let (origin, step_m) = ([lattice.origin.x, lattice.origin.y], lattice.step_m);
        let cell = move |axis: usize, place: f64| ((place - origin[axis]) / step_m).floor() as i64;
        let places = if self.m_per_pixel <= step_m { vec![0.0] } else { vec![0.0, -half, half] };
        let inner = places.clone();
        places
            .into_iter()
            .flat_map(move |dy| inner.clone().into_iter().map(move |dx| [cell(0, at[0] + dx), cell(1, at[1] + dy)]))
    }

    pub fn border(&self, canvas: &mut Canvas, small: bool) {
        self.panel.border(canvas, Frame { small, grid: false, ..Frame::default() });
    }

    /// A dot with a rim, so that it shows on any colour.
    pub fn dot(&self, canvas: &mut Canvas, at: [f64; 2], radius: f32, ink: Colour) {
        let inside = |axis: &Axis, value: f64| value >= axis.low && value <= axis.high;
        if inside(&self.panel.x, at[0]) && inside(&self.panel.y, at[1]) {
            spot(canvas, self.panel.at(at[0], at[1]), radius, ink);
        }
    }
}

/// A dot with a rim.
pub(super) fn spot(canvas: &mut Canvas, at: [f32; 2], radius: f32, ink: Colour) {
    let rim = if ink == style::PAPER { style::INK } else { style::PAPER };
    canvas.dot(at, radius + 1.0, rim);
    canvas.dot(at, radius, ink);
}

/// A patch of colour in a legend.
pub(super) fn legend_swatch(canvas: &mut Canvas, [x, y]: [f32; 2], fill: Colour) {
    canvas.rect(Area::new(x, y - 7.0, 14.0, 14.0), fill);
    canvas.frame(Area::new(x + 0.5, y - 6.5, 13.0, 13.0), 1.0, style::AXIS);
}

/// Text of legends.
pub(super) const fn legend_text() -> super::canvas::Text {
    super::canvas::Text::new(style::TICK).colour(style::INK).align(Align::Left)
}

/// A number of metres in text, with a proper minus sign.
pub(super) fn metres(places: &[f64]) -> String {
    let numbers: Vec<String> = places.iter().map(|x| format!("{x:.1}").replace('-', "−")).collect();
    format!("({}) m", numbers.join(", "))
}

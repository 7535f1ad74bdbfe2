//! Axes with ticks at round numbers, and panels that hold data between two of them.

use super::{
    canvas::{Align, Area, Canvas, Colour, Text},
    style,
};

/// Linear or logarithmic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    Log,
}

/// A range of values and what it means.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
    pub title: String,
}

/// A mark on an axis; without a label if it is a minor one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    pub label: Option<String>,
}

impl Axis {
    pub fn linear(low: f64, high: f64, title: &str) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { scale: Scale::Linear, low, high, title: title.to_owned() }
    }

    pub fn log(low: f64, high: f64, title: &str) -> Self {
        let low = low.max(1e-12);
        Self { scale: Scale::Log, low, high: if high > low { high } else { 10.0 * low }, title: title.to_owned() }
    }

    /// Frequency from 20 Hz, at least up to 20 kHz, further in both directions if the data asks for it.
    pub fn frequency(data: impl Iterator<Item = f64>) -> Self {
        let (low, high) = data.fold((20f64, 20_000f64), |(l, h), f| (l.min(f), h.max(f)));
        Self::log(low, if high > 20_000.0 { 1.08 * high } else { high }, "frequency (Hz)")
    }

    /// Where a value lies: 0 at the low end, 1 at the high end, clamped to just outside.
    pub fn share(&self, value: f64) -> f32 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value.max(1e-300) / self.low).ln() / (self.high / self.low).ln(),
        };
        if share.is_nan() { -0.01 } else { share.clamp(-0.01, 1.01) as f32 }
    }

    /// The value at a share of the axis.
    pub fn value(&self, share: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.low + share * (self.high - self.low),
            Scale::Log => self.low * (self.high / self.low).powf(share),
        }
    }

    /// Ticks, of which about `most` carry labels.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        match self.scale {
            // Within less than a decade 1, 2 and 5 are too few.
            Scale::Log if self.high > 4.0 * self.low => self.log_ticks(most.max(2)),
            Scale::Linear | Scale::Log => self.linear_ticks(most.max(3)),
        }
    }

    fn linear_ticks(&self, most: usize) -> Vec<Tick> {
        let rough = (self.high - self.low) / most as f64;
        let decade = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * decade).into_iter().find(|s| *s >= 0.999 * rough);
        let step = step.unwrap_or(10.0 * decade);
        let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (self.low / step - 1e-9).ceil() as i64;
        (first..first + 2 * most as i64 + 3)
            .map(|k| k as f64 * step)
            .take_while(|v| *v <= self.high + 1e-9 * step)
            .map(|value| Tick { value, label: Some(format!("{value:.digits$}").replace('-', "−")) })
            .collect()
    }

    fn log_ticks(&self, most: usize) -> Vec<Tick> {
        let decades = (self.high / self.low).log10();
        // Label 1, 2, 5 of each decade if there is room, else decades only, else every second or third decade.
        let labelled = |m: i32, decade: i32| {
            if 3.0 * decades <= 1.6 * most as f64 + 1.0 {
                [1, 2, 5].contains(&m)
            } else {
                m == 1 && decade % (decades / most as f64).ceil().max(1.0) as i32 == 0
            }
        };
        let range = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let inside = |v: f64| v >= 0.9999 * self.low && v <= 1.0001 * self.high;
        range
            .flat_map(|decade| (1..10).map(move |m| (m, decade)))
            .map(|(m, decade)| {
                let value = f64::from(m) * 10f64.powi(decade);
                Tick { value, label: labelled(m, decade).then(|| short(value)) }
            })
            .filter(|tick| inside(tick.value))
            .collect()
    }
}

/// A round number in few characters: `0.05`, `200`, `5k`.
pub(super) fn short(value: f64) -> String {
    let scaled = if value.abs() >= 999.5 { (value / 1000.0, "k") } else { (value, "") };
    let digits = (2.0 - scaled.0.abs().max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    let number = format!("{:.digits$}", scaled.0);
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
    format!("{number}{}", scaled.1)
}

/// Data between a horizontal and a vertical axis.
pub(super) struct Panel {
    pub area: Area,
    pub x: Axis,
    pub y: Axis,
}

/// What a panel writes around itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Tick labels and title below.
    pub labels_x: bool,
    /// Tick labels and title on the left.
    pub labels_y: bool,
    /// Faint lines at the ticks.
    pub grid: bool,
    /// Smaller text, fewer ticks.
    pub small: bool,
}

impl Default for Frame {
    fn default() -> Self {
        Self { labels_x: true, labels_y: true, grid: true, small: false }
    }
}

impl Panel {
    pub fn at(&self, x: f64, y: f64) -> [f32; 2] {
        [self.px(x), self.py(y)]
    }

    pub fn px(&self, x: f64) -> f32 {
        self.area.x + self.area.w * self.x.share(x)
    }

    pub fn py(&self, y: f64) -> f32 {
        self.area.bottom() - self.area.h * self.y.share(y)
    }

    /// Background and grid, to be drawn before the data.
    pub fn ground(&self, canvas: &mut Canvas, frame: Frame) {
        canvas.rect(self.area, style::PANEL);
        if !frame.grid {
            return;
        }
        for tick in self.x.ticks(self.max_x(frame)) {
            let ink = if tick.label.is_some() { style::GRID } else { style::FAINT_GRID };
            let x = self.px(tick.value).round() + 0.5;
            canvas.line([x, self.area.y], [x, self.area.bottom()], 1.0, ink);
        }
        for tick in self.y.ticks(self.max_y(frame)).iter().filter(|t| t.label.is_some()) {
            let y = self.py(tick.value).round() + 0.5;
            canvas.line([self.area.x, y], [self.area.right(), y], 1.0, style::GRID);
        }
    }

    /// Border, ticks and labels, to be drawn after the data.
    pub fn border(&self, canvas: &mut Canvas, frame: Frame) {
        let Area { x, y, w, h } = self.area;
        canvas.frame(Area::new(x.round() + 0.5, y.round() + 0.5, w.round() - 1.0, h.round() - 1.0), 1.0, style::AXIS);
        let size = if frame.small { style::SMALL } else { style::TICK };
        let label = Text::new(size).colour(style::MUTED);
        for tick in self.x.ticks(self.max_x(frame)) {
            let at = self.px(tick.value).round() + 0.5;
            let length = if tick.label.is_some() { 5.0 } else { 3.0 };
            canvas.line([at, y + h], [at, y + h + length], 1.0, style::AXIS);
            if let (true, Some(text)) = (frame.labels_x, &tick.label) {
                canvas.text([at, y + h + 8.0 + 0.5 * size], text, label.align(Align::Centre));
            }
        }
        let mut widest = 0f32;
        for tick in self.y.ticks(self.max_y(frame)) {
            let Some(text) = &tick.label else { continue };
            let at = self.py(tick.value).round() + 0.5;
            canvas.line([x - 5.0, at], [x, at], 1.0, style::AXIS);
            if frame.labels_y {
                widest = widest.max(canvas.text([x - 9.0, at], text, label.align(Align::Right)));
            }
        }
        let title = Text::new(size + 1.0).colour(style::INK).align(Align::Centre);
        if frame.labels_x {
            canvas.text([x + 0.5 * w, y + h + 2.2 * size + 10.0], &self.x.title, title);
        }
        if frame.labels_y {
            canvas.text([x - 20.0 - widest - 0.5 * size, y + 0.5 * h], &self.y.title, title.upward());
        }
    }

    fn max_x(&self, frame: Frame) -> usize {
        (self.area.w / if frame.small { 34.0 } else { 62.0 }) as usize
    }

    fn max_y(&self, frame: Frame) -> usize {
        (self.area.h / if frame.small { 32.0 } else { 42.0 }) as usize
    }
}

/// A vertical key to a colour map.
pub(super) fn colour_key(canvas: &mut Canvas, area: Area, axis: &Axis, map: impl Fn(f64) -> Colour) {
    canvas.image(area, |_, row| map(1.0 - (row as f64 + 0.5) / f64::from(area.h)));
    canvas.frame(Area::new(area.x + 0.5, area.y + 0.5, area.w - 1.0, area.h - 1.0), 1.0, style::AXIS);
    let label = Text::new(style::TICK).colour(style::MUTED);
    let mut widest = 0f32;
    for tick in axis.ticks(((area.h / 36.0) as usize).max(4)) {
        let Some(text) = &tick.label else { continue };
        let y = area.bottom() - area.h * axis.share(tick.value);
        canvas.line([area.right(), y], [area.right() + 4.0, y], 1.0, style::AXIS);
        widest = widest.max(canvas.text([area.right() + 8.0, y], text, label));
    }
    let title = Text::new(style::TICK + 1.0).align(Align::Centre).upward();
    canvas.text([area.right() + 20.0 + widest, area.y + 0.5 * area.h], &axis.title, title);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, most: usize) -> Vec<String> {
        axis.ticks(most).into_iter().filter_map(|t| t.label).collect()
    }

    #[test]
    fn frequency_ticks_are_those_of_every_equaliser() {
        let axis = Axis::frequency([440.0].into_iter());
        assert_eq!(labels(&axis, 15), ["20", "50", "100", "200", "500", "1k", "2k", "5k", "10k", "20k"]);
        assert_eq!(labels(&axis, 4), ["100", "1k", "10k"]);
    }

    #[test]
    fn linear_ticks_are_round_and_inside() {
        assert_eq!(labels(&Axis::linear(0.0, 1.0, ""), 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::linear(-60.0, 0.0, ""), 4), ["−60", "−40", "−20", "0"]);
        assert!(labels(&Axis::linear(0.0, 3e-7, ""), 5).len() < 12);
        assert!(labels(&Axis::linear(5.0, 5.0, ""), 5).len() < 12);
    }

    #[test]
    fn a_short_logarithmic_axis_has_ticks_too() {
        assert_eq!(labels(&Axis::log(0.3, 0.5, ""), 5), ["0.30", "0.35", "0.40", "0.45", "0.50"]);
        assert_eq!(labels(&Axis::log(2.0, 7.0, ""), 5), ["2", "3", "4", "5", "6", "7"]);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.05, 0.5, 2.0, 200.0, 1000.0, 12_500.0].map(short), ["0.05", "0.5", "2", "200", "1k", "12.5k"]);
    }
}

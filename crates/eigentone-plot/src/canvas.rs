//! A drawing surface: shapes by `tiny-skia`, text by `ab_glyph` with the embedded font.

use super::{Picture, style};
use ab_glyph::{Font, FontRef, Glyph, ScaleFont, point};
use std::sync::LazyLock;
use tiny_skia::{Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};

/// Red, green, blue, opacity.
pub(super) type Colour = [u8; 4];

/// Weight of the font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    Medium,
}

/// Where the given point lies on the text, horizontally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Centre,
    Right,
}

/// How text is set. The vertical position given to [`Canvas::text`] is that of the middle of a lower-case line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    pub size: f32,
    pub weight: Weight,
    pub colour: Colour,
    pub align: Align,
    /// Turned a quarter anticlockwise, reading upward.
    pub upward: bool,
}

impl Text {
    pub const fn new(size: f32) -> Self {
        Self { size, weight: Weight::Regular, colour: style::INK, align: Align::Left, upward: false }
    }

    pub const fn medium(self) -> Self {
        Self { weight: Weight::Medium, ..self }
    }

    pub const fn colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    pub const fn align(self, align: Align) -> Self {
        Self { align, ..self }
    }

    pub const fn upward(self) -> Self {
        Self { upward: true, ..self }
    }
}

static REGULAR: LazyLock<FontRef<'static>> =
    LazyLock::new(|| font(include_bytes!("../assets/Roboto-Regular.subset.ttf")));
static MEDIUM: LazyLock<FontRef<'static>> =
    LazyLock::new(|| font(include_bytes!("../assets/Roboto-Medium.subset.ttf")));

fn font(bytes: &'static [u8]) -> FontRef<'static> {
    FontRef::try_from_slice(bytes).expect("the embedded font is a font")
}

/// A box in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub x: f32,
    pub y: f32,
    pub w: f32,
    pub h: f32,
}

impl Area {
    pub const fn new(x: f32, y: f32, w: f32, h: f32) -> Self {
        Self { x, y, w, h }
    }

    pub fn right(&self) -> f32 {
        self.x + self.w
    }

    pub fn bottom(&self) -> f32 {
        self.y + self.h
    }
}

pub(super) struct Canvas {
    pixmap: Pixmap,
}

impl Canvas {
    /// An empty picture. Sizes are those of our own layouts, never zero.
    pub fn new(width: u32, height: u32) -> Self {
        let mut pixmap = Pixmap::new(width.max(1), height.max(1)).expect("a picture of a sensible size");
        pixmap.fill(colour(style::PAPER));
        Self { pixmap }
    }

    pub fn finish(self) -> Picture {
        Picture { pixmap: self.pixmap }
    }

    pub fn rect(&mut self, area: Area, fill: Colour) {
        if let Some(rect) = tiny_skia::Rect::from_xywh(area.x, area.y, area.w, area.h) {
            self.pixmap.fill_rect(rect, &paint(fill), Transform::identity(), None);
        }
    }

    pub fn frame(&mut self, area: Area, width: f32, ink: Colour) {
        let Area { x, y, .. } = area;
        let (r, b) = (area.right(), area.bottom());
        self.stroke(&[[x, y], [r, y], [r, b], [x, b], [x, y]], width, ink);
    }

    pub fn line(&mut self, from: [f32; 2], to: [f32; 2], width: f32, ink: Colour) {
        self.stroke(&[from, to], width, ink);
    }

    /// A line through points.
    pub fn stroke(&mut self, points: &[[f32; 2]], width: f32, ink: Colour) {
        if let Some(path) = path(points) {
            let stroke = Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
            self.pixmap.stroke_path(&path, &paint(ink), &stroke, Transform::identity(), None);
        }
    }

    pub fn dot(&mut self, centre: [f32; 2], radius: f32, fill: Colour) {
        if let Some(circle) = PathBuilder::from_circle(centre[0], centre[1], radius) {
            self.pixmap.fill_path(&circle, &paint(fill), FillRule::Winding, Transform::identity(), None);
        }
    }

    pub fn ring(&mut self, centre: [f32; 2], radius: f32, width: f32, ink: Colour) {
        if let Some(circle) = PathBuilder::from_circle(centre[0], centre[1], radius) {
            let stroke = Stroke { width, ..Stroke::default() };
            self.pixmap.stroke_path(&circle, &paint(ink), &stroke, Transform::identity(), None);
        }
    }

    /// Sets every pixel of a box from a function of its column and row.
    pub fn image(&mut self, area: Area, pixel: impl Fn(usize, usize) -> Colour) {
        for row in 0..area.h as usize {
            for column in 0..area.w as usize {
                self.blend(area.x as i32 + column as i32, area.y as i32 + row as i32, pixel(column, row), 1.0);
            }
        }
    }

    fn blend(&mut self, x: i32, y: i32, ink: Colour, coverage: f32) {
        let (w, h) = (self.pixmap.width() as i32, self.pixmap.height() as i32);
        if x < 0 || y < 0 || x >= w || y >= h {
            return;
        }
        let at = 4 * (y * w + x) as usize;
        let alpha = coverage.clamp(0.0, 1.0) * f32::from(ink[3]) / 255.0;
        // The paper is opaque, and so is everything after it.
        for (under, over) in self.pixmap.data_mut()[at..at + 3].iter_mut().zip(ink) {
            *under = (f32::from(*under) * (1.0 - alpha) + f32::from(over) * alpha).round() as u8;
        }
    }

    /// Writes one line of text. Returns its width.
    pub fn text(&mut self, [x, y]: [f32; 2], text: &str, style: Text) -> f32 {
        let (glyphs, width) = layout(text, style);
        let start = match style.align {
            Align::Left => 0.0,
            Align::Centre => -0.5 * width,
            Align::Right => -width,
        };
        // The middle of lower-case letters lies about a third of the size above the base line.
        let base = 0.345 * style.size;
        let font = font_of(style.weight);
        for mut glyph in glyphs {
            glyph.position += point(start, base);
            if !style.upward {
                // Whole-pixel base lines are sharper.
                glyph.position += point(x, y);
                glyph.position.y = glyph.position.y.round();
            }
            let Some(outline) = font.outline_glyph(glyph) else { continue };
            let bounds = outline.px_bounds();
            outline.draw(|gx, gy, coverage| {
                let (px, py) = (bounds.min.x as i32 + gx as i32, bounds.min.y as i32 + gy as i32);
                match style.upward {
                    false => self.blend(px, py, style.colour, coverage),
                    true => self.blend(x as i32 + py, y as i32 - px, style.colour, coverage),
                }
            });
        }
        width
    }

    /// Writes text, shortened with an ellipsis to a width.
    pub fn text_within(&mut self, at: [f32; 2], width: f32, text: &str, style: Text) -> f32 {
        if text_width(text, style) <= width {
            return self.text(at, text, style);
        }
        let mut short: String = text.chars().take(400).collect();
        while !short.is_empty() && text_width(&format!("{short}…"), style) > width {
            short.pop();
        }
        self.text(at, &format!("{}…", short.trim_end()), style)
    }
}

/// Width of a line of text in pixels.
pub(super) fn text_width(text: &str, style: Text) -> f32 {
    layout(text, style).1
}

fn font_of(weight: Weight) -> &'static FontRef<'static> {
    match weight {
        Weight::Regular => &REGULAR,
        Weight::Medium => &MEDIUM,
    }
}

fn layout(text: &str, style: Text) -> (Vec<Glyph>, f32) {
    let font = font_of(style.weight).as_scaled(style.size * 1.17);
    let (mut x, mut last, mut glyphs) = (0.0, None, Vec::new());
    for c in text.chars().filter(|c| !c.is_control()) {
        let mut glyph = font.scaled_glyph(c);
        if let Some(last) = last {
            x += font.kern(last, glyph.id);
        }
        last = Some(glyph.id);
        glyph.position = point(x, 0.0);
        x += font.h_advance(glyph.id);
        glyphs.push(glyph);
    }
    (glyphs, x)
}

fn colour([r, g, b, a]: Colour) -> Color {
    Color::from_rgba8(r, g, b, a)
}

fn paint(ink: Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(colour(ink));
    paint
}

fn path(points: &[[f32; 2]]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (k, &[x, y]) in points.iter().filter(|p| p.iter().all(|v| v.is_finite())).enumerate() {
        if k == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
    }
    builder.finish()
}

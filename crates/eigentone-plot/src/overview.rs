//! A contact sheet: every object of a demonstration on one page.

use super::{
    Picture,
    axis::Frame,
    canvas::{Area, Canvas, Text},
    mesh::number,
    model::{Stems, empty},
    sound::{draw_spectrogram, frequency_axis, sensible_rate},
    spectrum::Spectrogram,
    style,
    view::{Lines, View},
};
use eigentone_core::{ModalModel, TriMesh};

/// One sound of an object.
#[derive(Clone, Copy, Debug)]
pub struct OverviewSound<'a> {
    /// What it is, such as `strike at the rim`.
    pub caption: &'a str,
    /// Samples of one channel.
    pub samples: &'a [f32],
    /// Sample rate in Hz.
    pub sample_rate_hz: f64,
}

/// One object: what it looks like, its modes, and how it sounds (the first two sounds are shown).
#[derive(Clone, Copy, Debug)]
pub struct OverviewRow<'a> {
    /// Name of the object.
    pub name: &'a str,
    /// What is drawn of it.
    pub mesh: &'a TriMesh,
    /// Its model.
    pub model: &'a ModalModel,
    /// Its sounds.
    pub sounds: &'a [OverviewSound<'a>],
}

const WIDTH: u32 = 1600;
const TOP: f32 = 96.0;
const ROW: f32 = 344.0;

/// A page with a row per object: its shape, its modes as stems, and the spectrograms of two strikes.
pub fn overview_picture(title: &str, rows: &[OverviewRow<'_>]) -> Picture {
    // A page, not a scroll: a PNG of more rows would be too tall to look at.
    let rows = &rows[..rows.len().min(40)];
    let mut canvas = Canvas::new(WIDTH, (TOP + ROW * rows.len().max(1) as f32) as u32 + 10);
    canvas.text_within([40.0, 44.0], 1520.0, title, Text::new(style::TITLE + 5.0).medium());
    let caption = Text::new(style::TICK).colour(style::MUTED);
    canvas.text(
        [40.0, 78.0],
        "shape, modes (coloured by decay time: violet short, green long) and spectrograms",
        caption,
    );
    for (k, row) in rows.iter().enumerate() {
        draw_row(&mut canvas, row, TOP + ROW * k as f32);
    }
    if rows.is_empty() {
        empty(&mut canvas, Area::new(0.0, TOP, WIDTH as f32, ROW), "nothing to show");
    }
    canvas.finish()
}

fn draw_row(canvas: &mut Canvas, row: &OverviewRow<'_>, top: f32) {
    canvas.line([40.0, top + 2.0], [1560.0, top + 2.0], 1.0, style::GRID);
    canvas.text_within([40.0, top + 30.0], 290.0, row.name, Text::new(19.0).medium());
    let info = &row.model.info;
    let muted = Text::new(style::TICK).colour(style::MUTED);
    let material =
        if info.material.is_empty() { info.method.to_string() } else { format!("{}, {}", info.material, info.method) };
    canvas.text_within(
        [40.0, top + 54.0],
        290.0,
        &format!("{material}, {} modes", number(row.model.modes.len())),
        muted,
    );
    let body = Area::new(40.0, top + 68.0, 290.0, 250.0);
    match View::new(row.mesh, body, 8.0, false) {
        Some((view, _)) => view.draw(canvas, row.mesh, body, Lines::Outline),
        None => empty(canvas, body, "no mesh"),
    }
    let small = Frame { small: true, ..Frame::default() };
    Stems::new(row.model).draw_levels(canvas, Area::new(394.0, top + 32.0, 356.0, 250.0), small);
    canvas.text([394.0, top + 19.0], "modes", muted);
    for (k, sound) in row.sounds.iter().take(2).enumerate() {
        let area = Area::new(830.0 + 384.0 * k as f32, top + 32.0, 346.0, 250.0);
        let rate = sensible_rate(sound.sample_rate_hz);
        let gram = Spectrogram::new(sound.samples, rate, &frequency_axis(rate), area.w as usize, area.h as usize);
        let frame = Frame { labels_y: k == 0, ..small };
        draw_spectrogram(canvas, &gram, gram.loudest(), [rate, sound.samples.len() as f64], area, frame);
        canvas.text_within([area.x, top + 19.0], area.w, sound.caption, muted);
    }
}

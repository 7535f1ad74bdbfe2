//! A rendered scene: how loud it is, what sounds, what happened, and where particles struck.

mod events;
mod maps;
mod outline;
mod sketch;
mod stage;

#[cfg(test)]
mod tests;

pub use outline::Stage;
pub use stage::stage_picture;

use super::{
    Picture,
    axis::{Axis, Frame, Panel, colour_key},
    canvas::{Align, Area, Canvas, Text},
    mesh::{facts_line, number},
    model::empty,
    sound::{draw_spectrogram, frequency_axis, sensible_rate},
    spectrum::{FLOOR_DB, Spectrogram},
    style,
};
use eigentone_scene::scene::Rendering;
use events::EventRows;
use maps::HeatMaps;

const WIDTH: u32 = 1400;
/// Height without impact maps.
const HEIGHT: u32 = 900;
/// All panels over time lie between these.
const LEFT: f32 = 216.0;
const SPAN: f32 = 1050.0;
const LEVELS: Area = Area::new(LEFT, 108.0, SPAN, 110.0);
const GRAM: Area = Area::new(LEFT, 234.0, SPAN, 300.0);
const EVENTS: Area = Area::new(LEFT, 572.0, SPAN, 272.0);

/// What the level panel spans, in dB.
const LEVEL_RANGE_DB: f64 = 60.0;
/// Levels are taken over at least this time, so that they do not follow each wave.
const SHORTEST_LEVEL_S: f64 = 0.01;

/// A scene as it was heard, over one axis of time: level of left and right, spectrogram of their mean, and the events. If
/// particles fell, the energy that they left on each collider below.
///
/// ```
/// use eigentone_plot as plot;
/// use eigentone_scene::scene::{RenderStats, Rendering};
///
/// let rendering = Rendering {
///     channels: [vec![0.0; 4410], vec![0.0; 4410]],
///     sample_rate_hz: 44_100,
///     stats: RenderStats::default(),
///     events: Vec::new(),
///     impact_map: None,
///     animation: None,
///     warnings: Vec::new(),
/// };
/// assert_eq!(plot::scene_picture(&rendering, "nothing").width(), 1400);
/// ```
pub fn scene_picture(rendering: &Rendering, title: &str) -> Picture {
    let rate = sensible_rate(f64::from(rendering.sample_rate_hz));
    let samples = rendering.channels.iter().map(Vec::len).max().unwrap_or(0);
    let end_s = samples.max(1) as f64 / rate;
    let maps = rendering.impact_map.as_ref().and_then(HeatMaps::new);
    let mut canvas = Canvas::new(WIDTH, HEIGHT + maps.as_ref().map_or(0, HeatMaps::height));
    header(&mut canvas, rendering, title, end_s);
    let plain = Frame { labels_x: false, ..Frame::default() };
    draw_levels(&mut canvas, &rendering.channels, rate, end_s, plain);
    let gram = Spectrogram::new(
        &mean(&rendering.channels, samples),
        rate,
        &frequency_axis(rate),
        GRAM.w as usize,
        GRAM.h as usize,
    );
    draw_spectrogram(&mut canvas, &gram, gram.loudest(), [rate, samples as f64], GRAM, plain);
    let key = Axis::linear(FLOOR_DB, 0.0, "level (dB relative to the loudest)");
    colour_key(&mut canvas, Area::new(GRAM.right() + 22.0, GRAM.y, 18.0, GRAM.h), &key, style::level);
    let time = Axis::linear(0.0, end_s, "time (s)");
    EventRows::new(&rendering.events, end_s).draw(&mut canvas, &time, EVENTS);
    if let Some(maps) = maps {
        maps.draw(&mut canvas, HEIGHT as f32);
    }
    canvas.finish()
}

fn header(canvas: &mut Canvas, rendering: &Rendering, title: &str, end_s: f64) {
    let room = WIDTH as f32 - 80.0;
    let title = if title.is_empty() { "a scene" } else { title };
    canvas.text_within([40.0, 40.0], room, title, Text::new(style::TITLE).medium());
    let stats = &rendering.stats;
    let mut facts = vec![
        format!("{end_s:.2} s"),
        format!("{} bodies, {} heard", number(stats.bodies), number(stats.bodies_heard)),
        format!("{} impacts, {} contacts", number(stats.events.impacts), number(stats.events.contacts)),
        format!("{:.0} of {} modes at once", stats.modes.mixed_mean, number(stats.modes.total)),
    ];
    let peak = rendering.channels.iter().flatten().filter(|y| y.is_finite()).fold(0f32, |m, y| m.max(y.abs()));
    facts.push(if peak > 0.0 {
        format!("peak {:.1} dBFS", 20.0 * peak.log10()).replace('-', "−")
    } else {
        "silence".to_owned()
    });
    let muted = Text::new(style::SUBTITLE).colour(style::MUTED);
    canvas.text_within([40.0, 74.0], room, &facts_line(&facts), muted);
}

/// Mean of both channels.
fn mean(channels: &[Vec<f32>; 2], samples: usize) -> Vec<f32> {
    let at = |channel: &[f32], k: usize| channel.get(k).copied().filter(|y| y.is_finite()).unwrap_or(0.0);
    (0..samples).map(|k| 0.5 * (at(&channels[0], k) + at(&channels[1], k))).collect()
}

/// Root mean square of left and right over time.
fn draw_levels(canvas: &mut Canvas, channels: &[Vec<f32>; 2], rate: f64, end_s: f64, frame: Frame) {
    let columns = LEVELS.w as usize;
    let levels = channels.each_ref().map(|channel| levels_db(channel, rate, end_s, columns));
    let loudest = levels.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let top = if loudest.is_finite() { (0.1 * (loudest + 2.0)).ceil() * 10.0 } else { 0.0 };
    let panel = Panel {
        area: LEVELS,
        x: Axis::linear(0.0, end_s, "time (s)"),
        y: Axis::linear(top - LEVEL_RANGE_DB, top, "level (dBFS)"),
    };
    panel.ground(canvas, frame);
    let mut right = LEVELS.right();
    // The right one is wider and below, so that it shows where both are the same.
    for (levels, (name, ink, width)) in
        levels.iter().zip([("left", style::BLUE, 1.3), ("right", style::ORANGE, 2.6)]).rev()
    {
        for (k, pair) in levels.windows(2).enumerate() {
            if pair[0].max(pair[1]) > panel.y.low {
                let place = |k: usize, level: f64| [LEVELS.x + k as f32 + 0.5, panel.py(level.max(panel.y.low))];
                canvas.line(place(k, pair[0]), place(k + 1, pair[1]), width, ink);
            }
        }
        right -= canvas.text([right, 95.0], name, Text::new(style::TICK).colour(ink).align(Align::Right)) + 18.0;
    }
    if !loudest.is_finite() {
        empty(canvas, LEVELS, "silence");
    }
    panel.border(canvas, frame);
}

/// Level in dB relative to full scale at the middle of each column.
fn levels_db(samples: &[f32], rate: f64, end_s: f64, columns: usize) -> Vec<f64> {
    let mut sum = 0.0;
    let square = |y: &f32| if y.is_finite() { f64::from(*y).powi(2) } else { 0.0 };
    let energy: Vec<f64> = std::iter::once(0.0)
        .chain(samples.iter().map(|y| {
            sum += square(y);
            sum
        }))
        .collect();
    let column_s = end_s / columns as f64;
    let half_s = 0.5 * column_s.max(SHORTEST_LEVEL_S);
    let place = |time_s: f64| ((time_s * rate).round().max(0.0) as usize).min(samples.len());
    (0..columns)
        .map(|k| {
            let time_s = (k as f64 + 0.5) * column_s;
            let (from, to) = (place(time_s - half_s), place(time_s + half_s));
            let power = (energy[to] - energy[from]) / (to - from).max(1) as f64;
            // What is left of a sum after rounding is not a sound.
            if power > 1e-14 * sum.max(1e-16) { 10.0 * power.log10() } else { f64::NEG_INFINITY }
        })
        .collect()
}

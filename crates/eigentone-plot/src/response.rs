//! The same sound in several places: spectrograms side by side, and below them how each decays.

use super::{
    Picture,
    axis::{Axis, Frame, Panel, colour_key},
    canvas::{Area, Canvas, Text},
    model::empty,
    sound::{draw_spectrogram, frequency_axis, sensible_rate},
    spectrum::{FLOOR_DB, Spectrogram},
    style,
};

/// Lowest level of decay curves, in dB.
const CURVE_FLOOR_DB: f64 = -70.0;
/// Room between two spectrograms.
const GAP: f32 = 36.0;

/// Up to four sounds with their names, of left and right each: spectrograms of their means on one colour scale, and Schroeder's curves, the energy that is still to come, in dB relative
/// to all energy of the loudest.
pub fn responses_picture(title: &str, sample_rate_hz: f64, sounds: &[(&str, &[Vec<f32>; 2])]) -> Picture {
    let rate = sensible_rate(sample_rate_hz);
    let sounds = &sounds[..sounds.len().min(4)];
    let mut canvas = Canvas::new(1200, 860);
    canvas.text_within([40.0, 40.0], 1120.0, title, Text::new(style::TITLE).medium());
    let below = Area::new(92.0, 546.0, 980.0, 250.0);
    if sounds.is_empty() {
        empty(&mut canvas, below, "no sounds");
        return canvas.finish();
    }
    let longest = sounds.iter().map(|(_, channels)| channels[0].len()).max().unwrap_or(0);
    let means: Vec<Vec<f32>> = sounds
        .iter()
        .map(|(_, [left, right])| {
            let mut mean: Vec<f32> = left.iter().zip(right).map(|(l, r)| 0.5 * (l + r)).collect();
            mean.resize(longest, 0.0);
            mean
        })
        .collect();
    let axis = frequency_axis(rate);
    let width = (980.0 - GAP * (sounds.len() - 1) as f32) / sounds.len() as f32;
    let area = |k: usize| Area::new(92.0 + (width + GAP) * k as f32, 104.0, width, 350.0);
    let grams: Vec<Spectrogram> =
        means.iter().map(|mean| Spectrogram::new(mean, rate, &axis, width as usize, 350)).collect();
    let loudest = grams.iter().map(Spectrogram::loudest).fold(f64::MIN, f64::max);
    for (k, ((name, _), gram)) in sounds.iter().zip(&grams).enumerate() {
        let frame = Frame { labels_y: k == 0, ..Frame::default() };
        draw_spectrogram(&mut canvas, gram, loudest, [rate, longest as f64], area(k), frame);
        canvas.dot([area(k).x + 5.0, 88.0], 4.5, INKS[k]);
        canvas.text_within([area(k).x + 17.0, 88.0], width - 17.0, name, Text::new(style::SUBTITLE).medium());
    }
    let key = Axis::linear(FLOOR_DB, 0.0, "level (dB)");
    colour_key(&mut canvas, Area::new(1098.0, 104.0, 18.0, 350.0), &key, style::level);

    let curves: Vec<Vec<f64>> = sounds.iter().map(|(_, channels)| to_come(channels)).collect();
    let whole = curves.iter().filter_map(|c| c.first()).copied().fold(0.0, f64::max);
    let seconds = longest as f64 / rate;
    let panel = Panel {
        area: below,
        x: Axis::linear(0.0, seconds.max(1e-3), "time (s)"),
        y: Axis::linear(CURVE_FLOOR_DB, 3.0, "energy to come (dB)"),
    };
    panel.ground(&mut canvas, Frame::default());
    for (curve, ink) in curves.iter().zip(INKS) {
        let every = (curve.len() / 2000).max(1);
        let level = |e: f64| 10.0 * (e / whole.max(f64::MIN_POSITIVE)).max(1e-30).log10();
        let points: Vec<[f32; 2]> = (0..curve.len())
            .step_by(every)
            .map(|k| (k, level(curve[k])))
            .take_while(|(_, level)| *level > CURVE_FLOOR_DB)
            .map(|(k, level)| panel.at(k as f64 / rate, level))
            .collect();
        canvas.stroke(&points, 1.8, ink);
    }
    panel.border(&mut canvas, Frame::default());
    let caption = Text::new(style::TICK).colour(style::MUTED);
    canvas.text([below.x, below.y - 13.0], "how each decays, relative to all energy of the loudest", caption);
    canvas.finish()
}

const INKS: [super::canvas::Colour; 4] = [style::BLUE, style::ORANGE, style::RED, style::INK];

/// From each sample on the energy of all that follows, both channels together.
fn to_come(channels: &[Vec<f32>; 2]) -> Vec<f64> {
    let energy = |(l, r): (&f32, &f32)| f64::from(*l).powi(2) + f64::from(*r).powi(2);
    let mut curve: Vec<f64> = channels[0].iter().zip(&channels[1]).map(energy).collect();
    let mut sum = 0.0;
    for e in curve.iter_mut().rev() {
        sum += *e;
        *e = sum;
    }
    curve
}

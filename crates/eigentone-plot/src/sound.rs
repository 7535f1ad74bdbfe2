//! A sound: waveform and spectrogram, or two sounds side by side.

use super::{
    Picture,
    axis::{Axis, Frame, Panel, colour_key},
    canvas::{Align, Area, Canvas, Colour, Text},
    mesh::facts_line,
    model::empty,
    spectrum::{FLOOR_DB, Spectrogram, mean_spectrum},
    style,
};

/// Sounds below this level in dB relative to full scale are shown as silence.
const SILENCE_DB: f64 = -200.0;

/// Waveform above a spectrogram with logarithmic frequency, in dB relative to the loudest point.
pub fn spectrogram_picture(samples: &[f32], sample_rate_hz: f64, title: &str) -> Picture {
    let rate = sensible_rate(sample_rate_hz);
    let mut canvas = Canvas::new(1200, 740);
    canvas.text_within([40.0, 40.0], 1120.0, title, Text::new(style::TITLE).medium());
    let peak = peak(samples);
    let facts = facts_line(&[
        duration_text(samples.len() as f64 / rate),
        format!("{rate:.0} Hz"),
        if peak > 0.0 { format!("peak {:.1} dBFS", 20.0 * peak.log10()).replace('-', "−") } else { "silence".into() },
    ]);
    canvas.text_within([40.0, 74.0], 1120.0, &facts, Text::new(style::SUBTITLE).colour(style::MUTED));
    let wave = Area::new(92.0, 104.0, 980.0, 110.0);
    let gram = Area::new(92.0, 230.0, 980.0, 440.0);
    draw_waveform(&mut canvas, samples, rate, wave, Frame { labels_x: false, ..Frame::default() });
    let spectrogram = Spectrogram::new(samples, rate, &frequency_axis(rate), gram.w as usize, gram.h as usize);
    draw_spectrogram(
        &mut canvas,
        &spectrogram,
        spectrogram.loudest(),
        [rate, samples.len() as f64],
        gram,
        Frame::default(),
    );
    let key = Axis::linear(FLOOR_DB, 0.0, "level (dB relative to the loudest)");
    colour_key(&mut canvas, Area::new(1098.0, gram.y, 18.0, gram.h), &key, style::level);
    canvas.finish()
}

/// Two sounds, such as a recording and its resynthesis: spectrograms side by side on one colour scale, mean spectra
/// below.
pub fn spectrum_compare_picture(original: &[f32], resynthesis: &[f32], sample_rate_hz: f64, title: &str) -> Picture {
    let rate = sensible_rate(sample_rate_hz);
    let mut canvas = Canvas::new(1200, 860);
    canvas.text_within([40.0, 40.0], 1120.0, title, Text::new(style::TITLE).medium());
    let longest = original.len().max(resynthesis.len());
    let axis = frequency_axis(rate);
    let areas = [Area::new(92.0, 104.0, 468.0, 350.0), Area::new(604.0, 104.0, 468.0, 350.0)];
    let sounds = [("original", original, style::BLUE), ("resynthesis", resynthesis, style::ORANGE)];
    let grams = sounds.map(|(_, samples, _)| {
        // Both panels show the same stretch of time.
        let mut padded = samples.to_vec();
        padded.resize(longest, 0.0);
        Spectrogram::new(&padded, rate, &axis, areas[0].w as usize, areas[0].h as usize)
    });
    let loudest = grams.iter().map(Spectrogram::loudest).fold(f64::MIN, f64::max);
    for (k, (name, _, ink)) in sounds.into_iter().enumerate() {
        let frame = Frame { labels_y: k == 0, ..Frame::default() };
        draw_spectrogram(&mut canvas, &grams[k], loudest, [rate, longest as f64], areas[k], frame);
        let x = areas[k].x;
        canvas.dot([x + 5.0, 88.0], 4.5, ink);
        canvas.text([x + 17.0, 88.0], name, Text::new(style::SUBTITLE).medium());
    }
    let key = Axis::linear(FLOOR_DB, 0.0, "level (dB)");
    colour_key(&mut canvas, Area::new(1098.0, areas[0].y, 18.0, areas[0].h), &key, style::level);
    let area = Area::new(92.0, 546.0, 980.0, 250.0);
    let curves = sounds.map(|(_, samples, ink)| (mean_spectrum(samples, rate, &axis, area.w as usize / 2), ink));
    draw_curves(&mut canvas, &curves, axis, area);
    canvas.finish()
}

/// Mean spectra over each other.
fn draw_curves(canvas: &mut Canvas, curves: &[(Vec<f64>, Colour); 2], x: Axis, area: Area) {
    let loudest = curves.iter().flat_map(|(c, _)| c).copied().fold(f64::MIN, f64::max);
    let panel = Panel { area, x, y: Axis::linear(FLOOR_DB, 6.0, "mean level (dB)") };
    panel.ground(canvas, Frame::default());
    if loudest > SILENCE_DB {
        for (curve, ink) in curves {
            let place = |(k, level): (usize, &f64)| {
                let x = area.x + area.w * (k as f32 + 0.5) / curve.len() as f32;
                [x, panel.py((level - loudest).max(FLOOR_DB))]
            };
            let points: Vec<[f32; 2]> = curve.iter().enumerate().map(place).collect();
            canvas.stroke(&points, 1.6, style::faded(*ink, 225));
        }
    } else {
        empty(canvas, area, "silence");
    }
    panel.border(canvas, Frame::default());
    let caption = Text::new(style::TICK).colour(style::MUTED);
    canvas.text([area.x, area.y - 13.0], "mean spectra, relative to the loudest point of both", caption);
}

/// Draws a spectrogram of a sound of `[rate, samples]` into an area of its own size.
pub(super) fn draw_spectrogram(
    canvas: &mut Canvas,
    gram: &Spectrogram,
    loudest: f64,
    [rate, samples]: [f64; 2],
    area: Area,
    frame: Frame,
) {
    let panel = Panel { area, x: Axis::linear(0.0, samples.max(1.0) / rate, "time (s)"), y: frequency_axis(rate) };
    canvas.image(area, |column, row| {
        let level = gram.level(column, gram.rows - 1 - row.min(gram.rows - 1)) - loudest;
        if loudest > SILENCE_DB { style::level(1.0 - level / FLOOR_DB) } else { style::level(0.0) }
    });
    if loudest <= SILENCE_DB {
        let at = [area.x + 0.5 * area.w, area.y + 0.5 * area.h];
        canvas.text(at, "silence", Text::new(style::SUBTITLE).colour(style::GRID).align(Align::Centre));
    }
    panel.border(canvas, Frame { grid: false, ..frame });
}

/// Lowest and highest sample of every column.
fn draw_waveform(canvas: &mut Canvas, samples: &[f32], rate: f64, area: Area, frame: Frame) {
    let peak = peak(samples);
    let top = if peak > 0.0 { 1.05 * peak } else { 1.0 };
    let panel = Panel {
        area,
        x: Axis::linear(0.0, samples.len().max(1) as f64 / rate, "time (s)"),
        y: Axis::linear(-top, top, "amplitude"),
    };
    panel.ground(canvas, frame);
    let columns = area.w as usize;
    for column in 0..columns {
        let at = |c: usize| c * samples.len() / columns;
        // Overlap by one sample, so that the line stays connected.
        let stretch = &samples[at(column)..(at(column + 1) + 1).min(samples.len())];
        let finite = stretch.iter().copied().filter(|v| v.is_finite());
        let [low, high] = finite.fold([f32::MAX, f32::MIN], |[l, h], v| [l.min(v), h.max(v)]);
        if low > high {
            continue;
        }
        let x = area.x + column as f32;
        let (upper, lower) = (panel.py(f64::from(high)), panel.py(f64::from(low)));
        canvas.rect(Area::new(x, upper - 0.4, 1.0, (lower - upper) + 0.8), style::BLUE);
    }
    panel.border(canvas, frame);
}

/// From 20 Hz to half the sample rate, but not beyond 22 kHz.
pub(super) fn frequency_axis(rate: f64) -> Axis {
    Axis::log(20.0, (0.5 * rate).clamp(40.0, 22_000.0), "frequency (Hz)")
}

pub(super) fn sensible_rate(rate: f64) -> f64 {
    if rate.is_finite() { rate.clamp(1.0, 1e7) } else { 44_100.0 }
}

fn peak(samples: &[f32]) -> f64 {
    f64::from(samples.iter().copied().filter(|v| v.is_finite()).fold(0f32, |p, v| p.max(v.abs())))
}

fn duration_text(seconds: f64) -> String {
    if seconds < 0.1 { format!("{:.1} ms", 1e3 * seconds) } else { format!("{seconds:.2} s") }
}

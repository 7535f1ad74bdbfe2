//! A modal model: how loud each mode is, and how long it rings.

use super::{
    Picture,
    axis::{Axis, Frame, Panel, colour_key},
    canvas::{Align, Area, Canvas, Text},
    mesh::{facts_line, number, three_digits},
    style,
    view::{Lines, View},
};
use eigentone_core::{ModalModel, units::Decibels};
use eigentone_synth::policy::masking::{self, masking_curve_db};
use eigentone_synth::policy::{hearing, self_mask};

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 760;
/// Modes quieter than this are drawn at the foot of the panel.
const QUIETEST_DB: f64 = -100.0;

/// Modes of a model: levels as stems over frequency, coloured by decay time; decay times below; the contact surface in
/// the corner. Levels are relative to the loudest mode by [`ModalModel::overall_gains`].
pub fn model_picture(model: &ModalModel) -> Picture {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let stems = Stems::new(model);
    let corner = Area::new(985.0, 12.0, 195.0, 112.0);
    let mut room = 920.0;
    if draw_surface(&mut canvas, model, corner) {
        let sites = format!("{} contact sites", number(model.surface.positions.len()));
        let at = [corner.x + 0.5 * corner.w, corner.bottom() + 7.0];
        canvas.text(at, &sites, Text::new(style::SMALL + 1.0).colour(style::MUTED).align(Align::Centre));
    } else {
        room = 1140.0;
    }
    header(&mut canvas, model, &stems, room);
    let upper = Area::new(84.0, 150.0, 980.0, 310.0);
    let lower = Area::new(84.0, 486.0, 980.0, 206.0);
    stems.draw_levels(&mut canvas, upper, Frame { labels_x: false, ..Frame::default() });
    draw_hearing(&mut canvas, upper, &stems, model);
    stems.draw_decays(&mut canvas, lower);
    let key = Axis { title: "T60 (s)".to_owned(), ..stems.t60.clone() };
    colour_key(&mut canvas, Area::new(1092.0, upper.y, 18.0, lower.bottom() - upper.y), &key, style::decay);
    canvas.finish()
}

fn header(canvas: &mut Canvas, model: &ModalModel, stems: &Stems, room: f32) {
    let info = &model.info;
    let name = if info.name.is_empty() { "unnamed model" } else { &info.name };
    canvas.text_within([40.0, 40.0], room, name, Text::new(style::TITLE).medium());
    let mut facts = vec![format!("method: {}", info.method)];
    if !info.material.is_empty() {
        facts.push(info.material.clone());
    }
    facts.push(match model.modes.len() {
        1 => "1 mode".to_owned(),
        n => format!("{} modes", number(n)),
    });
    if let Some(mass) = info.mass_kg.filter(|m| m.is_finite()) {
        facts.push(if mass < 1.0 {
            format!("{} g", three_digits(1e3 * mass))
        } else {
            format!("{} kg", three_digits(mass))
        });
    }
    if let (Some(first), Some(last)) = (model.modes.first(), model.modes.last()) {
        facts.push(format!("{} to {}", frequency_text(first.frequency_hz), frequency_text(last.frequency_hz)));
    }
    if let Some(t60) = stems.points.iter().map(|p| p.t60_s).max_by(f64::total_cmp) {
        facts.push(format!("longest T60 {t60:.2} s"));
    }
    let muted = Text::new(style::SUBTITLE).colour(style::MUTED);
    canvas.text_within([40.0, 74.0], room, &facts_line(&facts), muted);
    let warning = Text::new(style::TICK).colour(style::ORANGE);
    if let Some(first) = info.warnings.first() {
        let more = info.warnings.len() - 1;
        let text = if more > 0 { format!("{first} (and {more} more)") } else { first.clone() };
        canvas.text_within([40.0, 101.0], room, &text, warning);
    }
    let caption = Text::new(style::TICK).colour(style::MUTED);
    canvas.text([84.0, 138.0], "level of each mode, relative to the loudest", caption);
}

/// Level at which a model is listened to, all modes together, in dB SPL, and how far below its own level a mode masks.
const LISTENING_DB: f64 = 70.0;
const MASKING_DB: f64 = 5.0;

/// What the ear makes of it when all modes together are at 70 dB: the threshold of hearing, the level below which other modes hide a mode, and
/// a ring around every mode that is heard.
fn draw_hearing(canvas: &mut Canvas, area: Area, stems: &Stems, model: &ModalModel) {
    if model.validate().is_err() || stems.points.is_empty() {
        return;
    }
    let tones = self_mask(model, MASKING_DB, LISTENING_DB).tones;
    let Some(loudest) = tones.iter().map(|t| f64::from(t.level_db)).max_by(f64::total_cmp) else { return };
    let panel = Panel { area, x: stems.frequency.clone(), y: stems.level.clone() };
    let inside = |db: f64| db > stems.level.low && db < stems.level.high;
    let mut curve = |value: &dyn Fn(f64) -> f64, ink| {
        let steps = 480;
        let points: Vec<(bool, [f32; 2])> = (0..=steps)
            .map(|i| {
                let hz = stems.frequency.value(f64::from(i) / f64::from(steps));
                let db = value(hz) - loudest;
                (inside(db), panel.at(hz, db))
            })
            .collect();
        for stretch in points.split(|p| !p.0).filter(|s| s.len() > 1) {
            let line: Vec<[f32; 2]> = stretch.iter().map(|p| p.1).collect();
            canvas.stroke(&line, 1.4, ink);
        }
    };
    curve(&|hz| masking_curve_db(&tones, MASKING_DB, hz), style::ORANGE);
    curve(&hearing::threshold_db, style::BLUE);
    let heard = masking::sweep(&tones, MASKING_DB as f32);
    let kept = heard.iter().filter(|h| **h).count();
    for (mode, tone) in model.modes.iter().zip(&tones).zip(&heard).filter(|(_, heard)| **heard).map(|(m, _)| m) {
        let db = (f64::from(tone.level_db) - loudest).max(QUIETEST_DB);
        canvas.ring(panel.at(mode.frequency_hz, db), 5.5, 1.3, style::INK);
    }
    let text = Text::new(style::TICK).align(Align::Right);
    let y = area.y - 12.0;
    // Left of the surface in the corner.
    let mut x = 950.0;
    for (words, ink) in [
        (format!("heard: {kept} of {}", number(model.modes.len())), style::INK),
        ("masked below".to_owned(), style::ORANGE),
        ("threshold of hearing".to_owned(), style::BLUE),
    ] {
        x -= canvas.text([x, y], &words, text.colour(ink)) + 18.0;
    }
    canvas.text([x, y], "at 70 dB SPL:", text.colour(style::MUTED));
}

fn frequency_text(hz: f64) -> String {
    if hz < 1000.0 { format!("{hz:.1} Hz") } else { format!("{:.2} kHz", 1e-3 * hz) }
}

/// Draws the contact surface, or its sites if it has no faces. False if there is nothing to draw.
pub(super) fn draw_surface(canvas: &mut Canvas, model: &ModalModel, area: Area) -> bool {
    let mesh = model.surface.to_mesh();
    match View::new(&mesh, area, 4.0, false) {
        Some((view, _)) => view.draw(canvas, &mesh, area, Lines::Outline),
        None => return false,
    }
    true
}

struct Point {
    frequency_hz: f64,
    level_db: f64,
    t60_s: f64,
}

/// The modes as a picture needs them, with the axes they share.
pub(super) struct Stems {
    points: Vec<Point>,
    frequency: Axis,
    level: Axis,
    t60: Axis,
}

impl Stems {
    pub fn new(model: &ModalModel) -> Self {
        let gains = if model.validate().is_ok() { model.overall_gains() } else { vec![0.0; model.modes.len()] };
        let loudest = gains.iter().copied().filter(|g| g.is_finite()).fold(0.0, f64::max);
        let points: Vec<Point> = model
            .modes
            .iter()
            .zip(&gains)
            .map(|(mode, gain)| Point {
                frequency_hz: mode.frequency_hz,
                level_db: Decibels::from_amplitude(gain / loudest).get().max(QUIETEST_DB),
                t60_s: mode.t60().get(),
            })
            .filter(|p| p.frequency_hz.is_finite() && p.frequency_hz > 0.0 && p.t60_s.is_finite() && p.t60_s > 0.0)
            .collect();
        let quietest = points.iter().map(|p| p.level_db).fold(-40.0, f64::min);
        let [short, long] = points.iter().fold([f64::MAX, f64::MIN], |[s, l], p| [s.min(p.t60_s), l.max(p.t60_s)]);
        // At least a third of a decade, or one mode would fill the axis.
        let (short, long) = if points.is_empty() { (0.1, 10.0) } else { (short / 1.25, long * 1.25) };
        Self {
            frequency: Axis::frequency(points.iter().map(|p| p.frequency_hz)),
            level: Axis::linear((quietest / 10.0).floor() * 10.0 - 4.0, 4.0, "level (dB)"),
            t60: Axis::log(short, long, "T60 (s)"),
            points,
        }
    }

    pub fn draw_levels(&self, canvas: &mut Canvas, area: Area, frame: Frame) {
        let panel = Panel { area, x: self.frequency.clone(), y: self.level.clone() };
        panel.ground(canvas, frame);
        let (width, radius) = match (frame.small, self.points.len()) {
            (true, _) => (1.3, 2.0),
            (_, 0..=60) => (2.2, 4.2),
            (_, 61..=200) => (1.6, 3.2),
            _ => (1.0, 2.4),
        };
        // The loudest last, so that it is not covered.
        let mut order: Vec<&Point> = self.points.iter().collect();
        order.sort_by(|a, b| a.level_db.total_cmp(&b.level_db));
        for point in order {
            let ink = style::decay(f64::from(self.t60.share(point.t60_s)));
            let [x, y] = panel.at(point.frequency_hz, point.level_db);
            canvas.line([x, area.bottom() - 1.0], [x, y], width, style::faded(ink, 200));
            canvas.dot([x, y], radius, ink);
        }
        if self.points.is_empty() {
            empty(canvas, area, "no modes");
        }
        panel.border(canvas, frame);
    }

    fn draw_decays(&self, canvas: &mut Canvas, area: Area) {
        let panel = Panel { area, x: self.frequency.clone(), y: self.t60.clone() };
        panel.ground(canvas, Frame::default());
        for point in &self.points {
            let ink = style::decay(f64::from(self.t60.share(point.t60_s)));
            canvas.dot(panel.at(point.frequency_hz, point.t60_s), 3.2, ink);
        }
        panel.border(canvas, Frame::default());
    }
}

/// A word in the middle of an empty panel.
pub(super) fn empty(canvas: &mut Canvas, area: Area, word: &str) {
    let at = [area.x + 0.5 * area.w, area.y + 0.5 * area.h];
    canvas.text_within(at, area.w - 20.0, word, Text::new(style::SUBTITLE).colour(style::MUTED).align(Align::Centre));
}

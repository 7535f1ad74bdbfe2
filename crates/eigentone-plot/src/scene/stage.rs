//! A scene before it begins: from the side and from above.

use super::super::{
    Picture,
    canvas::{Align, Area, Canvas, Colour, Text},
    mesh::{facts_line, number},
    style,
};
use super::{
    outline::{Placed, Stage, bounds},
    sketch::Sketch,
};
use eigentone_core::Vec3;
use eigentone_scene::scene::Scene;

const SIDE: Area = Area::new(92.0, 140.0, 590.0, 560.0);
const TOP: Area = Area::new(776.0, 140.0, 590.0, 560.0);
/// A listener further out than this many times the size of everything else is shown at the edge.
const FAR: f64 = 2.0;
/// Bodies with a name, the first in the file.
const MAX_NAMES: usize = 40;

/// Outlines of all bodies at the beginning from the side (x and z) and from above (x and y), with the listener, what
/// particles strike and where they start.
pub fn stage_picture(scene: &Scene, stage: &Stage) -> Picture {
    let mut canvas = Canvas::new(1400, 780);
    header(&mut canvas, scene, stage);
    let (frame, near) = frame_of(scene, stage);
    let size = 1.16 * (frame[1] - frame[0]);
    let scale = |pixels: f32, metres: f64| f64::from(pixels) / metres;
    let pixels_per_m =
        scale(SIDE.w, size.x).min(scale(SIDE.h, size.z)).min(scale(TOP.w, size.x)).min(scale(TOP.h, size.y));
    for (area, axes, words) in [(SIDE, [0, 2], "from the side"), (TOP, [0, 1], "from above")] {
        canvas.text([area.x, area.y - 14.0], words, Text::new(style::SUBTITLE).medium());
        let mut sketch = Sketch::new(area, axes, frame, pixels_per_m);
        draw_view(&mut canvas, &mut sketch, scene, stage, near);
    }
    canvas.finish()
}

fn header(canvas: &mut Canvas, scene: &Scene, stage: &Stage) {
    let name = scene.file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let title = if scene.title.is_empty() { &name } else { &scene.title };
    canvas.text_within([40.0, 40.0], 1320.0, title, Text::new(style::TITLE).medium());
    let counted = scene.counts();
    let mut facts = vec![
        format!("{} s at {:.0} Hz", scene.duration_s, scene.output.sample_rate_hz),
        format!("{} bodies, {} sounding", number(counted.bodies), number(counted.sounding)),
    ];
    let counts = [
        (counted.melody_notes, "notes"),
        (scene.events.len(), "scripted events"),
        (scene.particles.as_ref().map_or(0, |p| p.particles), "particles"),
        (scene.colliders.len(), "colliders"),
    ];
    facts.extend(counts.iter().filter(|c| c.0 > 0).map(|(count, what)| format!("{} {what}", number(*count))));
    facts.push(format!("seed {}", scene.seed));
    let muted = Text::new(style::SUBTITLE).colour(style::MUTED);
    canvas.text_within([40.0, 74.0], 1320.0, &facts_line(&facts), muted);
    if stage.tuned {
        let text = Text::new(style::TICK).colour(style::MUTED).align(Align::Right);
        canvas.text([1366.0, 102.0], "tuned bodies have the size that the file gives", text);
    }
    legend(canvas, scene, stage);
}

fn legend(canvas: &mut Canvas, scene: &Scene, stage: &Stage) {
    let mut entries = vec![("listener", style::RED)];
    let has = |test: &dyn Fn(&Placed) -> bool| stage.bodies.iter().any(test);
    for (shown, entry) in [
        (has(&|b| b.sounding && !b.later), ("sounds", style::BLUE)),
        (has(&|b| !b.sounding && !b.later), ("silent", style::MUTED)),
        (has(&|b| b.later), ("enters later", style::faded(style::BLUE, 110))),
        (!stage.colliders.is_empty(), ("struck by particles", style::ORANGE)),
        (scene.particles.is_some(), ("where particles start", style::faded(style::ORANGE, 110))),
    ] {
        if shown {
            entries.push(entry);
        }
    }
    let mut x = 40.0;
    for (words, ink) in entries {
        canvas.dot([x + 5.0, 102.0], 5.0, ink);
        x += 16.0 + canvas.text([x + 16.0, 102.0], words, Text::new(style::TICK)) + 22.0;
    }
}

/// What the views show, and whether that includes the listener.
fn frame_of(scene: &Scene, stage: &Stage) -> ([Vec3; 2], bool) {
    let listener = Vec3::from_array(scene.listener.position);
    let things = stage.bodies.iter().flat_map(Placed::world);
    let hail = stage.colliders.iter().chain(&stage.region).flatten().copied();
    let Some([mut low, mut high]) = bounds(things.chain(hail)) else {
        // Nothing but the listener, and perhaps a floor.
        return ([listener.min(Vec3::ZERO) - 0.5, listener.max(Vec3::ZERO) + 0.5], true);
    };
    let size = (high - low).max_element().max(1e-3);
    for floor in stage.bodies.iter().filter(|b| b.points.is_none()) {
        let (middle, normal) = (0.5 * (low + high), floor.rotation * Vec3::Z);
        let below = middle - normal * normal.dot(middle - floor.position);
        if (below - middle).length() <= FAR * size {
            [low, high] = [low.min(below), high.max(below)];
        }
    }
    let with = [low.min(listener), high.max(listener)];
    let near = (with[1] - with[0]).max_element() <= FAR * size;
    let [low, high] = if near { with } else { [low, high] };
    // Nothing is so flat that it would fill the view by itself.
    let room = Vec3::splat(0.1 * size);
    ([low - room, high + room], near)
}

fn draw_view(canvas: &mut Canvas, sketch: &mut Sketch, scene: &Scene, stage: &Stage, near: bool) {
    sketch.ground(canvas);
    for body in stage.bodies.iter().filter(|b| b.points.is_none()) {
        sketch.floor(canvas, body.position, body.rotation * Vec3::Z);
    }
    if let (Some(region), Some(particles)) = (&stage.region, &scene.particles) {
        let fill = style::faded(style::ORANGE, 26);
        let middle = region.iter().sum::<Vec3>() / region.len() as f64;
        sketch.outline(canvas, region.iter().copied(), fill, style::faded(style::ORANGE, 110));
        sketch.arrow(canvas, sketch.at(middle), 34.0, Vec3::from_array(particles.velocity), style::ORANGE);
    }
    let mut names = Vec::new();
    for body in &stage.bodies {
        let (fill, line) = inks(body);
        let top = sketch.outline(canvas, body.world(), fill, line);
        if let (Some(top), true) = (top, body.copies > 0 && names.len() < MAX_NAMES) {
            let name =
                if body.copies > 1 { format!("{} × {}", number(body.copies), body.name) } else { body.name.clone() };
            names.push((top, name));
        }
    }
    for collider in &stage.colliders {
        sketch.outline(canvas, collider.iter().copied(), style::faded(style::ORANGE, 20), style::ORANGE);
    }
    draw_listener(canvas, sketch, scene, near);
    for (top, name) in names {
        sketch.name(canvas, top, &name, style::INK);
    }
    sketch.border(canvas);
}

fn inks(body: &Placed) -> (Colour, Colour) {
    let ink = if body.sounding { style::BLUE } else { style::MUTED };
    if body.later { (style::faded(ink, 14), style::faded(ink, 110)) } else { (style::faded(ink, 60), ink) }
}

fn draw_listener(canvas: &mut Canvas, sketch: &mut Sketch, scene: &Scene, near: bool) {
    let (place, look) = (Vec3::from_array(scene.listener.position), Vec3::from_array(scene.listener.look));
    if !place.is_finite() {
        return;
    }
    let (at, words) = if near || sketch.shows(place) {
        (sketch.at(place), "listener".to_owned())
    } else {
        let [x, y, z] = scene.listener.position;
        (sketch.edge(place), format!("listener, further out: ({x:.1}, {y:.1}, {z:.1}) m").replace('-', "−"))
    };
    let above = sketch.looker(canvas, at, look);
    sketch.name(canvas, [at[0], at[1] + if above { 28.0 } else { -6.0 }], &words, style::RED);
}

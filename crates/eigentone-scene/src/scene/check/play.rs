//! `[[melody]]`, `[[event]]` and `[[bridge]]`.

use super::{LARGEST, Names, Table, body};
use crate::scene::{Action, Bridge, Event, Impulse, LONGEST_S, Melody, Note, Scene, read, suggest};
use std::collections::HashSet;

pub(super) fn check(scene: &Scene, names: &Names<'_>, problems: &mut Vec<String>) {
    for (index, melody) in scene.melodies.iter().enumerate() {
        check_melody(scene, names, melody, &mut Table::new(read::label("melody", index, None), problems));
    }
    for (index, event) in scene.events.iter().enumerate() {
        check_event(names, event, &mut Table::new(read::label("event", index, None), problems));
    }
    for (index, bridge) in scene.bridges.iter().enumerate() {
        check_bridge(names, bridge, &mut Table::new(read::label("bridge", index, None), problems));
    }
}

fn check_melody(scene: &Scene, names: &Names<'_>, melody: &Melody, table: &mut Table<'_>) {
    if melody.body.is_empty() {
        table.say("body", "is missing; give the name of a [[body]] with `template = true`");
    } else if !names.templates.contains(melody.body.as_str()) {
        let what = if names.bodies.contains(&melody.body) {
            format!("`{}` is no template; give it `template = true`", melody.body)
        } else {
            let meant =
                suggest::phrase(&melody.body, scene.bodies.iter().filter(|b| b.template).map(|b| b.name.as_str()));
            format!("there is no template `{}`{meant}", melody.body)
        };
        table.say("body", &what);
    }
    table.within("tempo_bpm", melody.tempo_bpm, 1.0, 1000.0);
    table.within("start_s", melody.start_s, 0.0, LONGEST_S);
    table.finite("offset", &melody.offset);
    let score = match melody.score() {
        Ok(score) => score,
        Err(error) => return table.say("notes", &error.to_string()),
    };
    let Some(first) = score.first() else {
        return table.say("notes", "is empty; write for instance \"C5 E5 G5:2\"");
    };
    body::fall(scene, melody.height_m, first.time_s, "start_s", "height_m", table);
    let tuned: HashSet<u8> =
        scene.bodies.iter().filter(|b| !b.template).filter_map(|b| b.tune).map(|t| t.midi).collect();
    let mut mute: Vec<u8> = score.iter().map(|n| n.note.midi).filter(|m| !tuned.contains(m)).collect();
    mute.sort_unstable();
    mute.dedup();
    if !mute.is_empty() {
        let list: Vec<String> = mute.iter().map(|&midi| format!("`{}`", Note { midi })).collect();
        table.say("notes", &format!("no body is tuned to {}; give one for each, with `tune`", list.join(", ")));
    }
}

fn check_event(names: &Names<'_>, event: &Event, table: &mut Table<'_>) {
    table.within("time_s", event.time_s, 0.0, LONGEST_S);
    names.need_body(table, "body", &event.body);
    if let Some(at) = &event.at {
        table.finite("at", at);
        if !matches!(event.action, Action::ImpulseNs(_) | Action::PushNs(_)) {
            table.say("at", "means something only with `impulse_ns` or `push_ns`; leave it out");
        }
    }
    table.maybe_positive("duration_s", event.duration_s, 1.0);
    table.maybe_within("hardness", event.hardness, 1.0, 1e12);
    table.maybe_positive("mass_kg", event.mass_kg, LARGEST);
    let blow = [
        ("duration_s", event.duration_s.is_some()),
        ("hardness", event.hardness.is_some()),
        ("mass_kg", event.mass_kg.is_some()),
    ];
    if !matches!(event.action, Action::ImpulseNs(_)) {
        for (key, _) in blow.iter().filter(|b| b.1) {
            table.say(key, "means something only with `impulse_ns`; leave it out");
        }
    } else if event.duration_s.is_some() && (event.hardness.is_some() || event.mass_kg.is_some()) {
        table.say("duration_s", "excludes `hardness` and `mass_kg`, from which it would follow; leave one out");
    }
    match event.action {
        Action::ImpulseNs(Impulse::Inward(x)) => table.finite("impulse_ns", &[x]),
        Action::ImpulseNs(Impulse::Vector(v)) => table.finite("impulse_ns", &v),
        Action::Damping(x) => table.within("damping", x, 0.1, 50.0),
        Action::Frequency(x) => table.within("frequency", x, 0.05, 20.0),
        Action::Strain(x) => table.within("strain", x, -10.0, 10.0),
        Action::GainDb(x) => table.within("gain_db", x, -200.0, 200.0),
        Action::Emphasis(x) => table.within("emphasis", x, 0.0, 1000.0),
        Action::Silence => {}
        Action::PushNs(v) => table.finite("push_ns", &v),
        Action::Velocity(v) => table.finite("velocity", &v),
    }
}

fn check_bridge(names: &Names<'_>, bridge: &Bridge, table: &mut Table<'_>) {
    names.need_body(table, "from", &bridge.from);
    names.need_body(table, "to", &bridge.to);
    if let Some(at) = &bridge.at {
        table.finite("at", at);
    }
    table.direction("direction", &bridge.direction);
    table.within("coupling", bridge.coupling, 0.0, 0.7);
    table.within("low_pass_hz", bridge.low_pass_hz, 1.0, 200_000.0);
    table.maybe_within("gap_pa", bridge.gap_pa, 0.0, LARGEST);
    table.within("direct", bridge.direct, 0.0, 1000.0);
    if bridge.one_sided && bridge.gap_pa.is_none() {
        table.say("one_sided", "means something only with `gap_pa`; give that too (0 touches all the time)");
    }
}

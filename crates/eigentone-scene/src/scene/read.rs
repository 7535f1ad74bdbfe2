//! From text to a [`Scene`]: which table is which, and what an error is called.

use super::de::{Choice, Entries, Entry, Fault, Value, entries};
use super::{
    Action, Body, Collider, ColliderShape, Event, MAX_BODIES, Scene, Shape, Soft, Surface, particles, play, shape,
    suggest,
};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use std::collections::{HashMap, HashSet};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// All that may stand at the top of a scene.
const TOP: &[&str] = &[
    "title",
    "seed",
    "duration_s",
    "output",
    "listener",
    "quality",
    "physics",
    "body",
    "soft",
    "soft_physics",
    "melody",
    "surface",
    "event",
    "bridge",
    "particles",
    "collider",
    "acoustics",
];

/// An error with its place, already in words.
struct Bad {
    at: Option<usize>,
    message: String,
}

/// Reads a scene. The error says line, table and key.
pub(super) fn scene(text: &str) -> Result<Scene, String> {
    let placed = |at: Option<usize>, message: &str| match at {
        Some(at) => format!("{}: {message}", place(text, at)),
        None => message.to_owned(),
    };
    let table = DeTable::parse(text).map_err(|e| placed(e.span().map(|s| s.start), e.message().trim()))?;
    read(table.into_inner()).map_err(|bad| placed(bad.at, &bad.message))
}

/// Line and column, counted from one, in characters.
fn place(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    format!("line {line}, column {column}")
}

fn read(table: DeTable<'_>) -> Result<Scene, Bad> {
    let mut scene = Scene::default();
    for (key, value) in entries(table) {
        let at = key.span().start;
        match key.get_ref().as_ref() {
            "title" => scene.title = plain(&key, value)?,
            "seed" => scene.seed = plain(&key, value)?,
            "duration_s" => scene.duration_s = plain(&key, value)?,
            "output" => scene.output = single("[output]", value)?,
            "listener" => scene.listener = single("[listener]", value)?,
            "quality" => scene.quality = single("[quality]", value)?,
            "physics" => scene.physics = single("[physics]", value)?,
            "acoustics" => scene.acoustics = Some(single("[acoustics]", value)?),
            "particles" => scene.particles = Some(single("[particles]", value)?),
            "body" => scene.bodies = many("body", value, body)?,
            "soft" => scene.softs = many("soft", value, soft)?,
            "soft_physics" => scene.soft_physics = single("[soft_physics]", value)?,
            "melody" => scene.melodies = many("melody", value, whole)?,
            "surface" => scene.surfaces = many("surface", value, surface)?,
            "event" => scene.events = many("event", value, event)?,
            "bridge" => scene.bridges = many("bridge", value, whole)?,
            "collider" => scene.colliders = many("collider", value, collider)?,
            name => {
                let meant = suggest::phrase(name, TOP.iter().copied());
                let meant = if meant.is_empty() {
                    format!("; known are {}", TOP.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", "))
                } else {
                    meant
                };
                return Err(Bad {
                    at: Some(at),
                    message: format!("unknown key `{name}` at the top of the scene{meant}"),
                });
            }
        }
    }
    name_bodies(&mut scene.bodies);
    name_softs(&mut scene);
    Ok(scene)
}

/// A value at the top of the scene.
fn plain<T: for<'de> Deserialize<'de>>(
    key: &Spanned<toml::de::DeString<'_>>,
    value: Spanned<DeValue<'_>>,
) -> Result<T, Bad> {
    let at = value.span().start;
    T::deserialize(Value(value)).map_err(|fault| {
        let fault = fault.under(key.get_ref().clone(), at);
        Bad { at: fault.at, message: fault.told("the scene", &[]) }
    })
}

/// A `[table]`.
fn single<T: for<'de> Deserialize<'de>>(name: &str, value: Spanned<DeValue<'_>>) -> Result<T, Bad> {
    let at = value.span().start;
    match value.into_inner() {
        DeValue::Table(table) => T::deserialize(Entries::new(entries(table)).into_deserializer())
            .map_err(|fault: Fault| Bad { at: fault.at.or(Some(at)), message: fault.told(name, &[]) }),
        DeValue::Array(_) => {
            Err(Bad { at: Some(at), message: format!("there is only one {name}; write it once, with single brackets") })
        }
        _ => Err(Bad { at: Some(at), message: format!("expected a table {name}") }),
    }
}

/// What a reader of one table of many gives, or what is wrong and which keys it knows beside those of its type.
type Read<T> = Result<T, (Fault, &'static [&'static str])>;

/// All `[[table]]`s of a name.
fn many<T>(name: &str, value: Spanned<DeValue<'_>>, read: fn(Vec<Entry<'_>>) -> Read<T>) -> Result<Vec<T>, Bad> {
    let at = value.span().start;
    let brackets =
        || Bad { at: Some(at), message: format!("write [[{name}]] with double brackets: there may be several") };
    let DeValue::Array(list) = value.into_inner() else { return Err(brackets()) };
    let mut found = Vec::new();
    for (index, value) in list.into_iter().enumerate() {
        let at = value.span().start;
        let DeValue::Table(table) = value.into_inner() else { return Err(brackets()) };
        let table = entries(table);
        let label = label(
            name,
            index,
            table.iter().find(|(k, _)| k.get_ref() == "name").and_then(|(_, v)| v.get_ref().as_str()),
        );
        found.push(
            read(table)
                .map_err(|(fault, more)| Bad { at: fault.at.or(Some(at)), message: fault.told(&label, more) })?,
        );
    }
    Ok(found)
}

/// How a table of many is called in messages.
pub(super) fn label(table: &str, index: usize, name: Option<&str>) -> String {
    let name = name.filter(|n| !n.is_empty()).map(|n| format!(" (`{n}`)")).unwrap_or_default();
    format!("[[{table}]] no. {}{name}", index + 1)
}

fn whole<T: for<'de> Deserialize<'de>>(table: Vec<Entry<'_>>) -> Read<T> {
    T::deserialize(Entries::new(table).into_deserializer()).map_err(|fault| (fault, [].as_slice()))
}

/// A table of which exactly one of `keys` chooses a variant of `C`; `None` if there is none of them.
fn chosen<T, C>(table: Vec<Entry<'_>>, keys: &'static [&'static str]) -> Read<(T, Option<C>)>
where
    T: for<'de> Deserialize<'de>,
    C: for<'de> Deserialize<'de>,
{
    let (mut choices, rest): (Vec<_>, Vec<_>) =
        table.into_iter().partition(|(k, _)| keys.contains(&k.get_ref().as_ref()));
    choices.sort_by_key(|(k, _)| k.span().start);
    if let [(first, _), (second, _), ..] = &choices[..] {
        let message = format!("`{}` and `{}` exclude each other; leave one out", first.get_ref(), second.get_ref());
        return Err((Fault::new(message).at(second.span().start), keys));
    }
    let choice = choices.pop().map(|entry| C::deserialize(Choice(entry))).transpose().map_err(|f| (f, keys))?;
    let rest = T::deserialize(Entries::new(rest).into_deserializer()).map_err(|f| (f, keys))?;
    Ok((rest, choice))
}

fn missing(what: &str, keys: &[&str]) -> Fault {
    let keys: Vec<String> = keys.iter().map(|k| format!("`{k}`")).collect();
    Fault::new(format!("has no {what}; give one of {}", keys.join(", ")))
}

fn body(table: Vec<Entry<'_>>) -> Read<Body> {
    let (mut body, shape): (Body, Option<Shape>) = chosen(table, shape::KEYS)?;
    body.shape = match shape {
        Some(shape) => shape,
        None if body.model.is_some() => Shape::OfModel,
        None => return Err((missing("shape", shape::KEYS), shape::KEYS)),
    };
    Ok(body)
}

fn soft(table: Vec<Entry<'_>>) -> Read<Soft> {
    let (mut soft, shape): (Soft, Option<Shape>) = chosen(table, shape::KEYS)?;
    match (shape, &soft.tets) {
        (Some(_), Some(_)) => {
            return Err((Fault::new("`tets` and a shape exclude each other; leave one out"), shape::KEYS));
        }
        (Some(shape), None) => soft.shape = shape,
        (None, Some(_)) => {}
        (None, None) => return Err((missing("shape, nor `tets`", shape::KEYS), shape::KEYS)),
    }
    Ok(soft)
}

/// Soft bodies without a name are called `soft`, numbered from the second on.
fn name_softs(scene: &mut Scene) {
    let taken: HashSet<String> =
        scene.bodies.iter().map(|b| b.name.clone()).chain(scene.softs.iter().map(|s| s.name.clone())).collect();
    let mut count = 0;
    for soft in scene.softs.iter_mut().filter(|s| s.name.is_empty()) {
        while soft.name.is_empty() || taken.contains(&soft.name) {
            count += 1;
            soft.name = if count == 1 { "soft".to_owned() } else { format!("soft {count}") };
        }
    }
}

fn event(table: Vec<Entry<'_>>) -> Read<Event> {
    let (mut event, action): (Event, Option<Action>) = chosen(table, play::ACTION_KEYS)?;
    event.action = action.ok_or_else(|| (missing("action", play::ACTION_KEYS), play::ACTION_KEYS))?;
    Ok(event)
}

fn collider(table: Vec<Entry<'_>>) -> Read<Collider> {
    let keys = particles::COLLIDER_KEYS;
    let (mut collider, shape): (Collider, Option<ColliderShape>) = chosen(table, keys)?;
    collider.shape = shape.ok_or_else(|| (missing("shape", keys), keys))?;
    Ok(collider)
}

fn surface(table: Vec<Entry<'_>>) -> Read<Surface> {
    let mut texture: toml::Table = whole(table)?;
    let mut text = |key: &str| match texture.remove(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) => Ok(Some(text)),
        Some(_) => Err((Fault::new(format!("`{key}` must be a text in quotes")), [].as_slice())),
    };
    let (name, like) = (text("name")?, text("like")?);
    let name =
        name.ok_or_else(|| (Fault::new("has no `name`; give it one, so that bodies can refer to it"), [].as_slice()))?;
    Ok(Surface { name, like, texture })
}

/// Bodies without a name are called after their shape, numbered from the second on.
fn name_bodies(bodies: &mut [Body]) {
    let mut taken: HashSet<String> = HashSet::new();
    // Also the names of copies; a scene with too many is refused later.
    let take = |body: &Body, taken: &mut HashSet<String>| {
        let copies = body.count().clamp(1, MAX_BODIES);
        for copy in (0..copies).take(MAX_BODIES.saturating_sub(taken.len()).max(1)) {
            taken.insert(body.copy_name(copy));
        }
    };
    bodies.iter().filter(|b| !b.name.is_empty()).for_each(|b| take(b, &mut taken));
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for body in bodies.iter_mut().filter(|b| b.name.is_empty()) {
        let key = body.shape.key();
        let count = counts.entry(key).or_default();
        while body.name.is_empty() || taken.contains(&body.name) {
            *count += 1;
            body.name = if *count == 1 { key.to_owned() } else { format!("{key} {count}") };
        }
        take(body, &mut taken);
    }
}

//! What a scene must be to be played: see [`Scene::check`].

mod acoustics;
mod body;
mod particles;
mod play;
mod soft;

use super::listener::Spatial;
use super::{Body, LONGEST_S, MAX_BODIES, Rotation, Scene, Surface, file, read, suggest};
use std::collections::{HashMap, HashSet};

/// Coordinates, velocities and the like beyond this are refused, as the rigid bodies do.
const LARGEST: f64 = 1e6;

/// More problems than this are not looked for.
const MAX_PROBLEMS: usize = 50;

/// Surfaces of one scene.
const MAX_SURFACES: usize = 1000;

/// Longest side of a body in m.
const LONGEST_SIDE_M: f64 = 1e4;

impl Scene {
    /// All that is wrong, each with its table and key.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        self.check_settings(&mut problems);
        let counts = [("body", self.bodies.len(), MAX_BODIES), ("surface", self.surfaces.len(), MAX_SURFACES)];
        if let Some((table, found, most)) = counts.into_iter().find(|(_, found, most)| found > most) {
            problems.push(format!("{found} [[{table}]]s, but at most {most} are allowed; use fewer"));
            return problems;
        }
        let names = Names::of(self, &mut problems);
        body::check(self, &names, &mut problems);
        self.check_surfaces(&mut problems);
        play::check(self, &names, &mut problems);
        soft::check(self, &mut problems);
        particles::check(self, &names, &mut problems);
        acoustics::check(self, &mut problems);
        problems
    }

    fn check_settings(&self, problems: &mut Vec<String>) {
        let mut top = Table::new("the scene", problems);
        top.positive("duration_s", self.duration_s, LONGEST_S);

        let mut output = Table::new("[output]", problems);
        output.within("sample_rate_hz", self.output.sample_rate_hz, 8000.0, 384_000.0);
        output.maybe_positive("full_scale_pa", self.output.full_scale_pa, 1e9);
        output.maybe_within("tail_s", self.output.tail_s, 0.0, LONGEST_S);
        output.within("frames_per_s", self.output.frames_per_s, 1.0, 1000.0);

        let mut listener = Table::new("[listener]", problems);
        listener.finite("position", &self.listener.position);
        listener.direction("look", &self.listener.look);
        listener.rising("path", self.listener.path.iter().map(|w| w.time_s));
        for (i, waypoint) in self.listener.path.iter().enumerate() {
            listener.finite(&format!("path[{i}].position"), &waypoint.position);
            if let Some(look) = &waypoint.look {
                listener.direction(&format!("path[{i}].look"), look);
            }
        }
        match (self.listener.spatial, &self.listener.sofa) {
            (Some(Spatial::Hrtf), None) => {
                listener.say("sofa", "is missing; name a SOFA file, or let `spatial` be \"head\"");
            }
            (_, Some(file)) => {
                if let Some(why) = file::strays(file) {
                    listener.say("sofa", &format!("the path `{file}` {why}"));
                }
            }
            _ => {}
        }
        listener.within("hrtf_sources", self.listener.hrtf_sources as f64, 0.0, 256.0);

        let quality = &self.quality;
        let mut table = Table::new("[quality]", problems);
        table.within("truncation_pa", quality.truncation_pa, 0.0, LARGEST);
        table.maybe_within("masking_db", quality.masking_db, -100.0, 200.0);
        table.within("playback_db", quality.playback_db, -100.0, 200.0);
        table.within("slope", quality.slope, 0.0, LARGEST);
        if quality.budget == Some(0) {
            table.say("budget", "0 modes make no sound; leave it out for no limit");
        }

        let mut physics = Table::new("[physics]", problems);
        physics.finite("gravity", &self.physics.gravity);
        let step_s = self.physics.step_s;
        if !(1.0 / 2000.0..=1.0 / 60.0).contains(&step_s) {
            physics.say("step_s", &format!("expected 1/2000 to 1/60, so 0.0005 to 0.0166, found {step_s}"));
        }
        physics.maybe_within("stop_s", self.physics.stop_s, 0.0, LONGEST_S);
    }

    fn check_surfaces(&self, problems: &mut Vec<String>) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let by_name: HashMap<&str, &Surface> = self.surfaces.iter().map(|s| (s.name.as_str(), s)).collect();
        for (index, surface) in self.surfaces.iter().enumerate() {
            let mut table = Table::new(read::label("surface", index, Some(&surface.name)), problems);
            if surface.name.is_empty() {
                table.say("name", "is empty; bodies refer to it");
            } else if let Some(first) = seen.insert(surface.name.as_str(), index) {
                table.say("name", &format!("[[surface]] no. {} has the same; rename one", first + 1));
            }
            for (key, value) in &surface.texture {
                if let Some(place) = not_finite(value) {
                    table.say(&format!("{key}{place}"), "is not a finite number");
                }
            }
            if likes_itself(surface, &by_name) {
                table.say("like", "comes back to this surface; let one of them name a built-in texture or nothing");
            }
        }
    }

    /// How long it takes to fall so deep from rest, in s; infinite if things do not fall.
    pub(super) fn fall_s(&self, height_m: f64) -> f64 {
        let g = -self.physics.gravity[2];
        if g > 0.0 { (2.0 * height_m / g).sqrt() } else { f64::INFINITY }
    }
}

/// Whether following `like` comes back. A surface that is like the built-in one of its own name does not.
fn likes_itself(surface: &Surface, by_name: &HashMap<&str, &Surface>) -> bool {
    let mut here = surface;
    for _ in 0..by_name.len() {
        let Some(like) = here.like.as_deref().filter(|l| *l != here.name) else { return false };
        let Some(next) = by_name.get(like) else { return false };
        if next.name == surface.name {
            return true;
        }
        here = next;
    }
    false
}

/// Place of the first number that is not finite, as `.key[index]`. As deep as the parser goes.
fn not_finite(value: &toml::Value) -> Option<String> {
    match value {
        // Infinity is a linear spring there.
        toml::Value::Float(x) => x.is_nan().then(String::new),
        toml::Value::Array(list) => {
            list.iter().enumerate().find_map(|(i, v)| not_finite(v).map(|p| format!("[{i}]{p}")))
        }
        toml::Value::Table(table) => table.iter().find_map(|(k, v)| not_finite(v).map(|p| format!(".{k}{p}"))),
        _ => None,
    }
}

/// Who can be referred to.
struct Names<'a> {
    /// In the world, with all copies.
    bodies: HashSet<String>,
    /// Not in the world.
    templates: HashSet<&'a str>,
    /// By the names in the file.
    tables: HashMap<&'a str, &'a Body>,
}

impl<'a> Names<'a> {
    /// Collects names and counts bodies, with copies and drops.
    fn of(scene: &'a Scene, problems: &mut Vec<String>) -> Self {
        let mut names = Self {
            bodies: HashSet::new(),
            templates: HashSet::new(),
            tables: scene.bodies.iter().map(|b| (b.name.as_str(), b)).collect(),
        };
        let dropped = scene.melodies.iter().map(|m| m.score().map_or(0, |s| s.len())).fold(0, usize::saturating_add);
        let total = scene.bodies.iter().fold(dropped, |n, b| n.saturating_add(b.count()));
        if total > MAX_BODIES {
            problems.push(format!(
                "the scene has {total} bodies with all `copies` and the drops of each [[melody]], but at most {MAX_BODIES} are allowed; use fewer"
            ));
        }
        for (index, body) in scene.bodies.iter().enumerate() {
            // One that is far too many is named once.
            let copies = if total > MAX_BODIES { body.count().min(1) } else { body.count() };
            let fresh = if body.template {
                !names.bodies.contains(&body.name) && names.templates.insert(&body.name)
            } else {
                let mut fresh = !names.templates.contains(body.name.as_str());
                for copy in 0..copies {
                    fresh &= names.bodies.insert(body.copy_name(copy));
                }
                fresh
            };
            if !fresh {
                let mut table = Table::new(read::label("body", index, Some(&body.name)), problems);
                table.say("name", "is taken by another body or its copies; rename one");
            }
        }
        names
    }

    /// Says so if there is no such body in the world.
    fn need_body(&self, table: &mut Table<'_>, key: &str, name: &str) {
        if self.bodies.contains(name) || table.is_full() {
        } else if name.is_empty() {
            table.say(key, "is missing; give the name of a body");
        } else if self.templates.contains(name) {
            table.say(key, &format!("`{name}` is a template, which is not in the world; name another body"));
        } else {
            let meant = suggest::phrase(name, self.sorted());
            table.say(key, &format!("there is no body `{name}`{meant}"));
        }
    }

    /// In an order that does not change from run to run.
    fn sorted(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.bodies.iter().map(String::as_str).collect();
        all.sort_unstable();
        all
    }
}

/// Collects what is wrong with one table.
struct Table<'p> {
    label: String,
    problems: &'p mut Vec<String>,
}

impl<'p> Table<'p> {
    fn new(label: impl Into<String>, problems: &'p mut Vec<String>) -> Self {
        Self { label: label.into(), problems }
    }

    fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    fn say(&mut self, key: &str, what: &str) {
        if self.is_full() {
            return;
        }
        self.problems.push(format!("`{key}` in {}: {what}", self.label));
    }

    fn within(&mut self, key: &str, value: f64, low: f64, high: f64) {
        if !(low..=high).contains(&value) {
            self.say(key, &format!("expected {low} to {high}, found {value}"));
        }
    }

    fn maybe_within(&mut self, key: &str, value: Option<f64>, low: f64, high: f64) {
        if let Some(value) = value {
            self.within(key, value, low, high);
        }
    }

    fn positive(&mut self, key: &str, value: f64, most: f64) {
        if !(value > 0.0 && value <= most) {
            self.say(key, &format!("expected more than 0 and at most {most}, found {value}"));
        }
    }

    fn maybe_positive(&mut self, key: &str, value: Option<f64>, most: f64) {
        if let Some(value) = value {
            self.positive(key, value, most);
        }
    }

    fn finite(&mut self, key: &str, vector: &[f64]) {
        if let Some(i) = vector.iter().position(|x| !(-LARGEST..=LARGEST).contains(x)) {
            self.say(&format!("{key}[{i}]"), &format!("expected a number within ±1e6, found {}", vector[i]));
        }
    }

    /// A vector of any length but zero.
    fn direction(&mut self, key: &str, vector: &[f64]) {
        self.finite(key, vector);
        if length(vector) < 1e-9 {
            self.say(key, "has no direction; expected a vector other than zero");
        }
    }

    fn rotation(&mut self, key: &str, rotation: &Rotation) {
        match rotation {
            Rotation::Axis { axis, degrees } => {
                self.direction(&format!("{key}.axis"), axis);
                self.within(&format!("{key}.degrees"), *degrees, -LARGEST, LARGEST);
            }
            Rotation::Quaternion(q) => self.direction(key, q),
        }
    }

    /// Times from 0 on, each later than the last.
    fn rising(&mut self, key: &str, times: impl Iterator<Item = f64>) {
        let mut last = None;
        for (i, time) in times.enumerate() {
            if !(0.0..=LARGEST).contains(&time) || last.is_some_and(|l| time <= l) {
                return self.say(&format!("{key}[{i}]"), &format!("times must rise from 0 on, found {time}"));
            }
            last = Some(time);
        }
    }
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

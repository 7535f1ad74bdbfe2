//! Ready objects, and the scenes that ship.

use crate::fault::Fault;
use eigentone_core::TriMesh;
use eigentone_modal::Progress;
use eigentone_scene::Scene;
use eigentone_scene::scene::Plan;
use eigentone_scene::scene::cache::ModelCache;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// An object of the shelf.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// By which it is asked for, and its name in the scene.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// What it is made of.
    pub material: &'static str,
    /// The rest of its `[[body]]`.
    pub body: &'static str,
}

const fn object(name: &'static str, title: &'static str, material: &'static str, body: &'static str) -> Object {
    Object { name, title, material, body }
}

/// What there is.
pub const OBJECTS: &[Object] = &[
    object(
        "bowl",
        "Singing bowl",
        "bronze",
        "bowl = { radius = 0.08, around = 40, along = 12 }\nthickness_m = 0.003\nrolling_resistance = 0.02",
    ),
    object(
        "bell",
        "Hand bell",
        "bronze",
        "bell = { lip_radius = 0.05, height = 0.09, around = 40, along = 14 }\nthickness_m = 0.004",
    ),
    object("bar", "Metal bar", "aluminium", "bar = [0.22, 0.035, 0.008]"),
    object("key", "Xylophone key", "rosewood", "bar = [0.3, 0.04, 0.02]"),
    object(
        "bottle",
        "Bottle",
        "glass",
        "tumbler = { base_radius = 0.035, rim_radius = 0.03, height = 0.22, around = 32, along = 18 }\nthickness_m = 0.003",
    ),
    object(
        "glass",
        "Drinking glass",
        "glass",
        "tumbler = { base_radius = 0.03, rim_radius = 0.04, height = 0.11, around = 40, along = 16 }\nthickness_m = 0.0018",
    ),
    object(
        "can",
        "Tin can",
        "steel",
        "tumbler = { base_radius = 0.037, rim_radius = 0.037, height = 0.11, around = 36, along = 14 }\nthickness_m = 0.0003",
    ),
    object("plate", "Dinner plate", "ceramic", "disc = 0.12\nthickness_m = 0.006"),
    object("sheet", "Metal sheet", "steel", "plate = [0.4, 0.3]\nthickness_m = 0.0012"),
    object("plank", "Plank", "wood", "box = [0.5, 0.09, 0.018]\nsurface = \"wood\""),
    object("coin", "Coin", "brass", "cylinder = { radius = 0.0125, height = 0.0018 }"),
    object("die", "Large die", "plastic", "box = [0.03, 0.03, 0.03]"),
    object("ring", "Steel ring", "steel", "ring = { radius = 0.05, stock_radius = 0.004 }"),
    object("gong", "Gong", "brass", "disc = 0.18\nthickness_m = 0.0018"),
    object("ball", "Glass marble", "glass", "sphere = 0.012"),
    object("rod", "Steel rod", "steel", "cylinder = { radius = 0.006, height = 0.3 }"),
    object("brick", "Brick", "stone", "box = [0.2, 0.1, 0.06]"),
    object("tile", "Stone tile", "stone", "box = [0.2, 0.2, 0.012]"),
];

/// Finds an object.
///
/// # Errors
/// Names what there is.
pub fn find(name: &str) -> Result<&'static Object, Fault> {
    OBJECTS.iter().find(|o| o.name == name).ok_or_else(|| {
        let all: Vec<&str> = OBJECTS.iter().map(|o| o.name).collect();
        Fault::missing(
            format!("the shelf has no `{}`", crate::request::short(name)),
            format!("it has {}", all.join(", ")),
        )
    })
}

impl Object {
    /// Its surface, for drawing.
    ///
    /// # Errors
    /// If its description is wrong, which a test rules out.
    pub fn mesh(&self) -> Result<Arc<TriMesh>, Fault> {
        // Without a material nothing has to be made but the form.
        let text = format!("[[body]]\nname = \"{}\"\n{}\n", self.name, self.body);
        let scene = Scene::parse(&text, Path::new("."), self.name)?;
        let plan = Plan::draft(&scene, &ModelCache::none(), &Progress::silent())?;
        let first = plan.bodies.into_iter().next();
        first.map(|planned| planned.mesh).ok_or_else(|| Fault::failed("this object has no form", ""))
    }

    /// Its `[[body]]`.
    pub fn table(&self) -> String {
        format!("[[body]]\nname = \"{}\"\nmaterial = \"{}\"\n{}\n", self.name, self.material, self.body)
    }
}

/// A scene that ships.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// By which it is asked for.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

impl Shipped {
    /// What it says of itself.
    pub fn title(&self) -> &'static str {
        let line = self.text.lines().find_map(|line| line.strip_prefix("title = \""));
        line.and_then(|rest| rest.split('"').next()).unwrap_or(self.name)
    }
}

macro_rules! shipped {
    ($($name:literal)*) => {
        &[$(Shipped { name: $name, text: include_str!(concat!("../scenes/", $name, ".toml")) },)*]
    };
}

/// Scenes that need no other file. All but the first are copies of those in the folder `scenes` of the repository; a test compares them.
pub const SCENES: &[Shipped] = shipped! {
    "default" "xylophone" "surfaces" "wood" "rattle" "rings" "hail" "gong" "sheet" "squeal" "cylinder" "two-rooms"
    "jelly" "drum" "bowl" "bar"
};

/// Fields of scenes that ship, baked by `eigentone bake`; a test bakes them again.
pub const FIELDS: &[(&str, &[u8])] = &[("two-rooms", include_bytes!("../scenes/two-rooms.field.safetensors"))];

/// The field that ships, of rooms with this hash.
pub fn field(hash: &str) -> Option<&'static [u8]> {
    let is_it = |bytes: &[u8]| eigentone_io::read_field_bytes(bytes).is_ok_and(|f| f.info().source_hash == hash);
    FIELDS.iter().map(|(_, bytes)| *bytes).find(|bytes| is_it(bytes))
}

/// An empty scene with a floor.
pub const EMPTY: &str = "title = \"Untitled\"\n\n[[body]]\nname = \"floor\"\nplane = true\nsurface = \"wood\"\n";

/// Finds a scene.
///
/// # Errors
/// Names what there is.
pub fn scene(name: &str) -> Result<&'static str, Fault> {
    if name == "empty" {
        return Ok(EMPTY);
    }
    SCENES.iter().find(|s| s.name == name).map(|s| s.text).ok_or_else(|| {
        let all: Vec<&str> = SCENES.iter().map(|s| s.name).collect();
        let error = format!("no scene is called `{}`", crate::request::short(name));
        Fault::missing(error, format!("there are {} and empty", all.join(", ")))
    })
}

/// All of it, for the page.
pub fn list() -> Value {
    let objects: Vec<Value> =
        OBJECTS.iter().map(|o| json!({ "name": o.name, "title": o.title, "material": o.material })).collect();
    let scenes: Vec<Value> = SCENES.iter().map(|s| json!({ "name": s.name, "title": s.title() })).collect();
    json!({ "objects": objects, "scenes": scenes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_has_a_form() {
        for object in OBJECTS {
            let mesh = object.mesh().unwrap_or_else(|e| panic!("{}: {e}", object.name));
            let [low, high] = mesh.bounds().unwrap();
            let size_m = (high - low).length();
            assert!((0.01..1.0).contains(&size_m), "{}: {size_m} m", object.name);
        }
    }
}

//! Absorption of common walls, and which of them the names in a scene mean.
//!
//! Numbers are random-incidence absorption averaged over the octaves of 250 and 500 Hz, as reverberation rooms give them. They vary between products by a factor of two; a
//! measured number is always better than one from here.

use eigentone_core::acoustics::WallMaterial;
use std::sync::LazyLock;

/// Values that go round without a source.
const CODES: &str = "general knowledge";
/// Numbers on which handbooks of room acoustics agree to within their spread.
const TYPICAL: &str = "typical handbook value";

/// Name, absorption, origin, and the words in names of scenes that mean it.
type Row = (&'static str, f64, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const ROWS: [Row; 30] = [
    ("concrete",       0.02, CODES,   &["concrete", "cement", "screed", "beton"]),
    ("brick",          0.03, CODES,   &["brick", "brickwork", "masonry", "clinker"]),
    ("wood",           0.10, CODES,   &["wood", "wooden", "timber", "oak", "pine", "plank", "parquet", "door"]),
    ("carpet",         0.30, CODES,   &["carpet", "rug", "tapestry"]),
    ("drywall",        0.10, CODES,   &["drywall", "plasterboard", "gypsum", "sheetrock"]),
    ("grass",          0.40, CODES,   &["grass", "lawn", "turf", "meadow"]),
    ("soil",           0.40, CODES,   &["soil", "earth", "dirt", "mud", "terrain", "ground"]),
    ("foliage",        0.50, CODES,   &["foliage", "leaf", "leaves", "hedge", "bush", "shrub", "ivy"]),
    ("curtains",       0.40, CODES,   &["curtain", "drape", "drapery", "velvet"]),
    ("open",           1.00, CODES,   &["open", "opening", "air", "sky", "void"]),
    ("stone",          0.02, TYPICAL, &["stone", "granite", "limestone", "sandstone", "slate", "rock", "cobble", "cobblestone"]),
    ("marble",         0.01, TYPICAL, &["marble", "terrazzo"]),
    ("tile",           0.01, TYPICAL, &["tile", "tiles", "ceramic", "porcelain"]),
    ("plaster",        0.03, TYPICAL, &["plaster", "stucco", "render", "lime"]),
    ("glass",          0.05, TYPICAL, &["glass", "glazing", "mirror"]),
    ("window",         0.20, TYPICAL, &["window", "windowpane", "pane"]),
    ("steel",          0.03, TYPICAL, &["steel", "metal", "iron", "aluminium", "aluminum", "copper", "brass", "tin"]),
    ("asphalt",        0.03, TYPICAL, &["asphalt", "tarmac", "bitumen", "road", "pavement"]),
    ("linoleum",       0.03, TYPICAL, &["linoleum", "vinyl", "lino", "pvc", "rubber", "plastic"]),
    ("water",          0.01, TYPICAL, &["water", "pool", "lake", "sea", "ice"]),
    ("plywood",        0.20, TYPICAL, &["plywood", "panelling", "paneling", "panel", "veneer", "chipboard", "mdf", "osb"]),
    ("concrete block", 0.40, TYPICAL, &["concreteblock", "cinderblock", "breezeblock", "cinder", "breeze"]),
    ("gravel",         0.60, TYPICAL, &["gravel", "ballast", "pebble"]),
    ("sand",           0.40, TYPICAL, &["sand", "beach", "dune"]),
    ("snow",           0.80, TYPICAL, &["snow"]),
    ("upholstery",     0.60, TYPICAL, &["upholstery", "upholstered", "sofa", "couch", "cushion", "mattress", "seat", "audience"]),
    ("books",          0.30, TYPICAL, &["book", "books", "bookshelf", "bookcase"]),
    ("fabric",         0.15, TYPICAL, &["fabric", "cloth", "textile", "linen", "canvas"]),
    ("acoustic tile",  0.60, TYPICAL, &["acoustictile", "ceilingtile", "acousticpanel", "acoustic"]),
    ("mineral wool",   0.80, TYPICAL, &["mineralwool", "glasswool", "rockwool", "stonewool", "wool", "foam", "insulation", "fibreglass", "fiberglass"]),
];

static TABLE: LazyLock<Vec<WallMaterial>> = LazyLock::new(|| {
    let material = |&(name, absorption, origin, _): &Row| WallMaterial {
        name: name.to_owned(),
        absorption,
        origin: origin.to_owned(),
    };
    ROWS.iter().map(material).collect()
});

/// All materials of the table.
pub fn table() -> &'static [WallMaterial] {
    &TABLE
}

/// The material of the table with exactly this name.
pub fn get(name: &str) -> Option<&'static WallMaterial> {
    table().iter().find(|m| m.name == name)
}

/// The material that a name in a scene means, if any.
///
/// The name is cut into words at everything but letters, and where a capital follows a small letter; case and a plural's s count for nothing. From left to right the
/// first word that is known decides, in two words that together are known (`glass wool`) both. So `M_Brick_Old.001` is brick, `wood-carpet` is wood, and
/// `Brickell` is nothing.
///
/// ```
/// use eigentone_wave::walls::match_name;
///
/// assert_eq!(match_name("M_Brick_Old.001").unwrap().name, "brick");
/// assert_eq!(match_name("GlassWool50mm").unwrap().name, "mineral wool");
/// assert!(match_name("Material.003").is_none());
/// ```
pub fn match_name(name: &str) -> Option<&'static WallMaterial> {
    let words = words(name);
    words.iter().enumerate().find_map(|(k, word)| {
        let pair = words.get(k + 1).and_then(|next| known(&format!("{word}{next}")));
        pair.or_else(|| known(word))
    })
}

fn known(word: &str) -> Option<&'static WallMaterial> {
    let is = |word: &str| ROWS.iter().position(|row| row.3.contains(&word));
    let row = is(word).or_else(|| is(word.strip_suffix('s')?)).or_else(|| is(word.strip_suffix("es")?))?;
    table().get(row)
}

/// Words in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let starts = letter.is_uppercase() && before.is_lowercase();
        if (starts || !letter.is_alphabetic()) && words.last().is_some_and(|w| !w.is_empty()) {
            words.push(String::new());
        }
        if letter.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|w| !w.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_makes_sense() {
        for (k, material) in table().iter().enumerate() {
            assert!((0.0..=1.0).contains(&material.absorption) && !material.origin.is_empty(), "{material:?}");
            assert_eq!(get(&material.name), Some(material), "names are unique");
            assert_eq!(match_name(&material.name), Some(material), "each is known by its name");
            for word in ROWS[k].3 {
                assert_eq!(known(word), Some(material), "{word} means one material");
            }
        }
        for (name, code) in [
            ("concrete", 0.02),
            ("brick", 0.03),
            ("wood", 0.1),
            ("carpet", 0.3),
            ("drywall", 0.1),
            ("soil", 0.4),
            ("grass", 0.4),
            ("foliage", 0.5),
            ("curtains", 0.4),
            ("open", 1.0),
        ] {
            assert_eq!(get(name).map(|m| m.absorption), Some(code), "{name}");
        }
    }

    #[test]
    fn names_of_scenes_find_their_material() {
        for (name, material) in [
            ("M_Brick_Old.001", Some("brick")),
            ("BRICKS", Some("brick")),
            ("oldBrickWall", Some("brick")),
            ("wood-carpet", Some("wood")),
            ("floor/carpet", Some("carpet")),
            ("Leaves_02", Some("foliage")),
            ("mineral_wool", Some("mineral wool")),
            ("Concrete Block", Some("concrete block")),
            ("Glasses", Some("glass")),
            ("Brickell", None),
            ("", None),
            ("___", None),
            ("ß🧱", None),
            ("default", None),
        ] {
            assert_eq!(match_name(name).map(|m| m.name.as_str()), material, "{name}");
        }
    }

    #[test]
    fn materials_of_generated_rooms_are_known() {
        use crate::rooms;
        for room in [rooms::apartment(), rooms::abbey(), rooms::deck()] {
            for name in &room.scene.names {
                assert!(match_name(name).is_some(), "{}: {name}", room.name);
            }
        }
    }
}

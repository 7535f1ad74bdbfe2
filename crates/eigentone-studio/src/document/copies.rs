//! What is said of single copies: `copy_edits` of their `[[body]]`.

use super::put;
use toml_edit::{Array, InlineTable, Item, Table, Value};

/// Keys that a copy can have of its own.
const KEYS: [&str; 11] = [
    "material",
    "surface",
    "size",
    "pitch",
    "damping",
    "brightness_db",
    "gain_db",
    "position",
    "rotation",
    "fixed",
    "mode_edits",
];

/// What is said of a copy, counted from 1.
fn said(table: &Table, copy: usize) -> Option<&InlineTable> {
    let edits = table.get("copy_edits")?.as_array()?;
    edits
        .iter()
        .filter_map(Value::as_inline_table)
        .find(|edit| edit.get("copy").and_then(Value::as_integer) == Some(copy as i64))
}

/// Makes the `[[body]]` of several copies that of one of them.
pub fn merge(table: &mut Table, copy: usize) {
    let own: Vec<(String, Value)> =
        said(table, copy).into_iter().flat_map(|edit| edit.iter()).map(|(k, v)| (k.to_owned(), v.clone())).collect();
    for (key, value) in own.into_iter().filter(|(key, _)| KEYS.contains(&key.as_str())) {
        if key == "material" {
            table.remove("model");
        }
        if key == "surface" && value.as_str() == Some("") {
            table.remove("surface");
        } else {
            put(table, &key, value);
        }
    }
    table.remove("copies");
    table.remove("copy_edits");
}

/// Changes what is said of a copy as if it had a `[[body]]` of its own.
pub fn edit(table: &mut Table, copy: usize, change: impl FnOnce(&mut Table)) {
    let mut before = table.clone();
    merge(&mut before, copy);
    let mut after = before.clone();
    change(&mut after);
    let mut own = said(table, copy).cloned().unwrap_or_else(|| {
        let mut own = InlineTable::new();
        own.insert("copy", (copy as i64).into());
        own
    });
    let text = |item: Option<&Item>| item.map(|item| item.to_string().trim().to_owned());
    for key in KEYS.into_iter().filter(|key| text(before.get(key)) != text(after.get(key))) {
        let value = match after.get(key).and_then(Item::as_value) {
            Some(value) => value.clone().decorated(" ", ""),
            // It has none of what the others have.
            None if key == "surface" => "".into(),
            None if key == "mode_edits" => Array::new().into(),
            None => continue,
        };
        own.insert(key, value);
    }
    if own.len() < 2 {
        return;
    }
    own.fmt();
    let item = table.entry("copy_edits").or_insert_with(|| Item::Value(Array::new().into()));
    let Some(edits) = item.as_array_mut() else { return };
    edits.retain(|edit| {
        edit.as_inline_table().and_then(|e| e.get("copy")).and_then(Value::as_integer) != Some(copy as i64)
    });
    edits.push(own);
}

#[cfg(test)]
mod tests {
    use crate::document::{SceneText, put, put_number};

    /// A copy is changed as a body is; what it has in common with the others is said once.
    #[test]
    fn a_copy_is_written_beside_the_others() {
        let mut text =
            SceneText::parse("[[body]]\nsphere = 0.1\nsize = 2\nsurface = \"wood\"\ncopies = { count = [3, 1, 1] }\n")
                .unwrap();
        let table = text.body_mut(0).unwrap();
        super::edit(table, 2, |t| put_number(t, "size", 1.0, 1.0));
        super::edit(table, 2, |t| put(t, "material", "glass".into()));
        super::edit(table, 3, |t| {
            t.remove("surface");
        });
        super::edit(table, 3, |t| put_number(t, "pitch", 1.0, 1.0));
        let scene = eigentone_scene::Scene::parse(&text.text(), ".".as_ref(), "x").unwrap();
        let [second, third] = &scene.bodies[0].copy_edits[..] else { panic!("{}", text.text()) };
        assert_eq!((second.copy, second.size, second.material.as_deref()), (2, Some(1.0), Some("glass")));
        assert_eq!((third.copy, third.surface.as_deref(), third.pitch), (3, Some(""), None));
        assert!(text.text().contains("size = 2\n"), "{}", text.text());
    }
}

//! The scene as text: edited key by key, so that comments and all that the studio does not know stay as they were.

pub mod copies;

use crate::fault::Fault;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value};

/// A scene file that is being edited.
#[derive(Clone, Debug)]
pub struct SceneText {
    doc: DocumentMut,
}

impl SceneText {
    /// Reads a text.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let mut doc: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| Fault::bad(e.to_string(), ""))?;
        // `body = [{…}, {…}]` means the same as `[[body]]`, which can be edited.
        for key in ["body", "soft", "event", "bridge", "collider", "surface"] {
            if doc.get(key).is_some_and(Item::is_array)
                && let Some(item) = doc.remove(key)
            {
                let item = item.into_array_of_tables().map_or_else(|item| item, Item::ArrayOfTables);
                doc.insert(key, item);
            }
        }
        Ok(Self { doc })
    }

    /// The text.
    pub fn text(&self) -> String {
        self.doc.to_string()
    }

    fn tables(&mut self, name: &str) -> &mut ArrayOfTables {
        let item = self.doc.entry(name).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        if !item.is_array_of_tables() {
            *item = Item::ArrayOfTables(ArrayOfTables::new());
        }
        item.as_array_of_tables_mut().unwrap_or_else(|| unreachable!("it was just made one"))
    }

    /// How many `[[body]]`s there are.
    pub fn bodies(&self) -> usize {
        self.doc.get("body").and_then(Item::as_array_of_tables).map_or(0, ArrayOfTables::len)
    }

    /// One `[[body]]`.
    pub fn body(&self, index: usize) -> Option<&Table> {
        self.doc.get("body")?.as_array_of_tables()?.get(index)
    }

    /// The same, to be changed.
    pub fn body_mut(&mut self, index: usize) -> Option<&mut Table> {
        self.doc.get_mut("body")?.as_array_of_tables_mut()?.get_mut(index)
    }

    /// One `[[soft]]`, to be changed.
    pub fn soft_mut(&mut self, index: usize) -> Option<&mut Table> {
        self.doc.get_mut("soft")?.as_array_of_tables_mut()?.get_mut(index)
    }

    /// Appends a `[[body]]`; gives its number.
    pub fn push_body(&mut self, mut table: Table) -> usize {
        // It stands after all others.
        table.set_position(None);
        self.tables("body").push(table);
        self.bodies() - 1
    }

    /// Takes a `[[body]]` out, with the events, bridges and colliders that name it.
    pub fn remove_body(&mut self, index: usize, name: &str) {
        for (table, keys) in [("event", &["body"][..]), ("bridge", &["from", "to"]), ("collider", &["body"])] {
            if let Some(tables) = self.doc.get_mut(table).and_then(Item::as_array_of_tables_mut) {
                tables.retain(|t| !keys.iter().any(|k| t.get(k).and_then(Item::as_str) == Some(name)));
                if tables.is_empty() {
                    self.doc.remove(table);
                }
            }
        }
        if let Some(bodies) = self.doc.get_mut("body").and_then(Item::as_array_of_tables_mut) {
            bodies.remove(index);
            if bodies.is_empty() {
                self.doc.remove("body");
            }
        }
    }

    /// Gives a body another name, also where others name it.
    pub fn rename(&mut self, index: usize, old: &str, new: &str) {
        let places = [
            ("event", "body"),
            ("bridge", "from"),
            ("bridge", "to"),
            ("collider", "body"),
            ("body", "shares"),
            ("melody", "body"),
        ];
        for (table, key) in places {
            for t in self
                .doc
                .get_mut(table)
                .and_then(Item::as_array_of_tables_mut)
                .into_iter()
                .flat_map(ArrayOfTables::iter_mut)
            {
                if t.get(key).and_then(Item::as_str) == Some(old) {
                    put(t, key, new.into());
                }
            }
        }
        if let Some(table) = self.body_mut(index) {
            put(table, "name", new.into());
        }
    }

    /// A scene with one body and the surfaces of this one.
    pub fn alone(&self, table: &Table) -> String {
        let mut doc = DocumentMut::new();
        for key in ["seed", "output"] {
            if let Some(item) = self.doc.get(key) {
                doc.insert(key, item.clone());
            }
        }
        if let Some(surfaces) = self.doc.get("surface") {
            doc.insert("surface", surfaces.clone());
        }
        let mut bodies = ArrayOfTables::new();
        bodies.push(table.clone());
        doc.insert("body", Item::ArrayOfTables(bodies));
        doc.to_string()
    }

    /// The `[[surface]]` of this name.
    pub fn surface(&self, name: &str) -> Option<&Table> {
        let named = |t: &&Table| t.get("name").and_then(Item::as_str) == Some(name);
        self.doc.get("surface")?.as_array_of_tables()?.iter().find(named)
    }

    /// The same, to be changed.
    pub fn surface_mut(&mut self, name: &str) -> Option<&mut Table> {
        let named = |t: &&mut Table| t.get("name").and_then(Item::as_str) == Some(name);
        self.doc.get_mut("surface")?.as_array_of_tables_mut()?.iter_mut().find(named)
    }

    /// Appends a `[[surface]]`.
    pub fn push_surface(&mut self, table: Table) {
        self.tables("surface").push(table);
    }

    /// A scene with nothing but the surfaces of this one.
    pub fn surfaces_alone(&self) -> String {
        let mut doc = DocumentMut::new();
        if let Some(surfaces) = self.doc.get("surface") {
            doc.insert("surface", surfaces.clone());
        }
        doc.to_string()
    }

    /// Changes a key of a `[table]`, or takes it out.
    pub fn set(&mut self, table: &str, key: &str, value: Option<Value>) {
        let item = self.doc.entry(table).or_insert_with(|| Item::Table(Table::new()));
        if let Some(t) = item.as_table_like_mut() {
            match value {
                Some(value) => match t.get_mut(key).and_then(Item::as_value_mut) {
                    Some(old) => replace(old, value),
                    None => {
                        t.insert(key, Item::Value(value));
                    }
                },
                None => {
                    t.remove(key);
                }
            }
        }
    }

    /// A text in a `[table]`.
    pub fn string(&self, table: &str, key: &str) -> Option<&str> {
        self.doc.get(table)?.as_table_like()?.get(key)?.as_str()
    }

    /// Whether there is a table of this name.
    pub fn has(&self, table: &str) -> bool {
        self.doc.contains_key(table)
    }
}

fn replace(old: &mut Value, new: Value) {
    let decor = old.decor().clone();
    *old = new;
    *old.decor_mut() = decor;
}

/// Writes a value; comments around an old one stay.
pub fn put(table: &mut Table, key: &str, value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => replace(old, value),
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}

/// Writes a number, unless it is the default and nothing is written yet.
pub fn put_number(table: &mut Table, key: &str, value: f64, default: f64) {
    if value == default && !table.contains_key(key) {
        return;
    }
    put(table, key, tidy(value).into());
}

/// A list of numbers.
pub fn list(values: &[f64]) -> Value {
    Value::Array(values.iter().map(|x| tidy(*x)).collect::<Array>())
}

/// Without the digits that only rounding made.
fn tidy(x: f64) -> f64 {
    let rounded = (x * 1e9).round() / 1e9;
    if x.abs() > 1e-4 && x.abs() < 1e6 { rounded } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\ntitle = \"x\" # of mine\n\n[[body]] # first\nname = \"a\"\nsphere = 0.1 # round\nsize = 2 # large\n\n[[event]]\nbody = \"a\"\nsilence = true\n";

    #[test]
    fn what_is_not_edited_stays_to_the_letter() {
        let mut text = SceneText::parse(TEXT).unwrap();
        assert_eq!(text.text(), TEXT);
        put_number(text.body_mut(0).unwrap(), "size", 3.5, 1.0);
        put_number(text.body_mut(0).unwrap(), "pitch", 1.0, 1.0);
        assert_eq!(text.text(), TEXT.replace("size = 2 #", "size = 3.5 #"));
        text.rename(0, "a", "b");
        assert_eq!(text.text().matches("\"b\"").count(), 2);
        text.remove_body(0, "b");
        assert!(!text.text().contains("body") && text.text().contains("# of mine"));
    }

    #[test]
    fn bodies_in_one_line_can_be_edited_too() {
        let mut text = SceneText::parse("body = [{ sphere = 0.1 }, { box = [1, 1, 1] }]\n").unwrap();
        assert_eq!(text.bodies(), 2);
        let copy = text.body(1).unwrap().clone();
        assert_eq!(text.push_body(copy), 2);
        eigentone_scene::Scene::parse(&text.text(), ".".as_ref(), "x").unwrap();
    }
}

//! Textures by name.

use super::{Texture, TextureError};
use crate::material::edit_distance;

/// Textures by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextureTable {
    pub(super) textures: Vec<Texture>,
}

impl TextureTable {
    /// Finds a texture by name, ignoring case, and treating `-`, `_` and blanks alike.
    ///
    /// # Errors
    /// [`TextureError::Unknown`], with the nearest known name if one is close.
    pub fn get(&self, name: &str) -> Result<&Texture, TextureError> {
        let wanted = normalise(name);
        self.textures
            .iter()
            .find(|t| normalise(&t.name) == wanted)
            .ok_or_else(|| TextureError::Unknown { name: name.to_owned(), suggestion: self.nearest_name(&wanted) })
    }

    /// Adds a texture; one of the same name is replaced.
    ///
    /// # Errors
    /// [`TextureError::Impossible`] if a number in it is.
    pub fn insert(&mut self, texture: Texture) -> Result<(), TextureError> {
        texture.validate()?;
        self.textures.retain(|t| normalise(&t.name) != normalise(&texture.name));
        self.textures.push(texture);
        Ok(())
    }

    /// All textures in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Texture> {
        self.textures.iter()
    }

    fn nearest_name(&self, wanted: &str) -> Option<String> {
        self.textures
            .iter()
            .map(|t| (edit_distance(&normalise(&t.name), wanted), &t.name))
            .min()
            .filter(|(distance, name)| *distance <= 2.max(name.len() / 3))
            .map(|(_, name)| name.clone())
    }
}

fn normalise(name: &str) -> String {
    name.trim().to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_are_found_by_any_spelling_and_replaced_by_name() {
        let mut table = TextureTable::default();
        for friction in [0.2, 0.3] {
            table.insert(Texture { name: "brushed-metal".into(), friction, ..Texture::default() }).unwrap();
        }
        assert_eq!((table.get(" Brushed metal").unwrap().friction, table.iter().count()), (0.3, 1));
        let error = table.get("brush_metal").unwrap_err().to_string();
        assert_eq!(error, "unknown texture `brush_metal`; did you mean `brushed-metal`?");
        assert!(table.insert(Texture { damping: 0.5, ..Texture::default() }).is_err());
    }
}

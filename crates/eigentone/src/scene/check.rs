//! What a scene must be to be played: see [`Scene::check`].

use super::Scene;

impl Scene {
    /// All that is wrong, each with its table and key.
    pub(super) fn problems(&self) -> Vec<String> {
        Vec::new()
    }
}

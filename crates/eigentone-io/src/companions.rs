//! Files that are read along with others.

use crate::{
    file::{extension, read_file},
    mesh::buffer_files,
    tet,
};
use std::path::{Path, PathBuf};

/// What is read along with a file: the buffers that a glTF keeps beside it, both files of a `.node`/`.ele` pair. Nothing for all others, and for what cannot be read.
pub fn companions(path: &Path) -> Vec<PathBuf> {
    match extension(path).as_str() {
        "node" | "ele" => tet::pair(path).to_vec(),
        "gltf" | "glb" => read_file(path).map_or_else(|_| Vec::new(), |bytes| buffer_files(&bytes, path)),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_and_pairs_belong_to_what_names_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a b.bin", "bell.1.node", "bell.1.ele", "plain.obj"] {
            std::fs::write(at(name), b"").unwrap();
        }
        let text = r#"{"buffers":[{"uri":"a%20b.bin"},{"uri":"data:,"},{"uri":"../x.bin"},{},{"uri":"none.bin"}]}"#;
        std::fs::write(at("room.gltf"), text).unwrap();
        assert_eq!(companions(&at("room.gltf")), [at("a b.bin")]);
        assert_eq!(companions(&at("bell.1.node")), [at("bell.1.node"), at("bell.1.ele")]);
        let mut binary = [&b"glTF\x02\0\0\0\0\0\0\0"[..], &(text.len() as u32).to_le_bytes(), b"JSON"].concat();
        binary.extend(text.bytes());
        std::fs::write(at("room.glb"), &binary).unwrap();
        assert_eq!(companions(&at("room.glb")), [at("a b.bin")]);
        assert!(companions(&at("plain.obj")).is_empty() && companions(&at("missing.gltf")).is_empty());
    }
}

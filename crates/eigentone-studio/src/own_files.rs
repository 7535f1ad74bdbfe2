//! Scene files in the folder where the studio was started: listed and opened by their plain names, never beyond that folder.

use crate::fault::Fault;
use crate::request::short;
use eigentone_scene::scene::LARGEST_SCENE_BYTES;
use std::path::{Path, PathBuf};

/// Files that are listed at most.
const MAX_LISTED: usize = 100;

/// Entries of the folder that are looked at: it may be any folder.
const MAX_LOOKED_AT: usize = 10_000;

/// Names of the scene files in a folder, in order.
pub fn list(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(MAX_LOOKED_AT).flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| read(folder, name).is_ok_and(|(text, _)| text.contains("[[body]]")))
        .take(MAX_LISTED)
        .collect();
    names.sort();
    names
}

/// Reads one of them.
///
/// # Errors
/// If it is not a plain name, not there, a link, too large or not text.
pub fn read(folder: &Path, name: &str) -> Result<(String, PathBuf), Fault> {
    let plain = Path::new(name).file_name().is_some_and(|f| f == name) && !name.contains(['\\', ':', '\0']);
    if !plain || name.starts_with('.') || !name.ends_with(".toml") {
        return Err(Fault::bad(
            "a scene is opened by its plain name",
            "it ends in .toml and lies where the studio runs",
        ));
    }
    let missing = || Fault::missing(format!("there is no scene file `{}`", short(name)), "it may have been moved");
    let file = folder.join(name);
    let about = std::fs::symlink_metadata(&file).map_err(|_| missing())?;
    if !about.is_file() {
        return Err(missing());
    }
    if about.len() > LARGEST_SCENE_BYTES {
        return Err(Fault::bad(format!("`{}` is too large for a scene", short(name)), ""));
    }
    let text = std::fs::read_to_string(&file).map_err(|e| Fault::bad(e.to_string(), "is it yours to read?"))?;
    Ok((text, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scenes_of_the_folder_are_listed_and_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("b.toml", "[[body]]\n");
        write("a.toml", "[[body]]\n");
        write("Cargo.toml", "[package]\n");
        write(".hidden.toml", "[[body]]\n");
        write("notes.txt", "[[body]]\n");
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path().join("a.toml"), folder.path().join("link.toml")).unwrap();
        assert_eq!(list(folder.path()), ["a.toml", "b.toml"]);
        assert!(read(folder.path(), "a.toml").is_ok());
        for bad in
            ["../a.toml", "/etc/passwd", ".hidden.toml", "link.toml", "c.toml", "notes.txt", "", "..", "x/a.toml"]
        {
            assert!(read(folder.path(), bad).is_err(), "{bad}");
        }
    }
}

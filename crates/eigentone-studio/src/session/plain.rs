//! Files of the studio's own: never written or read through a link that somebody has put in their place.

use crate::server::LARGEST_SCENE;
use eigentone_io::write_atomic;
use std::io;
use std::path::Path;

/// Whether a file of ours is here, and not a link to another.
pub fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|m| m.is_file())
}

/// Whether anything has this name, also a link that leads nowhere.
pub fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The text of a file that the studio wrote; none if it is a link, larger than a scene may be, or not text.
pub fn read(path: &Path) -> Option<String> {
    let fits = path.symlink_metadata().is_ok_and(|m| m.is_file() && m.len() <= LARGEST_SCENE as u64);
    fits.then(|| std::fs::read_to_string(path).ok())?
}

/// Writes a file whose name is the studio's to give: a link in its place is taken away first, and what it leads to is left alone.
///
/// # Errors
/// If it cannot be written, or a folder has its name.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    clear_link(path)?;
    write_atomic(path, |w| w.write_all(bytes)).map_err(|e| e.to_string())
}

/// Takes a link away that has a name of ours.
///
/// # Errors
/// If it cannot be taken away.
pub fn clear_link(path: &Path) -> Result<(), String> {
    if path.is_symlink() {
        std::fs::remove_file(path).map_err(|e| format!("{} is a link that cannot be removed: {e}", path.display()))?;
    }
    Ok(())
}

/// Whether a file that a person named may be written: it is no link, or one that stays in its folder.
pub fn stays_inside(path: &Path) -> bool {
    if !path.is_symlink() {
        return true;
    }
    let folder = path.parent().filter(|f| *f != Path::new("")).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.canonicalize()) {
        (Ok(folder), Ok(file)) => file.starts_with(folder),
        _ => false,
    }
}

/// Makes a folder if it is not there.
///
/// # Errors
/// If it cannot be made, or is a link or a file.
pub fn folder(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::other(format!("{} is not a folder, but a link or a file", path.display()))),
        Err(_) => std::fs::create_dir_all(path),
    }
}

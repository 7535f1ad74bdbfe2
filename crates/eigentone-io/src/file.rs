//! Whole files into memory, within bounds, and paths that stay in their folder.

use crate::error::ReadError;
use std::{
    fs::File,
    io::Read,
    path::{Component, Path, PathBuf},
};

/// The largest file that is read, in bytes: 1 GiB.
pub const LARGEST_FILE_BYTES: u64 = 1 << 30;

/// Reads a whole file of at most [`LARGEST_FILE_BYTES`].
///
/// # Errors
/// If the system refuses or the file is too large.
pub fn read_file(path: &Path) -> Result<Vec<u8>, ReadError> {
    read_at_most(path, LARGEST_FILE_BYTES)
}

pub(crate) fn read_at_most(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let io = |source| ReadError::Io { file: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let too_large = |bytes| Err(ReadError::TooLarge { file: path.to_owned(), bytes, limit });
    if length > limit {
        return too_large(length);
    }
    let mut bytes = Vec::with_capacity(length as usize);
    // Pipes have no length, and a file may grow while it is read.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > limit {
        return too_large(bytes.len() as u64);
    }
    Ok(bytes)
}

/// The lower-case extension of a path; empty if there is none.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// The folder that a file is in.
pub(crate) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The path that `file` means by `relative`: beside it or below. Absolute paths, `..` and symbolic links that lead out
/// of the folder are refused, so that a scene or mesh from a stranger cannot read the rest of the disk.
///
/// # Errors
/// [`ReadError::Outside`], or [`ReadError::Io`] if there is no such file.
pub fn path_inside(file: &Path, relative: &str) -> Result<PathBuf, ReadError> {
    let folder = folder_of(file);
    let outside = || ReadError::Outside { file: file.to_owned(), path: relative.to_owned() };
    let wanted = Path::new(relative);
    let harmless = |c: Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
    if relative.is_empty() || relative.contains(['\\', '\0']) || !wanted.components().all(harmless) {
        return Err(outside());
    }
    let path = folder.join(wanted);
    let canonical = |path: &Path| path.canonicalize().map_err(|source| ReadError::Io { file: path.to_owned(), source });
    if canonical(&path)?.starts_with(canonical(folder)?) { Ok(path) } else { Err(outside()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_not_leave_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("here.bin"), b"x").unwrap();
        std::fs::write(folder.path().join("secret"), b"x").unwrap();
        let scene = inner.join("scene.toml");
        assert_eq!(path_inside(&scene, "./here.bin").unwrap(), inner.join("./here.bin"));
        for bad in ["../secret", "/etc/passwd", "a/../../secret", "..\\secret", "", "C:\\x"] {
            assert!(matches!(path_inside(&scene, bad), Err(ReadError::Outside { .. })), "{bad}");
        }
        assert!(matches!(path_inside(&scene, "missing"), Err(ReadError::Io { .. })));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("secret"), inner.join("link")).unwrap();
            assert!(matches!(path_inside(&scene, "link"), Err(ReadError::Outside { .. })));
        }
    }

    #[test]
    fn a_file_over_the_limit_is_refused_before_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("big");
        std::fs::write(&path, [0; 11]).unwrap();
        let error = read_at_most(&path, 10).unwrap_err();
        assert!(error.to_string().ends_with("big: has 11 bytes, but at most 10 are read"), "{error}");
        assert_eq!(read_at_most(&path, 11).unwrap().len(), 11);
    }
}

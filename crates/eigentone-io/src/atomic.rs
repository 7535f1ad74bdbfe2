//! Nothing is overwritten halfway: write beside, then rename.

use crate::error::WriteError;
use std::{
    io::{self, BufWriter, Seek, Write},
    path::Path,
};

/// What [`write_atomic`] hands to its caller: a place for bytes in which one can go back, as headers need.
pub trait WriteSeek: Write + Seek {}
impl<T: Write + Seek> WriteSeek for T {}

/// Writes a file through a temporary one in the same folder, which takes its name only when everything is on the disk.
/// If anything fails, or the program is interrupted, what was there before stays as it was.
///
/// # Errors
/// Whatever `content` returns, or what the system says, with the name of the file.
pub fn write_atomic(path: &Path, content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>) -> Result<(), WriteError> {
    write(path, content).map_err(|source| WriteError::Io { file: path.to_owned(), source })
}

fn write(path: &Path, content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>) -> io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(".partial");
    // Temporary files are private; the file the user asked for should get the usual permissions.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = BufWriter::new(builder.tempfile_in(folder)?);
    content(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomic(&path, |w| w.write_all(b"old")).unwrap();
        let failed = write_atomic(&path, |w| {
            w.write_all(b"new")?;
            Err(io::Error::other("the power went"))
        });
        assert!(failed.unwrap_err().to_string().ends_with("file: cannot be written: the power went"));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        write_atomic(&path, |w| w.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_missing_folder_comes_with_a_hint() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomic(&folder.path().join("no/file"), |_| Ok(())).unwrap_err();
        assert_eq!(error.hint(), Some("create the folder first"));
    }
}

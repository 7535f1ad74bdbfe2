//! Nothing is overwritten halfway: write beside, then rename.

use crate::{error::WriteError, file::folder_of};
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
    let existing = std::fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|m| m.is_dir()) {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if existing.as_ref().is_some_and(|m| !m.is_file()) {
        return write_device(path, content);
    }
    // Behind a link the file is replaced, not the link.
    let target = if path.is_symlink() { path.canonicalize()? } else { path.to_owned() };
    let folder = folder_of(&target);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(".partial");
    // Temporary files are private; the file the user asked for should get the usual permissions.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = BufWriter::new(builder.tempfile_in(folder)?);
    content(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}

/// Devices and pipes (`/dev/null`, `/dev/stdout`) must not be replaced by a file, and cannot go back: everything goes into
/// them at once.
fn write_device(path: &Path, content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>) -> io::Result<()> {
    let mut memory = io::Cursor::new(Vec::new());
    content(&mut memory)?;
    let mut device = std::fs::OpenOptions::new().write(true).open(path)?;
    device.write_all(memory.get_ref())?;
    device.flush()
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

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_stay_devices() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomic(&link, |w| w.write_all(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        write_atomic(Path::new("/dev/null"), |w| w.write_all(b"new")).unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }
}

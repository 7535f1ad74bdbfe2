//! What a file is, for commands that take any.

use crate::{error::ReadError, file::extension, mesh::MeshFormat, modes::TableFormat};
use std::{fs::File, io::Read, path::Path};

/// How much of a file is looked at.
const HEAD: u64 = 1 << 16;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// A triangle mesh.
    Mesh(MeshFormat),
    /// Half of a `.node`/`.ele` pair.
    Tet,
    /// A modal model.
    Model,
    /// An acoustic field.
    Field,
    /// A WAV or FLAC file.
    Audio,
    /// A table of modes.
    Modes(TableFormat),
    /// A scene.
    Scene,
    /// Something else.
    Unknown,
}

/// Finds out what a file is: by content where that is certain, then by extension, then by what the content looks like.
///
/// # Errors
/// If the file cannot be read.
pub fn sniff(path: &Path) -> Result<FileKind, ReadError> {
    let io = |source| ReadError::Io { file: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head).map_err(io)?;
    Ok(sniff_bytes(&head, length, path))
}

/// The same for the first bytes of a file of `length` bytes.
pub fn sniff_bytes(head: &[u8], length: u64, path: &Path) -> FileKind {
    certain(head).or_else(|| by_extension(head, path)).unwrap_or_else(|| {
        let text = head.trim_ascii_start();
        match MeshFormat::from_content(head, length) {
            Some(format) => FileKind::Mesh(format),
            None if contains(head, "frequency_hz") && text.starts_with(b"{") => FileKind::Modes(TableFormat::Json),
            None if contains(head, "frequency_hz") && text.starts_with(b"[{") => FileKind::Modes(TableFormat::Json),
            None if contains(first_line(text), "frequency_hz") => FileKind::Modes(TableFormat::Csv),
            None if contains(head, "[[body]]") => FileKind::Scene,
            None => FileKind::Unknown,
        }
    })
}

fn certain(head: &[u8]) -> Option<FileKind> {
    let is_container = head.get(8) == Some(&b'{');
    Some(match head.get(..4)? {
        b"glTF" => FileKind::Mesh(MeshFormat::Glb),
        b"ply\n" | b"ply\r" => FileKind::Mesh(MeshFormat::Ply),
        b"fLaC" => FileKind::Audio,
        b"RIFF" if head.get(8..12) == Some(b"WAVE") => FileKind::Audio,
        _ if is_container && contains(head, "\"eigentone.modal/") => FileKind::Model,
        _ if is_container && contains(head, "\"eigentone.field/") => FileKind::Field,
        _ => return None,
    })
}

fn by_extension(head: &[u8], path: &Path) -> Option<FileKind> {
    let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    Some(match extension(path).as_str() {
        "node" | "ele" => FileKind::Tet,
        "safetensors" if name.ends_with(crate::FIELD_EXTENSION) => FileKind::Field,
        "safetensors" if name.ends_with(crate::MODEL_EXTENSION) => FileKind::Model,
        "wav" | "flac" => FileKind::Audio,
        "csv" => FileKind::Modes(TableFormat::Csv),
        "json" if !contains(head, "\"asset\"") => FileKind::Modes(TableFormat::Json),
        "toml" => FileKind::Scene,
        other => FileKind::Mesh(MeshFormat::from_extension(other)?),
    })
}

fn first_line(text: &[u8]) -> &[u8] {
    text.split(|&b| b == b'\n').next().unwrap_or_default()
}

fn contains(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|w| w == part.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_goes_before_the_name_and_the_name_before_guesses() {
        let cases: [(&str, &[u8], FileKind); 18] = [
            ("a.obj", b"glTF\x02\0\0\0", FileKind::Mesh(MeshFormat::Glb)),
            ("a.wav", b"ply\nformat", FileKind::Mesh(MeshFormat::Ply)),
            ("a", b"RIFF\0\0\0\0WAVE", FileKind::Audio),
            ("a.bin", b"fLaC\0\0\0\x22", FileKind::Audio),
            ("a.obj", b"# empty", FileKind::Mesh(MeshFormat::Obj)),
            ("a", b"# x\nv 0 0 0\n", FileKind::Mesh(MeshFormat::Obj)),
            ("a", b"solid x\nfacet normal", FileKind::Mesh(MeshFormat::Stl)),
            ("a.off", b"4 1 0", FileKind::Mesh(MeshFormat::Off)),
            ("a", b"COFF\n4 1 0", FileKind::Mesh(MeshFormat::Off)),
            ("a.json", b"{\"asset\":{\"version\":\"2.0\"}}", FileKind::Mesh(MeshFormat::Gltf)),
            ("a.json", b"{\"modes\":[]}", FileKind::Modes(TableFormat::Json)),
            ("a.txt", b"index,frequency_hz\n", FileKind::Modes(TableFormat::Csv)),
            ("x.1.node", b"4 3 0 0", FileKind::Tet),
            ("a", b"\x10\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"eigentone.field/1\"}}", FileKind::Field),
            ("a.modal.safetensors", b"", FileKind::Model),
            ("A.field.safetensors", b"", FileKind::Field),
            ("s.toml", b"", FileKind::Scene),
            ("a.xyz", b"hello", FileKind::Unknown),
        ];
        for (name, head, kind) in cases {
            assert_eq!(sniff_bytes(head, head.len() as u64, Path::new(name)), kind, "{name}");
        }
    }
}

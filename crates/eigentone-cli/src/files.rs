//! Names of files to write: an extension that says something else than what will be in the file is refused before any work.

use crate::output::Failure;
use std::path::{Path, PathBuf};

/// What is written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// WAV.
    Sound,
    /// PNG.
    Picture,
    /// JSON.
    Json,
    /// A table of modes.
    Table,
    /// A modal model.
    Model,
    /// An acoustic field.
    Field,
    /// glTF with motion.
    Animation,
    /// A web page.
    Page,
    /// A contact stream.
    Stream,
}

/// Extensions of files that are something else than a model, a field or a stream.
const KNOWN: [&str; 36] = [
    "wav", "wave", "mp3", "flac", "ogg", "opus", "aac", "m4a", "aif", "aiff", "png", "jpg", "jpeg", "gif", "svg",
    "webp", "pdf", "mp4", "mov", "obj", "stl", "ply", "off", "gltf", "glb", "3mf", "fbx", "node", "ele", "csv", "json",
    "toml", "html", "htm", "txt", "zip",
];

impl Content {
    /// What it is called, how it is written, and the extensions for that, the usual one first.
    fn described(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::Sound => ("a sound", "WAV", &["wav", "wave"]),
            Self::Picture => ("a picture", "PNG", &["png"]),
            Self::Json => ("this", "JSON", &["json"]),
            Self::Table => ("a table of modes", "CSV or JSON", &["csv", "json"]),
            Self::Model => ("a model", "safetensors", &["modal.safetensors", "safetensors"]),
            Self::Field => ("a field", "safetensors", &["field.safetensors", "safetensors"]),
            Self::Animation => ("an animation", "glTF", &["glb", "gltf"]),
            Self::Page => ("a page", "HTML", &["html", "htm"]),
            Self::Stream => ("a contact stream", "JSON lines", &["jsonl", "json", "ndjson", "txt"]),
        }
    }

    /// Whether a file of this name can have it. Models, fields and streams may have any extension that means nothing else.
    fn suits(self, file: &Path) -> bool {
        let name = file.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let Some(extension) = file.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()) else { return true };
        let named = self.described().2.contains(&extension.as_str());
        match self {
            Self::Model => !name.ends_with(".field.safetensors") && !KNOWN.contains(&extension.as_str()),
            Self::Field => !name.ends_with(".modal.safetensors") && !KNOWN.contains(&extension.as_str()),
            Self::Stream => named || !KNOWN.contains(&extension.as_str()),
            _ => named,
        }
    }
}

/// Refuses names that do not suit what will be written.
pub fn check_names<'a>(
    outputs: impl IntoIterator<Item = (&'static str, Option<&'a PathBuf>, Content)>,
) -> Result<(), Failure> {
    for (flag, file, content) in outputs {
        if let Some(file) = file.filter(|file| !content.suits(file)) {
            return Err(Failure::Usage(refusal(flag, file, content)));
        }
    }
    Ok(())
}

fn refusal(flag: &str, file: &Path, content: Content) -> String {
    let (what, format, extensions) = content.described();
    let extension = file.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
    let is_known = KNOWN.contains(&extension.to_ascii_lowercase().as_str()) || extension == "safetensors";
    // A dot in a name may be no extension.
    let better = match is_known {
        true => stem(file).with_extension(extensions[0]),
        false => PathBuf::from(format!("{}.{}", file.display(), extensions[0])),
    };
    let better = better.display();
    let convert = match (content, is_known) {
        (Content::Sound, true) => {
            format!(", and convert it afterwards if need be, for instance with `ffmpeg -i {better} {}`", file.display())
        }
        _ => String::new(),
    };
    format!("{flag} {}: {what} is written as {format}, not as .{extension}; use {better}{convert}", file.display())
}

/// The name without its extension, both parts of it for models and fields.
fn stem(file: &Path) -> PathBuf {
    let stem = file.with_extension("");
    match stem.extension().is_some_and(|e| e == "modal" || e == "field") {
        true => stem.with_extension(""),
        false => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_something_else_are_refused_with_a_better_one() {
        let told = |name: &str, content| {
            let file = PathBuf::from(name);
            match check_names([("-o", Some(&file), content)]) {
                Err(Failure::Usage(message)) => Some(message),
                _ => None,
            }
        };
        for (name, content, better) in [
            ("a/x.mp3", Content::Sound, "use a/x.wav, and convert it afterwards if need be, for instance with `ffmpeg"),
            ("x.2", Content::Sound, "use x.2.wav"),
            ("x.WAV", Content::Model, "use x.modal.safetensors"),
            ("x.field.safetensors", Content::Model, "use x.modal.safetensors"),
            ("x.modal.safetensors", Content::Field, "use x.field.safetensors"),
            ("x.jpg", Content::Picture, "use x.png"),
            ("x.xlsx", Content::Table, "written as CSV or JSON, not as .xlsx; use x.xlsx.csv"),
            ("x.mp4", Content::Animation, "use x.glb"),
            ("x.wav", Content::Stream, "use x.jsonl"),
        ] {
            let message = told(name, content).unwrap_or_else(|| panic!("{name}"));
            assert!(message.starts_with(&format!("-o {name}: ")) && message.contains(better), "{message}");
        }
        for (name, content) in [
            ("x.wav", Content::Sound),
            ("x.WAV", Content::Sound),
            ("/dev/null", Content::Sound),
            ("x.m", Content::Model),
            ("cup.v2.safetensors", Content::Model),
            ("x.rec", Content::Stream),
            ("x.gltf", Content::Animation),
        ] {
            assert_eq!(told(name, content), None, "{name}");
        }
    }
}

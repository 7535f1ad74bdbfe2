//! Readers and writers of untrusted files: meshes, models, audio.
#![forbid(unsafe_code)]

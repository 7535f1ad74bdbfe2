//! The studio as a page meets it: over HTTP and the WebSocket, without a browser.

mod audio_path;
mod client;
mod document;
mod edits;
mod security;
mod sound;

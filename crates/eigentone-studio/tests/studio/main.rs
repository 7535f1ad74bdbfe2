//! The studio as a page meets it: over HTTP and the WebSocket, without a browser.

mod client;
mod document;
mod edits;
mod persistence;
mod security;
mod sound;
mod takes;

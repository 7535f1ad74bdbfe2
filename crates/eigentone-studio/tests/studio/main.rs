//! The studio as a page meets it: over HTTP and the WebSocket, without a browser.

mod audio_path;
mod client;
mod document;
mod edits;
mod floods;
mod hosts;
mod links;
mod messages;
mod persistence;
mod rooms;
mod security;
mod shaping;
mod soft;
mod sound;
mod takes;

//! What went wrong, told to whoever asked: one sentence, and what to do.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use eigentone_world::WorldError;
use serde_json::{Value, json};

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct Fault {
    /// Status of the answer over HTTP.
    pub status: u16,
    /// What was wrong.
    pub error: String,
    /// What to do; may be empty.
    pub hint: String,
}

impl Fault {
    /// A request that makes no sense.
    pub fn bad(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status: 400, error: error.into(), hint: hint.into() }
    }

    /// Something that does not exist.
    pub fn missing(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status: 404, error: error.into(), hint: hint.into() }
    }

    /// No body has this number.
    pub fn no_body(id: u64) -> Self {
        Self::missing(format!("there is no body {id} any more"), "the list of bodies comes with the `scene` event")
    }

    /// Something that failed on this side.
    pub fn failed(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status: 500, error: error.into(), hint: hint.into() }
    }

    /// The studio is ending or has too much to do.
    pub fn busy() -> Self {
        let hint = "wait a moment and ask again";
        Self { status: 503, error: "the studio is busy".to_owned(), hint: hint.to_owned() }
    }

    /// As the answer to a message.
    pub fn to_json(&self) -> Value {
        json!({ "error": self.error, "hint": self.hint })
    }
}

impl From<WorldError> for Fault {
    fn from(error: WorldError) -> Self {
        Self::bad(error.to_string(), "")
    }
}

impl From<eigentone_scene::Error> for Fault {
    fn from(error: eigentone_scene::Error) -> Self {
        Self::bad(error.to_string(), "")
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self.to_json())).into_response()
    }
}

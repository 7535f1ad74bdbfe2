//! Who may come in: only this machine, only pages of ours, only with the token, and not too often.
//!
//! A page of another site could make a browser ask this server (cross-site requests), or point a name of its own at 127.0.0.1 (DNS rebinding). The Host header must therefore be a name of this machine with our port, and an Origin, where
//! there is one, must be the same.

use crate::fault::Fault;
use crate::lines::{Line, OnLine};
use crate::server::{LARGEST_UPLOAD, Shared};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, ORIGIN};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What the page may load: its own files, and nothing that is written into them or made on the way. Sockets lead back here.
pub fn policy(port: u16) -> String {
    // No IPv6 literal: policies have no grammar for it, and browsers complain; `'self'` covers it.
    let sockets = ["127.0.0.1", "localhost"].map(|host| format!("ws://{host}:{port}")).join(" ");
    format!(
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

/// A request takes no longer than this; uploads and exports are done by then.
const LONGEST: Duration = Duration::from_secs(180);

/// So many at once, and so many a second.
#[derive(Debug)]
pub struct Bucket {
    state: Mutex<(f64, Instant)>,
    size: f64,
    per_s: f64,
}

impl Bucket {
    /// Full.
    pub fn new(size: f64, per_s: f64) -> Self {
        Self { state: Mutex::new((size, Instant::now())), size, per_s }
    }

    /// Takes one out; false if there is none.
    pub fn take(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let filled = (state.0 + self.per_s * (now - state.1).as_secs_f64()).min(self.size);
        let enough = filled >= 1.0;
        *state = (if enough { filled - 1.0 } else { filled }, now);
        enough
    }
}

/// Checks every request, and says with every answer what the page may do.
pub async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let line = request.extensions().get::<ConnectInfo<OnLine>>().map(|ConnectInfo(OnLine(line))| line.clone());
    let mut response = match check(&shared, &request, line.as_deref()) {
        Ok(()) => match tokio::time::timeout(LONGEST, next.run(request)).await {
            Ok(response) => response,
            Err(_) => {
                Fault { status: 408, error: "this took too long".to_owned(), hint: String::new() }.into_response()
            }
        },
        Err(fault) => fault.into_response(),
    };
    // A WebSocket goes on, and has limits of its own.
    if let Some(line) = line.filter(|_| response.status() != StatusCode::SWITCHING_PROTOCOLS) {
        line.answered();
    }
    let headers = response.headers_mut();
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Ok(policy) = HeaderValue::from_str(&shared.policy) {
        headers.insert(HeaderName::from_static("content-security-policy"), policy);
    }
    response
}

fn check(shared: &Shared, request: &Request, line: Option<&Line>) -> Result<(), Fault> {
    let refused = |error: &str| {
        let hint = "open the address that the command printed".to_owned();
        Fault { status: 403, error: error.to_owned(), hint }
    };
    let headers = request.headers();
    let host = headers.get(HOST).and_then(|h| h.to_str().ok()).unwrap_or_default();
    // The whole address may stand in the first line, and then counts as well.
    let addressed = request.uri().authority().is_none_or(|a| is_ours(a.as_str(), shared.port));
    if headers.get_all(HOST).iter().count() != 1 || !is_ours(host, shared.port) || !addressed {
        return Err(refused("this host name is not served"));
    }
    for origin in headers.get_all(ORIGIN) {
        let origin = origin.to_str().ok().and_then(|o| o.strip_prefix("http://"));
        if !origin.is_some_and(|o| is_ours(o, shared.port)) {
            return Err(refused("pages of other origins are not served"));
        }
    }
    if from_elsewhere(headers) {
        return Err(refused("pages of other sites are not served"));
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|l| l.to_str().ok()).and_then(|l| l.parse::<u64>().ok());
    if length.is_some_and(|l| l > LARGEST_UPLOAD as u64) {
        let hint = "64 MiB are taken; make the mesh coarser or the recording shorter".to_owned();
        return Err(Fault { status: 413, error: "this file is too large".to_owned(), hint });
    }
    let path = request.uri().path();
    let needs_token = path == "/ws" || path.starts_with("/api/") || path == "/api";
    if needs_token && !given_token(headers, request.uri()).is_some_and(|t| shared.token.matches(&t)) {
        let hint = "open the address that the command printed; it ends in #token=…".to_owned();
        return Err(Fault { status: 401, error: "the token is missing or wrong".to_owned(), hint });
    }
    // Counted only now, and apart: strangers cannot use up what the page needs.
    let bucket = if needs_token { &shared.rate } else { &shared.page_rate };
    if !bucket.take() {
        let hint = "wait a moment".to_owned();
        return Err(Fault { status: 429, error: "too many requests".to_owned(), hint });
    }
    if let Some(line) = line {
        line.begin(needs_token);
    }
    Ok(())
}

/// Whether a host with its port is this machine and our port.
fn is_ours(host: &str, port: u16) -> bool {
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| host.strip_prefix(name) == Some(&format!(":{port}")))
}

/// Whether a browser says that another site's page wants this. Following a link to the page is no harm.
fn from_elsewhere(headers: &HeaderMap) -> bool {
    let says = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
    let foreign = says("sec-fetch-site").is_some_and(|site| !matches!(site, b"same-origin" | b"none"));
    foreign && says("sec-fetch-dest") != Some(b"document")
}

fn given_token(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let bearer = headers.get(AUTHORIZATION).and_then(|h| h.to_str().ok()).and_then(|h| h.strip_prefix("Bearer "));
    let query = || uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="));
    bearer.or_else(query).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_ours() {
        for good in ["127.0.0.1:80", "localhost:80", "[::1]:80"] {
            assert!(is_ours(good, 80));
        }
        for bad in [
            "",
            "127.0.0.1",
            "127.0.0.1:81",
            "evil.example:80",
            "127.0.0.1.evil.example:80",
            "localhost:80x",
            "localhost:+80",
            "localhost:080",
            "localhost.:80",
            "LOCALHOST:80",
            "[::ffff:127.0.0.1]:80",
            "user@127.0.0.1:80",
            "0.0.0.0:80",
        ] {
            assert!(!is_ours(bad, 80), "{bad}");
        }
    }

    #[test]
    fn a_bucket_runs_dry() {
        let bucket = Bucket::new(3.0, 0.0);
        assert_eq!((0..5).filter(|_| bucket.take()).count(), 3);
    }
}

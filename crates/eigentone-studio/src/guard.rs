//! Who may come in: only this machine, only pages of ours, only with the token, and not too often.
//!
//! A page of another site could make a browser ask this server (cross-site requests), or point a name of its own at 127.0.0.1 (DNS rebinding). The Host header must therefore be a name of this machine with our port, and an Origin, where
//! there is one, must be the same.

use crate::fault::Fault;
use crate::server::{LARGEST_UPLOAD, Shared};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, ORIGIN};
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What the page may load: itself, and what it makes. Worklets and pictures may be blobs; sockets lead back here.
pub fn policy(port: u16) -> String {
    // No IPv6 literal: policies have no grammar for it, and browsers complain; `'self'` covers it.
    let sockets = ["127.0.0.1", "localhost"].map(|host| format!("ws://{host}:{port}")).join(" ");
    format!(
        "default-src 'self'; script-src 'self' blob:; worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' {sockets}; object-src 'none'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
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
    let mut response = match check(&shared, &request) {
        Ok(()) => match tokio::time::timeout(LONGEST, next.run(request)).await {
            Ok(response) => response,
            Err(_) => {
                Fault { status: 408, error: "this took too long".to_owned(), hint: String::new() }.into_response()
            }
        },
        Err(fault) => fault.into_response(),
    };
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

fn check(shared: &Shared, request: &Request) -> Result<(), Fault> {
    if !shared.rate.take() {
        let hint = "wait a moment".to_owned();
        return Err(Fault { status: 429, error: "too many requests".to_owned(), hint });
    }
    let refused = |error: &str| {
        let hint = "open the address that the command printed".to_owned();
        Fault { status: 403, error: error.to_owned(), hint }
    };
    let headers = request.headers();
    let host = headers.get(HOST).and_then(|h| h.to_str().ok()).unwrap_or_default();
    if headers.get_all(HOST).iter().count() != 1 || !is_ours(host, shared.port) {
        return Err(refused("this host name is not served"));
    }
    if let Some(origin) = headers.get(ORIGIN) {
        let origin = origin.to_str().ok().and_then(|o| o.strip_prefix("http://"));
        if !origin.is_some_and(|o| is_ours(o, shared.port)) {
            return Err(refused("pages of other origins are not served"));
        }
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
    Ok(())
}

/// Whether a host with its port is this machine and our port.
fn is_ours(host: &str, port: u16) -> bool {
    let Some((name, found)) = host.rsplit_once(':') else { return false };
    found.parse() == Ok(port) && ["127.0.0.1", "localhost", "[::1]"].contains(&name)
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

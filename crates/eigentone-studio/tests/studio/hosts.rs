//! Names under which somebody else could come, and what every answer forbids.

use crate::client::{Fixture, PLATE, raw_http};
use std::io::{Read, Write};
use std::net::TcpStream;

/// A name that leads to 127.0.0.1 by somebody else's DNS, or is only written like ours, is not ours: pages, API and WebSocket refuse it with and without the token.
#[test]
fn rebinding_names_are_refused() {
    let fixture = Fixture::new(PLATE);
    let address = fixture.studio.address();
    let port = address.port();
    let token = fixture.studio.token();
    let names = [
        "evil.example",
        "127.0.0.1.nip.io",
        "localhost.evil",
        "localhost.evil.example",
        "evil.localhost",
        "127.0.0.1.evil.example",
        "localhost.",
        "127.0.0.1.",
        "LOCALHOST",
        "LocalHost",
        "0.0.0.0",
        "0",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.0.0.2",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:0:0:1]",
        "[::1%25lo]",
        "::1",
        "user@127.0.0.1",
        "user:pass@localhost",
        "localhost@evil.example",
        "127.0.0.1,evil.example",
        "127.0.0.1 evil.example",
    ];
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for name in names {
        let host = format!("Host: {name}:{port}\r\n");
        let refused = |status: u16| status == 403 || status == 400;
        assert!(refused(raw_http(address, "GET", "/", &host, b"").0), "{name}: page");
        assert!(refused(raw_http(address, "GET", "/api/hello", &format!("{host}{bearer}"), b"").0), "{name}: API");
        let path = format!("/ws?token={token}");
        assert!(refused(raw_http(address, "GET", &path, &format!("{host}{upgrade}"), b"").0), "{name}: WebSocket");
        let origin = format!("Origin: http://{name}:{port}\r\n{bearer}");
        assert_eq!(raw_http(address, "GET", "/api/hello", &origin, b"").0, 403, "{name}: as an origin");
    }
    for host in [
        format!("localhost:+{port}"),
        format!("localhost:0{port}"),
        format!("localhost:{port} "),
        format!("localhost:{port}/"),
        format!("localhost:{port}:{port}"),
        String::new(),
    ] {
        let status = raw_http(address, "GET", "/api/hello", &format!("Host: {host}\r\n{bearer}"), b"").0;
        // White space after a header's value is not part of it.
        let wanted: &[u16] = if host.ends_with(' ') { &[200] } else { &[400, 403] };
        assert!(wanted.contains(&status), "{host:?}: {status}");
    }
    for good in ["localhost", "127.0.0.1", "[::1]"] {
        assert_eq!(raw_http(address, "GET", "/", &format!("Host: {good}:{port}\r\n"), b"").0, 200, "{good}");
    }
}

/// The first line may hold a whole address, and there may be two Hosts or none: none of that is a way in.
#[test]
fn odd_requests_are_refused() {
    let fixture = Fixture::new(PLATE);
    let address = fixture.studio.address();
    let status = |request: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(30))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).split(' ').nth(1).and_then(|s| s.parse::<u16>().ok()).unwrap_or(0)
    };
    let end = "Connection: close\r\n\r\n";
    assert_eq!(status(&format!("GET / HTTP/1.1\r\nHost: {address}\r\n{end}")), 200);
    assert_eq!(status(&format!("GET http://{address}/ HTTP/1.1\r\nHost: {address}\r\n{end}")), 200);
    for request in [
        format!("GET http://evil.example/ HTTP/1.1\r\nHost: {address}\r\n{end}"),
        format!("GET http://user@{address}/ HTTP/1.1\r\nHost: {address}\r\n{end}"),
        format!("GET / HTTP/1.1\r\nHost: {address}\r\nHost: evil.example\r\n{end}"),
        format!(
            "GET / HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nOrigin: http://evil.example\r\n{end}"
        ),
        format!("GET / HTTP/1.1\r\n{end}"),
        format!("GET / HTTP/1.0\r\n{end}"),
        format!("CONNECT evil.example:80 HTTP/1.1\r\nHost: {address}\r\n{end}"),
        format!("GET / HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: image\r\n{end}"),
        format!("GET / HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Dest: script\r\n{end}"),
        format!("GET / HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: iframe\r\n{end}"),
        "\u{0}\u{1}\r\n\r\n".to_owned(),
    ] {
        let found = status(&request);
        assert!((400..500).contains(&found) || found == 0, "{found}: {request}");
    }
    let followed =
        format!("GET / HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: document\r\n{end}");
    assert_eq!(status(&followed), 200, "a link to the page may be followed");
}

/// A token that is nearly right, given twice, or in another way, is none.
#[test]
fn tokens_that_are_nearly_right_are_refused() {
    let fixture = Fixture::new(PLATE);
    let address = fixture.studio.address();
    let token = fixture.studio.token().to_owned();
    let mut last = token.clone().into_bytes();
    last[31] = if last[31] == b'0' { b'1' } else { b'0' };
    let last = String::from_utf8(last).unwrap();
    let wrong = [
        String::new(),
        token[..31].to_owned(),
        format!("{token}0"),
        format!("{token}%00"),
        format!(" {token}"),
        token.to_uppercase() + "x",
        last,
        "0".repeat(60_000),
    ];
    for given in &wrong {
        let header = format!("Authorization: Bearer {given}\r\n");
        assert_eq!(raw_http(address, "GET", "/api/hello", &header, b"").0, 401, "Bearer {given:.40}");
        if !given.contains(' ') {
            let status = raw_http(address, "GET", &format!("/api/hello?token={given}"), "", b"").0;
            assert!(status == 401 || status == 414, "?token={given:.40}: {status}");
        }
    }
    for header in [
        format!("Authorization: Basic {token}\r\n"),
        format!("Cookie: token={token}\r\n"),
        format!("Authorization: {token}\r\n"),
    ] {
        assert_eq!(raw_http(address, "GET", "/api/hello", &header, b"").0, 401, "{header}");
    }
}

/// Every answer, also a refusal, says that nothing foreign may be loaded, framed, guessed or passed on.
#[test]
fn every_answer_forbids_what_the_page_does_not_need() {
    let fixture = Fixture::new(PLATE);
    let address = fixture.studio.address();
    for (path, host) in [("/", ""), ("/nothing", ""), ("/api/hello", ""), ("/", "Host: evil.example\r\n")] {
        let mut stream = TcpStream::connect(address).unwrap();
        let host = if host.is_empty() { format!("Host: {address}\r\n") } else { host.to_owned() };
        stream.write_all(format!("GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
        for wanted in [
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
            "cross-origin-opener-policy: same-origin",
            "default-src 'none'",
            "frame-ancestors 'none'",
            "script-src 'self';",
        ] {
            assert!(head.contains(wanted), "{path}: {wanted} is not in {head}");
        }
        for unwanted in ["unsafe", "blob:", "data:", "access-control-allow"] {
            assert!(!head.contains(unwanted), "{path}: {unwanted} is in {head}");
        }
    }
}

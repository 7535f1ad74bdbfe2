//! Too many, too slow, too often: refused, while a page that plays hears everything.

use crate::client::{Fixture, PLATE, raw_http};
use eigentone_studio::{MAX_LINES, MAX_SOCKETS};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A thousand, or as many as this system lets a program have beside the server's own.
fn a_thousand() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files = limits.lines().find_map(|l| l.strip_prefix("Max open files")?.split_whitespace().next()?.parse().ok());
    files.map_or(1000, |files: usize| files.saturating_sub(2 * MAX_LINES)).clamp(100, 1000)
}

/// Whether the server has ended this connection.
fn is_over(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 256]) {
        Ok(read) => read == 0,
        Err(e) => e.kind() != std::io::ErrorKind::WouldBlock,
    }
}

/// A thousand connections that say nothing or never come to an end take up bounded room, are closed after a while however busy they are, and keep nobody out.
#[test]
fn a_thousand_connections_keep_nobody_out() {
    let fixture = Fixture::new(PLATE);
    let address = fixture.studio.address();
    let mut player = fixture.connect();
    player.listen();
    player.play(4096);
    let mut crowd: Vec<TcpStream> = Vec::new();
    for number in 0..a_thousand() {
        let mut stream = TcpStream::connect(address).unwrap();
        if number % 2 == 1 {
            // Half of them begin a request, and will go on with it for ever.
            let _ = stream.write_all(format!("GET / HTTP/1.1\r\nHost: {address}\r\n").as_bytes());
        }
        stream.set_nonblocking(true).unwrap();
        crowd.push(stream);
        if number % 100 == 0 {
            player.play(1024);
            assert_eq!(fixture.http("GET", "/", b"").0, 200, "the page is served with {number} strangers");
        }
    }
    assert_eq!(fixture.http("GET", "/api/hello", b"").0, 200);
    assert!(fixture.try_connect(fixture.studio.token(), None).is_ok(), "another page gets in");
    let begin = Instant::now();
    let mut open = crowd.len();
    while open > 0 {
        assert!(begin.elapsed() < Duration::from_secs(120), "{open} are still open");
        crowd.retain_mut(|stream| !is_over(stream));
        open = crowd.len();
        for stream in &mut crowd {
            let _ = stream.write(b"X: y\r\n");
        }
        player.play(4096);
        assert!(open <= MAX_LINES || begin.elapsed() < Duration::from_secs(60), "{open} are open at once");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(fixture.http("GET", "/", b"").0, 200);
}

/// A thousand WebSockets with the token: sixteen are served, the others are told why not, and what they held is given back.
#[test]
fn a_thousand_websockets_are_bounded() {
    let fixture = Fixture::new(PLATE);
    let mut player = fixture.connect();
    player.listen();
    player.play(4096);
    let mut open = Vec::new();
    for number in 0..1000 {
        match fixture.try_connect(fixture.studio.token(), None) {
            Ok(page) => open.push(page),
            Err(status) => assert!(status == 503 || status == 429, "{status}"),
        }
        if number % 50 == 0 {
            player.play(1024);
        }
    }
    assert_eq!(open.len(), MAX_SOCKETS - 1);
    drop(open);
    player.play(44_100);
    let begin = Instant::now();
    while fixture.try_connect(fixture.studio.token(), None).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(30), "no place was given back");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Strangers who ask without pause do not use up what the page may ask; a page that does is told to wait, and only for a moment.
#[test]
fn floods_of_requests_are_refused_and_the_sound_goes_on() {
    let fixture = Fixture::new(PLATE);
    let address = fixture.studio.address();
    let mut player = fixture.connect();
    let plate = player.id("plate");
    player.listen();
    player.play(4096);
    let (over, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for kind in 0..3 {
            let (over, sent) = (&over, &sent);
            scope.spawn(move || {
                while !over.load(Relaxed) {
                    let (path, headers, wanted) = match kind {
                        0 => ("/api/hello", "Origin: http://evil.example\r\n", [403, 403]),
                        1 => ("/api/hello", "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n", [401, 401]),
                        _ => ("/favicon.svg", "", [200, 429]),
                    };
                    let status = raw_http(address, "GET", path, headers, b"").0;
                    assert!(wanted.contains(&status), "{path}: {status}");
                    sent.fetch_add(1, Relaxed);
                }
            });
        }
        let begin = Instant::now();
        while sent.load(Relaxed) < 1500 && begin.elapsed() < Duration::from_secs(60) {
            player.play(2048);
            assert_eq!(fixture.http("GET", "/api/hello", b"").0, 200, "the page's own requests are answered");
            std::thread::sleep(Duration::from_millis(10));
        }
        over.store(true, Relaxed);
    });
    assert!(sent.load(Relaxed) > 100, "{}", sent.load(Relaxed));
    let begin = Instant::now();
    while fixture.http("GET", "/api/hello", b"").0 == 200 {
        assert!(begin.elapsed() < Duration::from_secs(60), "a page may ask without end");
    }
    player.play(4096);
    let begin = Instant::now();
    while fixture.http("GET", "/api/hello", b"").0 != 200 {
        assert!(begin.elapsed() < Duration::from_secs(30), "it is never let in again");
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut noisy = fixture.connect();
    for _ in 0..20_000 {
        let text = json!({ "do": "strike", "body": plate, "impulse_ns": 1e-4, "id": 1 }).to_string();
        if !noisy.send_raw(tokio_tungstenite::tungstenite::Message::text(text)) {
            break;
        }
    }
    player.play(44_100);
    assert_eq!(player.ask(json!({ "do": "why", "body": plate }))["ok"], true, "another page is heard");
}

/// Whoever takes an answer a byte at a time, or sends a file a byte at a time, holds up nobody.
#[test]
fn slow_requests_hold_up_nobody() {
    let fixture = Fixture::new(PLATE);
    let address = fixture.studio.address();
    let token = fixture.studio.token();
    let mut player = fixture.connect();
    player.listen();
    player.play(4096);
    let mut slow: Vec<TcpStream> = Vec::new();
    for _ in 0..50 {
        let mut reader = TcpStream::connect(address).unwrap();
        write!(reader, "GET /assets/three.js HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        slow.push(reader);
    }
    for _ in 0..2 {
        let mut writer = TcpStream::connect(address).unwrap();
        write!(writer, "POST /api/scene HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Length: 1000\r\n\r\n#").unwrap();
        slow.push(writer);
    }
    for _ in 0..20 {
        for stream in &mut slow {
            let _ = stream.write(b"#");
        }
        player.play(2048);
        assert_eq!(fixture.http("GET", "/api/hello", b"").0, 200);
        assert_eq!(fixture.http("GET", "/", b"").0, 200);
    }
}

//! Who is let in, and what cannot be done from outside.

use crate::client::{Fixture, PLATE, raw_http, rms};
use serde_json::json;
use std::time::{Duration, Instant};

/// Only this machine's own names and the page's own origin are served, also for the WebSocket; everything but the page needs the token.
#[test]
fn foreign_hosts_origins_and_tokens_are_refused() {
    let fixture = Fixture::new(PLATE);
    let address = fixture.studio.address();
    let port = address.port();
    let token = format!("Authorization: Bearer {}\r\n", fixture.studio.token());
    let status = |path: &str, headers: &str| raw_http(address, "GET", path, headers, b"").0;
    assert_eq!(status("/", ""), 200);
    assert_eq!(status("/api/hello", &token), 200);
    assert_eq!(status(&format!("/api/hello?token={}", fixture.studio.token()), ""), 200);
    assert_eq!(status("/api/hello", &format!("Host: localhost:{port}\r\n{token}")), 200);
    for path in ["/api/hello", "/api/scene.toml", "/api/export/take.wav", "/api/mesh/1", "/api/nothing", "/ws"] {
        assert_eq!(status(path, ""), 401, "{path} without a token");
        assert_eq!(status(path, "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n"), 401, "{path}");
    }
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        "127.0.0.1:1",
        &format!("127.0.0.1.evil.example:{port}"),
    ] {
        assert_eq!(status("/", &format!("Host: {host}\r\n")), 403, "{host}");
        assert_eq!(status("/api/hello", &format!("Host: {host}\r\n{token}")), 403, "{host}");
    }
    for origin in
        ["http://evil.example", "null", "https://127.0.0.1", &format!("https://127.0.0.1:{port}"), "http://127.0.0.1:1"]
    {
        assert_eq!(status("/api/hello", &format!("Origin: {origin}\r\n{token}")), 403, "{origin}");
        assert_eq!(fixture.try_connect(fixture.studio.token(), Some(origin)).err(), Some(403), "{origin}");
    }
    assert_eq!(status("/api/hello", &format!("Origin: http://127.0.0.1:{port}\r\n{token}")), 200);
    assert!(fixture.try_connect(fixture.studio.token(), Some(&format!("http://localhost:{port}"))).is_ok());
    assert_eq!(fixture.try_connect("wrong", None).err(), Some(401));
    assert_eq!(fixture.try_connect("", None).err(), Some(401));
    assert!(address.ip().is_loopback());
}

/// No path leads out of the page, embedded or on disk.
#[test]
fn no_path_leads_out_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page");
    std::fs::create_dir(&page).unwrap();
    std::fs::write(page.join("index.html"), "on disk").unwrap();
    std::fs::write(folder.path().join("secret.txt"), "secret").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.txt"), page.join("link.txt")).unwrap();
    let options =
        eigentone_studio::Options { page_dir: Some(page), home: Some(folder.path().to_owned()), ..Default::default() };
    let on_disk = Fixture::of(options, folder);
    let embedded = Fixture::new(PLATE);
    for fixture in [&on_disk, &embedded] {
        assert_eq!(fixture.http("GET", "/", b"").0, 200);
        for path in [
            "/../secret.txt",
            "/..%2fsecret.txt",
            "/%2e%2e/secret.txt",
            "/./../secret.txt",
            "//etc/passwd",
            "/link.txt",
            "/..\\secret.txt",
            "/page/../../secret.txt",
            "/Cargo.toml",
        ] {
            let (status, body) = fixture.http("GET", path, b"");
            assert!(status == 404 || status == 400, "{path}: {status}");
            assert!(!String::from_utf8_lossy(&body).contains("secret"), "{path}");
        }
        assert_eq!(fixture.http("POST", "/", b"").0, 405);
    }
}

/// What is malformed is answered with what is wrong, what is too large ends the connection, and the studio goes on.
#[test]
fn malformed_and_oversized_messages_do_no_harm() {
    let fixture = Fixture::new(PLATE);
    let mut page = fixture.connect();
    let plate = page.id("plate");
    for text in [
        "",
        "{",
        "[]",
        "{\"do\":\"fly\"}",
        "{\"do\":\"strike\",\"body\":\"x\"}",
        "{\"do\":\"strike\",\"body\":1e300,\"impulse_ns\":1}",
        "\u{0}",
    ] {
        page.send_text(text);
        let begin = Instant::now();
        while page.next(Duration::from_secs(5)).is_none_or(|m| m["ok"] != json!(false)) {
            assert!(begin.elapsed() < Duration::from_secs(5), "{text:?} is not answered");
        }
    }
    let nonsense = [
        json!({ "do": "strike", "body": plate, "impulse_ns": -1 }),
        json!({ "do": "strike", "body": plate, "impulse_ns": 1e9 }),
        json!({ "do": "strike", "body": plate, "impulse_ns": 0.1, "mallet": "feather" }),
        json!({ "do": "strike", "body": plate, "impulse_ns": 0.1, "mallet": { "mass_kg": -1, "stiffness_n_m": 0 } }),
        json!({ "do": "strike", "body": 999, "impulse_ns": 0.1 }),
        json!({ "do": "set", "body": plate, "size": 0 }),
        json!({ "do": "set", "body": plate, "material": "unobtainium" }),
        json!({ "do": "set", "body": plate, "surface": "nothing" }),
        json!({ "do": "set", "body": plate, "position": [1e99, 0, 0] }),
        json!({ "do": "set", "body": plate, "rotation": [0, 0, 0, 0] }),
        json!({ "do": "set", "body": plate, "name": "" }),
        json!({ "do": "speed", "value": 0 }),
        json!({ "do": "hail", "particles": 1_000_000_000 }),
        json!({ "do": "hail", "size": [0, 0, 0] }),
        json!({ "do": "open", "scene": "../../etc/passwd" }),
        json!({ "do": "quality", "masking_db": -1 }),
        json!({ "do": "grab", "body": plate, "at": [0, 0, 0] }),
    ];
    for request in nonsense {
        assert_eq!(page.ask(request.clone())["ok"], false, "{request}");
    }
    assert_eq!(page.ask(json!({ "do": "undo" }))["ok"], false, "what was refused is no step");
    page.send_text(&format!("{{\"do\":\"why\",\"x\":\"{}\"}}", "x".repeat(70_000)));
    let begin = Instant::now();
    while page.next(Duration::from_secs(5)).is_some() {
        assert!(begin.elapsed() < Duration::from_secs(5), "the connection should be closed");
    }
    let mut page = fixture.connect();
    page.must(json!({ "do": "strike", "body": plate, "impulse_ns": 0.01 }));
}

/// More than 64 MiB, a mesh that is none and a recording that is none are refused.
#[test]
fn uploads_are_bounded_and_checked() {
    let fixture = Fixture::new(PLATE);
    let token = format!("Authorization: Bearer {}\r\nContent-Length: {}\r\n", fixture.studio.token(), (64 << 20) + 1);
    let (status, _) = raw_http(fixture.studio.address(), "POST", "/api/mesh?name=x.obj", &token, b"v 0 0 0\n");
    assert_eq!(status, 413);
    for (name, body) in [("x.obj", &b"v 0 0\n"[..]), ("x.stl", b"solid"), ("x.glb", b"glTF\x02\0\0\0"), ("x", b"")] {
        let (status, answer) = fixture.http("POST", &format!("/api/mesh?name={name}"), body);
        assert_eq!(status, 400, "{name}: {}", String::from_utf8_lossy(&answer));
    }
    let (status, _) = fixture.http("POST", "/api/fit?name=x.wav", b"RIFF");
    assert_eq!(status, 400);
    let (status, _) = fixture.http(
        "POST",
        "/api/mesh?name=..%2f..%2fx.obj&material=unobtainium",
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    );
    assert_eq!(status, 400);
    let (status, _) = fixture.http("POST", "/api/mesh?name=x.obj&scale=-1", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert_eq!(status, 400);
}

/// There are places for sixteen pages; one that leaves makes room.
#[test]
fn connections_are_bounded() {
    let fixture = Fixture::new(PLATE);
    let mut pages: Vec<_> = (0..eigentone_studio::MAX_SOCKETS).map(|_| fixture.connect()).collect();
    assert_eq!(fixture.try_connect(fixture.studio.token(), None).err(), Some(503));
    pages.pop();
    let begin = Instant::now();
    while fixture.try_connect(fixture.studio.token(), None).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(5), "the place was not given back");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A page that does not read its sound loses it and is told, or is let go after five seconds in which it took nothing; another one hears all of it meanwhile.
#[test]
fn a_slow_reader_is_dropped_and_holds_up_nobody() {
    let fixture = Fixture::new(PLATE);
    let mut quick = fixture.connect();
    let plate = quick.id("plate");
    quick.listen();
    let mut slow = fixture.connect();
    slow.must(json!({ "do": "audio", "lead": 1024 }));
    // Rendered as fast as credits are given: 13 MB, more than the slow page's queues and the system's buffers hold.
    let begin = Instant::now();
    quick.sound.clear();
    while quick.sound.len() < 1_600_000 && begin.elapsed() < Duration::from_secs(120) {
        let wanted = quick.sound.len() + 4096;
        quick.send_text(&json!({ "do": "credit", "frames": 4096 }).to_string());
        while quick.sound.len() < wanted && quick.next(Duration::from_secs(5)).is_some() {}
    }
    assert!(quick.sound.len() >= 1_600_000, "the quick page got {} frames", quick.sound.len());
    let begin = Instant::now();
    let mut told = false;
    while !told && let Some(message) = slow.next(Duration::from_secs(20)) {
        told = message["event"] == "audio" && message["on"] == false;
    }
    assert!(told || begin.elapsed() < Duration::from_secs(15), "it is still connected and knows nothing");
    assert!(slow.sound.len() < quick.sound.len(), "it got all {} frames", slow.sound.len());
    quick.must(json!({ "do": "strike", "body": plate, "impulse_ns": 0.05 }));
    let mut heard = false;
    for _ in 0..20 {
        quick.send_text(&json!({ "do": "credit", "frames": 4096 }).to_string());
        quick.sound.clear();
        while quick.sound.len() < 4096 {
            quick.next(Duration::from_secs(2)).unwrap();
        }
        heard |= rms(&quick.sound) > 1e-5;
    }
    assert!(heard);
}

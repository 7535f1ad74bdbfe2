//! Memory stays bounded, whatever comes in. In a program of its own, since it measures the whole process.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "studio/client.rs"]
mod client;

use client::{Fixture, PLATE, raw_http};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

/// Largest memory of this process so far, in MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
    peak.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Uploads at once, slow pages, floods of messages and a crowd of connections together take no more than two uploads, what is made of them, and 100 MiB. All of the uploads together would be 960 MiB.
#[test]
fn hostile_load_takes_bounded_memory() {
    let fixture = Fixture::new(PLATE);
    let address = fixture.studio.address();
    let mut player = fixture.connect();
    let plate = player.id("plate");
    player.listen();
    player.play(44_100);
    let token = format!("Authorization: Bearer {}\r\n", fixture.studio.token());
    let file = vec![b' '; 60 << 20];
    let before = peak_mib();
    std::thread::scope(|scope| {
        let upload = || {
            let (status, _) = raw_http(address, "POST", "/api/mesh?name=x.obj", &token, &file);
            assert!(status == 400 || status == 0, "{status}");
        };
        let uploads: Vec<_> = (0..16).map(|_| scope.spawn(upload)).collect();
        while !uploads.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            player.play(4096);
        }
    });
    let uploads = peak_mib() - before;
    assert!(uploads < 400.0, "uploads took {uploads:.0} MiB");

    // Pages that never read, while the world speaks and they ask for more.
    let before = peak_mib();
    let mut slow: Vec<_> = (0..8).map(|_| fixture.connect()).collect();
    for page in &mut slow {
        page.send_text(&json!({ "do": "audio", "lead": 1024 }).to_string());
        for id in 0..2000 {
            page.send_text(&json!({ "do": "why", "body": plate, "id": id }).to_string());
        }
    }
    let crowd: Vec<TcpStream> = (0..400)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(address).ok()?;
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nX: ");
            // A header without end.
            stream.set_nonblocking(true).ok()?;
            let _ = stream.write(&[b'x'; 300_000]);
            Some(stream)
        })
        .collect();
    for _ in 0..20 {
        player.play(44_100);
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(crowd);
    let pages = peak_mib() - before;
    assert!(pages < 250.0, "slow pages and strangers took {pages:.0} MiB");
    println!("uploads {uploads:.0} MiB, slow pages and strangers {pages:.0} MiB");
}

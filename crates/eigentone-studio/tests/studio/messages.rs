//! Messages that nobody would send in good faith: answered or refused, while another page plays on.

use crate::client::{Client, Fixture, PLATE};
use eigentone_core::Noise;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

const PATIENCE: Duration = Duration::from_secs(30);

fn frame(bytes: &[u8], data: Data, last: bool) -> Message {
    Message::Frame(Frame::message(bytes.to_vec(), OpCode::Data(data), last))
}

fn is_refused(page: &mut Client<'_>) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        match page.next(PATIENCE) {
            Some(message) if message["ok"] == json!(false) => return true,
            Some(_) => {}
            None => return false,
        }
    }
    false
}

fn is_closed(page: &mut Client<'_>) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if page.next(PATIENCE).is_none() {
            return begin.elapsed() < PATIENCE;
        }
    }
    false
}

/// Numbers that are none or too large, nesting without end and bytes that are no text: each is refused with a reason, and what is no message ends only its own connection.
#[test]
fn hostile_messages_are_refused_and_the_sound_goes_on() {
    let fixture = Fixture::new(PLATE);
    let mut player = fixture.connect();
    let plate = player.id("plate");
    player.listen();
    player.play(4096);
    let mut page = fixture.connect();
    let numbers = [
        "NaN",
        "-NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "-1e999",
        "nan",
        "0x10",
        "1e",
        "--1",
        "18446744073709551616",
        "\"1\"",
        "null",
        "true",
        "[1]",
        "{}",
        "-1",
    ];
    for number in numbers {
        page.send_text(&format!("{{\"do\":\"strike\",\"body\":{plate},\"impulse_ns\":{number}}}"));
        assert!(is_refused(&mut page), "impulse_ns {number}");
        page.send_text(&format!(
            "{{\"do\":\"set\",\"body\":{plate},\"size\":{}}}",
            if number == "null" { "0" } else { number }
        ));
        assert!(is_refused(&mut page), "size {number}");
    }
    for body in ["1e308", "-1", "1.5", "18446744073709551615", "18446744073709551616", "9007199254740993"] {
        page.send_text(&format!("{{\"do\":\"strike\",\"body\":{body},\"impulse_ns\":0.1}}"));
        assert!(is_refused(&mut page), "body {body}");
    }
    let deep = [
        "[".repeat(60_000),
        "{\"a\":".repeat(12_000),
        format!("{{\"do\":\"why\",\"body\":{}1{}}}", "[".repeat(20_000), "]".repeat(20_000)),
        format!("{{\"do\":\"undo\",\"id\":{}1{}}}", "[".repeat(100), "]".repeat(100)),
        format!("{{{}\"do\":\"why\"}}", "\"x\":0,".repeat(9_000)),
        format!("{{\"do\":\"set\",\"body\":{plate},\"name\":\"{}\"}}", "n".repeat(60_000)),
        format!("{{\"do\":\"set\",\"body\":{plate},\"material\":\"{}\"}}", "m".repeat(60_000)),
    ];
    for text in &deep {
        page.send_text(text);
        assert!(is_refused(&mut page), "{text:.40}");
    }
    page.send_raw(Message::binary(vec![0u8; 1000]));
    assert!(is_refused(&mut page), "binary messages are not read");
    // In pieces it is the same message, with a control frame in between.
    let (head, tail) = ("{\"do\":\"why\",\"bo".as_bytes(), format!("dy\":{plate},\"id\":\"pieces\"}}"));
    page.send_raw(frame(head, Data::Text, false));
    page.send_raw(Message::Frame(Frame::ping(b"ping".to_vec())));
    page.send_raw(frame(tail.as_bytes(), Data::Continue, true));
    let begin = Instant::now();
    while page.next(PATIENCE).is_none_or(|m| m["re"] != json!("pieces")) {
        assert!(begin.elapsed() < PATIENCE, "a message in pieces is not answered");
    }
    let ended = |send: &dyn Fn(&mut Client<'_>)| {
        let mut page = fixture.connect();
        send(&mut page);
        is_closed(&mut page)
    };
    assert!(
        ended(&|p| {
            p.send_raw(frame(&[b'{', 0xff, 0xfe], Data::Text, true));
        }),
        "text that is not UTF-8"
    );
    assert!(
        ended(&|p| {
            p.send_raw(frame(b"x", Data::Continue, true));
        }),
        "a continuation of nothing"
    );
    assert!(
        ended(&|p| {
            p.send_raw(Message::binary(vec![0u8; 70_000]));
        }),
        "a large binary message"
    );
    assert!(
        ended(&|p| {
            p.send_raw(frame(&[b' '; 70_000], Data::Text, true));
        }),
        "a large text"
    );
    let endless = |p: &mut Client<'_>| {
        p.send_raw(frame(b"{", Data::Text, false));
        // Each piece is small; together they are too much.
        while p.send_raw(frame(&[b' '; 1000], Data::Continue, false)) {}
    };
    assert!(ended(&endless), "pieces without end");
    player.must(json!({ "do": "strike", "body": plate, "impulse_ns": 0.05 }));
    player.play(44_100);
    assert!(crate::client::rms(&player.sound) > 1e-6, "the plate is heard");
}

/// Scenes, files and objects have names, not paths.
#[test]
fn names_are_not_paths() {
    let fixture = Fixture::new(PLATE);
    let outside = fixture.folder.path().parent().unwrap().join("eigentone-traversal.toml");
    let mut page = fixture.connect();
    let names = [
        "../eigentone-traversal",
        "..",
        ".",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "..\\x",
        "C:x",
        "C:\\x",
        "x\0",
        "%2e%2e%2feigentone-traversal",
        ".hidden",
        "",
        "\u{2025}/x",
        "file:///etc/passwd",
        &"n".repeat(300),
    ];
    for name in names {
        let refusals = [json!({ "do": "open", "scene": name }), json!({ "do": "add", "object": name })];
        for request in refusals {
            assert_eq!(page.ask(request.clone())["ok"], false, "{request}");
        }
        let before: Vec<_> =
            std::fs::read_dir(fixture.folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        let saved = page.ask(json!({ "do": "save", "file": name }));
        let after = std::fs::read_dir(fixture.folder.path()).unwrap().count();
        // A name with percent signs is only an ugly one.
        assert!(
            saved["ok"] == false && after == before.len() || name.starts_with('%') && after == before.len() + 1,
            "{name}: {saved}"
        );
    }
    assert!(!outside.exists());
    for file in ["../../../etc/passwd", "/etc/passwd", "..\\x.obj", "uploads/../../x.obj", "x\\u0000.obj"] {
        let scene = format!("[[body]]\nmesh = \"{}\"\nmaterial = \"steel\"\n", file.replace("\\x", "\\\\x"));
        let (status, answer) = fixture.http("POST", "/api/scene", scene.as_bytes());
        assert_eq!(status, 400, "{file}: {}", String::from_utf8_lossy(&answer));
        assert!(!String::from_utf8_lossy(&answer).contains("root:"));
    }
    let big = vec![b'#'; (4 << 20) + 1];
    assert_eq!(fixture.http("POST", "/api/scene", &big).0, 413, "a scene of more than 4 MiB");
    assert_eq!(fixture.http("POST", "/api/export/variations", &big).0, 413);
    assert_eq!(fixture.http("POST", "/api/scene", &[b'#', 0xff, 0xfe]).0, 400, "a scene is text");
    let nested = format!("x = {}", "[".repeat(100_000));
    assert_eq!(fixture.http("POST", "/api/scene", nested.as_bytes()).0, 400);
}

/// Three hundred thousand messages made of all requests by changing, cutting, joining and nesting: each is read or refused with a reason, and none breaks the reader. The same ones at each run.
#[test]
fn mutated_messages_are_read_or_refused() {
    let seeds = [
        r#"{"do":"strike","body":1,"at":[0,0.1,-2e-3],"direction":[0,0,1],"impulse_ns":0.05,"mallet":{"mass_kg":0.1,"stiffness_n_m":1e6},"push":true,"id":1}"#,
        r#"{"do":"strike","body":2,"impulse_ns":1,"mallet":"felt"}"#,
        r#"{"do":"grab","body":1,"at":[0,0,0],"id":"g"}"#,
        r#"{"do":"drag","grab":1,"to":[1e300,-1e-300,0]}"#,
        r#"{"do":"release","grab":18446744073709551615}"#,
        r#"{"do":"hold","body":1,"on":true}"#,
        r#"{"do":"set","body":12,"gesture":3,"material":"glass","surface":null,"size":1.5,"pitch":2,"damping":3,"brightness":-4,"gain":0.5,"position":[1,2,3],"rotation":[0,0,0,1],"name":"é","fixed":false}"#,
        r#"{"do":"add","object":"bowl","position":[0,0,1],"material":"oak"}"#,
        r#"{"do":"remove","body":1}"#,
        r#"{"do":"open","scene":"rings"}"#,
        r#"{"do":"save","file":"x"}"#,
        r#"{"do":"settle","body":null}"#,
        r#"{"do":"ab","slot":"b","store":true,"id":"x"}"#,
        r#"{"do":"play","on":false}"#,
        r#"{"do":"speed","value":0.25}"#,
        r#"{"do":"listener","position":[0,0,1],"look":[0,1,0],"up":[0,0,1]}"#,
        r#"{"do":"quality","gesture":1,"masking_db":null,"truncation_pa":1e-5,"budget_modes":4000,"budget_us":100,"playback_db":70}"#,
        r#"{"do":"hail","on":true,"center":[0,0,1],"size":[1,1,1],"particles":300,"radius_m":0.002}"#,
        r#"{"do":"mode","body":1,"mode":3,"gesture":2,"frequency_hz":440,"decay_per_s":2,"gain":1,"mute":true,"solo":false,"reset":true}"#,
        r#"{"do":"credit","frames":128}"#,
        r#"{"do":"audio","lead":512}"#,
    ];
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        ":",
        "null",
        "1e999",
        "-0",
        "\\u0000",
        "\\ud800",
        "NaN",
        "\"do\":",
        "\"id\":",
        "\u{feff}",
        "[[[[[[[[[[",
    ];
    let mut noise = Noise::new(20_261_118);
    let mut pick = |n: usize| ((noise.uniform() * n as f64) as usize).min(n - 1);
    let (mut run, mut good) = (0u32, 0u32);
    let mut pool: Vec<Vec<u8>> = seeds.iter().map(|s| s.as_bytes().to_vec()).collect();
    while run < 300_000 {
        let mut bytes = pool[pick(pool.len())].clone();
        for _ in 0..=pick(5) {
            let at = pick(bytes.len() + 1);
            match pick(7) {
                0 if at < bytes.len() => bytes[at] = pick(256) as u8,
                1 if at < bytes.len() => bytes[at] ^= 1 << pick(8),
                2 => bytes.truncate(at.max(1)),
                3 => drop(bytes.splice(at..at, pieces[pick(pieces.len())].bytes())),
                4 => bytes.extend_from_within(at..),
                5 => {
                    let other = seeds[pick(seeds.len())].as_bytes();
                    bytes.truncate(at);
                    bytes.extend(&other[pick(other.len())..]);
                }
                _ => drop(bytes.drain(at..(at + pick(8)).min(bytes.len()))),
            }
        }
        bytes.truncate(4096);
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        run += 1;
        match eigentone_studio::request::read(text) {
            Ok(_) => {
                good += 1;
                // What is still a request is worth changing further.
                if pool.len() < 4096 {
                    pool.push(bytes);
                }
            }
            Err((_, fault)) => assert!(fault.status >= 400 && !fault.error.is_empty(), "{text}"),
        }
    }
    assert!(good > 10_000 && good < run, "{good} of {run} were requests");
}

//! `eigentone studio` as a user meets it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// It prints where it is, serves its page there, and ends on ctrl-c with status 0.
#[cfg(unix)]
#[test]
fn the_studio_serves_its_page_until_it_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let mut studio = Command::new(env!("CARGO_BIN_EXE_eigentone"))
        .args(["studio", "--no-open", "--json", "--no-cache"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(studio.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut text = String::new();
    while !text.trim_end().ends_with('}') {
        text += &(lines.next().expect("it prints a JSON document") + "\n");
    }
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    let port = told["port"].as_u64().unwrap() as u16;
    assert_eq!(told["url"], format!("http://127.0.0.1:{port}/#token={}", told["token"].as_str().unwrap()));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<html"), "{answer}");

    let killed = Command::new("kill").args(["-INT", &studio.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let begin = Instant::now();
    let status = loop {
        match studio.try_wait().unwrap() {
            Some(status) => break status,
            None if begin.elapsed() > Duration::from_secs(10) => {
                studio.kill().unwrap();
                panic!("it does not end");
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    assert!(status.success(), "{status}");
}

/// A port that is taken, a scene that is none and a page that is not there are named, with what to do.
#[test]
fn what_cannot_be_started_says_why() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let run = |args: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_eigentone")).arg("studio").arg("--no-open").args(args).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = run(&["--port", &port]);
    assert!(code == Some(1) && error.contains("--port"), "{error}");
    let (code, error) = run(&["no such scene.toml"]);
    assert!(code == Some(1) && error.contains("no such scene.toml"), "{error}");
    let (code, error) = run(&["--page-dir", "no such folder"]);
    assert!(code == Some(1) && error.contains("index.html"), "{error}");
}

/// A studio on a scene, and where it is.
#[cfg(unix)]
struct Started {
    child: std::process::Child,
    port: u16,
    token: String,
}

#[cfg(unix)]
impl Started {
    fn new(scene: &std::path::Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_eigentone"))
            .args(["studio", "--no-open", "--json", "--no-cache"])
            .arg(scene)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut text = String::new();
        while !text.trim_end().ends_with('}') {
            text += &(lines.next().expect("it prints a JSON document") + "\n");
        }
        let told: serde_json::Value = serde_json::from_str(&text).unwrap();
        let port = told["port"].as_u64().unwrap() as u16;
        Self { child, port, token: told["token"].as_str().unwrap().to_owned() }
    }

    /// A page: the WebSocket's handshake by hand.
    fn page(&self) -> TcpStream {
        let (port, token) = (self.port, &self.token);
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(stream, "GET /ws?token={token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        stream
    }
}

/// Sends a text, masked with zeros as RFC 6455 allows for a test.
#[cfg(unix)]
fn send(page: &mut TcpStream, text: &str) {
    assert!(text.len() < 126);
    page.write_all(&[0x81, 0x80 | text.len() as u8, 0, 0, 0, 0]).unwrap();
    page.write_all(text.as_bytes()).unwrap();
}

/// The next text that has this in it.
#[cfg(unix)]
fn wait_for(page: &mut TcpStream, wanted: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    loop {
        let mut head = [0; 2];
        page.read_exact(&mut head).unwrap();
        let mut length = u64::from(head[1] & 127);
        if length == 126 {
            let mut more = [0; 2];
            page.read_exact(&mut more).unwrap();
            length = u64::from(u16::from_be_bytes(more));
        } else if length == 127 {
            let mut more = [0; 8];
            page.read_exact(&mut more).unwrap();
            length = u64::from_be_bytes(more);
        }
        let mut body = vec![0; length as usize];
        page.read_exact(&mut body).unwrap();
        if head[0] & 15 == 1 {
            let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
            if wanted(&value) {
                return value;
            }
        }
    }
}

/// A change is on the disk some seconds later: the studio is killed without a chance to clean up, started again, and has it.
#[cfg(unix)]
#[test]
fn killing_the_studio_loses_no_work_that_was_kept() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    let text = "[[body]]\nname = \"plate\"\nplate = [0.3, 0.2]\nedges = \"supported\"\nmaterial = \"steel\"\nfixed = true\ncollider = \"none\"\n";
    std::fs::write(&scene, text).unwrap();
    let kept = folder.path().join("scene.toml.autosave");
    let mut studio = Started::new(&scene);
    let mut page = studio.page();
    let told = wait_for(&mut page, |v| v["event"] == "scene");
    let id = told["bodies"][0]["id"].as_u64().unwrap();
    send(&mut page, &format!(r#"{{"do":"set","body":{id},"pitch":1.5,"id":1}}"#));
    wait_for(&mut page, |v| v["re"] == 1 && v["ok"] == true);
    let begin = Instant::now();
    while !std::fs::read_to_string(&kept).is_ok_and(|text| text.contains("pitch = 1.5")) {
        assert!(begin.elapsed() < Duration::from_secs(60), "unsaved work is kept");
        std::thread::sleep(Duration::from_millis(20));
    }
    studio.child.kill().unwrap();
    studio.child.wait().unwrap();
    assert_eq!(std::fs::read_to_string(&scene).unwrap(), text, "the scene itself is as it was");

    let mut studio = Started::new(&scene);
    let mut page = studio.page();
    assert_eq!(wait_for(&mut page, |v| v["event"] == "hello")["autosave"], true);
    send(&mut page, r#"{"do":"open","scene":"autosave","id":2}"#);
    let found = wait_for(&mut page, |v| v["event"] == "scene" && v["bodies"][0]["pitch"] == 1.5);
    assert_eq!(found["bodies"][0]["name"], "plate");
    studio.child.kill().unwrap();
    studio.child.wait().unwrap();
}

/// A take that is no take is refused with a reason, and options that are for scenes are named.
#[test]
fn takes_that_cannot_be_rendered_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.take.json");
    std::fs::write(&file, "{}").unwrap();
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_eigentone"))
            .arg("render")
            .arg(&file)
            .arg("-o")
            .arg(folder.path().join("a.wav"))
            .args(args)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = run(&[]);
    assert!(code == Some(1) && error.contains("not a take"), "{error}");
    let (code, error) = run(&["--seed", "2"]);
    assert!(code == Some(2) && error.contains("--seed"), "{error}");
}

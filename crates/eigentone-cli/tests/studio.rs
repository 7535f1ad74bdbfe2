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

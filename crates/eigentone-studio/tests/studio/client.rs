//! A headless page.

use eigentone_studio::{Options, Studio};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// A plate whose edges are held, in closed form: nothing has to be made in the background.
pub const PLATE: &str = r#"# my plate
title = "plate"
[output]
full_scale_pa = 20
[listener]
position = [0, 0, 1]
look = [0, 1, 0]
[[body]]
name = "plate" # of steel
plate = [0.3, 0.2]
thickness_m = 0.002
edges = "supported"
material = "steel"
fixed = true
collider = "none"
"#;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A studio with a scene of its own, in a folder of its own.
pub struct Fixture {
    pub studio: Studio,
    pub folder: tempfile::TempDir,
    runtime: Runtime,
}

impl Fixture {
    pub fn new(scene: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scene.toml");
        std::fs::write(&file, scene).unwrap();
        Self::of(Options { scene: Some(file), home: Some(folder.path().to_owned()), ..Options::default() }, folder)
    }

    pub fn of(options: Options, folder: tempfile::TempDir) -> Self {
        let studio = Studio::start(options).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { studio, folder, runtime }
    }

    pub fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("scene.toml")
    }

    pub fn connect(&self) -> Client<'_> {
        self.try_connect(self.studio.token(), None).expect("the studio lets its own page in")
    }

    /// Opens a WebSocket; the status if it is refused.
    pub fn try_connect(&self, token: &str, origin: Option<&str>) -> Result<Client<'_>, u16> {
        let url = format!("ws://{}/ws?token={token}", self.studio.address());
        let mut request = url.into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("Origin", origin.parse().unwrap());
        }
        match self.runtime.block_on(connect_async(request)) {
            Ok((socket, _)) => Ok(Client {
                socket,
                runtime: &self.runtime,
                events: Vec::new(),
                packets: Vec::new(),
                sound: Vec::new(),
                next_frame: None,
                gaps: 0,
                unbroken: None,
                received: 0,
                next_id: 1,
                begin: Instant::now(),
                credited: 0,
            }),
            Err(tokio_tungstenite::tungstenite::Error::Http(response)) => Err(response.status().as_u16()),
            Err(other) => panic!("{other}"),
        }
    }

    /// A request with the token.
    pub fn http(&self, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let token = format!("Authorization: Bearer {}\r\n", self.studio.token());
        raw_http(self.studio.address(), method, path, &token, body)
    }

    pub fn get_json(&self, path: &str) -> Value {
        let (status, body) = self.http("GET", path, b"");
        assert_eq!(status, 200, "{path}: {}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).unwrap()
    }
}

/// A request as it goes over the wire, with a fitting Host unless the headers have one.
pub fn raw_http(address: SocketAddr, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let host = if headers.to_lowercase().contains("host:") { String::new() } else { format!("Host: {address}\r\n") };
    let length =
        if headers.contains("Content-Length") { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let head = format!("{method} {path} HTTP/1.1\r\n{host}{headers}{length}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    // The server may refuse before it has read all.
    let _ = stream.write_all(body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(answer.len().saturating_sub(4));
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    (status, answer.get(end + 4..).unwrap_or_default().to_vec())
}

/// A page.
pub struct Client<'a> {
    socket: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>,
    runtime: &'a Runtime,
    pub events: Vec<Value>,
    pub packets: Vec<Vec<u8>>,
    /// Left channel of what was heard.
    pub sound: Vec<f32>,
    /// Number of the frame that comes next, once sound has come.
    pub next_frame: Option<u64>,
    /// How often the sound did not go on where it was.
    pub gaps: usize,
    /// How much of `sound` was heard before the first of them.
    pub unbroken: Option<usize>,
    /// Frames that have come.
    pub received: usize,
    next_id: u64,
    begin: Instant,
    credited: u64,
}

impl Client<'_> {
    pub fn send_text(&mut self, text: &str) {
        self.runtime.block_on(self.socket.send(Message::text(text))).unwrap();
    }

    /// Sends a frame or message as it is; false if the connection is closed.
    pub fn send_raw(&mut self, message: Message) -> bool {
        self.runtime.block_on(self.socket.send(message)).is_ok()
    }

    /// Plays so many frames as fast as they come, giving a credit for each; they must follow each other without a gap. A page that gives no credit for a second is passed over, so time in which this one did something else, or was
    /// not let run, does not count.
    pub fn play(&mut self, frames: usize) {
        let begin = Instant::now();
        // Sound that was on its way goes before an answer.
        self.ask(json!({ "do": "credit", "frames": 0 }));
        self.sound.clear();
        self.next_frame = None;
        let mut last = Instant::now();
        let mut credited = 0;
        while self.sound.len() < frames {
            if last.elapsed() > Duration::from_millis(400) {
                self.next_frame = None;
            }
            last = Instant::now();
            if credited < self.sound.len() + 4096 {
                self.send_text(&json!({ "do": "credit", "frames": 1024 }).to_string());
                credited += 1024;
                // No more than the 1000 messages a second that are read.
                std::thread::sleep(Duration::from_millis(3));
            }
            self.next(Duration::from_millis(20));
            assert!(begin.elapsed() < 6 * PATIENCE, "{} of {frames} frames came", self.sound.len());
        }
        assert_eq!(self.gaps, 0, "the sound has gaps");
    }

    /// Takes in the next message; `None` if none comes in time or the connection is closed.
    pub fn next(&mut self, patience: Duration) -> Option<Value> {
        let socket = &mut self.socket;
        let message = self
            .runtime
            .block_on(async { tokio::time::timeout(patience, socket.next()).await.ok().flatten() })?
            .ok()?;
        match message {
            Message::Text(text) => {
                let mut value: Value = serde_json::from_str(&text).unwrap();
                if value.get("event").is_some() {
                    value["received"] = self.received.into();
                    self.events.push(value.clone());
                }
                Some(value)
            }
            Message::Binary(bytes) => {
                assert!(bytes.len() >= 8 && bytes[1] == 1, "every packet has a header");
                if bytes[0] == 1 {
                    let first = u64::from_le_bytes(bytes[8..16].try_into().unwrap());
                    if self.next_frame.is_some_and(|next| next != first) {
                        self.gaps += 1;
                        self.unbroken.get_or_insert(self.sound.len());
                    }
                    self.next_frame = Some(first + (bytes.len() - 16) as u64 / 8);
                    let left = bytes[16..].chunks_exact(8).map(|f| f32::from_le_bytes([f[0], f[1], f[2], f[3]]));
                    self.received += left.len();
                    self.sound.extend(left);
                } else {
                    self.packets.push(bytes.to_vec());
                }
                Some(Value::Null)
            }
            Message::Close(_) => None,
            _ => Some(Value::Null),
        }
    }

    /// Asks, and waits for the answer.
    pub fn ask(&mut self, mut request: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        request["id"] = id.into();
        self.send_text(&request.to_string());
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let message = self.next(PATIENCE).unwrap_or_else(|| panic!("no answer to {request}"));
            if message["re"] == json!(id) {
                return message;
            }
        }
        panic!("no answer to {request}");
    }

    /// The same; it must be granted.
    pub fn must(&mut self, request: Value) -> Value {
        let answer = self.ask(request.clone());
        assert_eq!(answer["ok"], true, "{request}: {answer}");
        answer
    }

    /// Waits for an event that has come already or comes soon.
    pub fn event(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut seen = 0;
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Some(found) = self.events[seen..].iter().find(|e| wanted(e)) {
                return found.clone();
            }
            seen = self.events.len();
            self.next(PATIENCE);
        }
        panic!("the event did not come; there were {:#?}", self.events);
    }

    /// The bodies, as the last scene event had them.
    pub fn body(&mut self, name: &str) -> Value {
        let scene = self.event(|e| e["event"] == "scene");
        let _ = scene;
        let all = self.events.iter().rev().find(|e| e["event"] == "scene").unwrap();
        all["bodies"].as_array().unwrap().iter().find(|b| b["name"] == name).unwrap_or_else(|| panic!("{all}")).clone()
    }

    pub fn id(&mut self, name: &str) -> u64 {
        self.body(name)["id"].as_u64().unwrap()
    }

    /// A body as it was last told.
    pub fn body_now(&self, id: u64) -> Value {
        let told = self.events.iter().rev().find_map(|e| match e["event"].as_str() {
            Some("body") => Some(e["body"].clone()).filter(|b| b["id"] == id),
            Some("scene") => e["bodies"].as_array().and_then(|all| all.iter().find(|b| b["id"] == id)).cloned(),
            _ => None,
        });
        told.unwrap_or_else(|| panic!("body {id} was never told"))
    }

    /// Begins to listen.
    pub fn listen(&mut self) {
        self.begin = Instant::now();
        self.credited = 1024;
        self.must(json!({ "do": "audio", "lead": 1024 }));
    }

    /// Listens for so many frames, at the pace of a sound card.
    pub fn hear(&mut self, frames: usize) -> Vec<f32> {
        self.sound.clear();
        self.hear_on(frames)
    }

    /// The same with what was heard before.
    pub fn hear_on(&mut self, frames: usize) -> Vec<f32> {
        let begin = Instant::now();
        while self.sound.len() < frames && begin.elapsed() < PATIENCE {
            let due = (self.begin.elapsed().as_secs_f64() * 44_100.0) as u64 + 1024;
            if due > self.credited + 256 {
                let more = due - self.credited;
                self.credited = due;
                self.send_text(&json!({ "do": "credit", "frames": more }).to_string());
            }
            self.next(Duration::from_millis(5));
        }
        assert!(self.sound.len() >= frames, "{} of {frames} frames were heard", self.sound.len());
        self.sound[..frames].to_vec()
    }
}

/// The strongest frequency in a sound, in Hz, by a Hann window and a parabola through the logarithms of the peak.
pub fn dominant_hz(sound: &[f32]) -> f64 {
    use rustfft::num_complex::Complex;
    let n = sound.len();
    let window = |i: usize| 0.5 - 0.5 * (2.0 * std::f64::consts::PI * i as f64 / n as f64).cos();
    let mut bins: Vec<Complex<f64>> =
        sound.iter().enumerate().map(|(i, x)| Complex::new(f64::from(*x) * window(i), 0.0)).collect();
    rustfft::FftPlanner::new().plan_fft_forward(n).process(&mut bins);
    let level = |k: usize| bins[k].norm().max(1e-30).ln();
    let peak = (2..n / 2 - 1).max_by(|&a, &b| level(a).total_cmp(&level(b))).unwrap();
    let (a, b, c) = (level(peak - 1), level(peak), level(peak + 1));
    (peak as f64 + 0.5 * (a - c) / (a - 2.0 * b + c)) * 44_100.0 / n as f64
}

/// The root mean square.
pub fn rms(sound: &[f32]) -> f64 {
    (sound.iter().map(|x| f64::from(x * x)).sum::<f64>() / sound.len().max(1) as f64).sqrt()
}

/// Reads a scene file back, as the command would.
pub fn read_back(file: &Path) -> eigentone_scene::Scene {
    eigentone_scene::Scene::read(file).unwrap()
}

//! One page's WebSocket: requests in, answers, news and sound out, each at its own pace.
//!
//! A page that does not take its sound fast enough loses the stream and is told so; a page that does not take its news gets the whole scene anew. Nobody waits for it.

use crate::fault::Fault;
use crate::guard::Bucket;
use crate::hub::News;
use crate::request::{self, Asked, LARGEST_MESSAGE, Request};
use crate::server::Shared;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

/// WebSockets at once.
pub const MAX_SOCKETS: usize = 16;

/// Answers that may wait for a page; one that asks for more without reading is closed.
const ANSWERS: usize = 256;

/// A message that cannot be sent for so long ends the connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// Messages of a page at once, and in a second.
const MESSAGES: (f64, f64) = (2000.0, 1000.0);

/// Longest lead of the stream, in frames.
const MAX_LEAD: u64 = 16_384;

static SERIAL: AtomicU64 = AtomicU64::new(1);

/// Opens a WebSocket.
pub async fn open(State(shared): State<Arc<Shared>>, upgrade: WebSocketUpgrade) -> Response {
    if shared.sockets.fetch_add(1, Relaxed) >= MAX_SOCKETS {
        shared.sockets.fetch_sub(1, Relaxed);
        let hint = "close some of the others".to_owned();
        return Fault { status: 503, error: format!("{MAX_SOCKETS} pages are open already"), hint }.into_response();
    }
    let place = Place(shared.clone());
    upgrade
        .max_message_size(LARGEST_MESSAGE)
        .max_frame_size(LARGEST_MESSAGE)
        .on_upgrade(move |socket| async move { Page::new(place.0.clone()).run(socket, place).await })
}

/// A place among the open WebSockets; given back when it is dropped.
struct Place(Arc<Shared>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.sockets.fetch_sub(1, Relaxed);
    }
}

/// One page.
struct Page {
    shared: Arc<Shared>,
    serial: u64,
    answers: mpsc::Sender<String>,
    waiting: mpsc::Receiver<String>,
    sound: Option<broadcast::Receiver<axum::body::Bytes>>,
    rate: Bucket,
    /// Grabs that this page holds.
    grabs: Arc<std::sync::Mutex<Vec<u64>>>,
}

impl Page {
    fn new(shared: Arc<Shared>) -> Self {
        let (answers, waiting) = mpsc::channel(ANSWERS);
        shared.presence.pages.fetch_add(1, Relaxed);
        Self {
            shared,
            serial: SERIAL.fetch_add(1, Relaxed),
            answers,
            waiting,
            sound: None,
            rate: Bucket::new(MESSAGES.0, MESSAGES.1),
            grabs: Arc::default(),
        }
    }

    async fn run(mut self, mut socket: WebSocket, _place: Place) {
        let mut news = self.shared.hub.news();
        if self.greet(&mut socket).await.is_none() {
            return;
        }
        loop {
            let sent = tokio::select! {
                biased;
                packet = next_sound(&mut self.sound) => match packet {
                    Ok(packet) => send(&mut socket, Message::Binary(packet)).await,
                    Err(_) => self.too_slow(&mut socket).await,
                },
                // News before answers: what an answer is about has been told by then.
                item = news.recv() => match item {
                    Ok(News::Event(text)) => send(&mut socket, Message::Text(text.as_ref().into())).await,
                    Ok(News::Packet(bytes)) => send(&mut socket, Message::Binary(bytes)).await,
                    Err(RecvError::Lagged(_)) => self.greet(&mut socket).await,
                    Err(RecvError::Closed) => None,
                },
                Some(answer) = self.waiting.recv() => send(&mut socket, Message::Text(answer.into())).await,
                message = socket.recv() => match message {
                    Some(Ok(Message::Text(text))) => self.receive(&text),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => None,
                    Some(Ok(Message::Binary(_))) => self.answer(None, Err(Fault::bad("binary messages are not read", "send JSON text"))),
                    Some(Ok(_)) => Some(()),
                },
            };
            if sent.is_none() {
                break;
            }
        }
    }

    /// Tells the page where things stand.
    async fn greet(&self, socket: &mut WebSocket) -> Option<()> {
        let all = self.shared.control.ask(|s| [s.hello(), s.scene_event(), s.history_event()]).await.ok()?;
        for event in all {
            send(socket, Message::Text(event.to_string().into())).await?;
        }
        Some(())
    }

    /// It has fallen behind: the stream ends for it.
    async fn too_slow(&mut self, socket: &mut WebSocket) -> Option<()> {
        self.stop_listening();
        let text = "the sound could not be taken as fast as it was made, and was stopped for this page";
        let event = json!({ "event": "log", "level": "warning", "text": text });
        send(socket, Message::Text(event.to_string().into())).await?;
        send(socket, Message::Text(json!({ "event": "audio", "on": false }).to_string().into())).await
    }

    /// One message of the page. `None` ends the connection.
    fn receive(&mut self, text: &str) -> Option<()> {
        if !self.rate.take() {
            let fault = Fault { status: 429, error: "too many messages".to_owned(), hint: "send fewer".to_owned() };
            return self.answer(None, Err(fault));
        }
        let Asked { id, request, raw } = match request::read(text) {
            Ok(asked) => asked,
            Err((id, fault)) => return self.answer(id, Err(fault)),
        };
        match request {
            Request::Credit { frames } => {
                self.credit(frames);
                id.map_or(Some(()), |id| self.answer(Some(id), Ok(json!({}))))
            }
            Request::Audio { lead } => {
                self.listen(lead);
                self.answer(id, Ok(json!({})))
            }
            Request::Open { scene } => {
                let (shared, answers) = (self.shared.clone(), self.answers.clone());
                let Ok(turn) = shared.opening.clone().try_acquire_owned() else {
                    return self.answer(id, Err(Fault::busy()));
                };
                tokio::spawn(async move {
                    let _turn = turn;
                    let result = crate::api::open_named(&shared, &scene).await;
                    drop(answers.try_send(reply(id, result)));
                });
                Some(())
            }
            Request::EstimateBake => self.later(id, |shared| async move { crate::api::rooms::estimate(&shared).await }),
            Request::Bake => self.later(id, |shared| async move { crate::api::rooms::bake(&shared).await }),
            Request::Record { on, settle } => {
                self.later(id, move |shared| async move { crate::api::record(&shared, on, settle).await })
            }
            request => self.ask(id, request, raw),
        }
    }

    /// Answers when something that takes time is done; the page goes on meanwhile.
    fn later<F>(&self, id: Option<Value>, work: impl FnOnce(Arc<Shared>) -> F) -> Option<()>
    where
        F: Future<Output = Result<Value, Fault>> + Send + 'static,
    {
        let (work, answers) = (work(self.shared.clone()), self.answers.clone());
        tokio::spawn(async move {
            let result = work.await;
            drop(answers.try_send(reply(id, result)));
        });
        Some(())
    }

    fn ask(&self, id: Option<Value>, request: Request, raw: Value) -> Option<()> {
        let (answers, grabs) = (self.answers.clone(), self.grabs.clone());
        let own_id = id.clone();
        let asked = self.shared.control.tell(move |session| {
            let grabbing = matches!(request, Request::Grab { .. });
            let result = session.asked(request, &raw);
            if let (true, Ok(value)) = (grabbing, &result) {
                let number = value.get("grab").and_then(Value::as_u64);
                grabs.lock().unwrap_or_else(PoisonError::into_inner).extend(number);
            }
            // A page that does not read its answers does not get them.
            if id.is_some() || result.is_err() {
                let _ = answers.try_send(reply(id, result));
            }
        });
        match asked {
            Ok(()) => Some(()),
            Err(fault) => self.answer(own_id, Err(fault)),
        }
    }

    fn answer(&self, id: Option<Value>, result: Result<Value, Fault>) -> Option<()> {
        self.answers.try_send(reply(id, result)).ok()
    }

    fn leads(&self) -> bool {
        let listeners = self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.first() == Some(&self.serial)
    }

    fn credit(&self, frames: u64) {
        if self.leads() {
            self.shared.throttle.credit(frames);
        }
    }

    fn listen(&mut self, lead: u64) {
        self.stop_listening();
        if lead == 0 {
            return;
        }
        self.sound = Some(self.shared.hub.listen());
        let mut listeners = self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.push(self.serial);
        if listeners.len() == 1 {
            self.shared.throttle.stream(Some(lead.min(MAX_LEAD)));
        }
    }

    /// Leaves the listeners; if it led the clock, the next one does now.
    fn stop_listening(&mut self) {
        self.sound = None;
        let mut listeners = self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let led = listeners.first() == Some(&self.serial);
        listeners.retain(|serial| *serial != self.serial);
        if led {
            // The new one has sound in store already: it goes on with what it has played since.
            self.shared.throttle.stream((!listeners.is_empty()).then_some(0));
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.stop_listening();
        self.shared.presence.pages.fetch_sub(1, Relaxed);
        let held = std::mem::take(&mut *self.grabs.lock().unwrap_or_else(PoisonError::into_inner));
        if !held.is_empty() {
            // Whatever it held is let go.
            let _ = self.shared.control.tell(move |session| {
                for grab in held {
                    let _ = session.asked(Request::Release { grab }, &json!({ "do": "release", "grab": grab }));
                }
            });
        }
    }
}

async fn next_sound(
    sound: &mut Option<broadcast::Receiver<axum::body::Bytes>>,
) -> Result<axum::body::Bytes, RecvError> {
    match sound {
        Some(sound) => sound.recv().await,
        None => std::future::pending().await,
    }
}

/// Sends a message; `None` if the page does not take it.
async fn send(socket: &mut WebSocket, message: Message) -> Option<()> {
    tokio::time::timeout(PATIENCE, socket.send(message)).await.ok()?.ok()
}

fn reply(id: Option<Value>, result: Result<Value, Fault>) -> String {
    let mut answer = match result {
        Ok(Value::Object(fields)) => {
            let mut answer = Value::Object(fields);
            answer["ok"] = true.into();
            answer
        }
        Ok(_) => json!({ "ok": true }),
        Err(fault) => {
            let mut answer = fault.to_json();
            answer["ok"] = false.into();
            answer
        }
    };
    answer["re"] = id.unwrap_or(Value::Null);
    answer.to_string()
}

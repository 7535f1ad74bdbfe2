//! Connections before they are anybody's: so many at once, and none that only takes up a place.
//!
//! Whoever connects has ten seconds for the head of a request, however slowly it comes, and half a minute from one request to the next. If all places are taken, whoever has waited longest without having shown the token makes room, so
//! that a crowd of strangers does not lock the page out. A WebSocket has limits of its own.

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;

/// Connections at once, WebSockets included.
pub const MAX_LINES: usize = 256;

/// A request's head is complete by then.
const HEAD: Duration = Duration::from_secs(10);

/// From one request to the next, and from one piece of an answer that is taken to the next.
const PAUSE: Duration = Duration::from_secs(30);

/// After an error of the system nothing is accepted for so long.
const BREATH: Duration = Duration::from_millis(100);

/// One connection, as the server knows it.
#[derive(Debug)]
pub struct Line(Mutex<State>);

#[derive(Debug)]
struct State {
    /// When it is closed if nothing happens; none while a request or a WebSocket has a limit of its own.
    due: Option<Instant>,
    /// Whether it has shown the token.
    known: bool,
    ended: bool,
    waker: Option<Waker>,
}

impl Line {
    fn new() -> Self {
        Self(Mutex::new(State { due: Some(Instant::now() + HEAD), known: false, ended: false, waker: None }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has come: the server sees to its end.
    pub fn begin(&self, known: bool) {
        let mut state = self.state();
        state.due = None;
        state.known |= known;
    }

    /// It is answered: now the answer has to be taken, and the next one to come.
    pub fn answered(&self) {
        self.state().due = Some(Instant::now() + PAUSE);
    }

    /// It makes room for another, if it is nobody's.
    fn give_way(&self) -> bool {
        let mut state = self.state();
        if state.known || state.ended {
            return false;
        }
        state.ended = true;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
        true
    }
}

/// How a request gets at its connection.
#[derive(Clone, Debug)]
pub struct OnLine(pub Arc<Line>);

impl Connected<IncomingStream<'_, Lines>> for OnLine {
    fn connect_info(stream: IncomingStream<'_, Lines>) -> Self {
        Self(stream.io().line.clone())
    }
}

/// Accepts connections, as many as there is room for.
#[derive(Debug)]
pub struct Lines {
    listener: TcpListener,
    /// In the order in which they came.
    open: VecDeque<Weak<Line>>,
}

impl Lines {
    /// On a port that is ours.
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, open: VecDeque::new() }
    }

    /// A place for one more; none if all are taken by those that have shown the token.
    fn place(&mut self) -> Option<Arc<Line>> {
        self.open.retain(|line| line.strong_count() > 0);
        if self.open.len() >= MAX_LINES {
            let gone = self.open.iter().position(|line| line.upgrade().is_some_and(|line| line.give_way()))?;
            self.open.remove(gone);
        }
        let line = Arc::new(Line::new());
        self.open.push_back(Arc::downgrade(&line));
        Some(line)
    }
}

impl Listener for Lines {
    type Io = Watched;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    let Some(line) = self.place() else { continue };
                    // Small packets of sound must not wait for each other; a system that cannot do that still works.
                    let _ = stream.set_nodelay(true);
                    return (Watched { stream, line, alarm: Box::pin(tokio::time::sleep(HEAD)) }, address);
                }
                Err(_) => tokio::time::sleep(BREATH).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends when it is overdue.
#[derive(Debug)]
pub struct Watched {
    stream: TcpStream,
    line: Arc<Line>,
    alarm: Pin<Box<Sleep>>,
}

impl Watched {
    /// Ready when the connection must end.
    fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            let mut state = self.line.state();
            if state.ended {
                return Poll::Ready(io::Error::from(io::ErrorKind::ConnectionAborted));
            }
            if state.waker.as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
                state.waker = Some(cx.waker().clone());
            }
            let Some(due) = state.due else { return Poll::Pending };
            drop(state);
            if due <= Instant::now() {
                return Poll::Ready(io::Error::from(io::ErrorKind::TimedOut));
            }
            if self.alarm.deadline().into_std() != due {
                self.alarm.as_mut().reset(due.into());
            }
            ready!(self.alarm.as_mut().poll(cx));
        }
    }

    /// What was sent, or why nothing can be any more; every piece that is taken buys time for the next.
    fn sent(&mut self, cx: &mut Context<'_>, sent: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if sent.is_pending() {
            return self.poll_over(cx).map(Err);
        }
        let mut state = self.line.state();
        if let Some(due) = &mut state.due {
            *due = (*due).max(Instant::now() + PAUSE);
        }
        drop(state);
        sent
    }
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // Also one that sends all the time is over when it is due.
        if let Poll::Ready(over) = self.poll_over(cx) {
            return Poll::Ready(Err(over));
        }
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.sent(cx, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.sent(cx, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

//! The activity of a connection: its running requests, and the time since the last one.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use thiserror::Error;

/// Time for the last bytes of an answer without a deadline to be sent over HTTP/1, once the answer has ended.
const LAST_BYTES: Duration = Duration::from_secs(60);

/// Counts the requests of one connection whose answers are not fully sent.
///
/// HTTP/1 drops the body of an answer once it has buffered the last bytes. Its answers count until these are written,
/// and those of pipelined requests are due one by one: a client that sends more requests than it reads answers gains no
/// time.
#[derive(Debug)]
pub(super) struct Activity {
    opened: Instant,
    running: AtomicUsize,
    /// Time at which the last request ended, in milliseconds after the connection was opened.
    quiet_since: AtomicU64,
    /// The answers that are being sent over HTTP/1, in order.
    answers: Mutex<VecDeque<Sending>>,
}

/// One answer of HTTP/1 that is not fully sent.
#[derive(Debug)]
struct Sending {
    /// `None` means no limit.
    due: Option<Instant>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The body has not ended.
    Body,
    /// The HTTP implementation has buffered the last bytes.
    Ended,
    /// The last bytes are buffered here, to be written together.
    Buffered,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self {
            opened: Instant::now(),
            running: AtomicUsize::new(0),
            quiet_since: AtomicU64::new(0),
            answers: Mutex::default(),
        }
    }

    /// Begins a request, which runs until the result is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Running {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running {
            activity: Arc::clone(self),
            is_sent_in_order: false,
        }
    }

    /// The earliest deadline of the answers that are being sent over HTTP/1.
    pub(super) fn due(&self) -> Option<Instant> {
        self.answers().iter().filter_map(|answer| answer.due).min()
    }

    /// Reports that the HTTP implementation has passed on all bytes that it had.
    pub(super) fn handed_out(&self) {
        for answer in &mut *self.answers() {
            if answer.stage == Stage::Ended {
                answer.stage = Stage::Buffered;
            }
        }
    }

    /// Reports that all bytes that were passed on are written.
    pub(super) fn written(&self) {
        let mut answers = self.answers();
        let before = answers.len();
        answers.retain(|answer| answer.stage != Stage::Buffered);
        let written = before - answers.len();
        drop(answers);
        if written > 0 {
            self.end(written);
        }
    }

    fn end(&self, requests: usize) {
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.quiet_since.store(now, Ordering::Relaxed);
        self.running.fetch_sub(requests, Ordering::Relaxed);
    }

    fn answers(&self) -> MutexGuard<'_, VecDeque<Sending>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if several requests are running.
    pub(super) fn is_crowded(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 1
    }

    /// Time since the last request; `None` while one is running.
    pub(super) fn quiet(&self) -> Option<Duration> {
        if self.running.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let since = Duration::from_millis(self.quiet_since.load(Ordering::Relaxed));
        Some(self.opened.elapsed().saturating_sub(since))
    }
}

/// One request whose answer is not fully sent.
#[derive(Debug)]
pub(super) struct Running {
    activity: Arc<Activity>,
    /// True once its answer is being sent over HTTP/1.
    is_sent_in_order: bool,
}

impl Running {
    /// Reports that the answer is sent next, on a connection that sends one at a time, and is due at `until`.
    pub(super) fn send_in_order(&mut self, until: Option<Instant>) {
        self.is_sent_in_order = true;
        self.activity.answers().push_back(Sending {
            due: until,
            stage: Stage::Body,
        });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_sent_in_order {
            return self.activity.end(1);
        }
        let mut answers = self.activity.answers();
        if let Some(answer) = answers.iter_mut().find(|answer| answer.stage == Stage::Body) {
            answer.stage = Stage::Ended;
            answer.due = answer.due.or_else(|| Some(Instant::now() + LAST_BYTES));
        }
    }
}

/// The body of an answer panicked.
#[derive(Debug, Error)]
#[error("the rest of the answer is lost")]
struct BrokenBody;

/// The body of an answer, which keeps its connection in use until it is sent or dropped.
#[derive(Debug)]
pub(super) struct RunningBody {
    pub(super) body: Body,
    pub(super) _running: Running,
}

impl http_body::Body for RunningBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let body = Pin::new(&mut self.body);
        // Outside of this function a panic would end all requests of the connection; here it ends only the broken body.
        catch_unwind(AssertUnwindSafe(|| body.poll_frame(cx))).unwrap_or_else(|_| {
            tracing::error!("the body of an answer panicked; this is a bug");
            Poll::Ready(Some(Err(axum::Error::new(BrokenBody))))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

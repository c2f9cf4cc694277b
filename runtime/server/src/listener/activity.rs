//! Whether a connection is in use.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use thiserror::Error;

/// Counts the requests of one connection that are not fully answered.
#[derive(Debug)]
pub(super) struct Activity {
    opened: Instant,
    running: AtomicUsize,
    /// When the last request ended, in milliseconds after the connection was opened.
    quiet_since: AtomicU64,
    /// When the answer is due that is being sent over HTTP/1; `None` means no limit.
    due: Mutex<Option<Instant>>,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self {
            opened: Instant::now(),
            running: AtomicUsize::new(0),
            quiet_since: AtomicU64::new(0),
            due: Mutex::new(None),
        }
    }

    /// Begins a request; it runs until the result is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Running {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(Arc::clone(self))
    }

    /// When the answer is due that is being sent over HTTP/1.
    pub(super) fn due(&self) -> Option<Instant> {
        *self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_due(&self, due: Option<Instant>) {
        *self.due.lock().unwrap_or_else(PoisonError::into_inner) = due;
    }

    /// Whether there are several requests at once.
    pub(super) fn is_crowded(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 1
    }

    /// How long there has been no request; `None` while there is one.
    pub(super) fn quiet(&self) -> Option<Duration> {
        if self.running.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let since = Duration::from_millis(self.quiet_since.load(Ordering::Relaxed));
        Some(self.opened.elapsed().saturating_sub(since))
    }
}

/// One request that is not fully answered.
#[derive(Debug)]
pub(super) struct Running(Arc<Activity>);

impl Running {
    /// Sets when its answer is due, on a connection that sends one at a time.
    pub(super) fn due(&self, until: Option<Instant>) {
        self.0.set_due(until);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.quiet_since.store(now, Ordering::Relaxed);
        self.0.set_due(None);
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of an answer panicked.
#[derive(Debug, Error)]
#[error("the rest of the answer is lost")]
struct BrokenBody;

/// The body of an answer, which keeps its connection in use until it is sent or given up.
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
        // Past this point a panic would end all requests of the connection; the broken body alone ends here.
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

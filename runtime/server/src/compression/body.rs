//! A body that is compressed while it is sent.

use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use bytes::{Buf, Bytes};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::Frame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes compressed at a time, which takes a quarter of a millisecond. Other answers of an HTTP/2 connection are polled
/// in between; the connection itself is flushed after one pass over all of them (`POLL_TIME` in `listener/exchanges`), which
/// is a few slices.
const SLICE: usize = 64 << 10;
/// Bytes that are sent at once.
const CHUNK: usize = 32 << 10;

/// Compresses another body, a slice at a time.
#[derive(Debug)]
pub(super) struct GzipBody {
    plain: Body,
    /// Bytes that were read from the plain body and are not compressed yet.
    waiting: Bytes,
    /// `None` once the end was sent.
    encoder: Option<GzEncoder<Vec<u8>>>,
    gate: Arc<Semaphore>,
    /// Reserved from one slice to the next while there are bytes to compress, and released with each chunk: the client
    /// may not read on.
    permit: Option<OwnedSemaphorePermit>,
}

impl GzipBody {
    /// Compresses `plain` and reserves a permit of `gate` while it does.
    pub(super) fn new(plain: Body, gate: Arc<Semaphore>) -> Self {
        let encoder = Some(GzEncoder::new(Vec::with_capacity(CHUNK), Compression::fast()));
        Self {
            plain,
            waiting: Bytes::new(),
            encoder,
            gate,
            permit: None,
        }
    }
}

impl GzipBody {
    fn sent(&mut self, chunk: Result<Vec<u8>, axum::Error>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.permit = None;
        Poll::Ready(Some(chunk.map(|chunk| Frame::data(chunk.into()))))
    }
}

impl http_body::Body for GzipBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if this.waiting.is_empty() && this.encoder.is_some() {
            // Polled before the permit is taken: the plain body may be encoded meanwhile.
            let next = Pin::new(&mut this.plain).poll_frame(cx);
            if next.is_pending() {
                this.permit = None;
            }
            match ready!(next) {
                Some(Ok(frame)) => this.waiting = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return this.sent(Err(error)),
                None => {
                    let end = this.encoder.take().map_or_else(|| Ok(Vec::new()), GzEncoder::finish);
                    return this.sent(end.map_err(axum::Error::new));
                }
            }
        }
        let Some(encoder) = &mut this.encoder else {
            return Poll::Ready(None);
        };
        if this.permit.is_none() {
            // An answer whose compression has begun continues without a permit, too.
            this.permit = Arc::clone(&this.gate).try_acquire_owned().ok();
        }
        let slice = this.waiting.len().min(SLICE);
        if let Err(error) = encoder.write_all(&this.waiting[..slice]) {
            return this.sent(Err(axum::Error::new(error)));
        }
        this.waiting.advance(slice);
        let ready = encoder.get_mut();
        if ready.len() >= CHUNK {
            let chunk = std::mem::replace(ready, Vec::with_capacity(CHUNK));
            return this.sent(Ok(chunk));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.encoder.is_none()
    }
}

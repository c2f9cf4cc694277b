//! A body that is compressed while it is sent.

use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use bytes::{Buf, Bytes};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::Frame;
use tokio::sync::OwnedSemaphorePermit;

/// Bytes compressed at a time, which takes a quarter of a millisecond. Other answers of an HTTP/2 connection get their turn in
/// between; its conversation does after a look at all of them (`LOOK` in `listener/exchanges`), which is a few slices.
const SLICE: usize = 64 << 10;
/// Bytes that are sent at once.
const CHUNK: usize = 32 << 10;

/// Compresses another body, a slice at a time.
#[derive(Debug)]
pub(super) struct GzipBody {
    plain: Body,
    /// What has come of the plain body and is not compressed yet.
    waiting: Bytes,
    /// `None` when the end is sent.
    encoder: Option<GzEncoder<Vec<u8>>>,
    /// Held until the body is sent or given up.
    _permit: OwnedSemaphorePermit,
}

impl GzipBody {
    pub(super) fn new(plain: Body, permit: OwnedSemaphorePermit) -> Self {
        let encoder = Some(GzEncoder::new(Vec::with_capacity(CHUNK), Compression::fast()));
        Self {
            plain,
            waiting: Bytes::new(),
            encoder,
            _permit: permit,
        }
    }
}

impl http_body::Body for GzipBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let Some(encoder) = &mut this.encoder else {
            return Poll::Ready(None);
        };
        if this.waiting.is_empty() {
            match ready!(Pin::new(&mut this.plain).poll_frame(cx)) {
                Some(Ok(frame)) => this.waiting = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    let encoder = this.encoder.take();
                    let end = encoder.map(GzEncoder::finish).unwrap_or_else(|| Ok(Vec::new()));
                    return Poll::Ready(Some(end.map(|end| Frame::data(end.into())).map_err(axum::Error::new)));
                }
            }
        }
        let slice = this.waiting.len().min(SLICE);
        if let Err(error) = encoder.write_all(&this.waiting[..slice]) {
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        }
        this.waiting.advance(slice);
        let ready = encoder.get_mut();
        if ready.len() >= CHUNK {
            let chunk = std::mem::replace(ready, Vec::with_capacity(CHUNK));
            return Poll::Ready(Some(Ok(Frame::data(chunk.into()))));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.encoder.is_none()
    }
}

//! Bodies that track which of their bytes were sent.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::Body;
use bytes::Bytes;
use futures_util::task::AtomicWaker;
use http_body::{Body as HttpBody, Frame, SizeHint};

use super::Charge;
use super::budget::SmallCharge;
use crate::in_flight::Permit;

/// The body of a large answer. It ends when its last byte was written to the network, and not before: until then the
/// answer can be cut off, and its reservations are kept.
#[derive(Debug)]
pub(crate) struct Outgoing {
    body: Body,
    delivery: Arc<Delivery>,
    /// True once `body` has ended.
    ended: bool,
}

/// The resources that an answer occupies until its last byte was sent or its client has disconnected.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    /// Bytes that were passed on and are not written.
    unwritten: AtomicUsize,
    /// Woken when all bytes are written.
    written: AtomicWaker,
    /// The permit of a request in flight.
    _permit: Option<Permit>,
    /// The charged memory.
    _charge: Option<Charge>,
}

impl Delivery {
    pub(crate) fn holding(permit: Option<Permit>, charge: Charge) -> Self {
        Self {
            _permit: permit,
            _charge: Some(charge),
            ..Self::default()
        }
    }
}

/// Unsent bytes: when the last copy is dropped, they were written or never will be.
struct Tracked {
    bytes: Bytes,
    delivery: Arc<Delivery>,
}

/// The bytes of a small answer: when the last copy is dropped, they were written or never will be.
struct Charged {
    bytes: Bytes,
    _charge: SmallCharge,
}

/// The same bytes, charged until they are sent.
pub(crate) fn charged(bytes: Bytes, charge: SmallCharge) -> Bytes {
    Bytes::from_owner(Charged { bytes, _charge: charge })
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Outgoing {
    pub(crate) fn new(body: Body, delivery: Delivery) -> Self {
        Self {
            body,
            delivery: Arc::new(delivery),
            ended: false,
        }
    }

    fn track(&self, bytes: Bytes) -> Bytes {
        if bytes.is_empty() {
            return bytes;
        }
        self.delivery.unwritten.fetch_add(bytes.len(), Ordering::Relaxed);
        Bytes::from_owner(Tracked {
            bytes,
            delivery: Arc::clone(&self.delivery),
        })
    }
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.ended {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(frame) => return Poll::Ready(Some(frame.map(|frame| frame.map_data(|bytes| self.track(bytes))))),
                None => self.ended = true,
            }
        }
        self.delivery.written.register(cx.waker());
        match self.delivery.unwritten.load(Ordering::Acquire) {
            0 => Poll::Ready(None),
            _ => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        (self.ended || self.body.is_end_stream()) && self.delivery.unwritten.load(Ordering::Acquire) == 0
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl AsRef<[u8]> for Tracked {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        let before = self.delivery.unwritten.fetch_sub(self.bytes.len(), Ordering::Release);
        if before == self.bytes.len() {
            self.delivery.written.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn a_body_ends_when_its_last_byte_has_left() {
        let mut body = Outgoing::new(Body::from("all of it"), Delivery::default());
        assert_eq!(body.size_hint().exact(), Some(9));
        let frame = body.frame().await.expect("there is one").expect("it does not fail");
        let bytes = frame.into_data().expect("data");
        assert_eq!(&bytes[..], b"all of it");
        assert!(!body.is_end_stream());
        assert!(body.frame().now_or_never().is_none(), "the bytes are still here");
        let copy = bytes.slice(4..);
        drop(bytes);
        assert!(body.frame().now_or_never().is_none(), "a part is still here");
        let end = async { body.frame().await.is_none() };
        let (ended, ()) = tokio::join!(end, async { drop(copy) });
        assert!(ended && body.is_end_stream());
    }
}

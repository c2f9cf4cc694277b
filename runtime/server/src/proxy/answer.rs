//! Answers of proxied servers, with streamed bodies.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

/// A request's place on a shared connection; released when it is dropped.
#[derive(Debug)]
pub(super) struct StreamSlot {
    _all: Arc<()>,
}

/// The places of one connection.
#[derive(Debug, Default)]
pub(super) struct StreamSlots(Arc<()>);

impl StreamSlots {
    /// The number of places that are taken.
    pub(super) fn taken(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// Takes a further place.
    pub(super) fn take(&self) -> StreamSlot {
        StreamSlot {
            _all: Arc::clone(&self.0),
        }
    }
}

/// The body of an answer. The request keeps its place on the connection until the body is dropped.
#[derive(Debug)]
pub struct AnswerBody {
    body: Incoming,
    _place: Option<StreamSlot>,
}

impl AnswerBody {
    pub(super) fn new(body: Incoming, place: Option<StreamSlot>) -> Self {
        Self { body, _place: place }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

//! Response bodies whose end triggers an action.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

/// The action that runs when a body was sent or its client has disconnected.
pub(crate) trait AtEnd: Send + Unpin + 'static {
    /// Runs the action.
    fn at_end(self);
}

/// A body that runs an action when it ends or is dropped.
pub(crate) struct Watched<E: AtEnd> {
    body: Body,
    end: Option<E>,
}

impl<E: AtEnd> Watched<E> {
    /// Returns `body` with the action `end`.
    pub(crate) fn new(body: Body, end: E) -> Self {
        Self { body, end: Some(end) }
    }
}

impl<E: AtEnd> HttpBody for Watched<E> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<E: AtEnd> Drop for Watched<E> {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            end.at_end();
        }
    }
}

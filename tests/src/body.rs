//! Request bodies: a single chunk, or chunks that are sent while the request is in progress.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// The body of a request.
#[derive(Debug)]
pub enum RequestBody {
    /// A complete body; empty for none.
    Whole(Bytes),
    /// The chunks sent to the channel, until all senders are dropped.
    Pieces(mpsc::Receiver<Bytes>),
}

impl RequestBody {
    /// Returns a sender of chunks and the body that it feeds.
    #[must_use]
    pub fn pieces() -> (mpsc::Sender<Bytes>, Self) {
        let (sender, receiver) = mpsc::channel(1);
        (sender, Self::Pieces(receiver))
    }
}

impl<B: Into<Bytes>> From<B> for RequestBody {
    fn from(bytes: B) -> Self {
        Self::Whole(bytes.into())
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Pieces(receiver) => receiver
                .poll_recv(context)
                .map(|piece| piece.map(|piece| Ok(Frame::data(piece)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}

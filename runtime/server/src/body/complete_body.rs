//! Bodies that are complete already.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use futures_util::FutureExt as _;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;

/// Returns the bytes of a body that consists of a single frame and is complete.
///
/// # Errors
///
/// The same body, unread, when it is still being produced or has several frames.
pub(crate) fn complete_bytes(mut body: Body) -> Result<Bytes, Body> {
    match body.frame().now_or_never() {
        None => Err(body),
        Some(None) => Ok(Bytes::new()),
        Some(Some(first)) => match first.map(Frame::into_data) {
            Ok(Ok(bytes)) if body.is_end_stream() => Ok(bytes),
            Ok(Ok(bytes)) => Err(Resumed::behind(Ok(Frame::data(bytes)), body)),
            Ok(Err(trailers)) => Err(Resumed::behind(Ok(trailers), body)),
            Err(error) => Err(Resumed::behind(Err(error), body)),
        },
    }
}

/// A body whose first frame was read already.
struct Resumed {
    first: Option<Result<Frame<Bytes>, axum::Error>>,
    rest: Body,
}

impl Resumed {
    fn behind(first: Result<Frame<Bytes>, axum::Error>, rest: Body) -> Body {
        Body::new(Self {
            first: Some(first),
            rest,
        })
    }

    fn length_of_first(&self) -> u64 {
        let frame = self.first.as_ref().and_then(|first| first.as_ref().ok());
        frame.and_then(Frame::data_ref).map_or(0, |bytes| bytes.len() as u64)
    }
}

impl HttpBody for Resumed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (first, rest) = (self.length_of_first(), self.rest.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(first));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(first));
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;

    use super::*;

    #[tokio::test]
    async fn bodies_that_are_not_made_yet_stay_as_they_are() {
        assert_eq!(complete_bytes(Body::from("all")).ok(), Some(Bytes::from("all")));
        assert_eq!(complete_bytes(Body::empty()).ok(), Some(Bytes::new()));
        let pieces = ["a", "bc"].map(|piece| Ok::<_, Infallible>(Bytes::from(piece)));
        let body = complete_bytes(Body::from_stream(stream::iter(pieces))).expect_err("two pieces");
        assert_eq!(body.size_hint().lower(), 1);
        assert_eq!(body.collect().await.expect("does not fail").to_bytes(), "abc");
        let late = stream::once(async {
            tokio::task::yield_now().await;
            Ok::<_, Infallible>(Bytes::from("late"))
        });
        let body = complete_bytes(Body::from_stream(late)).expect_err("it is not there");
        assert_eq!(body.collect().await.expect("does not fail").to_bytes(), "late");
    }
}

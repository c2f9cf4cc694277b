//! Request bodies that no handler reads to the end.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::header::EXPECT;
use http::{Request, Version};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;

/// Bytes that are read of a body that no handler reads. Go's HTTP server reads the same number.
const UNWANTED: usize = 256 << 10;

/// Time that the client has to send the rest of its body. Most of the body has arrived when the answer is ready.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The slot that receives the unread rest of a request's body when the handler drops it.
///
/// An HTTP/1 connection with an unread body cannot carry the next request, and would be closed before the client knows
/// that.
#[derive(Debug)]
pub(crate) struct Unread(Option<Arc<Mutex<Option<Body>>>>);

impl Unread {
    /// Follows the body of `request`, if an unread rest of it can block the connection.
    pub(crate) fn from_request(request: Request<Body>) -> (Self, Request<Body>) {
        // A client that sent `Expect: 100-continue` has not sent its body; streams of HTTP/2 do not block each other.
        let may_stay = request.version() <= Version::HTTP_11
            && !request.body().is_end_stream()
            && !request.headers().contains_key(EXPECT);
        if !may_stay {
            return (Self(None), request);
        }
        let rest = Arc::new(Mutex::new(None));
        let request = request.map(|body| {
            Body::new(Followed {
                body: Some(body),
                is_late: false,
                rest: Arc::clone(&rest),
            })
        });
        (Self(Some(rest)), request)
    }

    /// Reads the rest of the body, up to a limit, and discards it.
    pub(crate) async fn drain(self) {
        let Some(rest) = self.0 else { return };
        let rest = rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(rest) = rest {
            // A rest that cannot be read in time is dropped together with the connection.
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, drain(rest, UNWANTED)).await;
        }
    }
}

/// Reads up to `limit` further bytes and discards them.
pub(super) async fn drain(mut body: Body, limit: usize) {
    let mut left = limit;
    while let Some(Ok(frame)) = body.frame().await {
        left = match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
            Some(left) => left,
            None => return,
        };
    }
}

struct Followed {
    /// `None` once the end was read.
    body: Option<Body>,
    /// True once a reader has waited for a next frame that did not come: no other reader is to wait for it.
    is_late: bool,
    rest: Arc<Mutex<Option<Body>>>,
}

impl HttpBody for Followed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(cx);
        self.is_late = polled.is_pending();
        let frame = std::task::ready!(polled);
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let is_of_use = |body: &Body| !self.is_late && !body.is_end_stream();
        if let Some(body) = self.body.take_if(|body| is_of_use(body)) {
            *self.rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::{FutureExt as _, StreamExt as _, stream};

    use super::*;

    /// A body of many frames, and the counter of the frames that were read.
    fn frames() -> (Body, Arc<AtomicUsize>) {
        let read = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&read);
        let frames = stream::iter(0..1000).map(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(Bytes::from_static(&[0; 1 << 10]))
        });
        (Body::from_stream(frames), read)
    }

    #[tokio::test]
    async fn the_rest_of_a_refused_body_is_read_up_to_a_limit() {
        let (body, read) = frames();
        let (unread, request) = Unread::from_request(Request::new(body));
        let mut body = request.into_body();
        body.frame().await.expect("there are many").expect("none fails");
        drop(body);
        assert_eq!(read.load(Ordering::Relaxed), 1);
        unread.drain().await;
        // The frame that exceeds the limit is read, too.
        assert_eq!(read.load(Ordering::Relaxed), 1 + (UNWANTED >> 10) + 1);
    }

    #[tokio::test]
    async fn nothing_is_read_that_is_not_in_the_way() {
        let (body, read) = frames();
        let asks_first = Request::builder().header(EXPECT, "100-continue");
        let (unread, request) = Unread::from_request(asks_first.body(body).expect("legal"));
        drop(request);
        unread.drain().await;
        let (body, also_read) = frames();
        let stream = Request::builder().version(Version::HTTP_2);
        let (unread, request) = Unread::from_request(stream.body(body).expect("legal"));
        drop(request);
        unread.drain().await;
        assert_eq!(
            (read.load(Ordering::Relaxed), also_read.load(Ordering::Relaxed)),
            (0, 0)
        );
    }

    #[tokio::test]
    async fn a_body_that_blocked_others_is_not_awaited() {
        let stalled = stream::pending::<Result<Bytes, Infallible>>();
        let (unread, request) = Unread::from_request(Request::new(Body::from_stream(stalled)));
        let mut body = request.into_body();
        assert!(body.frame().now_or_never().is_none());
        drop(body);
        assert!(unread.drain().now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_body_in_use_elsewhere_is_left_alone() {
        let (body, read) = frames();
        let (unread, request) = Unread::from_request(Request::new(body));
        let mut kept = request.into_body();
        unread.drain().await;
        assert_eq!(read.load(Ordering::Relaxed), 0);
        assert!(kept.frame().await.is_some_and(|frame| frame.is_ok()));
    }
}

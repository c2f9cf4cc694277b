//! Deadlines for answers that clients do not read in time.
//!
//! The body of an answer is not polled while its client reads nothing, so the deadline is enforced around it: by the
//! exchange of an HTTP/2 stream, and by the connection for HTTP/1.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::time::{Sleep, sleep_until};

use super::activity::Activity;

thread_local! {
    /// The deadline of the answer that was created in the exchange being polled.
    static DUE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Sets the deadline of the answer that was just created; called within its exchange.
pub(super) fn set_due(until: Option<Instant>) {
    DUE.set(until);
}

/// An exchange of an HTTP/2 connection. It is dropped when its answer is not sent in time: the stream is reset, and its
/// unsent data is discarded.
pub(super) struct Bounded<F> {
    exchange: F,
    /// `None` until there is an answer that cannot be sent at once.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<F> Bounded<F> {
    pub(super) fn new(exchange: F) -> Self {
        Self { exchange, timer: None }
    }
}

impl<F: Future<Output = ()> + Unpin> Future for Bounded<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        DUE.set(None);
        if Pin::new(&mut self.exchange).poll(cx).is_ready() {
            return Poll::Ready(());
        }
        if let Some(due) = DUE.take() {
            self.timer = Some(Box::pin(sleep_until(due.into())));
        }
        let Some(timer) = &mut self.timer else {
            return Poll::Pending;
        };
        let overdue = timer.as_mut().poll(cx);
        if overdue.is_ready() {
            tracing::info!("a client did not read its answer in time; the stream is reset");
        }
        overdue
    }
}

/// Completes when an answer that a connection of HTTP/1 is sending is overdue.
pub(super) async fn overdue(activity: Arc<Activity>) {
    let mut timer: Option<(Instant, Pin<Box<Sleep>>)> = None;
    poll_fn(|cx| {
        let Some(due) = activity.due() else {
            timer = None;
            return Poll::Pending;
        };
        if timer.as_ref().is_none_or(|(known, _)| *known != due) {
            timer = None;
        }
        let (_, timer) = timer.get_or_insert_with(|| (due, Box::pin(sleep_until(due.into()))));
        timer.as_mut().poll(cx)
    })
    .await;
}

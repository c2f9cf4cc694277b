//! Connections that are closed in order: no further request is accepted, and those under way are answered.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use tokio::sync::{Notify, watch};

/// Closes all connections of a listener in order, and waits for their ends.
#[derive(Debug)]
pub(super) struct Closing {
    requested: watch::Sender<bool>,
}

impl Closing {
    pub(super) fn new() -> Self {
        Self {
            requested: watch::Sender::new(false),
        }
    }

    /// Returns the signal for one more connection, which is open until the signal is dropped.
    pub(super) fn signal(&self) -> ClosingSignal {
        ClosingSignal {
            all: self.requested.subscribe(),
            own: Arc::default(),
        }
    }

    /// Closes all connections, and waits until they have ended.
    pub(super) async fn close(self) {
        self.requested.send_replace(true);
        self.requested.closed().await;
    }
}

/// The signal to close a connection in order.
#[derive(Debug)]
pub(super) struct ClosingSignal {
    all: watch::Receiver<bool>,
    own: Arc<Notify>,
}

impl ClosingSignal {
    /// Returns a handle that closes this connection alone.
    pub(super) fn closer(&self) -> Arc<Notify> {
        Arc::clone(&self.own)
    }

    /// Waits until the connection is to be closed.
    async fn requested(mut self) -> Self {
        let own = Arc::clone(&self.own);
        tokio::select! {
            // An error says that the listener is dropped.
            _ = self.all.wait_for(|requested| *requested) => {}
            () = own.notified() => {}
        }
        self
    }
}

/// A connection that closes in order when its signal says so.
pub(super) struct ClosingConnection<C> {
    connection: Pin<Box<C>>,
    /// Accepts no further request; the connection ends when those under way are answered.
    close: fn(Pin<&mut C>),
    /// `None` once it was received.
    requested: Option<BoxFuture<'static, ClosingSignal>>,
    /// Kept until the connection ends.
    received: Option<ClosingSignal>,
}

impl<C: Future> ClosingConnection<C> {
    pub(super) fn new(connection: C, close: fn(Pin<&mut C>), signal: ClosingSignal) -> Self {
        Self {
            connection: Box::pin(connection),
            close,
            requested: Some(Box::pin(signal.requested())),
            received: None,
        }
    }
}

impl<C: Future> Future for ClosingConnection<C> {
    type Output = C::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<C::Output> {
        let this = &mut *self;
        if let Some(requested) = &mut this.requested
            && let Poll::Ready(signal) = requested.as_mut().poll(cx)
        {
            this.requested = None;
            this.received = Some(signal);
            (this.close)(this.connection.as_mut());
        }
        this.connection.as_mut().poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Pending, pending};

    use futures_util::FutureExt as _;

    use super::*;

    /// A connection that ends when it is closed.
    struct Open(Option<Pending<()>>);

    impl Future for Open {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            match &mut self.0 {
                Some(open) => Pin::new(open).poll(cx),
                None => Poll::Ready(()),
            }
        }
    }

    fn connection(signal: ClosingSignal) -> ClosingConnection<Open> {
        ClosingConnection::new(Open(Some(pending())), |mut open| open.0 = None, signal)
    }

    #[tokio::test]
    async fn one_connection_closes_and_then_all() {
        let closing = Closing::new();
        let (one, others) = (closing.signal(), [closing.signal(), closing.signal()]);
        let closer = one.closer();
        let (mut one, mut others) = (connection(one), others.map(connection));
        assert_eq!((&mut one).now_or_never(), None);
        closer.notify_one();
        assert_eq!((&mut one).now_or_never(), Some(()));
        for other in &mut others {
            assert_eq!(other.now_or_never(), None);
        }
        let mut closed = Box::pin(closing.close());
        assert_eq!(closed.as_mut().now_or_never(), None);
        for other in &mut others {
            assert_eq!(other.now_or_never(), Some(()));
        }
        assert_eq!(closed.as_mut().now_or_never(), None, "they are not dropped");
        drop((one, others));
        closed.await;
    }
}

//! Turns of connections that send much.
//!
//! A connection whose client reads quickly can encode, encrypt and send a large list without a pause, and with it all others
//! that do. A request of another client would wait behind each of them. So a connection sends at most [`TURN`] bytes at
//! once; for more it needs a turn, and there are only as many turns as threads. A connection that sends little needs none.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// Maximum bytes that a connection sends in one turn: some hundred microseconds of encryption and system calls.
pub(super) const TURN: usize = 128 << 10;

/// The turns of all connections.
#[derive(Clone, Debug)]
pub(super) struct BulkTurns(Arc<Semaphore>);

impl BulkTurns {
    /// Returns `count` turns, at least one.
    pub(super) fn new(count: usize) -> Self {
        Self(Arc::new(Semaphore::new(count.max(1))))
    }

    /// The state of one connection, which has no turn yet and needs none.
    pub(super) fn sender(&self) -> BulkSender {
        BulkSender {
            turns: self.clone(),
            state: State::Little,
        }
    }
}

type Waiting = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

/// The turns of one connection.
pub(super) struct BulkSender {
    turns: BulkTurns,
    state: State,
}

enum State {
    /// The connection has sent less than a turn allows.
    Little,
    Waiting(Waiting),
    /// The connection may send now.
    HasTurn {
        _permit: OwnedSemaphorePermit,
    },
}

impl BulkSender {
    /// Ready if the connection may send now: if it sends little, or has a turn. Turns are given in the order of their
    /// requests.
    pub(super) fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let State::Waiting(waiting) = &mut self.state {
            self.state = match ready!(waiting.as_mut().poll(cx)) {
                Ok(permit) => State::HasTurn { _permit: permit },
                // The turns are never closed.
                Err(_) => State::Little,
            };
        }
        Poll::Ready(())
    }

    /// True if the connection has a turn.
    pub(super) fn has_turn(&self) -> bool {
        matches!(self.state, State::HasTurn { .. })
    }

    /// Ends the turn, if the connection has one. A connection that has more to send is woken at its next turn.
    pub(super) fn end_turn(&mut self, has_more: bool, cx: &mut Context<'_>) {
        self.state = State::Little;
        if !has_more {
            return;
        }
        self.state = State::Waiting(Box::pin(Arc::clone(&self.turns.0).acquire_owned()));
        if self.poll_turn(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }
}

//! Answers on their way to clients: how long sending may take, and how much memory it may hold.

mod budget;
mod outgoing;
mod snapshots;

use std::time::{Duration, Instant};

use axum::response::Response;

pub use budget::SendLimits;
pub(crate) use budget::{Charge, SendBudget};
pub(crate) use outgoing::{Delivery, Outgoing, charged};
pub(crate) use snapshots::Snapshot;

/// Time for sending an answer that is made when its deadline has passed: the answer that says so.
const LATE_ANSWER: Duration = Duration::from_secs(1);

/// An answer, and how long sending it may take.
#[derive(Debug)]
pub struct Answer {
    /// The answer.
    pub response: Response,
    /// When its last byte has to be sent; the stream or connection is cut off then. `None` means no limit.
    pub until: Option<Instant>,
}

impl Answer {
    /// An answer that is due at `deadline`, or soon after now when the deadline has passed already (`late`).
    pub(crate) fn due(response: Response, deadline: Option<Instant>, late: bool) -> Self {
        let grace = late.then(|| Instant::now() + LATE_ANSWER);
        Self {
            response,
            until: deadline.map(|deadline| grace.map_or(deadline, |grace| deadline.max(grace))),
        }
    }
}

impl From<Response> for Answer {
    /// An answer without a limit.
    fn from(response: Response) -> Self {
        Self { response, until: None }
    }
}

/// Bytes of one answer that wait in the connection, at most: what HTTP/2 takes before the network does, and a chunk on each
/// side of it.
const UNDERWAY: usize = 640 << 10;

/// The memory that the body of an answer holds, for bodies whose [`SizeHint`](http_body::SizeHint) does not say so. An
/// extension of the response.
#[derive(Clone, Debug)]
pub(crate) struct Pinned {
    /// Bytes that are there for this answer alone.
    pub(crate) own: usize,
    /// The list that the answer is made of.
    pub(crate) snapshot: Option<Snapshot>,
}

impl Pinned {
    /// So many bytes for this answer alone.
    pub(crate) fn of(own: usize) -> Self {
        Self { own, snapshot: None }
    }

    /// A list that is encoded while it is sent. It takes `bytes` when it is sent as a whole, is made of `entries` objects, and
    /// keeps `own` bytes in memory beside them.
    pub(crate) fn of_list(bytes: usize, entries: usize, own: usize, snapshot: Snapshot) -> Self {
        let pointers = entries.saturating_mul(size_of::<usize>());
        Self {
            own: bytes.min(UNDERWAY).saturating_add(pointers).saturating_add(own),
            snapshot: Some(snapshot),
        }
    }
}

//! Answers while they are sent: bounds on the time and the memory that they take.

mod budget;
mod outgoing;
mod snapshots;

use std::time::{Duration, Instant};

use axum::response::Response;

pub use budget::SendLimits;
pub(crate) use budget::{Charge, SendBudget};
pub(crate) use outgoing::{Delivery, Outgoing, charged};
pub(crate) use snapshots::Snapshot;

/// Time for sending an answer that is created after its deadline: the answer that reports the timeout.
const LATE_RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

/// An answer with its deadline.
#[derive(Debug)]
pub struct Answer {
    /// The response.
    pub response: Response,
    /// Deadline for sending the last byte; the stream or connection is cut off then. `None` means no limit.
    pub until: Option<Instant>,
}

impl Answer {
    /// An answer that is due at `deadline`, or soon after now when that has passed already (`late`).
    pub(crate) fn due(response: Response, deadline: Option<Instant>, late: bool) -> Self {
        let grace = late.then(|| Instant::now() + LATE_RESPONSE_TIMEOUT);
        Self {
            response,
            until: deadline.map(|deadline| grace.map_or(deadline, |grace| deadline.max(grace))),
        }
    }
}

impl From<Response> for Answer {
    /// An answer without a deadline.
    fn from(response: Response) -> Self {
        Self { response, until: None }
    }
}

/// Maximum bytes of one answer that wait in the connection: HTTP/2's send buffer, and a chunk on each side of it.
const MAX_UNSENT: usize = 640 << 10;

/// The memory that the body of an answer keeps allocated, for bodies whose [`SizeHint`](http_body::SizeHint) does not
/// contain it. An extension of the response.
#[derive(Clone, Debug)]
pub(crate) struct RetainedMemory {
    /// Bytes that only this answer keeps.
    pub(crate) own: usize,
    /// The list that the answer is encoded from.
    pub(crate) snapshot: Option<Snapshot>,
}

impl RetainedMemory {
    /// Returns `own` bytes that only this answer keeps.
    pub(crate) fn new(own: usize) -> Self {
        Self { own, snapshot: None }
    }

    /// A list that is encoded while it is sent. The whole encoded list has `bytes` bytes; the answer keeps its
    /// `entries` objects and `own` further bytes in memory.
    pub(crate) fn of_list(bytes: usize, entries: usize, own: usize, snapshot: Snapshot) -> Self {
        let pointers = entries.saturating_mul(size_of::<usize>());
        Self {
            own: bytes.min(MAX_UNSENT).saturating_add(pointers).saturating_add(own),
            snapshot: Some(snapshot),
        }
    }
}

//! Answers on their way to clients: how long sending may take, and how much memory it may hold.

mod budget;
mod outgoing;

use std::time::{Duration, Instant};

use axum::response::Response;

pub use budget::SendLimits;
pub(crate) use budget::{Charge, SendBudget};
pub(crate) use outgoing::{Delivery, Outgoing};

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

/// The bytes that the body of an answer keeps in memory, for bodies whose [`SizeHint`](http_body::SizeHint) does not say so.
/// An extension of the response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pinned(pub(crate) usize);

//! The treatment of requests that do not get seats at once.

use crate::dealer::Dealer;

/// The treatment of requests for which no seat is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Requests never wait.
    Exempt,
    /// Requests are rejected.
    Reject,
    /// Requests wait in queues.
    Queue {
        /// Number of queues.
        queues: u32,
        /// Number of queues of one flow.
        hand_size: u32,
        /// Longest queue; further requests are rejected.
        queue_length: u32,
    },
}

impl Discipline {
    /// Most queues of a level: so many that two flows rarely share one, and so few that their memory is small.
    pub const MOST_QUEUES: u32 = 4096;

    /// The same discipline with at least one queue, one queue of a flow, and one request in a queue; and with no more queues than
    /// [`MOST_QUEUES`](Self::MOST_QUEUES).
    pub(crate) fn bounded(self) -> Self {
        let Self::Queue {
            queues,
            hand_size,
            queue_length,
        } = self
        else {
            return self;
        };
        let queues = queues.clamp(1, Self::MOST_QUEUES);
        Self::Queue {
            queues,
            hand_size: hand_size.clamp(1, queues.min(Dealer::LARGEST_HAND)),
            queue_length: queue_length.max(1),
        }
    }
}

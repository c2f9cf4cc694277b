//! The treatment of requests that do not get seats at once.

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

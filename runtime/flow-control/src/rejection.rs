//! Rejected requests.

/// The reason that a request is rejected on its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rejection {
    /// Its queue is full.
    QueueFull,
    /// All seats of a level without queues are in use.
    ConcurrencyLimit,
}

//! Rejected requests.

/// The reason that a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rejection {
    /// Its queue is full.
    QueueFull,
    /// All seats of a level without queues are in use.
    ConcurrencyLimit,
    /// It waited too long.
    TimeOut,
    /// Its client went away while it waited.
    Cancelled,
}

impl Rejection {
    /// The reason in metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::QueueFull => "queue-full",
            Self::ConcurrencyLimit => "concurrency-limit",
            Self::TimeOut => "time-out",
            Self::Cancelled => "cancelled",
        }
    }
}

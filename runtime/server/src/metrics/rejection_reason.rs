//! The reasons of flow control, as metrics name them.

/// The reason that a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectionReason {
    /// Its queue is full.
    QueueFull,
    /// All seats of a level without queues are in use.
    ConcurrencyLimit,
    /// It waited too long.
    TimeOut,
    /// Its client disconnected while it waited.
    Cancelled,
}

impl RejectionReason {
    /// All reasons, in the order of their declaration.
    pub(super) const ALL: [Self; 4] = [Self::QueueFull, Self::ConcurrencyLimit, Self::TimeOut, Self::Cancelled];

    /// The reason as a label of metrics.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::QueueFull => "queue-full",
            Self::ConcurrencyLimit => "concurrency-limit",
            Self::TimeOut => "time-out",
            Self::Cancelled => "cancelled",
        }
    }
}

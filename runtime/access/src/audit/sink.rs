//! The receivers of events.

use std::fmt;

use super::Event;
use crate::outcome::Outcome;

/// An event could not be recorded; the reason is for the log and not for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed(pub String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

/// The outcome of recording events of one request. Dropping it loses none of them.
pub type Recording = Outcome<'static, Result<(), Failed>>;

/// Receives the events of all requests.
pub trait Sink: Send + Sync + fmt::Debug {
    /// Records events of one request, in the order of their stages, or hands them over to be recorded later. Called while a request
    /// waits, so it must return soon.
    ///
    /// # Errors
    ///
    /// Events are lost, and the request must be refused if it has only just arrived: the sink is strict. Other sinks report
    /// losses in metrics and in the log themselves.
    fn record(&self, events: &[Event<'_>]) -> Result<(), Failed>;

    /// Begins to record events as [`record`](Self::record) does, for a caller that can wait: several requests may share the work. The
    /// events are recorded even if the outcome is dropped. The default records them at once.
    fn begin(&self, events: &[Event<'_>]) -> Recording {
        self.record(events).into()
    }

    /// True if each arrival has to be recorded before the request is handled. The default accepts that of a read together with
    /// its end.
    fn is_strict(&self) -> bool {
        false
    }

    /// Records what was handed over before the server ends. The default has nothing to do.
    fn finish(&self) {}
}

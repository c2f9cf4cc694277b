//! The audit of a server, and the record of a request.
//!
//! The filters `audit-refused`, `audit` and `audit-answers` begin and end an `AuditRecord`, which travels in the context of its
//! request; endpoints add the object of the request. Without an [`Audit`] in the configuration none of this runs.

mod head;
mod record;

use std::fmt;
use std::sync::Arc;

use planesmith_access::audit::{AuditDecision, Event, Failed, Policy, Recording, Sink};
use planesmith_access::authorization::Target;
use planesmith_access::outcome::Outcome;
use planesmith_access::user::UserInfo;
use planesmith_machinery::clock::Clock;

pub(crate) use self::head::{Head, RecordedRequest};
pub(crate) use self::record::AuditRecord;

/// The audit of a server.
#[derive(Debug)]
pub struct Audit {
    /// Selects the requests that are recorded.
    pub policy: Policy,
    /// Receive the events.
    pub sinks: Vec<Arc<dyn Sink>>,
    /// Counts the events.
    pub meter: Arc<dyn AuditMeter>,
    /// The clock, for the times of events.
    pub clock: Arc<dyn Clock>,
}

/// Counts what becomes of events.
pub trait AuditMeter: fmt::Debug + Send + Sync {
    /// `events` were passed to the sinks.
    fn recorded(&self, events: u64);

    /// A request was refused because its event could not be recorded.
    fn rejected(&self);

    /// The sink `plugin` has lost `events`.
    fn lost(&self, plugin: &'static str, events: u64);
}

impl Audit {
    /// Delivers what sinks have not delivered yet, because the server ends. Waits for files and other servers.
    pub fn finish(&self) {
        for sink in &self.sinks {
            sink.finish();
        }
    }

    pub(crate) fn decide(&self, user: Option<&UserInfo>, verb: &str, target: &Target<'_>) -> AuditDecision {
        self.policy.decide(user, verb, target)
    }

    /// True if each arrival has to be recorded before the request is handled.
    fn is_strict(&self) -> bool {
        self.sinks.iter().any(|sink| sink.is_strict())
    }

    /// Passes events of one request to all sinks, in the order of their stages.
    ///
    /// # Errors
    ///
    /// A strict sink has not recorded them.
    fn record(&self, events: &[Event<'_>]) -> Result<(), Failed> {
        self.meter.recorded(events.len() as u64);
        let mut recorded = Ok(());
        for sink in &self.sinks {
            recorded = recorded.and(sink.record(events));
        }
        recorded
    }

    /// Begins to record events of one request as [`record`](Self::record) does.
    fn begin(&self, events: &[Event<'_>]) -> Recording {
        self.meter.recorded(events.len() as u64);
        let mut begun = self.sinks.iter().map(|sink| sink.begin(events));
        let first = begun.next().unwrap_or(Outcome::Ready(Ok(())));
        begun.fold(first, |before, next| match (before, next) {
            (Outcome::Ready(before), Outcome::Ready(next)) => before.and(next).into(),
            (before, next) => Outcome::pending(async move { before.wait().await.and(next.wait().await) }),
        })
    }
}

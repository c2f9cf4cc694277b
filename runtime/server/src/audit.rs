//! The audit of a server, and the record of a request.
//!
//! The filters `audit-refused`, `audit` and `audit-answers` begin and end an `AuditRecord`, which travels in the context of its
//! request; endpoints add the object of the request. Without an [`Audit`] in the configuration none of this runs.

mod record;

use std::fmt;
use std::sync::Arc;

use planesmith_access::audit::{AuditDecision, Event, Failed, Policy, Sink};
use planesmith_access::authorization::Target;
use planesmith_access::user::UserInfo;

pub(crate) use self::record::{AuditRecord, Head};

/// The audit of a server.
#[derive(Debug)]
pub struct Audit {
    /// Selects the requests that are recorded.
    pub policy: Policy,
    /// Receive the events.
    pub sinks: Vec<Arc<dyn Sink>>,
    /// Counts the events.
    pub meter: Arc<dyn AuditMeter>,
}

/// Counts what becomes of events.
pub trait AuditMeter: fmt::Debug + Send + Sync {
    /// An event was passed to the sinks.
    fn recorded(&self);

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

    /// Passes an event to all sinks.
    ///
    /// # Errors
    ///
    /// A strict sink has not recorded it.
    fn record(&self, event: &Event<'_>) -> Result<(), Failed> {
        self.meter.recorded();
        let mut recorded = Ok(());
        for sink in &self.sinks {
            recorded = recorded.and(sink.record(event));
        }
        recorded
    }
}

//! The contract of flow control: it gives requests their seats. The filter `flow-control` calls it.

use std::fmt;

use futures_util::future::BoxFuture;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};

use crate::in_flight::Seats;
use crate::metrics::FlowReadings;
use crate::request::Context;

/// Decides when requests run.
pub trait FlowControl: fmt::Debug + Send + Sync {
    /// Begins a request. A request that runs at once is not to wait for others.
    fn begin(&self, ctx: &Context, work: &RequestedWork) -> Begun;

    /// A page about the present state, for people.
    fn page(&self, page: DebugPage) -> String;

    /// The state of all levels, for metrics.
    fn readings(&self) -> FlowReadings;
}

/// The facts about a request from which its work is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedWork {
    /// A request about single things.
    Small,
    /// A list, or a watch that begins with one.
    List(ListedWork),
    /// A write of an object.
    Write {
        /// Number of watches that receive the change.
        watches: usize,
    },
}

/// The facts about a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedWork {
    /// Number of stored objects of the resource.
    pub objects: usize,
    /// Their size, in bytes.
    pub bytes: usize,
    /// Number of objects that the client wants at most; `None` for all.
    pub limit: Option<usize>,
    /// True if the request selects one object by its name.
    pub is_of_one: bool,
}

/// A request that has begun.
#[derive(Debug)]
#[must_use]
pub struct Begun {
    /// Its flow, which clients see in headers.
    pub flow: Flow,
    /// Its turn.
    pub turn: Turn,
}

/// The flow schema and the priority level of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// UID of the flow schema that matched the request; `None` while it is not stored.
    pub schema: Option<HeaderValue>,
    /// UID of the priority level that serves the request; `None` while it is not stored.
    pub level: Option<HeaderValue>,
}

const SCHEMA: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");
const LEVEL: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");

impl Flow {
    /// Adds the flow to the headers of an answer, unless they name one already.
    pub(crate) fn add_to(self, headers: &mut HeaderMap) {
        for (name, value) in [(SCHEMA, self.schema), (LEVEL, self.level)] {
            if let Some(value) = value {
                headers.entry(name).or_insert(value);
            }
        }
    }
}

/// The turn of a request.
#[must_use]
pub enum Turn {
    /// It runs.
    Runs(Box<dyn Seats>),
    /// It waits. Dropping the future ends the request.
    Waits(BoxFuture<'static, Result<Box<dyn Seats>, Rejected>>),
    /// It is rejected.
    Rejected(Rejected),
}

/// A request that is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Seconds after which the client may try again.
    pub retry_after: u64,
}

/// A page about flow control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugPage {
    /// A line for each level.
    PriorityLevels,
    /// A line for each queue.
    Queues,
    /// A line for each request.
    Requests {
        /// True if lines have the details of requests.
        with_details: bool,
    },
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runs(seats) => f.debug_tuple("Runs").field(seats).finish(),
            Self::Waits(_) => f.write_str("Waits"),
            Self::Rejected(rejected) => f.debug_tuple("Rejected").field(rejected).finish(),
        }
    }
}

//! The context of a request.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use http::HeaderValue;
use http::request::Parts;
use planesmith_access::audit::Annotations;
use planesmith_access::user::UserInfo;
use planesmith_machinery::feature::Features;
use uuid::Uuid;

use super::{RequestInfo, Timeline, Warnings};
use crate::audit::AuditRecord;
use crate::random;
use crate::shutdown::Shutdown;

/// The context that travels with a request from the filters to the handler; cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    /// The parsed request.
    pub info: Arc<RequestInfo>,
    /// The authenticated user.
    pub user: Arc<UserInfo>,
    /// The request's id in logs, answers and audit records.
    pub id: RequestId,
    /// Deadline of the answer; `None` for a long-running request.
    pub deadline: Option<Instant>,
    /// Warnings for the client.
    pub warnings: Warnings,
    /// The annotations of the audit event, shared by filters and admission; off if the request has no event.
    pub annotations: Annotations,
    /// The audit record; `None` if the policy does not select the request.
    pub(crate) audit: Option<Arc<AuditRecord>>,
    /// Signalled when the server stops; streams end then.
    pub shutdown: Shutdown,
    /// Time at which the request's head had arrived.
    pub received: Instant,
    /// Durations of the stages so far.
    pub timeline: Timeline,
    /// The features of the server.
    pub features: Features,
    /// Address of the client; `None` for requests made inside the process.
    pub peer: Option<IpAddr>,
    /// The client program, from its `User-Agent` header.
    pub(crate) agent: Option<HeaderValue>,
}

impl Context {
    /// Returns the context of a request that was not parsed yet.
    #[must_use]
    pub fn unknown(shutdown: Shutdown) -> Self {
        static INFO: LazyLock<Arc<RequestInfo>> = LazyLock::new(Arc::default);
        static USER: LazyLock<Arc<UserInfo>> = LazyLock::new(|| Arc::new(UserInfo::anonymous()));
        let received = Instant::now();
        Self {
            info: Arc::clone(&INFO),
            user: Arc::clone(&USER),
            id: RequestId::random(),
            deadline: None,
            warnings: Warnings::default(),
            annotations: Annotations::OFF,
            audit: None,
            shutdown,
            received,
            timeline: Timeline::new(received),
            features: Features::default(),
            peer: None,
            agent: None,
        }
    }
}

/// The features of the server that received a request, from the context that the filters attached to it; the default
/// features of a request without a context.
pub(crate) fn features_of(request: &Parts) -> &Features {
    match request.extensions.get::<Context>() {
        Some(context) => &context.features,
        None => Features::defaults(),
    }
}

/// A user with a name and nothing else.
#[cfg(test)]
pub(crate) fn user(name: &str) -> Arc<UserInfo> {
    Arc::new(UserInfo {
        name: name.to_owned(),
        ..UserInfo::default()
    })
}

/// The id of one request: the client's `Audit-ID`, or a new one.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestId(Id);

#[derive(Clone, PartialEq, Eq)]
enum Id {
    Given(Arc<str>),
    New(Uuid),
}

impl RequestId {
    /// Returns a new id.
    #[must_use]
    pub fn random() -> Self {
        Self(Id::New(random::uuid()))
    }

    /// Returns an id that a client chose.
    #[must_use]
    pub fn given(id: &str) -> Self {
        Self(Id::Given(id.into()))
    }
}

impl RequestId {
    /// Writes the id into `buffer`, cut to its size, and returns the written part.
    pub(crate) fn write<'b>(&self, buffer: &'b mut [u8; 64]) -> &'b [u8] {
        match &self.0 {
            Id::New(id) => id.hyphenated().encode_lower(buffer).as_bytes(),
            Id::Given(id) => {
                let length = id.len().min(buffer.len());
                buffer[..length].copy_from_slice(&id.as_bytes()[..length]);
                &buffer[..length]
            }
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Id::Given(id) => f.write_str(id),
            Id::New(id) => id.hyphenated().fmt(f),
        }
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

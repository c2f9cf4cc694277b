//! Failures of requests: the request was not performed, or its outcome is unknown.

use std::error::Error as _;
use std::sync::Arc;

use planesmith_store::backend::BackendError;
use tonic::{Code, ConnectError, Status};

/// The failure of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// etcd decided against the request. Repeating it is pointless.
    Refused(Refused),
    /// This member did not perform the request; another one may.
    MemberUnavailable(Arc<str>),
    /// The member is well and did not perform the request now.
    Overloaded(Arc<str>),
    /// The answer says that the request may have been performed, and may still be.
    Undecided(Arc<str>),
    /// The connection was lost: the request may have been performed, and may still be.
    Lost(Arc<str>),
}

/// etcd's reasons to refuse a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The revision is compacted.
    Compacted,
    /// The quota of the store is used up.
    Full,
    /// The request is larger than the server accepts.
    TooLarge,
    /// The lease has ended.
    LeaseNotFound,
    /// Another reason, e.g. missing rights.
    Other(Arc<str>),
}

/// etcd's errors, by the texts that it answers with.
const COMPACTED: &str = "etcdserver: mvcc: required revision has been compacted";
const FULL: &str = "etcdserver: mvcc: database space exceeded";
const TOO_LARGE: &str = "etcdserver: request is too large";
/// The member's gRPC library reads no more; then the sizes follow.
const MESSAGE_TOO_LARGE: &str = "grpc: received message larger than max";
const LEASE_NOT_FOUND: &str = "etcdserver: requested lease not found";
const NO_LEADER: &str = "etcdserver: no leader";
const LEARNER: &str = "etcdserver: rpc not supported for learner";

impl Failure {
    /// The failure of a request that was not answered in time.
    pub(crate) fn late() -> Self {
        Self::Lost("etcd did not answer in time".into())
    }

    /// True if requests should go to another member from now on.
    pub(crate) fn blames_member(&self) -> bool {
        matches!(self, Self::MemberUnavailable(_) | Self::Lost(_))
    }

    /// The reason, for people.
    pub(crate) fn reason(&self) -> Arc<str> {
        match self {
            Self::Refused(Refused::Compacted) => COMPACTED.into(),
            Self::Refused(Refused::Full) => FULL.into(),
            Self::Refused(Refused::TooLarge) => TOO_LARGE.into(),
            Self::Refused(Refused::LeaseNotFound) => LEASE_NOT_FOUND.into(),
            Self::Refused(Refused::Other(reason))
            | Self::MemberUnavailable(reason)
            | Self::Overloaded(reason)
            | Self::Undecided(reason)
            | Self::Lost(reason) => Arc::clone(reason),
        }
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        if let Some(reason) = connect_error(&status) {
            return Self::MemberUnavailable(format!("cannot connect to etcd: {reason}").into());
        }
        let message = status.message();
        let reason: Arc<str> = message.into();
        match message {
            COMPACTED => return Self::Refused(Refused::Compacted),
            FULL => return Self::Refused(Refused::Full),
            TOO_LARGE => return Self::Refused(Refused::TooLarge),
            LEASE_NOT_FOUND => return Self::Refused(Refused::LeaseNotFound),
            // Requests are sent with the demand for a leader, which is checked before they are looked at.
            NO_LEADER | LEARNER => return Self::MemberUnavailable(reason),
            _ if message.starts_with(MESSAGE_TOO_LARGE) => return Self::Refused(Refused::TooLarge),
            _ => {}
        }
        let is_answer = message.starts_with("etcdserver: ");
        // Not from the member: the connection was lost, whatever code its error has.
        if status.source().is_some() && !is_answer {
            return Self::Lost(with_causes(&status).into());
        }
        match status.code() {
            Code::InvalidArgument
            | Code::NotFound
            | Code::AlreadyExists
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::FailedPrecondition
            | Code::OutOfRange
            | Code::Unimplemented
            | Code::DataLoss => Self::Refused(Refused::Other(reason)),
            // "too many requests": refused before it is proposed.
            Code::ResourceExhausted if is_answer => Self::Overloaded(reason),
            Code::ResourceExhausted => Self::Refused(Refused::Other(reason)),
            Code::Ok
            | Code::Cancelled
            | Code::Unknown
            | Code::DeadlineExceeded
            | Code::Aborted
            | Code::Internal
            | Code::Unavailable => match is_answer {
                true => Self::Undecided(reason),
                false => Self::Lost(with_causes(&status).into()),
            },
        }
    }
}

impl From<Failure> for BackendError {
    fn from(failure: Failure) -> Self {
        Self(failure.reason())
    }
}

/// Returns the reason why there is no connection, if the request was never sent.
fn connect_error(status: &Status) -> Option<String> {
    let mut source = status.source();
    while let Some(error) = source {
        if let Some(ConnectError(reason)) = error.downcast_ref() {
            return Some(reason.to_string());
        }
        source = error.source();
    }
    None
}

fn with_causes(status: &Status) -> String {
    let mut text = format!("the connection to etcd was lost: {}", status.message());
    let mut source = status.source();
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tonic::Status;

    use super::{Failure, Refused};

    #[test]
    fn a_refusal_is_not_taken_for_an_unknown_outcome() {
        let compacted = Status::out_of_range("etcdserver: mvcc: required revision has been compacted");
        assert_eq!(Failure::from(compacted), Failure::Refused(Refused::Compacted));
        let full = Status::resource_exhausted("etcdserver: mvcc: database space exceeded");
        assert_eq!(Failure::from(full), Failure::Refused(Refused::Full));
        let busy = Status::resource_exhausted("etcdserver: too many requests");
        assert!(matches!(Failure::from(busy), Failure::Overloaded(_)));
        let large = Status::invalid_argument("etcdserver: request is too large");
        assert_eq!(Failure::from(large), Failure::Refused(Refused::TooLarge));
        let larger = Status::resource_exhausted("grpc: received message larger than max (3145771 vs. 2097152)");
        assert_eq!(Failure::from(larger), Failure::Refused(Refused::TooLarge));
        let denied = Failure::from(Status::permission_denied("etcdserver: permission denied"));
        assert!(matches!(denied, Failure::Refused(Refused::Other(_))) && !denied.blames_member());
    }

    #[test]
    fn an_unknown_outcome_is_not_taken_for_a_refusal() {
        for message in [
            "etcdserver: request timed out",
            "etcdserver: request timed out, possibly due to previous leader failure",
            "etcdserver: leader changed",
            "etcdserver: server stopped",
        ] {
            let failure = Failure::from(Status::unavailable(message));
            assert_eq!(failure, Failure::Undecided(message.into()));
            assert!(!failure.blames_member());
        }
        let mut calmed = Status::resource_exhausted("h2 protocol error: detected excessive load generating behavior");
        calmed.set_source(Arc::new(std::io::Error::other("GOAWAY")));
        assert!(matches!(Failure::from(calmed), Failure::Lost(_)));
        let lost = Failure::from(Status::unknown("transport error"));
        assert!(matches!(lost, Failure::Lost(_)) && lost.blames_member());
    }

    #[test]
    fn a_member_without_a_leader_performs_nothing() {
        let cut_off = Failure::from(Status::unavailable("etcdserver: no leader"));
        assert_eq!(cut_off, Failure::MemberUnavailable("etcdserver: no leader".into()));
        assert!(cut_off.blames_member());
    }
}

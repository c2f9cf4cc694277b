//! The answer to a request that returns no object.

use super::ListMeta;
use crate::Struct;
use crate::status;

/// Outcome of a request that returns no other object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "Status"))]
pub struct Status {
    /// Metadata; only lists that broke off fill it in.
    #[field(proto = 1)]
    pub metadata: ListMeta,
    /// `Success` or `Failure`.
    #[field(proto = 2)]
    pub status: String,
    /// What happened, for people.
    #[field(proto = 3)]
    pub message: String,
    /// Why it happened, for programs; empty when there is no name for it.
    #[field(proto = 4, go_type = "StatusReason")]
    pub reason: String,
    /// What it is about.
    #[field(proto = 5)]
    pub details: Option<StatusDetails>,
    /// Suggested HTTP status code; 0 means unsaid.
    #[field(proto = 6)]
    pub code: i32,
}

/// What a status is about.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatusDetails {
    /// Name of the object, when one name describes it.
    #[field(proto = 1)]
    pub name: String,
    /// API group of the resource.
    #[field(proto = 2)]
    pub group: String,
    /// Kind or resource.
    #[field(proto = 3)]
    pub kind: String,
    /// UID of the object, when there is a single one.
    #[field(proto = 6, go_type = "types.UID")]
    pub uid: String,
    /// Single problems behind the failure.
    #[field(proto = 4, list_type = atomic)]
    pub causes: Vec<StatusCause>,
    /// Seconds after which a new attempt makes sense; 0 means unsaid.
    #[field(proto = 5)]
    pub retry_after_seconds: i32,
}

/// One problem behind a failure.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatusCause {
    /// What kind of problem, for programs.
    #[field(proto = 1, go_type = "CauseType")]
    pub reason: String,
    /// The problem, for people.
    #[field(proto = 2)]
    pub message: String,
    /// The field with the problem, named as in its JSON form: `name`, `items[0].name`.
    #[field(proto = 3)]
    pub field: String,
}

impl From<&status::Status> for Status {
    fn from(failure: &status::Status) -> Self {
        Status {
            metadata: ListMeta {
                r#continue: failure.continue_token.clone(),
                ..ListMeta::default()
            },
            status: "Failure".to_owned(),
            message: failure.message.clone(),
            reason: failure
                .reason
                .map(|reason| reason.as_str().to_owned())
                .unwrap_or_default(),
            details: failure.details.as_ref().map(StatusDetails::from),
            code: failure.code,
        }
    }
}

impl From<&status::Details> for StatusDetails {
    fn from(details: &status::Details) -> Self {
        StatusDetails {
            name: details.name.clone(),
            group: details.group.clone(),
            kind: details.kind.clone(),
            uid: details.uid.clone(),
            causes: details.causes.iter().map(StatusCause::from).collect(),
            retry_after_seconds: details.retry_after_seconds,
        }
    }
}

impl From<&status::Cause> for StatusCause {
    fn from(cause: &status::Cause) -> Self {
        StatusCause {
            reason: cause.reason.clone(),
            message: cause.message.clone(),
            field: cause.field.clone(),
        }
    }
}

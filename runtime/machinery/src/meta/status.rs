//! The response to a request that returns no object.

use super::ListMeta;
use crate::Struct;
use crate::status;

/// Outcome of a request that returns no other object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "Status"))]
pub struct Status {
    /// Metadata; set only when the continue token of a list has expired.
    #[field(proto = 1)]
    pub metadata: ListMeta,
    /// `Success` or `Failure`.
    #[field(proto = 2)]
    pub status: String,
    /// Human-readable description.
    #[field(proto = 3)]
    pub message: String,
    /// Machine-readable reason; empty if the failure has none.
    #[field(proto = 4, go_type = "StatusReason")]
    pub reason: String,
    /// The object and the causes; absent if nothing more is known.
    #[field(proto = 5)]
    pub details: Option<StatusDetails>,
    /// Suggested HTTP status code; 0 means unset.
    #[field(proto = 6)]
    pub code: i32,
}

/// The object of a status and the causes of the failure.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatusDetails {
    /// Name of the object; empty if no single object is concerned.
    #[field(proto = 1)]
    pub name: String,
    /// API group of the resource.
    #[field(proto = 2)]
    pub group: String,
    /// Kind or resource.
    #[field(proto = 3)]
    pub kind: String,
    /// UID of the object; empty if no single object is concerned.
    #[field(proto = 6, go_type = "types.UID")]
    pub uid: String,
    /// Causes of the failure.
    #[field(proto = 4, list_type = atomic)]
    pub causes: Vec<StatusCause>,
    /// Seconds to wait before a retry; 0 means unset.
    #[field(proto = 5)]
    pub retry_after_seconds: i32,
}

/// One cause of a failure.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StatusCause {
    /// Machine-readable kind of the cause.
    #[field(proto = 1, go_type = "CauseType")]
    pub reason: String,
    /// Human-readable description of the cause.
    #[field(proto = 2)]
    pub message: String,
    /// Path of the field in JSON: `name`, `items[0].name`. Empty if no field is concerned.
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
                .map_or_else(|| failure.own_reason.clone(), |reason| reason.as_str().to_owned()),
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

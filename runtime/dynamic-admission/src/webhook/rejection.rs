//! Refusals of webhooks, as clients see them.

use planesmith_machinery::go_format::quote;
use planesmith_machinery::meta;
use planesmith_machinery::status::{ApiError, Cause, Details, Reason, Status};

/// Returns the error for a request that the webhook `name` refuses with `status`.
pub(super) fn rejection(name: &str, status: Option<&meta::Status>) -> ApiError {
    let denied = format!("admission webhook {} denied the request", quote(name));
    let default = meta::Status::default();
    let status = status.unwrap_or(&default);
    let message = match (status.message.as_str(), status.reason.as_str()) {
        ("", "") => format!("{denied} without explanation"),
        ("", reason) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    let reason = Reason::parse(&status.reason);
    let mut error = ApiError::unnamed(status.code.max(400), message);
    *error.status_mut() = Status {
        reason,
        own_reason: match reason {
            Some(_) => String::new(),
            None => status.reason.clone(),
        },
        details: status.details.as_ref().map(details),
        ..error.status().clone()
    };
    error
}

/// Returns the error for a dry run that the webhook `name` does not support.
pub(super) fn no_dry_run(name: &str) -> ApiError {
    ApiError::bad_request(format!("admission webhook {} does not support dry run", quote(name)))
}

fn details(details: &meta::StatusDetails) -> Details {
    Details {
        name: details.name.clone(),
        group: details.group.clone(),
        kind: details.kind.clone(),
        uid: details.uid.clone(),
        causes: details
            .causes
            .iter()
            .map(|cause| Cause {
                reason: cause.reason.clone(),
                message: cause.message.clone(),
                field: cause.field.clone(),
            })
            .collect(),
        retry_after_seconds: details.retry_after_seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: i32, reason: &str, message: &str) -> (u16, Option<Reason>, String) {
        let status = meta::Status {
            code,
            reason: reason.to_owned(),
            message: message.to_owned(),
            ..meta::Status::default()
        };
        let error = rejection("a.b.c", Some(&status));
        (error.code(), error.reason(), error.message().to_owned())
    }

    #[test]
    fn refusals_name_the_webhook() {
        let denied = r#"admission webhook "a.b.c" denied the request"#;
        assert_eq!(
            refused(200, "", ""),
            (400, None, format!("{denied} without explanation"))
        );
        assert_eq!(
            refused(403, "Forbidden", ""),
            (403, Some(Reason::Forbidden), format!("{denied}: Forbidden"))
        );
        assert_eq!(refused(422, "Mine", "no"), (422, None, format!("{denied}: no")));
        assert_eq!(rejection("a.b.c", None).code(), 400);
    }
}

//! One call of a webhook.

use std::time::{Duration, Instant};

use http::StatusCode;
use planesmith_access::admission::Attributes;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::status::ApiError;
use planesmith_server::metrics::WebhookType;
use planesmith_server::proxy::BufferedResponse;
use serde_json::Value;
use uuid::Uuid;

use super::Webhook;
use super::client::{ClientError, Clients};
use super::rejection::{no_dry_run, rejection};
use super::review::{BadAnswer, Decision, Review, Version};
use crate::request::Request;
use crate::target::Target;

/// Maximum length of an error page in a message, in bytes; kube-apiserver's value.
const MAX_PAGE: usize = 2048;

/// The reason that a webhook did not admit a request.
#[derive(Debug)]
pub(super) enum Failure {
    /// The webhook could not be called, or gave no valid answer. Its failure policy decides.
    Call {
        /// The message.
        why: String,
        /// The status code, for metrics.
        code: i32,
    },
    /// The webhook refuses the request.
    Rejection(ApiError),
    /// The request fails, whatever the failure policy.
    Server(ApiError),
}

impl Failure {
    /// A failed call of `webhook`.
    pub(super) fn call(webhook: &Webhook, code: i32, why: impl std::fmt::Display) -> Self {
        Self::Call {
            why: format!("failed calling webhook {}: {why}", quote(&webhook.name)),
            code,
        }
    }
}

/// Returns the remaining time of a request; `None` if it has no deadline.
pub(super) fn remaining(attributes: &Attributes<'_>) -> Option<Duration> {
    attributes
        .deadline
        .map(|deadline| deadline.saturating_duration_since(Instant::now()))
}

/// The error for a request whose time is up.
pub(super) fn timed_out() -> ApiError {
    ApiError::timeout("request did not complete within requested timeout", 0)
}

/// Calls `webhook` for a request with these `documents`, the new object and the old one. A decision that does not allow the request is a failure.
pub(super) async fn call(
    webhook: &Webhook,
    clients: &Clients,
    request: &Request<'_>,
    target: &Target,
    documents: (&Value, &Value),
    webhook_type: WebhookType,
) -> Result<Decision, Failure> {
    let attributes = request.attributes;
    if attributes.dry_run {
        match webhook.side_effects.as_deref() {
            None => return Err(Failure::call(webhook, 400, "Webhook SideEffects is nil")),
            Some("None" | "NoneOnDryRun") => {}
            Some(_) => return Err(Failure::Server(no_dry_run(&webhook.name))),
        }
    }
    let version = Version::negotiate(&webhook.review_versions)
        .map_err(|why| Failure::call(webhook, 400, format_args!("could not create admission objects: {why}")))?;
    let uid = Uuid::new_v4().to_string();
    let (review, body) = Review::new(version, uid, request.document(target), documents);
    let timeout = remaining(attributes).map_or(webhook.timeout, |left| left.min(webhook.timeout));
    let reply = match clients.post(webhook, timeout, body).await {
        Ok(reply) => reply,
        Err(ClientError::Configuration(why)) => {
            return Err(Failure::call(
                webhook,
                500,
                format_args!("could not get REST client: {why}"),
            ));
        }
        Err(ClientError::Unanswered(why)) => {
            return Err(Failure::call(
                webhook,
                503,
                format_args!("failed to call webhook: {why}"),
            ));
        }
    };
    if !reply.status.is_success() {
        let why = refusal(&reply);
        let code = i32::from(reply.status.as_u16());
        return Err(Failure::call(
            webhook,
            code,
            format_args!("failed to call webhook: {why}"),
        ));
    }
    let decision = review.decision(&reply.body, webhook_type).map_err(|bad| match bad {
        BadAnswer::Unreadable(why) => Failure::call(webhook, 503, format_args!("failed to call webhook: {why}")),
        BadAnswer::Invalid(why) => {
            Failure::call(webhook, 503, format_args!("received invalid webhook response: {why}"))
        }
    })?;
    for (key, value) in &decision.audit_annotations {
        attributes
            .annotations
            .add(format!("{}/{key}", webhook.name), value.as_str());
    }
    for warning in &decision.warnings {
        (attributes.warn)(warning.clone());
    }
    match decision.allowed {
        true => Ok(decision),
        false => Err(Failure::Rejection(rejection(&webhook.name, decision.status.as_ref()))),
    }
}

/// Returns the message for an answer without success, as clients of Kubernetes word it.
fn refusal(reply: &BufferedResponse) -> String {
    if let Ok(Value::Object(status)) = serde_json::from_slice::<Value>(&reply.body)
        && status.get("kind").and_then(Value::as_str) == Some("Status")
        && status.get("status").and_then(Value::as_str) == Some("Failure")
        && let Some(message) = status.get("message").and_then(Value::as_str)
    {
        return message.to_owned();
    }
    let text = page(reply);
    let message = match reply.status {
        StatusCode::BAD_REQUEST => "the server rejected our request for an unknown reason",
        StatusCode::UNAUTHORIZED => "the server has asked for the client to provide credentials",
        StatusCode::FORBIDDEN | StatusCode::NOT_ACCEPTABLE | StatusCode::UNSUPPORTED_MEDIA_TYPE => return text,
        StatusCode::NOT_FOUND => "the server could not find the requested resource",
        StatusCode::METHOD_NOT_ALLOWED => "the server does not allow this method on the requested resource",
        StatusCode::CONFLICT => "the server reported a conflict",
        StatusCode::UNPROCESSABLE_ENTITY => "the server rejected our request due to an error in our request",
        StatusCode::SERVICE_UNAVAILABLE => "the server is currently unable to handle the request",
        StatusCode::GATEWAY_TIMEOUT => {
            "the server was unable to return a response in the time allotted, but may still be processing the request"
        }
        StatusCode::TOO_MANY_REQUESTS => {
            "the server has received too many requests and has asked us to try again later"
        }
        status if status.is_server_error() => {
            let text = quote(&text);
            return format!("an error on the server ({text}) has prevented the request from succeeding");
        }
        status => {
            let code = status.as_u16();
            return format!("the server responded with the status code {code} but did not return more information");
        }
    };
    message.to_owned()
}

/// The text of an error page; other content is not shown.
fn page(reply: &BufferedResponse) -> String {
    let media_type = reply.headers.get(http::header::CONTENT_TYPE);
    let is_text = media_type.is_none_or(|value| value.as_bytes().starts_with(b"text/"));
    if !is_text {
        return "unknown".to_owned();
    }
    let text = &reply.body[..reply.body.len().min(MAX_PAGE)];
    String::from_utf8_lossy(text).trim().to_owned()
}

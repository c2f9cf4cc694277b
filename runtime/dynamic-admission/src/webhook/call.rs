//! One call of a webhook.

use std::time::{Duration, Instant};

use planesmith_access::admission::Attributes;
use planesmith_api_defs::admission::v1::AdmissionRequest;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::json;
use planesmith_machinery::raw::RawExtension;
use planesmith_machinery::status::ApiError;
use planesmith_server::metrics::WebhookType;
use serde_json::Value;
use uuid::Uuid;

use super::Webhook;
use super::client::{ClientError, Clients};
use super::rejection::{no_dry_run, rejection};
use super::review::{BadAnswer, Decision, Review, Version};
use crate::request::Request;
use crate::target::Target;

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
    let fields = target.content.struct_facts(attributes);
    let (new, old) = documents;
    let (review, body) = Review::new(
        version,
        AdmissionRequest {
            uid: Uuid::new_v4().to_string(),
            object: written(new, fields),
            old_object: written(old, fields),
            ..request.review(target)
        },
    );
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
        let why = reply.refusal();
        let code = i32::from(reply.status.as_u16());
        return Err(Failure::call(
            webhook,
            code,
            format_args!("failed to call webhook: {why}"),
        ));
    }
    let answer = reply.content().map_err(BadAnswer::Unreadable);
    let decision = answer.and_then(|answer| review.decision(answer, webhook_type));
    let decision = decision.map_err(|bad| match bad {
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

/// Returns the document of an object as the object is written whose type has `fields`; without a type, members are sorted.
fn written(document: &Value, fields: Option<&StructFacts>) -> RawExtension {
    let mut json = Vec::with_capacity(512);
    match fields {
        Some(fields) => json::encode_ordered(document, fields, &mut json),
        None => json::encode_value(document, &mut json),
    }
    RawExtension::from_compact(json)
}

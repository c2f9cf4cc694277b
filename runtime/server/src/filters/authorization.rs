//! Authorization of requests.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use axum::response::Response;
use http::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::uri::PathAndQuery;
use http::{StatusCode, Uri};
use planesmith_access::audit::{Annotations, Level};
use planesmith_access::authorization::{Attributes, AuthorizationOutcome, Authorizer, Decision, Selectors, Target};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::status::{ApiError, Details};

use super::{Exchange, Filter, Step};
use crate::metrics::{AuthorizationResult, SharedMetrics};
use crate::request::{Context, Query, RequestInfo, Stage};
use crate::response;

/// Passes requests that the user is allowed to make; answers 403 to others.
#[derive(Clone, Debug)]
pub struct Authorization {
    authorizer: Arc<dyn Authorizer>,
    metrics: SharedMetrics,
}

impl Authorization {
    /// Authorizes with `authorizer` and counts its decisions in `metrics`.
    #[must_use]
    pub fn new(authorizer: Arc<dyn Authorizer>, metrics: SharedMetrics) -> Self {
        Self { authorizer, metrics }
    }

    /// Records the decision. Returns the answer to a request that is not allowed.
    fn conclude(&self, exchange: &mut Exchange, decision: Decision, begin: Instant) -> Option<Response> {
        let ctx = &exchange.ctx;
        let took = begin.elapsed();
        ctx.timeline.add(Stage::Authorization, begin, took);
        let result = match &decision {
            Decision::Allow(_) => AuthorizationResult::Allowed,
            Decision::Deny(_) => AuthorizationResult::Denied,
            Decision::NoOpinion(_) => AuthorizationResult::NoOpinion,
            Decision::Failed(_) | Decision::FailedClosed(_) => AuthorizationResult::Failed,
        };
        self.metrics.access().authorized(result, took);
        annotate(&ctx.annotations, &decision);
        let reason = match decision {
            Decision::Allow(_) => return None,
            Decision::Deny(reason) | Decision::NoOpinion(reason) => reason,
            Decision::Failed(why) | Decision::FailedClosed(why) => {
                return Some(undecided(exchange.request.uri(), &why));
            }
        };
        self.log_refusal(ctx, &reason);
        let error = forbidden(ctx, &reason);
        let nosniff = HeaderValue::from_static("nosniff");
        exchange.headers.insert(X_CONTENT_TYPE_OPTIONS, nosniff);
        Some(exchange.error_answer(&error))
    }
}

impl Authorization {
    /// Logs a refusal with everything that an administrator needs to mend it.
    fn log_refusal(&self, ctx: &Context, reason: &str) {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        let verb = ctx.info.verb_text();
        let attributes = Attributes::new(&ctx.user, &verb, target(&ctx.info));
        let explanation = self.authorizer.explanation(&attributes).unwrap_or_default();
        let (user, path) = (&ctx.user.name, ctx.info.path());
        tracing::debug!(request = %ctx.id, user, verb = &*verb, path, reason, explanation, "forbidden");
    }
}

impl Filter for Authorization {
    fn name(&self) -> &'static str {
        "authorization"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let ctx = &exchange.ctx;
        let verb = ctx.info.verb_text();
        let selector = |name| selector(&verb, exchange.request.uri(), name);
        let (field, label) = (selector("fieldSelector"), selector("labelSelector"));
        let attributes = Attributes {
            user: &ctx.user,
            verb: &verb,
            target: target(&ctx.info),
            selectors: Selectors {
                field: &field,
                label: &label,
            },
        };
        let begin = Instant::now();
        match self.authorizer.authorize(&attributes) {
            AuthorizationOutcome::Ready(decision) => match self.conclude(exchange, decision, begin) {
                None => Step::Continue,
                Some(answer) => Step::Answer(answer),
            },
            AuthorizationOutcome::Pending(pending) => Step::Wait(Box::pin(async move {
                let decision = pending.await;
                self.conclude(exchange, decision, begin)
            })),
        }
    }
}

/// Adds the decision to the audit event.
fn annotate(annotations: &Annotations, decision: &Decision) {
    const DECISION: &str = "authorization.k8s.io/decision";
    const REASON: &str = "authorization.k8s.io/reason";
    if annotations.level() == Level::None {
        return;
    }
    let (decision, reason) = match decision {
        Decision::Allow(reason) => ("allow", reason.text()),
        Decision::Deny(reason) | Decision::NoOpinion(reason) => ("forbid", reason.clone()),
        Decision::Failed(_) | Decision::FailedClosed(_) => return annotations.add(REASON, "internal error"),
    };
    annotations.add(DECISION, decision);
    annotations.add(REASON, reason);
}

/// Reports that the authorizer could not decide, in a text that browsers do not interpret as a page.
fn undecided(uri: &Uri, why: &str) -> Response {
    let path = uri.path_and_query().map_or("", PathAndQuery::as_str);
    let text = format!("Internal Server Error: {}: {why}\n", quote(path));
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    response::plain_text(StatusCode::INTERNAL_SERVER_ERROR, text)
}

/// The selectors of a request for a part of a collection; empty for other requests, whatever their query contains.
fn selector<'u>(verb: &str, uri: &'u Uri, name: &str) -> Cow<'u, str> {
    let selects = matches!(verb, "list" | "watch" | "deletecollection");
    let query = uri.query().filter(|_| selects);
    query
        .and_then(|query| Query::new(query).first(name))
        .unwrap_or_default()
}

/// The target of a request, as authorizers see it.
pub(super) fn target(info: &RequestInfo) -> Target<'_> {
    if !info.is_resource() {
        return Target::Path(info.path());
    }
    Target::Resource {
        group: info.group(),
        version: info.version(),
        resource: info.resource(),
        subresource: info.subresource(),
        namespace: info.namespace(),
        name: info.name(),
    }
}

/// The refusal, with the authorizer's reason if it has any.
pub(crate) fn forbidden(ctx: &Context, reason: &str) -> ApiError {
    refusal(&ctx.user.name, &ctx.info.verb_text(), &target(&ctx.info), reason)
}

/// The refusal of a request by `user`, with the authorizer's reason if it has any.
#[must_use]
pub fn refusal(user: &str, verb: &str, target: &Target<'_>, reason: &str) -> ApiError {
    let user = quote(user);
    let (mut why, resource, name) = match *target {
        Target::Path(path) => {
            let why = format!("User {user} cannot {verb} path {}", quote(path));
            (why, GroupResource::new("", ""), "")
        }
        Target::Resource {
            group,
            resource,
            subresource,
            namespace,
            name,
            ..
        } => {
            let shown = match subresource {
                "" => quote(resource),
                subresource => quote(&format!("{resource}/{subresource}")),
            };
            let place = match namespace {
                "" => "at the cluster scope".to_owned(),
                namespace => format!("in the namespace {}", quote(namespace)),
            };
            let group_shown = quote(group);
            let why = format!("User {user} cannot {verb} resource {shown} in API group {group_shown} {place}");
            (why, GroupResource::new(group.to_owned(), resource.to_owned()), name)
        }
    };
    if !reason.is_empty() {
        why = format!("{why}: {reason}");
    }
    let mut error = ApiError::forbidden(&resource, name, why);
    error.status_mut().details.get_or_insert_with(Details::default);
    error
}

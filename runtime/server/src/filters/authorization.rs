//! Whether the user may do what it asks for.

use std::sync::Arc;
use std::time::Instant;

use http::header::{HeaderValue, X_CONTENT_TYPE_OPTIONS};
use planesmith_access::authorization::{Attributes, Authorizer, Decision, Target};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::status::{ApiError, Details};

use super::{Exchange, Filter, Step};
use crate::metrics::{Judgement, SharedMetrics};
use crate::request::{Context, RequestInfo, Stage};

/// Lets pass what the user may do; answers 403 to everything else.
#[derive(Clone, Debug)]
pub struct Authorization {
    authorizer: Arc<dyn Authorizer>,
    metrics: SharedMetrics,
}

impl Authorization {
    /// Asks `authorizer`, and counts in `metrics` what it says.
    #[must_use]
    pub fn new(authorizer: Arc<dyn Authorizer>, metrics: SharedMetrics) -> Self {
        Self { authorizer, metrics }
    }
}

impl Filter for Authorization {
    fn name(&self) -> &'static str {
        "authorization"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let ctx = &exchange.ctx;
        let verb = ctx.info.verb_text();
        let attributes = Attributes {
            user: &ctx.user,
            verb: &verb,
            target: target(&ctx.info),
        };
        let begin = Instant::now();
        let decision = self.authorizer.authorize(&attributes);
        let took = begin.elapsed();
        ctx.timeline.add(Stage::Authorization, begin, took);
        let judgement = match &decision {
            Decision::Allow => Judgement::Allowed,
            Decision::Deny(_) => Judgement::Denied,
            Decision::NoOpinion(_) => Judgement::NoOpinion,
        };
        self.metrics.access().authorized(judgement, took);
        let reason = match decision {
            Decision::Allow => return Step::Continue,
            Decision::Deny(reason) | Decision::NoOpinion(reason) => reason,
        };
        tracing::debug!(request = %ctx.id, user = ctx.user.name, path = ctx.info.path(), reason, "forbidden");
        let error = forbidden(ctx, &reason);
        let nosniff = HeaderValue::from_static("nosniff");
        exchange.headers.insert(X_CONTENT_TYPE_OPTIONS, nosniff);
        exchange.refuse(&error)
    }
}

fn target(info: &RequestInfo) -> Target<'_> {
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

/// The refusal, with an authorizer's words if it has any.
pub(crate) fn forbidden(ctx: &Context, reason: &str) -> ApiError {
    let info = &ctx.info;
    let (user, verb) = (quote(&ctx.user.name), info.verb_text());
    let mut why = if info.is_resource() {
        let resource = match info.subresource() {
            "" => quote(info.resource()),
            subresource => quote(&format!("{}/{subresource}", info.resource())),
        };
        let place = match info.namespace() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {}", quote(namespace)),
        };
        format!(
            "User {user} cannot {verb} resource {resource} in API group {} {place}",
            quote(info.group())
        )
    } else {
        format!("User {user} cannot {verb} path {}", quote(info.path()))
    };
    if !reason.is_empty() {
        why = format!("{why}: {reason}");
    }
    let resource = GroupResource {
        group: info.group().to_owned().into(),
        resource: info.resource().to_owned().into(),
    };
    let mut error = ApiError::forbidden(&resource, info.name(), why);
    error.status_mut().details.get_or_insert_with(Details::default);
    error
}

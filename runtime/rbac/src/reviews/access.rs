//! Reviews of access: decisions about actions of users.

use std::sync::Arc;

use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_access::authorization::{Attributes, Authorizer, Decision, Selectors, Target};
use planesmith_access::user::UserInfo;
use planesmith_api_defs::authorization::v1;
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::endpoint::Call;
use planesmith_server::verbs::{Responder, Submission};

use super::selectors::ParsedSelectors;

/// Answers SubjectAccessReview.
pub(super) struct SubjectAccess(pub(super) Arc<dyn Authorizer>);

/// Answers LocalSubjectAccessReview.
pub(super) struct LocalAccess(pub(super) Arc<dyn Authorizer>);

/// Answers SelfSubjectAccessReview.
pub(super) struct OwnAccess(pub(super) Arc<dyn Authorizer>);

/// Answers SelfSubjectRulesReview.
pub(super) struct OwnRules(pub(super) Arc<dyn Authorizer>);

impl Responder for SubjectAccess {
    fn answer<'a>(&'a self, _: &'a Call, submission: &'a mut Submission<'_>) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            check(submission)?;
            submission.admit().await?;
            let review = submission.as_kind::<v1::SubjectAccessReview>()?;
            review.status = review_subject(&*self.0, &review.spec).await;
            submission.respond(&*submission.object)
        })
    }
}

impl Responder for LocalAccess {
    fn answer<'a>(&'a self, _: &'a Call, submission: &'a mut Submission<'_>) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            check(submission)?;
            submission.admit().await?;
            let review = submission.as_kind::<v1::LocalSubjectAccessReview>()?;
            review.status = review_subject(&*self.0, &review.spec).await;
            submission.respond(&*submission.object)
        })
    }
}

impl Responder for OwnAccess {
    fn answer<'a>(&'a self, call: &'a Call, submission: &'a mut Submission<'_>) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            check(submission)?;
            submission.admit().await?;
            let review = submission.as_kind::<v1::SelfSubjectAccessReview>()?;
            let (resource, path) = (&review.spec.resource_attributes, &review.spec.non_resource_attributes);
            review.status = decide(&*self.0, &call.ctx.user, resource.as_ref(), path.as_ref()).await;
            submission.respond(&*submission.object)
        })
    }
}

impl Responder for OwnRules {
    fn answer<'a>(&'a self, call: &'a Call, submission: &'a mut Submission<'_>) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            let namespace = submission
                .as_kind::<v1::SelfSubjectRulesReview>()?
                .spec
                .namespace
                .clone();
            if namespace.is_empty() {
                return Err(ApiError::bad_request("no namespace on request"));
            }
            submission.admit().await?;
            let rules = self.0.rules(&call.ctx.user, &namespace);
            let resource_rules = rules.resources.into_iter().map(|rule| v1::ResourceRule {
                verbs: rule.verbs,
                api_groups: rule.groups,
                resources: rule.resources,
                resource_names: rule.names,
            });
            let non_resource_rules = rules.paths.into_iter().map(|rule| v1::NonResourceRule {
                verbs: rule.verbs,
                non_resource_urls: rule.paths,
            });
            // The answer does not repeat the question, as that of kube-apiserver.
            let review = v1::SelfSubjectRulesReview {
                status: v1::SubjectRulesReviewStatus {
                    resource_rules: resource_rules.collect(),
                    non_resource_rules: non_resource_rules.collect(),
                    incomplete: rules.incomplete,
                    evaluation_error: rules.errors.join(", "),
                },
                ..v1::SelfSubjectRulesReview::default()
            };
            submission.respond(&review)
        })
    }
}

/// Refuses an invalid question. kube-apiserver omits the kind in its answer.
fn check(submission: &Submission<'_>) -> ApiResult<()> {
    let errors = submission.check();
    if errors.is_empty() {
        return Ok(());
    }
    let kind = GroupKind::new("authorization.k8s.io", "");
    Err(ApiError::invalid(&kind, "", &errors))
}

async fn review_subject(
    authorizer: &dyn Authorizer,
    spec: &v1::SubjectAccessReviewSpec,
) -> v1::SubjectAccessReviewStatus {
    let user = UserInfo {
        name: spec.user.clone(),
        uid: spec.uid.clone(),
        groups: spec.groups.clone(),
        extra: spec.extra.clone(),
    };
    let (resource, path) = (&spec.resource_attributes, &spec.non_resource_attributes);
    decide(authorizer, &user, resource.as_ref(), path.as_ref()).await
}

async fn decide(
    authorizer: &dyn Authorizer,
    user: &UserInfo,
    resource: Option<&v1::ResourceAttributes>,
    path: Option<&v1::NonResourceAttributes>,
) -> v1::SubjectAccessReviewStatus {
    let (verb, target) = match (resource, path) {
        (Some(resource), _) => {
            let version = match resource.version.as_str() {
                "" => "*",
                version => version,
            };
            let target = Target::Resource {
                group: &resource.group,
                version,
                resource: &resource.resource,
                subresource: &resource.subresource,
                namespace: &resource.namespace,
                name: &resource.name,
            };
            (resource.verb.as_str(), target)
        }
        (None, Some(path)) => (path.verb.as_str(), Target::Path(&path.path)),
        // A question without attributes was refused before.
        (None, None) => ("", Target::Path("")),
    };
    let selectors = resource.map(ParsedSelectors::from_attributes).unwrap_or_default();
    let attributes = Attributes {
        user,
        verb,
        target,
        selectors: Selectors {
            field: &selectors.field,
            label: &selectors.label,
        },
    };
    let decision = authorizer.authorize(&attributes).wait().await;
    let mut status = v1::SubjectAccessReviewStatus {
        allowed: decision.is_allowed(),
        denied: matches!(decision, Decision::Deny(_) | Decision::FailedClosed(_)),
        ..v1::SubjectAccessReviewStatus::default()
    };
    let mut problems = Vec::new();
    match decision {
        Decision::Allow(reason) => status.reason = reason.to_string(),
        Decision::Deny(reason) | Decision::NoOpinion(reason) => status.reason = reason,
        Decision::Failed(why) | Decision::FailedClosed(why) => problems.push(why),
    }
    problems.extend(selectors.problems);
    status.evaluation_error = problems.join("; ");
    status
}

//! The authorizers of a configuration, put together.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use planesmith_access::authorization::{Authorizer, Union};
use planesmith_control_plane::access_reviews::{AccessReviews, FailurePolicy, ReviewSettings};
use planesmith_control_plane::authorization::CountedAuthorizer;
use planesmith_control_plane::options::AuthorizationMode;
use planesmith_control_plane::outbound::Outbound;
use planesmith_expressions::access_review::Condition;
use planesmith_server::metrics::AuthorizerMetrics;

use crate::configuration::{CheckedAuthorizer, CheckedWebhook};
use crate::webhook::Webhook;

/// The authorizers that no file configures, by mode. They are created once and stay when the file changes.
pub(crate) type LocalAuthorizers = BTreeMap<AuthorizationMode, Arc<dyn Authorizer>>;

/// Returns the chain of `authorizers`.
///
/// # Errors
///
/// A kubeconfig that cannot be used, or a mode that is not among `local`.
pub(crate) fn chain(
    authorizers: Vec<CheckedAuthorizer>,
    local: &LocalAuthorizers,
    metrics: &AuthorizerMetrics,
    outbound: &Outbound,
) -> Result<Union> {
    let counted = authorizers.into_iter().map(|checked| {
        let CheckedAuthorizer { name, mode, webhook } = checked;
        let authorizer: Arc<dyn Authorizer> = match webhook {
            None => local.get(&mode).map(Arc::clone).ok_or_else(|| {
                anyhow!("authorizer type {mode} is not allowed if it was not enabled at initial server startup")
            })?,
            Some(CheckedWebhook {
                kubeconfig,
                settings,
                conditions,
            }) => {
                let webhook = self::webhook(&name, &kubeconfig, settings, conditions, (metrics, outbound));
                Arc::new(webhook.with_context(|| format!("the webhook {name}"))?)
            }
        };
        let counted: Box<dyn Authorizer> = Box::new(CountedAuthorizer::new(authorizer, mode, &name, metrics));
        Ok(counted)
    });
    Ok(Union::new(counted.collect::<Result<_>>()?))
}

/// Returns the authorizer `name`, which calls a webhook.
///
/// # Errors
///
/// The kubeconfig cannot be used.
pub(crate) fn webhook(
    name: &str,
    kubeconfig: &Path,
    settings: ReviewSettings,
    conditions: Vec<Condition>,
    (metrics, outbound): (&AuthorizerMetrics, &Outbound),
) -> Result<Webhook> {
    let failure_policy = settings.failure_policy;
    let reviews = metrics.reviews(name, failure_policy == FailurePolicy::NoOpinion);
    Ok(Webhook {
        reviews: AccessReviews::of_webhook(kubeconfig, settings, reviews, outbound)?,
        conditions,
        failure_policy,
        metrics: metrics.conditions(AuthorizationMode::WEBHOOK.as_str(), name),
    })
}

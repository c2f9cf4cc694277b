//! Webhooks: servers of others that review requests.
//!
//! Reading order: [`Webhook`] (one entry of a configuration), [`configurations`] (all that are stored), `review` (the request and
//! its answer), `client` (connections, with `credentials`), `call` (one call, and how it can fail), `rejection`; then the plugins
//! `mutating` and `validating`.

mod call;
mod client;
mod configurations;
mod credentials;
mod invocation;
mod mutating;
mod rejection;
mod review;
mod validating;

use std::time::Duration;

use planesmith_api_defs::admissionregistration::v1::{
    MatchCondition, MutatingWebhook, RuleWithOperations, ValidatingWebhook, WebhookClientConfig,
};
use planesmith_expressions::policy::{Conditions, PolicyEnvironment, PolicyVariables};

pub(crate) use self::mutating::MUTATING_WEBHOOKS;
pub(crate) use self::validating::VALIDATING_WEBHOOKS;

use self::client::Location;
use crate::selectors::Selectors;

/// The time limit of a call, if the webhook has none of its own.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// An entry of a configuration, ready to be called.
#[derive(Debug)]
pub(crate) struct Webhook {
    /// The name of the configuration.
    pub(crate) configuration: String,
    /// The name of the webhook.
    pub(crate) name: String,
    /// Identifies the webhook among all of them: names may repeat.
    pub(crate) id: String,
    pub(crate) rules: Vec<RuleWithOperations>,
    /// True if a rule also selects requests for other versions of its resources.
    pub(crate) matches_equivalents: bool,
    pub(crate) selectors: Selectors,
    pub(crate) conditions: Conditions,
    pub(crate) location: Location,
    /// The certificates that are trusted; those of the operating system if there are none.
    pub(crate) authorities: Vec<u8>,
    pub(crate) timeout: Duration,
    /// True if a request goes on though the webhook could not be called.
    pub(crate) ignores_failures: bool,
    /// The effects of a call beyond its answer, as declared; `None` if nothing is declared.
    pub(crate) side_effects: Option<String>,
    pub(crate) review_versions: Vec<String>,
    /// True if the webhook is called again after others changed the object.
    pub(crate) is_reinvoked: bool,
}

/// The fields that both kinds of webhooks have.
struct Declaration<'a> {
    name: &'a str,
    client_config: &'a WebhookClientConfig,
    rules: &'a [RuleWithOperations],
    match_policy: Option<&'a str>,
    failure_policy: Option<&'a str>,
    side_effects: Option<&'a String>,
    timeout_seconds: Option<i32>,
    review_versions: &'a [String],
    conditions: &'a [MatchCondition],
    selectors: Selectors,
    reinvocation_policy: Option<&'a str>,
}

impl Webhook {
    fn mutating(configuration: &str, index: usize, webhook: &MutatingWebhook) -> Self {
        let declaration = Declaration {
            name: &webhook.name,
            client_config: &webhook.client_config,
            rules: &webhook.rules,
            match_policy: webhook.match_policy.as_deref(),
            failure_policy: webhook.failure_policy.as_deref(),
            side_effects: webhook.side_effects.as_ref(),
            timeout_seconds: webhook.timeout_seconds,
            review_versions: &webhook.admission_review_versions,
            conditions: &webhook.match_conditions,
            selectors: Selectors::new(webhook.namespace_selector.as_ref(), webhook.object_selector.as_ref()),
            reinvocation_policy: webhook.reinvocation_policy.as_deref(),
        };
        Self::new(configuration, index, declaration)
    }

    fn validating(configuration: &str, index: usize, webhook: &ValidatingWebhook) -> Self {
        let declaration = Declaration {
            name: &webhook.name,
            client_config: &webhook.client_config,
            rules: &webhook.rules,
            match_policy: webhook.match_policy.as_deref(),
            failure_policy: webhook.failure_policy.as_deref(),
            side_effects: webhook.side_effects.as_ref(),
            timeout_seconds: webhook.timeout_seconds,
            review_versions: &webhook.admission_review_versions,
            conditions: &webhook.match_conditions,
            selectors: Selectors::new(webhook.namespace_selector.as_ref(), webhook.object_selector.as_ref()),
            reinvocation_policy: None,
        };
        Self::new(configuration, index, declaration)
    }

    fn new(configuration: &str, index: usize, declaration: Declaration<'_>) -> Self {
        let variables = PolicyVariables {
            authorizer: true,
            ..PolicyVariables::default()
        };
        let conditions = declaration.conditions.iter();
        let conditions: Vec<(&str, &str)> = conditions
            .map(|condition| (condition.name.as_str(), condition.expression.as_str()))
            .collect();
        let seconds = declaration
            .timeout_seconds
            .and_then(|seconds| u64::try_from(seconds).ok());
        Self {
            configuration: configuration.to_owned(),
            name: declaration.name.to_owned(),
            id: format!("{configuration}/{}/{index}", declaration.name),
            rules: declaration.rules.to_vec(),
            matches_equivalents: declaration.match_policy == Some("Equivalent"),
            selectors: declaration.selectors,
            conditions: Conditions::new(&conditions, &PolicyEnvironment::new(variables)),
            location: Location::new(declaration.client_config),
            authorities: declaration.client_config.ca_bundle.0.clone(),
            timeout: seconds.map_or(DEFAULT_TIMEOUT, Duration::from_secs),
            ignores_failures: declaration.failure_policy == Some("Ignore"),
            side_effects: declaration.side_effects.cloned(),
            review_versions: declaration.review_versions.to_vec(),
            is_reinvoked: declaration.reinvocation_policy == Some("IfNeeded"),
        }
    }
}

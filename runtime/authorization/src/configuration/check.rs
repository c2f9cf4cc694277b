//! The rules of an AuthorizationConfiguration.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time;

use planesmith_control_plane::access_reviews::{FailurePolicy, ReviewSettings, ReviewVersion};
use planesmith_control_plane::options::AuthorizationMode;
use planesmith_expressions::access_review::Condition;
use planesmith_machinery::duration::Duration;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::{go_format, names};

use super::{
    AuthorizationConfiguration, AuthorizerConfiguration, CheckedAuthorizer, CheckedWebhook, WebhookConfiguration,
    WebhookConnectionInfo, WebhookMatchCondition,
};

const SECOND: i64 = 1_000_000_000;

/// The longest time that a webhook may take to answer, in nanoseconds.
const LONGEST: i64 = 30 * SECOND;
/// The time for which permissions are cached by default, in nanoseconds.
const AUTHORIZED: i64 = 300 * SECOND;
/// The time for which refusals are cached by default, in nanoseconds.
const UNAUTHORIZED: i64 = 30 * SECOND;

/// The most conditions of a webhook.
const MOST_CONDITIONS: usize = 64;

const KUBECONFIG: &str = "KubeConfigFile";

/// Returns the authorizers of a configuration, whose types are among `modes`.
///
/// # Errors
///
/// All fields that are not valid, or else the names that are not those of their types.
pub(super) fn authorizers(
    configuration: &AuthorizationConfiguration,
    modes: &[AuthorizationMode],
) -> Result<Vec<CheckedAuthorizer>, String> {
    let mut errors = FieldErrors::default();
    if configuration.authorizers.is_empty() {
        errors.required("authorizers", "at least one authorization mode must be defined");
    }
    let mut checked = Vec::new();
    let mut seen = Seen::default();
    for (index, authorizer) in configuration.authorizers.iter().enumerate() {
        checked.extend(seen.authorizer(authorizer, modes, &mut errors.at_index("authorizers", index)));
    }
    if let Some(problems) = errors.joined() {
        return Err(problems);
    }
    let wrong_names = checked.iter().filter_map(|authorizer| {
        let CheckedAuthorizer { name, mode, .. } = authorizer;
        let expected = mode.as_str().to_lowercase();
        let fits = *mode == AuthorizationMode::WEBHOOK || *name == expected;
        (!fits).then(|| format!("expected name {expected} for authorizer {mode} instead of {name}"))
    });
    let wrong_names: Vec<String> = wrong_names.collect();
    match wrong_names.is_empty() {
        true => Ok(checked),
        false => Err(go_format::aggregate(&wrong_names)),
    }
}

/// The types and names of the authorizers so far.
#[derive(Default)]
struct Seen<'c> {
    types: BTreeSet<&'c str>,
    names: BTreeSet<&'c str>,
}

impl<'c> Seen<'c> {
    /// Returns the authorizer, unless its type is not valid.
    fn authorizer(
        &mut self,
        authorizer: &'c AuthorizerConfiguration,
        modes: &[AuthorizationMode],
        errors: &mut FieldErrors,
    ) -> Option<CheckedAuthorizer> {
        let AuthorizerConfiguration { kind, name, webhook } = authorizer;
        if kind.is_empty() {
            errors.required("type", "");
            return None;
        }
        let Some(mode) = modes.iter().copied().find(|mode| mode.as_str() == kind) else {
            let known: Vec<&str> = modes.iter().map(|mode| mode.as_str()).collect();
            errors.not_supported("type", kind.as_str(), &known);
            return None;
        };
        let is_webhook = mode == AuthorizationMode::WEBHOOK;
        if !self.types.insert(kind) && !is_webhook {
            errors.duplicate("type", kind.as_str());
            return None;
        }
        self.name(name, errors);
        let webhook = match (webhook, is_webhook) {
            (Some(webhook), true) => Some(checked_webhook(webhook, errors)),
            (None, true) => {
                errors.required("webhook", "required when type=Webhook");
                return None;
            }
            (Some(_), false) => {
                errors.invalid("webhook", "non-null", "may only be specified when type=Webhook");
                None
            }
            (None, false) => None,
        };
        let name = name.clone();
        Some(CheckedAuthorizer { name, mode, webhook })
    }

    fn name(&mut self, name: &'c str, errors: &mut FieldErrors) {
        let complaints = names::dns_subdomain(name);
        if name.is_empty() {
            errors.required("name", "");
        } else if !self.names.insert(name) {
            errors.duplicate("name", name);
        } else if !complaints.is_empty() {
            let why = format!("authorizer name is invalid: {}", complaints.join(", "));
            errors.invalid("name", name, why);
        }
    }
}

/// Returns a webhook, which is usable if there are no errors. As in kube-apiserver, the paths of errors leave `webhook` out.
fn checked_webhook(webhook: &WebhookConfiguration, errors: &mut FieldErrors) -> CheckedWebhook {
    match webhook.timeout {
        Duration(0) => errors.required("timeout", ""),
        Duration(1..=LONGEST) => {}
        timeout => errors.invalid("timeout", timeout.to_string().as_str(), "must be > 0s and <= 30s"),
    }
    let or = |ttl: Duration, default: i64| if ttl.0 == 0 { Duration(default) } else { ttl };
    let authorized = or(webhook.authorized_ttl, AUTHORIZED);
    let unauthorized = or(webhook.unauthorized_ttl, UNAUTHORIZED);
    for (field, ttl) in [("authorizedTTL", authorized), ("unauthorizedTTL", unauthorized)] {
        if ttl.0 < 0 {
            errors.invalid(field, ttl.to_string().as_str(), "must be > 0s");
        }
    }
    let version = webhook.subject_access_review_version.as_str();
    check_choice("subjectAccessReviewVersion", version, &["v1", "v1beta1"], errors);
    let version = webhook.match_condition_subject_access_review_version.as_str();
    match (version, webhook.match_conditions.is_empty()) {
        ("", true) => {}
        ("", false) => errors.required(
            "matchConditionSubjectAccessReviewVersion",
            "required if match conditions are specified",
        ),
        (version, _) => check_choice("matchConditionSubjectAccessReviewVersion", version, &["v1"], errors),
    }
    check_choice("failurePolicy", &webhook.failure_policy, &["NoOpinion", "Deny"], errors);
    check_connection(&webhook.connection_info, errors);
    CheckedWebhook {
        kubeconfig: webhook.connection_info.kube_config_file.clone().unwrap_or_default(),
        settings: ReviewSettings {
            version: match webhook.subject_access_review_version.as_str() {
                "v1beta1" => ReviewVersion::V1beta1,
                _ => ReviewVersion::V1,
            },
            authorized_ttl: cached(webhook.cache_authorized_requests, authorized),
            unauthorized_ttl: cached(webhook.cache_unauthorized_requests, unauthorized),
            timeout: positive(webhook.timeout),
            failure_policy: match webhook.failure_policy.as_str() {
                "Deny" => FailurePolicy::Deny,
                _ => FailurePolicy::NoOpinion,
            },
        },
        conditions: compiled(&webhook.match_conditions, errors),
    }
}

/// Returns the time for which answers are cached; zero if they are not.
fn cached(is_cached: Option<bool>, ttl: Duration) -> time::Duration {
    match is_cached {
        Some(false) => time::Duration::ZERO,
        _ => positive(ttl),
    }
}

fn positive(duration: Duration) -> time::Duration {
    time::Duration::from_nanos(u64::try_from(duration.0).unwrap_or_default())
}

fn check_choice(field: &str, value: &str, choices: &[&str], errors: &mut FieldErrors) {
    match value {
        "" => errors.required(field, ""),
        value if choices.contains(&value) => {}
        value => errors.not_supported_in_order(field, value, choices),
    }
}

/// Checks the connection. Servers outside of a cluster have no `InClusterConfig`.
fn check_connection(connection: &WebhookConnectionInfo, errors: &mut FieldErrors) {
    const FIELD: &str = "connectionInfo.kubeConfigFile";
    check_choice("connectionInfo.type", &connection.kind, &[KUBECONFIG], errors);
    if connection.kind != KUBECONFIG {
        return;
    }
    let file = connection.kube_config_file.as_deref().unwrap_or(Path::new(""));
    let why = match fs::metadata(file) {
        _ if file.as_os_str().is_empty() => return errors.required(FIELD, ""),
        _ if !file.is_absolute() => "must be an absolute path".to_owned(),
        Err(error) => format!("error loading file: {error}"),
        Ok(metadata) if !metadata.is_file() => "must be a regular file".to_owned(),
        Ok(_) => return,
    };
    errors.invalid(FIELD, file.display().to_string().as_str(), why);
}

fn compiled(conditions: &[WebhookMatchCondition], errors: &mut FieldErrors) -> Vec<Condition> {
    if conditions.len() > MOST_CONDITIONS {
        errors.too_many("matchConditions", conditions.len(), MOST_CONDITIONS as u64);
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let mut compiled = Vec::new();
    for (index, condition) in conditions.iter().enumerate() {
        let mut errors = errors.at_index("matchConditions", index);
        let expression = condition.expression.as_str();
        if expression.trim().is_empty() {
            errors.required("expression", "");
        } else if !seen.insert(expression) {
            errors.duplicate("expression", expression);
        } else {
            match Condition::new(expression) {
                Ok(condition) => compiled.push(condition),
                Err(why) => errors.invalid("expression", expression, why),
            }
        }
    }
    compiled
}

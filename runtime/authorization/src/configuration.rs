//! The file of `--authorization-config`.

mod check;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anyhow::Result;
use planesmith_control_plane::access_reviews::ReviewSettings;
use planesmith_control_plane::options::AuthorizationMode;
use planesmith_expressions::access_review::Condition;
use planesmith_machinery::configuration_file::{self, or_default};
use planesmith_machinery::duration::Duration;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// The versions of the file that are accepted; they have the same fields.
const VERSIONS: [&str; 3] = [
    "apiserver.config.k8s.io/v1",
    "apiserver.config.k8s.io/v1beta1",
    "apiserver.config.k8s.io/v1alpha1",
];

/// An `AuthorizationConfiguration`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AuthorizationConfiguration {
    #[serde(deserialize_with = "or_default")]
    authorizers: Vec<AuthorizerConfiguration>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
struct AuthorizerConfiguration {
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: String,
    #[serde(deserialize_with = "or_default")]
    name: String,
    webhook: Option<WebhookConfiguration>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct WebhookConfiguration {
    #[serde(rename = "authorizedTTL", deserialize_with = "duration")]
    authorized_ttl: Duration,
    cache_authorized_requests: Option<bool>,
    #[serde(rename = "unauthorizedTTL", deserialize_with = "duration")]
    unauthorized_ttl: Duration,
    cache_unauthorized_requests: Option<bool>,
    #[serde(deserialize_with = "duration")]
    timeout: Duration,
    #[serde(deserialize_with = "or_default")]
    subject_access_review_version: String,
    #[serde(deserialize_with = "or_default")]
    match_condition_subject_access_review_version: String,
    #[serde(deserialize_with = "or_default")]
    failure_policy: String,
    #[serde(deserialize_with = "or_default")]
    connection_info: WebhookConnectionInfo,
    #[serde(deserialize_with = "or_default")]
    match_conditions: Vec<WebhookMatchCondition>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct WebhookConnectionInfo {
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: String,
    kube_config_file: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
struct WebhookMatchCondition {
    #[serde(deserialize_with = "or_default")]
    expression: String,
}

/// An authorizer of a valid configuration.
#[derive(Debug)]
pub(crate) struct CheckedAuthorizer {
    pub(crate) name: String,
    pub(crate) mode: AuthorizationMode,
    /// The webhook, for [`AuthorizationMode::WEBHOOK`].
    pub(crate) webhook: Option<CheckedWebhook>,
}

/// A webhook of a valid configuration.
#[derive(Debug)]
pub(crate) struct CheckedWebhook {
    pub(crate) kubeconfig: PathBuf,
    pub(crate) settings: ReviewSettings,
    /// The conditions that must all be true for an action that the webhook reviews.
    pub(crate) conditions: Vec<Condition>,
}

impl AuthorizationConfiguration {
    /// Parses a file, in YAML or JSON.
    ///
    /// # Errors
    ///
    /// The content is of another kind, or has unknown or repeated fields.
    pub(crate) fn parse(content: &[u8]) -> Result<Self> {
        Ok(configuration_file::parse(
            content,
            "AuthorizationConfiguration",
            &VERSIONS,
        )?)
    }

    /// Returns the authorizers, in order. Their types are among `modes`.
    ///
    /// # Errors
    ///
    /// All fields that are not valid.
    pub(crate) fn check(&self, modes: &[AuthorizationMode]) -> Result<Vec<CheckedAuthorizer>> {
        check::authorizers(self, modes).map_err(anyhow::Error::msg)
    }
}

fn duration<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    let text: Option<String> = Option::deserialize(input)?;
    text.map_or(Ok(Duration(0)), |text| text.parse().map_err(D::Error::custom))
}

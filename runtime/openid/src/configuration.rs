//! The configuration file of `--authentication-config`.

use planesmith_access::authentication::Anonymous;
use planesmith_machinery::configuration_file::{self, or_default};
use serde::Deserialize;

/// Versions of the file that are accepted; they have the same fields.
const VERSIONS: [&str; 3] = [
    "apiserver.config.k8s.io/v1",
    "apiserver.config.k8s.io/v1beta1",
    "apiserver.config.k8s.io/v1alpha1",
];

/// An `AuthenticationConfiguration`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AuthenticationConfiguration {
    #[serde(deserialize_with = "or_default")]
    pub(crate) jwt: Vec<JwtAuthenticator>,
    pub(crate) anonymous: Option<AnonymousAuthConfig>,
}

/// The tokens of one issuer, and the users that they are for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct JwtAuthenticator {
    #[serde(deserialize_with = "or_default")]
    pub(crate) issuer: IssuerConfiguration,
    #[serde(deserialize_with = "or_default")]
    pub(crate) claim_validation_rules: Vec<ClaimValidationRule>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) claim_mappings: ClaimMappings,
    #[serde(deserialize_with = "or_default")]
    pub(crate) user_validation_rules: Vec<UserValidationRule>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct IssuerConfiguration {
    #[serde(deserialize_with = "or_default")]
    pub(crate) url: String,
    #[serde(rename = "discoveryURL", deserialize_with = "or_default")]
    pub(crate) discovery_url: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) certificate_authority: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) audiences: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) audience_match_policy: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) egress_selector_type: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ClaimValidationRule {
    #[serde(deserialize_with = "or_default")]
    pub(crate) claim: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) required_value: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) expression: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) message: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ClaimMappings {
    #[serde(deserialize_with = "or_default")]
    pub(crate) username: PrefixedClaimOrExpression,
    #[serde(deserialize_with = "or_default")]
    pub(crate) groups: PrefixedClaimOrExpression,
    #[serde(deserialize_with = "or_default")]
    pub(crate) uid: ClaimOrExpression,
    #[serde(deserialize_with = "or_default")]
    pub(crate) extra: Vec<ExtraMapping>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PrefixedClaimOrExpression {
    #[serde(deserialize_with = "or_default")]
    pub(crate) claim: String,
    pub(crate) prefix: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) expression: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ClaimOrExpression {
    #[serde(deserialize_with = "or_default")]
    pub(crate) claim: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) expression: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ExtraMapping {
    #[serde(deserialize_with = "or_default")]
    pub(crate) key: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) value_expression: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct UserValidationRule {
    #[serde(deserialize_with = "or_default")]
    pub(crate) expression: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) message: String,
}

/// The requests without credentials that are served.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AnonymousAuthConfig {
    enabled: bool,
    #[serde(deserialize_with = "or_default")]
    conditions: Vec<AnonymousAuthCondition>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AnonymousAuthCondition {
    #[serde(deserialize_with = "or_default")]
    path: String,
}

impl AuthenticationConfiguration {
    /// Parses a file, in YAML or JSON.
    ///
    /// # Errors
    ///
    /// The content is of another kind, or has unknown or repeated fields.
    pub(crate) fn parse(content: &[u8]) -> Result<Self, String> {
        let parsed = configuration_file::parse(content, "AuthenticationConfiguration", &VERSIONS);
        parsed.map_err(|error| error.to_string())
    }

    /// Returns the requests without credentials that are served; `None` if the file does not say so.
    pub(crate) fn anonymous(&self) -> Option<Anonymous> {
        let anonymous = self.anonymous.as_ref()?;
        let paths = anonymous.conditions.iter().map(|condition| condition.path.clone());
        Some(match (anonymous.enabled, anonymous.conditions.is_empty()) {
            (false, _) => Anonymous::Refused,
            (true, true) => Anonymous::Served,
            (true, false) => Anonymous::ServedAt(paths.collect()),
        })
    }

    /// Returns the paths of conditions that have no effect.
    pub(crate) fn unused_conditions(&self) -> Vec<&str> {
        let anonymous = self.anonymous.as_ref().filter(|anonymous| !anonymous.enabled);
        let conditions = anonymous.map(|anonymous| anonymous.conditions.iter());
        conditions
            .into_iter()
            .flatten()
            .map(|condition| condition.path.as_str())
            .collect()
    }
}

//! The rules of the configuration, and the issuers that follow from a valid one.

use std::collections::HashSet;
use std::sync::Arc;

use planesmith_control_plane::outbound::{Network, Outbound};
use planesmith_expressions::authentication::{Expression, Subject};
use planesmith_machinery::clock::Clock;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format;
use planesmith_machinery::validation::check_domain_path;
use planesmith_server::metrics::JwtMetrics;
use planesmith_server::proxy::{Dialer, Link, Trust, TrustError, client_tls_to};

use crate::configuration::{
    AuthenticationConfiguration, ClaimMappings, ClaimValidationRule, IssuerConfiguration, JwtAuthenticator,
    PrefixedClaimOrExpression, UserValidationRule,
};
use crate::https_url::{self, TIMEOUT};
use crate::issuer::{Issuer, IssuerSettings};
use crate::json_web_key::Algorithm;
use crate::mapping::{ClaimRules, Source};

/// Maximum number of issuers.
const ISSUERS: usize = 64;

/// Domains of extra attributes that Kubernetes reserves for itself.
const RESERVED: [&str; 2] = ["kubernetes.io", "k8s.io"];

/// The only policy for tokens with several audiences.
const MATCH_ANY: &str = "MatchAny";

/// The settings of a server that a configuration must fit.
#[derive(Clone, Debug)]
pub(crate) struct Validation {
    /// The issuers of service account tokens, which no provider may have.
    pub(crate) disallowed: Vec<String>,
    /// The algorithms of signatures that are accepted.
    pub(crate) algorithms: Vec<Algorithm>,
    /// True if an issuer may select how it is reached.
    pub(crate) allows_egress: bool,
    /// Opens the connections to issuers.
    pub(crate) outbound: Outbound,
    /// The clock, which decides if a token has expired.
    pub(crate) clock: Arc<dyn Clock>,
}

impl Validation {
    /// Returns the issuers of a configuration, which begin to be discovered.
    ///
    /// # Errors
    ///
    /// All problems of the configuration, with their fields.
    pub(crate) fn issuers(
        &self,
        configuration: &AuthenticationConfiguration,
        metrics: &Arc<JwtMetrics>,
    ) -> Result<Vec<Arc<Issuer>>, String> {
        let settings = self.check(configuration)?;
        for authenticator in &configuration.jwt {
            self.dialer(&authenticator.issuer)?;
        }
        let issuers = settings.into_iter().map(|settings| {
            let metrics = metrics.of_issuer(&settings.url);
            Issuer::new(settings, metrics)
        });
        issuers.collect()
    }

    fn check(&self, configuration: &AuthenticationConfiguration) -> Result<Vec<IssuerSettings>, String> {
        let mut errors = FieldErrors::default();
        let mut settings = Vec::new();
        if configuration.jwt.len() > ISSUERS {
            errors.too_many("jwt", configuration.jwt.len(), ISSUERS as u64);
        } else {
            let (mut urls, mut discovery_urls) = (HashSet::new(), HashSet::new());
            for (index, authenticator) in configuration.jwt.iter().enumerate() {
                let mut errors = errors.at_index("jwt", index);
                settings.extend(self.authenticator(authenticator, &mut errors));
                let IssuerConfiguration { url, discovery_url, .. } = &authenticator.issuer;
                if !urls.insert(url) {
                    errors.duplicate("issuer.url", url.as_str());
                }
                if !discovery_url.is_empty() && !discovery_urls.insert(discovery_url) {
                    errors.duplicate("issuer.discoveryURL", discovery_url.as_str());
                }
            }
        }
        let unused = configuration.unused_conditions();
        if !unused.is_empty() {
            let detail = "enabled should be set to true when conditions are defined";
            errors.invalid("anonymous.conditions", go_format::slice(&unused).as_str(), detail);
        }
        match errors.joined() {
            None => Ok(settings),
            Some(problems) => Err(problems),
        }
    }

    /// Returns the settings of one issuer; `None` after an error.
    fn authenticator(&self, authenticator: &JwtAuthenticator, errors: &mut FieldErrors) -> Option<IssuerSettings> {
        let issuer = &authenticator.issuer;
        let link = self.issuer(issuer, &mut errors.at("issuer"));
        let (required, claim_conditions) = claim_rules(&authenticator.claim_validation_rules, errors);
        let mut mapping = Mapping::new(&authenticator.claim_mappings, &mut errors.at("claimMappings"));
        let verified = mapping.uses_email_verified
            || claim_conditions
                .iter()
                .any(|(condition, _)| condition.selects("email_verified"));
        if mapping.uses_email && !verified {
            errors.invalid(
                "claimMappings.username.expression",
                authenticator.claim_mappings.username.expression.as_str(),
                "claims.email_verified must be used in claimMappings.username.expression or \
                 claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in \
                 claimMappings.username.expression",
            );
        }
        let user_conditions = user_rules(&authenticator.user_validation_rules, errors);
        Some(IssuerSettings {
            url: issuer.url.clone(),
            discovery_url: issuer.discovery_url.clone(),
            audiences: issuer.audiences.clone(),
            algorithms: self.algorithms.clone(),
            link: link?,
            clock: Arc::clone(&self.clock),
            rules: ClaimRules {
                username: mapping.username.take()?,
                groups: mapping.groups,
                uid: mapping.uid,
                extra: mapping.extra,
                required,
                claim_conditions,
                user_conditions,
            },
        })
    }

    /// Checks the issuer, and returns the way to its documents.
    fn issuer(&self, issuer: &IssuerConfiguration, errors: &mut FieldErrors) -> Option<Link> {
        match issuer.url.as_str() {
            "" => errors.required("url", ""),
            url => {
                if self.disallowed.iter().any(|other| other == url) {
                    let mut all = self.disallowed.clone();
                    all.sort();
                    let detail = format!(
                        "URL must not overlap with disallowed issuers: {}",
                        go_format::slice(&all)
                    );
                    errors.invalid("url", url, detail);
                }
                check_url("url", url, errors);
            }
        }
        let discovery = issuer.discovery_url.as_str();
        if !discovery.is_empty() {
            if issuer.url.trim_end_matches('/') == discovery.trim_end_matches('/') {
                errors.invalid("discoveryURL", discovery, "discoveryURL must be different from URL");
            }
            check_url("discoveryURL", discovery, errors);
        }
        check_audiences(issuer, errors);
        let trust = match issuer.certificate_authority.as_str() {
            "" => Trust::System,
            pem => Trust::Bundle(pem.as_bytes()),
        };
        let tls = client_tls_to(trust, None).map_err(|error| match error {
            TrustError::NoAuthority => "data does not contain any valid RSA or ECDSA certificates".to_owned(),
            other => other.to_string(),
        });
        let tls = tls
            .map_err(|problem| errors.invalid("certificateAuthority", OMITTED, problem))
            .ok();
        self.check_egress(issuer.egress_selector_type.as_str(), errors);
        let dialer = self.dialer(issuer).unwrap_or(&self.outbound.direct);
        tls.map(|tls| Link::new(tls, TIMEOUT, dialer))
    }

    /// The dialer of connections to an issuer.
    ///
    /// # Errors
    ///
    /// The issuer selects a network that the file of the egress selector does not have: stricter than for other connections, as in
    /// kube-apiserver.
    fn dialer(&self, issuer: &IssuerConfiguration) -> Result<&Dialer, String> {
        let networks = [Network::ControlPlane, Network::Cluster];
        let network = networks
            .into_iter()
            .find(|network| network.name() == issuer.egress_selector_type);
        let Some(network) = network else {
            return Ok(&self.outbound.direct);
        };
        let name = network.name();
        if !self.outbound.has_selector() {
            return Err(format!(
                "oidc: egress lookup required with egress selector type {name:?}"
            ));
        }
        let selected = self.outbound.selected(network);
        selected.ok_or_else(|| format!("oidc: egress lookup for {name:?} is not configured"))
    }

    fn check_egress(&self, selector: &str, errors: &mut FieldErrors) {
        const FIELD: &str = "egressSelectorType";
        if selector.is_empty() {
            return;
        }
        if !self.allows_egress {
            let detail = "egress selector is not supported when StructuredAuthenticationConfigurationEgressSelector feature \
                          gate is disabled";
            errors.invalid(FIELD, selector, detail);
        }
        if !["controlplane", "cluster"].contains(&selector) {
            errors.invalid(
                FIELD,
                selector,
                "egress selector must be either controlplane or cluster",
            );
        }
    }
}

/// The value in messages about certificates.
const OMITTED: &str = "<omitted>";

fn check_url(field: &str, url: &str, errors: &mut FieldErrors) {
    for problem in https_url::problems(url) {
        errors.invalid(field, url, problem);
    }
}

fn check_audiences(issuer: &IssuerConfiguration, errors: &mut FieldErrors) {
    let (audiences, policy) = (&issuer.audiences, issuer.audience_match_policy.as_str());
    if audiences.is_empty() {
        let field = format!("{}.audiences", errors.prefix());
        return errors.required("audiences", format!("at least one {field} is required"));
    }
    let mut seen = HashSet::new();
    for (index, audience) in audiences.iter().enumerate() {
        let field = format!("audiences[{index}]");
        if audience.is_empty() {
            errors.required(&field, "");
        }
        if !seen.insert(audience) {
            errors.duplicate(&field, audience.as_str());
        }
    }
    let problem = match (audiences.len(), policy) {
        (_, MATCH_ANY) | (1, "") => return,
        (1, _) => "audienceMatchPolicy must be empty or MatchAny for single audience",
        _ => "audienceMatchPolicy must be MatchAny for multiple audiences",
    };
    errors.invalid("audienceMatchPolicy", policy, problem);
}

/// Compiles an expression; `None` after an error.
fn compiled(
    compile: fn(&str, Subject) -> Result<Expression, String>,
    (field, text): (&str, &str),
    subject: Subject,
    errors: &mut FieldErrors,
) -> Option<Expression> {
    match compile(text, subject) {
        Ok(expression) => Some(expression),
        Err(problem) => {
            errors.invalid(field, text, problem);
            None
        }
    }
}

type Conditions = Vec<(Expression, String)>;

/// Returns the claims that must have a value, and the conditions about claims.
fn claim_rules(rules: &[ClaimValidationRule], errors: &mut FieldErrors) -> (Vec<(String, String)>, Conditions) {
    let (mut required, mut conditions) = (Vec::new(), Vec::new());
    let (mut claims, mut expressions) = (HashSet::new(), HashSet::new());
    for (index, rule) in rules.iter().enumerate() {
        let mut errors = errors.at_index("claimValidationRules", index);
        match (rule.claim.as_str(), rule.expression.as_str()) {
            ("", "") => errors.required("", "claim or expression is required"),
            (claim, "") => {
                if !rule.message.is_empty() {
                    let detail = "may not be specified when claim is set";
                    errors.invalid("message", rule.message.as_str(), detail);
                }
                if !claims.insert(claim) {
                    errors.duplicate("claim", claim);
                }
                required.push((claim.to_owned(), rule.required_value.clone()));
            }
            ("", expression) => {
                if !rule.required_value.is_empty() {
                    let detail = "may not be specified when expression is set";
                    errors.invalid("requiredValue", rule.required_value.as_str(), detail);
                }
                if !expressions.insert(expression) {
                    errors.duplicate("expression", expression);
                    continue;
                }
                let what = ("expression", expression);
                let condition = compiled(Expression::condition, what, Subject::Claims, &mut errors);
                conditions.extend(condition.map(|condition| (condition, rule.message.clone())));
            }
            (claim, _) => errors.invalid("", claim, "claim and expression can't both be set"),
        }
    }
    (required, conditions)
}

fn user_rules(rules: &[UserValidationRule], errors: &mut FieldErrors) -> Conditions {
    let mut conditions = Vec::new();
    let mut seen = HashSet::new();
    for (index, rule) in rules.iter().enumerate() {
        let mut errors = errors.at_index("userValidationRules", index);
        if rule.expression.is_empty() {
            errors.required("expression", "");
        } else if !seen.insert(rule.expression.as_str()) {
            errors.duplicate("expression", rule.expression.as_str());
        } else {
            let what = ("expression", rule.expression.as_str());
            let condition = compiled(Expression::condition, what, Subject::User, &mut errors);
            conditions.extend(condition.map(|condition| (condition, rule.message.clone())));
        }
    }
    conditions
}

/// The mappings of claims, compiled.
#[derive(Debug, Default)]
struct Mapping {
    username: Option<Source>,
    groups: Option<Source>,
    uid: Option<Source>,
    extra: Vec<(String, Expression)>,
    /// True if the user name is computed from the claim `email`.
    uses_email: bool,
    /// True if user name or extra attributes look at `email_verified`.
    uses_email_verified: bool,
}

impl Mapping {
    fn new(mappings: &ClaimMappings, errors: &mut FieldErrors) -> Self {
        let mut mapping = Self {
            username: prefixed("username", &mappings.username, errors),
            groups: prefixed("groups", &mappings.groups, errors),
            ..Self::default()
        };
        let name = &mappings.username;
        if name.claim.is_empty() && name.expression.is_empty() {
            errors.required("username", "claim or expression is required");
        }
        if let Some(Source::Expression(expression)) = &mapping.username {
            mapping.uses_email = expression.selects("email");
            mapping.uses_email_verified = expression.selects("email_verified");
        }
        mapping.uid = match (mappings.uid.claim.as_str(), mappings.uid.expression.as_str()) {
            ("", "") => None,
            ("", text) => {
                let what = ("uid.expression", text);
                compiled(Expression::mapping, what, Subject::Claims, errors).map(Source::expression)
            }
            (claim, "") => Some(Source::Claim {
                name: claim.to_owned(),
                prefix: String::new(),
            }),
            _ => {
                errors.invalid("uid", "", "claim and expression can't both be set");
                None
            }
        };
        mapping.add_extra(mappings, errors);
        mapping
    }

    fn add_extra(&mut self, mappings: &ClaimMappings, errors: &mut FieldErrors) {
        let mut seen = HashSet::new();
        for (index, extra) in mappings.extra.iter().enumerate() {
            let mut errors = errors.at_index("extra", index);
            let key = extra.key.as_str();
            check_domain_path("key", key, &mut errors);
            if key.chars().any(char::is_uppercase) {
                errors.invalid("key", key, "must be lowercase");
            }
            if is_reserved(key) {
                let detail = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
                errors.invalid("key", key, detail);
            }
            if !seen.insert(key) {
                errors.duplicate("key", key);
                continue;
            }
            if extra.value_expression.is_empty() {
                errors.required("valueExpression", "");
                continue;
            }
            let what = ("valueExpression", extra.value_expression.as_str());
            if let Some(expression) = compiled(Expression::mapping, what, Subject::Claims, &mut errors) {
                self.uses_email_verified |= expression.selects("email_verified");
                self.extra.push((extra.key.clone(), expression));
            }
        }
    }
}

/// Returns the source of a user name or of groups; `None` if there is none, or after an error.
fn prefixed(field: &str, mapping: &PrefixedClaimOrExpression, errors: &mut FieldErrors) -> Option<Source> {
    match (mapping.claim.as_str(), mapping.expression.as_str()) {
        ("", "") => None,
        ("", text) => {
            let mut errors = errors.at(field);
            if let Some(prefix) = &mapping.prefix {
                let detail = "may not be specified when expression is set";
                errors.invalid("prefix", prefix.as_str(), detail);
            }
            let what = ("expression", text);
            compiled(Expression::mapping, what, Subject::Claims, &mut errors).map(Source::expression)
        }
        (claim, "") => {
            let Some(prefix) = &mapping.prefix else {
                let detail =
                    "prefix is required when claim is set. It can be set to an empty string to disable prefixing";
                errors.at(field).required("prefix", detail);
                return None;
            };
            Some(Source::Claim {
                name: claim.to_owned(),
                prefix: prefix.clone(),
            })
        }
        _ => {
            errors.invalid(field, "", "claim and expression can't both be set");
            None
        }
    }
}

fn is_reserved(key: &str) -> bool {
    let Some((domain, _)) = key.split_once('/') else {
        return false;
    };
    RESERVED.iter().any(|reserved| {
        let rest = domain.strip_suffix(reserved);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

#[cfg(test)]
mod tests;

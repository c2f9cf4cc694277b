//! The rules of the configuration, and the providers that follow from a valid one.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use planesmith_machinery::field_error::{FieldErrors, Json, go_object};
use planesmith_machinery::{go_base64, go_format};
use serde_json::Value;

use crate::configuration::{
    EncryptionConfiguration, KeyConfiguration, KmsApiVersion, KmsConfiguration, ProviderConfiguration,
};
use crate::keyring::{Algorithm, Keyring};

/// Lengths of keys in bytes.
const AES_KEYS: &[usize] = &[16, 24, 32];
const SECRETBOX_KEYS: &[usize] = &[32];

/// Resources that have no API.
const NOT_SERVED: [&str; 3] = ["apiserveripinfo", "serviceipallocations", "servicenodeportallocations"];

/// The settings of a server that a configuration must fit.
#[derive(Clone, Copy, Debug)]
pub struct Validation {
    /// True if the file is read again while the server runs.
    pub reloads: bool,
    /// True if plugins of version 1 are allowed.
    pub allows_kms_v1: bool,
}

/// The reason that a configuration cannot be used: all problems, with their fields, and without keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigurationError(pub String);

/// A resource of the configuration: `*` is any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GroupResource {
    pub(crate) group: String,
    pub(crate) resource: String,
}

/// Resources and their providers, in the order of the file.
pub(crate) struct ValidResources {
    pub(crate) resources: Vec<GroupResource>,
    pub(crate) providers: Vec<ValidProvider>,
}

/// A provider whose settings are valid.
pub(crate) enum ValidProvider {
    Identity,
    Keyring(Keyring),
    Kms(KmsSettings),
}

/// A plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KmsSettings {
    pub(crate) name: String,
    pub(crate) socket: PathBuf,
    /// The time for an answer.
    pub(crate) timeout: Duration,
}

impl GroupResource {
    /// Parses `resource` or `resource.group`.
    pub(crate) fn parse(text: &str) -> Self {
        let (resource, group) = text.split_once('.').unwrap_or((text, ""));
        Self {
            group: group.to_owned(),
            resource: resource.to_owned(),
        }
    }

    fn any_of(group: &str) -> Self {
        Self {
            group: group.to_owned(),
            resource: "*".to_owned(),
        }
    }
}

impl std::fmt::Display for GroupResource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.group.as_str(), self.resource.as_str()) {
            ("", "*") => formatter.write_str("*."),
            ("", resource) => formatter.write_str(resource),
            (group, resource) => write!(formatter, "{resource}.{group}"),
        }
    }
}

impl Validation {
    /// Returns the resources of `configuration` with their providers.
    pub(crate) fn check(
        self,
        configuration: &EncryptionConfiguration,
    ) -> Result<Vec<ValidResources>, ConfigurationError> {
        let mut errors = FieldErrors::default();
        if configuration.resources.is_empty() {
            errors.required("resources", at_least_one("resources"));
        }
        let mut valid = Vec::new();
        let mut names = HashSet::new();
        for (index, item) in configuration.resources.iter().enumerate() {
            let mut errors = errors.at_index("resources", index);
            check_resources(&item.resources, &mut errors);
            if item.providers.is_empty() {
                let field = format!("resources[{index}].providers");
                errors.required("providers", at_least_one(&field));
            }
            let mut providers = Vec::new();
            for (index, provider) in item.providers.iter().enumerate() {
                let mut errors = errors.at_index("providers", index);
                providers.extend(self.provider(provider, &mut names, &mut errors));
            }
            valid.push(ValidResources {
                resources: item.resources.iter().map(|text| GroupResource::parse(text)).collect(),
                providers,
            });
        }
        if let Some(problems) = errors.joined() {
            return Err(ConfigurationError(problems));
        }
        check_masked(&valid)?;
        Ok(valid)
    }

    /// Returns a provider; `None` after an error. `names` are those of plugins.
    fn provider<'c>(
        self,
        provider: &'c ProviderConfiguration,
        names: &mut HashSet<&'c str>,
        errors: &mut FieldErrors,
    ) -> Option<ValidProvider> {
        let set = [
            ("AESGCM", provider.aesgcm.is_some()),
            ("AESCBC", provider.aescbc.is_some()),
            ("Secretbox", provider.secretbox.is_some()),
            ("Identity", provider.identity.is_some()),
            ("KMS", provider.kms.is_some()),
        ];
        let count = set.iter().filter(|(_, is_set)| *is_set).count();
        if count != 1 {
            let detail = match count {
                0 => {
                    "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"
                }
                _ => "more than one provider specified in a single element, should split into different list elements",
            };
            // Without their content, which has keys.
            let shown = set.map(|(name, is_set)| (name, if is_set { Value::from("REDACTED") } else { Value::Null }));
            errors.invalid("", Json(&go_object(shown)), detail);
            return None;
        }
        let keyrings = [
            ("aesgcm", &provider.aesgcm, Algorithm::AesGcm, AES_KEYS),
            ("aescbc", &provider.aescbc, Algorithm::AesCbc, AES_KEYS),
            ("secretbox", &provider.secretbox, Algorithm::Secretbox, SECRETBOX_KEYS),
        ];
        for (field, keys, algorithm, lengths) in keyrings {
            if let Some(keys) = keys {
                let keys = check_keys(&keys.keys, lengths, &mut errors.at(field))?;
                return Keyring::new(algorithm, &keys).map(ValidProvider::Keyring);
            }
        }
        match &provider.kms {
            Some(kms) => {
                let settings = self.kms(kms, names, &mut errors.at("kms"));
                settings.map(ValidProvider::Kms)
            }
            None => Some(ValidProvider::Identity),
        }
    }

    fn kms<'c>(
        self,
        kms: &'c KmsConfiguration,
        names: &mut HashSet<&'c str>,
        errors: &mut FieldErrors,
    ) -> Option<KmsSettings> {
        let before = errors.count();
        let version = kms.version();
        let is_v1 = version == Some(KmsApiVersion::V1);
        let name = kms.name.as_str();
        if name.is_empty() {
            errors.required("name", mandatory("name", "provider"));
        }
        if !is_v1 && name.contains(':') {
            let detail = format!("invalid KMS provider name {name}, must not contain ':'");
            errors.invalid("name", name, detail);
        }
        let is_new = names.insert(name);
        if !is_new && (self.reloads || !is_v1) {
            let detail = format!("duplicate KMS provider name {name}, names must be unique");
            errors.invalid("name", name, detail);
        }
        let timeout = kms.timeout();
        if timeout.is_none() {
            errors.invalid("timeout", "", "timeout should be a positive value");
        }
        let socket = check_endpoint(&kms.endpoint, errors);
        match kms.cache_size {
            Some(size) if !is_v1 => errors.invalid("cachesize", i64::from(size), "cachesize is not supported in v2"),
            Some(0) => errors.invalid(
                "cachesize",
                0_i64,
                "cachesize should be a positive value, or negative to disable",
            ),
            Some(_) | None => {}
        }
        match version {
            None => {
                let detail = "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported";
                errors.invalid("apiVersion", kms.api_version(), detail);
            }
            Some(KmsApiVersion::V1) if !self.allows_kms_v1 => {
                let detail = "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead. \
                              Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.";
                errors.invalid("apiVersion", "v1", detail);
            }
            Some(KmsApiVersion::V1) => {
                let detail = "this server has no KMSv1; use a plugin with apiVersion v2";
                errors.invalid("apiVersion", "v1", detail);
            }
            Some(KmsApiVersion::V2) => {}
        }
        (errors.count() == before).then_some(KmsSettings {
            name: name.to_owned(),
            socket: socket?,
            timeout: timeout?,
        })
    }
}

fn at_least_one(what: &str) -> String {
    format!("at least one {what} is required")
}

fn mandatory(field: &str, of: &str) -> String {
    format!("{field} is a mandatory field for a {of}")
}

/// Checks the resources of one element.
fn check_resources(resources: &[String], errors: &mut FieldErrors) {
    if resources.is_empty() {
        let field = format!("{}.resources", errors.prefix());
        errors.required("resources", at_least_one(&field));
    }
    let all: Vec<GroupResource> = resources.iter().map(|text| GroupResource::parse(text)).collect();
    let pairs = || {
        all.iter()
            .enumerate()
            .flat_map(|(index, one)| all[index + 1..].iter().map(move |two| (one, two)))
    };
    let rendered = Value::from(resources.to_vec()).to_string();
    if pairs().any(|(one, two)| one == two) {
        let detail = "the same resource cannot be specified multiple times";
        errors.invalid("resources", Json(&rendered), detail);
    }
    let any = GroupResource::any_of("*");
    let overlap = |one: &GroupResource, two: &GroupResource| {
        let is_any = |name: &GroupResource| *name == any;
        let has_wildcard = one.resource == "*" || two.resource == "*";
        one != two && (is_any(one) || is_any(two) || (one.group == two.group && has_wildcard))
    };
    if pairs().any(|(one, two)| overlap(one, two)) {
        let detail = "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they \
                      will be masked";
        errors.invalid("resources", Json(&rendered), detail);
    }
    for (index, (text, parsed)) in resources.iter().zip(&all).enumerate() {
        if let Some(detail) = problem_of(text, parsed) {
            errors.at_index("resources", index).invalid("", text.as_str(), detail);
        }
    }
}

/// The reason that a resource cannot be encrypted.
fn problem_of(text: &str, parsed: &GroupResource) -> Option<&'static str> {
    if text.to_lowercase() != text {
        return Some("resource name should not contain capital letters");
    }
    if text == "*" {
        return Some("use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources");
    }
    if NOT_SERVED.contains(&text) {
        return Some("resources which do not have REST API/s cannot be encrypted");
    }
    match parsed.group.as_str() {
        "events.k8s.io" => Some(
            "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
        ),
        "extensions" => Some("'extensions' group has been removed and cannot be used for encryption"),
        "*" if parsed.resource != "*" => Some("encrypting the same resource across groups is not supported"),
        _ => None,
    }
}

/// Refuses a resource that an earlier wildcard has already.
fn check_masked(valid: &[ValidResources]) -> Result<(), ConfigurationError> {
    let mut earlier: HashSet<&GroupResource> = HashSet::new();
    for item in valid {
        for resource in &item.resources {
            for wildcard in [GroupResource::any_of(&resource.group), GroupResource::any_of("*")] {
                if earlier.contains(&wildcard) {
                    return Err(ConfigurationError(format!(
                        "resource {} is masked by earlier rule {}",
                        go_format::quote(&resource.to_string()),
                        go_format::quote(&wildcard.to_string())
                    )));
                }
            }
            earlier.insert(resource);
        }
    }
    Ok(())
}

/// Returns names and bytes of keys; `None` after an error.
fn check_keys(
    keys: &[KeyConfiguration],
    lengths: &[usize],
    errors: &mut FieldErrors,
) -> Option<Vec<(String, Vec<u8>)>> {
    if keys.is_empty() {
        errors.required("keys", at_least_one("keys"));
        return None;
    }
    let before = errors.count();
    let mut valid = Vec::with_capacity(keys.len());
    for (index, key) in keys.iter().enumerate() {
        let mut errors = errors.at_index("keys", index);
        if key.name.is_empty() {
            errors.required("name", mandatory("name", "key"));
        }
        if key.secret.is_empty() {
            errors.required("secret", mandatory("secret", "key"));
            continue;
        }
        let Ok(secret) = go_base64::decode(&key.secret) else {
            errors.invalid("secret", "REDACTED", "secrets must be base64 encoded");
            continue;
        };
        if !lengths.contains(&secret.len()) {
            let expected: Vec<String> = lengths.iter().map(usize::to_string).collect();
            let detail = format!(
                "secret is not of the expected length, got {}, expected one of {}",
                secret.len(),
                go_format::slice(&expected)
            );
            errors.invalid("secret", "REDACTED", detail);
        }
        valid.push((key.name.clone(), secret));
    }
    (errors.count() == before).then_some(valid)
}

/// Returns the socket of `unix:///path`; `unix:///@name` is one of Linux without a file. `None` after an error.
fn check_endpoint(endpoint: &str, errors: &mut FieldErrors) -> Option<PathBuf> {
    if endpoint.is_empty() {
        errors.invalid("endpoint", "", mandatory("endpoint", "kms"));
        return None;
    }
    let (scheme, rest) = endpoint.split_once(':').unwrap_or(("", endpoint));
    if scheme != "unix" {
        let detail = format!(
            "unsupported scheme {} for KMS provider, only unix is supported",
            go_format::quote(scheme)
        );
        errors.invalid("endpoint", endpoint, detail);
        return None;
    }
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let path = match path.strip_prefix("/@").or_else(|| path.strip_prefix('@')) {
        Some(name) => format!("\0{name}"),
        None => path.to_owned(),
    };
    if path.trim_matches('\0').is_empty() {
        errors.invalid(
            "endpoint",
            endpoint,
            "invalid endpoint for kms provider, error: it names no socket",
        );
        return None;
    }
    Some(path.into())
}

//! The configuration file of `--encryption-provider-config`.

use std::time::Duration;

use planesmith_machinery::yaml;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Versions of the file that are accepted.
const VERSIONS: [&str; 1] = ["apiserver.config.k8s.io/v1"];
/// The kind of the file.
const KIND: &str = "EncryptionConfiguration";
/// The time that a plugin has for an answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// An `EncryptionConfiguration`: providers by resource.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EncryptionConfiguration {
    #[serde(deserialize_with = "or_default")]
    pub(crate) resources: Vec<ResourceConfiguration>,
}

/// Resources, and the providers that encrypt them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ResourceConfiguration {
    #[serde(deserialize_with = "or_default")]
    pub(crate) resources: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) providers: Vec<ProviderConfiguration>,
}

/// One provider; exactly one field is set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ProviderConfiguration {
    pub(crate) aesgcm: Option<KeysConfiguration>,
    pub(crate) aescbc: Option<KeysConfiguration>,
    pub(crate) secretbox: Option<KeysConfiguration>,
    pub(crate) identity: Option<IdentityConfiguration>,
    pub(crate) kms: Option<KmsConfiguration>,
}

/// Keys in the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct KeysConfiguration {
    #[serde(deserialize_with = "or_default")]
    pub(crate) keys: Vec<KeyConfiguration>,
}

/// A key, whose bytes are in base64.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct KeyConfiguration {
    #[serde(deserialize_with = "or_default")]
    pub(crate) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) secret: String,
}

/// Values are stored as they are.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct IdentityConfiguration {}

/// A plugin that encrypts keys.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct KmsConfiguration {
    #[serde(deserialize_with = "or_default")]
    api_version: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) name: String,
    /// Number of keys that are cached, in version 1.
    #[serde(rename = "cachesize")]
    pub(crate) cache_size: Option<i32>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) endpoint: String,
    #[serde(deserialize_with = "go_duration")]
    timeout: Option<SignedDuration>,
}

/// A version of the interface of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KmsApiVersion {
    /// A request for each value; behind the feature `KMSv1`.
    V1,
    /// One key for many values.
    V2,
}

/// A duration, which may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignedDuration {
    Positive(Duration),
    /// Zero, or less.
    NotPositive,
}

impl EncryptionConfiguration {
    /// Parses a file, in YAML or JSON.
    ///
    /// # Errors
    ///
    /// The content is of another kind, or has unknown fields. The text never contains a key.
    pub fn parse(content: &[u8]) -> Result<Self, String> {
        if content.is_empty() {
            return Err("the file is empty".to_owned());
        }
        let document = yaml::to_json(content).map_err(|error| error.to_string())?;
        let mut value: Value = serde_json::from_slice(&document.json).map_err(|error| error.to_string())?;
        let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
        let (kind, version) = (text("kind"), text("apiVersion"));
        if kind != KIND || !VERSIONS.contains(&version) {
            return Err(format!(
                "no kind {kind:?} is registered for version {version:?}; expected {KIND} of {}",
                VERSIONS.join(" or ")
            ));
        }
        if let Some(fields) = value.as_object_mut() {
            fields.remove("kind");
            fields.remove("apiVersion");
        }
        // The message of a wrong type quotes the value, which may be a key.
        serde_json::from_value(value).map_err(|error| match error.to_string() {
            text if text.starts_with("unknown field") => format!("strict decoding error: {text}"),
            _ => "strict decoding error: a field has a value of another type than expected".to_owned(),
        })
    }
}

impl KmsConfiguration {
    /// The version of the plugin's interface; `None` if there is no such version.
    pub(crate) fn version(&self) -> Option<KmsApiVersion> {
        match self.api_version.as_str() {
            "" | "v1" => Some(KmsApiVersion::V1),
            "v2" => Some(KmsApiVersion::V2),
            _ => None,
        }
    }

    pub(crate) fn api_version(&self) -> &str {
        &self.api_version
    }

    /// The time that the plugin has for an answer; `None` if it is not positive.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        match self.timeout {
            None => Some(TIMEOUT),
            Some(SignedDuration::Positive(timeout)) => Some(timeout),
            Some(SignedDuration::NotPositive) => None,
        }
    }
}

impl std::fmt::Debug for KeyConfiguration {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("KeyConfiguration");
        shown.field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads `null` as the default, as Go does.
fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a duration as Go writes it, such as `3s` or `1m30s`.
fn go_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SignedDuration>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    let Some(text) = text else { return Ok(None) };
    let invalid = || serde::de::Error::custom("a duration is expected");
    let duration: planesmith_machinery::duration::Duration = text.parse().map_err(|_| invalid())?;
    Ok(Some(match u64::try_from(duration.0) {
        Ok(nanoseconds @ 1..) => SignedDuration::Positive(Duration::from_nanos(nanoseconds)),
        _ => SignedDuration::NotPositive,
    }))
}

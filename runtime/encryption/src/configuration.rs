//! The configuration file of `--encryption-provider-config`.

use std::time::Duration;

use planesmith_machinery::configuration_file::{self, or_default};
use serde::{Deserialize, Deserializer};

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
    /// The content is of another kind, or has unknown or repeated fields. The text never contains a key.
    pub fn parse(content: &[u8]) -> Result<Self, String> {
        if content.is_empty() {
            return Err("the file is empty".to_owned());
        }
        // A key that stands in a wrong place is a name or a wrong value for the reader.
        configuration_file::parse(content, KIND, &VERSIONS).map_err(|error| error.redacted())
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

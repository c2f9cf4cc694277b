//! The configuration of the plugin.

use std::time::Duration;

use anyhow::{Result, bail};
use serde::Deserialize;
use serde_json::Value;

/// The configuration of the plugin, with its defaults.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Configuration {
    /// The path of the kubeconfig of the webhook.
    pub(super) kubeconfig: String,
    /// The time for which a permission counts.
    pub(super) allow_ttl: Duration,
    /// The time for which a refusal counts.
    pub(super) deny_ttl: Duration,
    /// True if pods are admitted while the webhook does not answer.
    pub(super) default_allow: bool,
}

/// The file: numbers are seconds, 0 stands for the default and -1 for no time at all.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Fields {
    kube_config_file: String,
    #[serde(rename = "allowTTL")]
    allow_ttl: i64,
    #[serde(rename = "denyTTL")]
    deny_ttl: i64,
    retry_backoff: i64,
    default_allow: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct File {
    image_policy: Fields,
}

impl Configuration {
    /// Reads a plugin's configuration.
    ///
    /// # Errors
    ///
    /// There is none, it has another form, or a number is out of range.
    pub(super) fn read(value: Option<&Value>) -> Result<Self> {
        let Some(value) = value else {
            bail!("no config specified");
        };
        let File { image_policy: fields } = serde_json::from_value(value.clone())?;
        let seconds = |seconds| Duration::from_secs(seconds);
        // The pause between attempts has a range, too.
        normalized(
            fields.retry_backoff,
            Duration::from_millis(1),
            Duration::from_nanos(1),
            seconds(300),
            seconds(1),
        )?;
        let ttl = |value, default| normalized(value, seconds(1), seconds(1), seconds(30 * 60), default);
        Ok(Self {
            kubeconfig: fields.kube_config_file,
            allow_ttl: ttl(fields.allow_ttl, seconds(5 * 60))?,
            deny_ttl: ttl(fields.deny_ttl, seconds(30))?,
            default_allow: fields.default_allow,
        })
    }
}

/// Returns a number as a duration in `unit`, which is more than `least` and at most `most`.
fn normalized(value: i64, unit: Duration, least: Duration, most: Duration, default: Duration) -> Result<Duration> {
    match value {
        0 => return Ok(default),
        -1 => return Ok(Duration::ZERO),
        _ => {}
    }
    let duration = u32::try_from(value).ok().and_then(|value| unit.checked_mul(value));
    match duration.filter(|duration| *duration > least && *duration <= most) {
        Some(duration) => Ok(duration),
        None => bail!("valid value is between {least:?} and {most:?}, got {value}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_have_defaults_and_ranges() {
        let read = |fields: Value| Configuration::read(Some(&json!({"imagePolicy": fields})));
        let configuration = read(json!({"kubeConfigFile": "/k", "allowTTL": 60, "denyTTL": -1})).unwrap();
        assert_eq!(configuration.allow_ttl, Duration::from_secs(60));
        assert_eq!(configuration.deny_ttl, Duration::ZERO);
        assert_eq!(read(json!({})).unwrap().deny_ttl, Duration::from_secs(30));
        for fields in [
            json!({"allowTTL": 1}),
            json!({"denyTTL": 1801}),
            json!({"retryBackoff": 300_001}),
        ] {
            assert!(read(fields).is_err());
        }
        assert!(Configuration::read(None).is_err());
    }
}

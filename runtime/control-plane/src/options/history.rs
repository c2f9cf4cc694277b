//! Flags about the history of changes, from which watches resume and lists of an old revision are answered.

use std::str::FromStr as _;
use std::time::Duration;

use clap::Args;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::scheme::Scheme;
use planesmith_store::HistoryLimits;

use super::parse_go_duration;

/// The minimum time for which history is kept: clients have to begin again where they cannot resume.
const MIN_HISTORY_AGE: Duration = Duration::from_secs(10);

/// Flags about the history of changes.
#[derive(Args, Clone, Debug)]
pub struct HistoryOptions {
    /// Time for which changes are kept: watches resume and lists continue within it, also after a restart. Pages of a list
    /// that is being read keep their revision up to six times as long.
    #[arg(long, default_value = "5m0s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub store_history_age: Duration,

    /// Size of the changes that are kept, on the disk; half of the free space at most. The store needs 24Mi of memory for
    /// them, whatever their size. The default is enough for 1,000 updates of 2 KB a second within the default age.
    #[arg(long, default_value = "768Mi", value_parser = parse_bytes, value_name = "QUANTITY")]
    pub store_history_bytes: u64,

    /// Other limits for single resources, checked every ten seconds (resource[.group]#age[#bytes], e.g. events#1m or
    /// pods#10m#100Mi). A larger age takes effect within --store-history-bytes, which all resources share.
    #[arg(long, value_delimiter = ',', value_parser = parse_override, value_name = "RESOURCE#AGE,...")]
    pub store_history_overrides: Vec<HistoryOverride>,
}

/// Limits of the history of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryOverride {
    /// The resource's plural name.
    pub resource: String,
    /// Its group; empty for the core group.
    pub group: String,
    /// Its limits.
    pub limits: HistoryLimits,
}

impl HistoryOptions {
    /// Checks the flags.
    pub(super) fn check(&self) -> Result<(), String> {
        let minimum = MIN_HISTORY_AGE.as_secs();
        if self.store_history_age < MIN_HISTORY_AGE {
            let age = self.store_history_age.as_secs_f64();
            return Err(format!("--store-history-age is {age}s; expected {minimum}s or more"));
        }
        let windows = self
            .store_history_overrides
            .iter()
            .filter_map(|limits| limits.limits.window);
        if windows.min().is_some_and(|window| window < MIN_HISTORY_AGE) {
            return Err(format!(
                "--store-history-overrides has an age below {minimum}s; expected {minimum}s or more"
            ));
        }
        Ok(())
    }

    /// Returns the limits of single resources by the prefix of their keys; `scheme` has the kinds that are declared.
    pub(crate) fn limits(&self, scheme: &Scheme) -> Vec<(String, HistoryLimits)> {
        let prefixes = |of: &HistoryOverride| -> Vec<String> {
            let is_of = |facts: &&planesmith_machinery::resource::ResourceFacts| {
                *facts.plural == *of.resource && *facts.group == *of.group
            };
            let mut declared: Vec<_> = scheme
                .iter()
                .filter(is_of)
                .map(|facts| facts.storage_prefix())
                .collect();
            declared.dedup();
            match declared.is_empty() {
                true => vec![format!("/registry/{}/{}/", of.group, of.resource)],
                false => declared,
            }
        };
        let overrides = self.store_history_overrides.iter();
        overrides
            .flat_map(|of| prefixes(of).into_iter().map(|prefix| (prefix, of.limits)))
            .collect()
    }
}

fn parse_bytes(text: &str) -> Result<u64, String> {
    let quantity = Quantity::from_str(text).ok();
    let bytes = quantity.and_then(|quantity| u64::try_from(quantity.value()).ok());
    bytes.ok_or_else(|| "expected a number of bytes such as 268435456 or 256Mi".to_owned())
}

fn parse_override(text: &str) -> Result<HistoryOverride, String> {
    let wrong = || "expected resource[.group]#age[#bytes], e.g. pods#10m or events.events.k8s.io#1m#64Mi".to_owned();
    let mut parts = text.split('#');
    let (Some(kind), Some(age), bytes, None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(wrong());
    };
    let (resource, group) = kind.split_once('.').unwrap_or((kind, ""));
    if resource.is_empty() {
        return Err(wrong());
    }
    Ok(HistoryOverride {
        resource: resource.to_owned(),
        group: group.to_owned(),
        limits: HistoryLimits {
            window: Some(parse_go_duration(age).map_err(|_| wrong())?),
            bytes: bytes.map(parse_bytes).transpose()?,
        },
    })
}

#[cfg(test)]
mod tests {
    use planesmith_api_defs::core::v1::ConfigMap;

    use super::*;

    #[test]
    fn limits_of_a_resource_are_those_of_its_keys() {
        let options = HistoryOptions {
            store_history_age: Duration::from_secs(300),
            store_history_bytes: 1,
            store_history_overrides: ["configmaps#10m#1Mi", "kites.toys.example.com#1h"]
                .map(|text| parse_override(text).unwrap())
                .into(),
        };
        options.check().unwrap();
        let mut scheme = Scheme::new();
        scheme.add::<ConfigMap>();
        let limits = |minutes: u64, bytes| HistoryLimits {
            window: Some(Duration::from_secs(minutes * 60)),
            bytes,
        };
        let expected = [
            ("/registry/configmaps/".to_owned(), limits(10, Some(1 << 20))),
            ("/registry/toys.example.com/kites/".to_owned(), limits(60, None)),
        ];
        assert_eq!(options.limits(&scheme), expected);
    }

    #[test]
    fn other_texts_are_refused_with_an_example() {
        for text in ["pods", "#1m", "pods#", "pods#soon", "pods#1m#1Mi#", "pods#1m#-1"] {
            assert!(parse_override(text).unwrap_err().starts_with("expected "), "{text}");
        }
        assert_eq!(parse_bytes("256Mi"), Ok(256 << 20));
        assert!(parse_bytes("-1").is_err() && parse_bytes("much").is_err());
    }
}

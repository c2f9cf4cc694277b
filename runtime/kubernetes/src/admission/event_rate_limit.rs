//! Limits the rate of events.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Result, bail};
use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::Event;
use planesmith_control_plane::admission::parse_configuration;
use planesmith_control_plane::token_bucket::TokenBucket;
use planesmith_machinery::status::{ApiError, ApiResult};
use serde::Deserialize;

/// The number of cached buckets unless the configuration sets it.
const DEFAULT_CACHE_SIZE: usize = 4096;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Configuration {
    limits: Vec<Limit>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Limit {
    #[serde(rename = "type")]
    sort: String,
    qps: i32,
    burst: i32,
    #[serde(default)]
    cache_size: usize,
}

/// Refuses events above the limits.
pub(super) struct EventRateLimit {
    limits: Vec<(Limit, Mutex<HashMap<String, TokenBucket>>)>,
}

impl EventRateLimit {
    /// The plugin with its part of the configuration file.
    pub(super) fn new(configuration: Option<&serde_json::Value>) -> Result<Self> {
        let versions = ["eventratelimit.admission.k8s.io/v1alpha1"];
        let configuration: Configuration = parse_configuration(configuration, "Configuration", &versions)?;
        if configuration.limits.is_empty() {
            bail!("limits: Required value");
        }
        for (index, limit) in configuration.limits.iter().enumerate() {
            if !matches!(limit.sort.as_str(), "Server" | "Namespace" | "User" | "SourceAndObject") {
                bail!(
                    "limits[{index}].type: Unsupported value: {:?}: supported values: \"Namespace\", \"Server\", \
                     \"SourceAndObject\", \"User\"",
                    limit.sort
                );
            }
            for (field, value) in [("burst", limit.burst), ("qps", limit.qps)] {
                if value <= 0 {
                    bail!("limits[{index}].{field}: Invalid value: {value}: must be positive");
                }
            }
        }
        let limits = configuration.limits.into_iter();
        Ok(Self {
            limits: limits.map(|limit| (limit, Mutex::default())).collect(),
        })
    }

    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>, now: Instant) -> ApiResult<()> {
        let Some(event) = objects.new_as::<Event>().filter(|_| !attributes.dry_run) else {
            return Ok(());
        };
        let mut exceeded = Vec::new();
        // Each event counts against all limits, also when one refuses it.
        for (limit, buckets) in &self.limits {
            let key = key_of(&limit.sort, attributes, event);
            let mut buckets = buckets.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = if limit.cache_size == 0 {
                DEFAULT_CACHE_SIZE
            } else {
                limit.cache_size
            };
            if buckets.len() >= kept && !buckets.contains_key(&key) {
                let oldest = buckets.iter().min_by_key(|(_, bucket)| bucket.used_at());
                if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                    buckets.remove(&oldest);
                }
            }
            let bucket = buckets.entry(key.clone()).or_insert_with(|| {
                let burst = limit.burst.unsigned_abs();
                TokenBucket::new(f64::from(limit.qps), burst, now)
            });
            if !bucket.try_take(now) {
                exceeded.push(format!("limit reached on type {} for key {key}", limit.sort));
            }
        }
        if exceeded.is_empty() {
            return Ok(());
        }
        let message = format!("Too many requests: {}", exceeded.join("; "));
        Err(ApiError::too_many_requests(message, 0))
    }
}

/// Returns the key by which a limit of this sort groups events.
fn key_of(sort: &str, attributes: &Attributes<'_>, event: &Event) -> String {
    match sort {
        "Namespace" => attributes.namespace.to_owned(),
        "User" => attributes.user.name.clone(),
        "SourceAndObject" => {
            let (source, about) = (&event.source, &event.involved_object);
            [
                &source.component,
                &source.host,
                &about.kind,
                &about.namespace,
                &about.name,
                &about.uid,
                &about.api_version,
            ]
            .map(String::as_str)
            .concat()
        }
        _ => String::new(),
    }
}

impl Plugin for EventRateLimit {
    fn name(&self) -> &'static str {
        "EventRateLimit"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects, Instant::now()))
    }
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "values that are written in place are passed on as they are"
)]
mod tests {
    use std::time::Duration;

    use planesmith_access::user::UserInfo;
    use planesmith_machinery::object::Resource as _;
    use serde_json::json;

    use super::*;

    fn plugin(limits: serde_json::Value) -> Result<EventRateLimit> {
        let version = "eventratelimit.admission.k8s.io/v1alpha1";
        EventRateLimit::new(Some(
            &json!({"apiVersion": version, "kind": "Configuration", "limits": limits}),
        ))
    }

    #[test]
    fn a_burst_is_let_through_and_then_a_rate() {
        let plugin = plugin(json!([{"type": "User", "qps": 2, "burst": 3}])).unwrap();
        let user = UserInfo {
            name: "alice".to_owned(),
            ..UserInfo::default()
        };
        let attributes = Attributes::new(Operation::Create, Event::RESOURCE, &user);
        let start = Instant::now();
        let admit = |after: u64| {
            let mut event = Event::default();
            let objects = Objects {
                new: Some(&mut event),
                old: None,
            };
            plugin.check(&attributes, &objects, start + Duration::from_millis(after))
        };
        assert!((0..3).all(|_| admit(0).is_ok()));
        let refused = admit(0).unwrap_err();
        assert_eq!(refused.code(), 429);
        assert_eq!(
            refused.message(),
            "Too many requests: limit reached on type User for key alice"
        );
        assert!(admit(500).is_ok());
        assert!(admit(600).is_err());
    }

    #[test]
    fn limits_make_sense() {
        assert!(EventRateLimit::new(None).is_err());
        assert!(plugin(json!([{"type": "Pod", "qps": 1, "burst": 1}])).is_err());
        assert!(plugin(json!([{"type": "Server", "qps": 0, "burst": 1}])).is_err());
    }
}

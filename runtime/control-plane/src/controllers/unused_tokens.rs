//! Removes tokens in secrets that were unused for a year.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use planesmith_machinery::time::Time;
use planesmith_server::stores::Stores;
use serde_json::{Value, json};

use super::MANAGER;
use crate::bootstrap::token_tracking;
use crate::loopback::{Loopback, LoopbackError};
use crate::periodic::Periodic;
use crate::resource_client::{ResourceClient, text};
use crate::service_accounts::token_secrets::{
    ACCOUNT_NAME, ACCOUNT_UID, INVALID_SINCE, LAST_USED, TYPE, day, label, start_of,
};

const DAY: i64 = 24 * 60 * 60;
/// The number of seconds after which an unused token is invalidated, and then after which it is removed.
const UNUSED: i64 = 365 * DAY;

/// Invalidates unused tokens and, after the same time again, deletes their secrets. Only secrets that an account
/// lists are affected, which were once created with it.
pub(super) struct UnusedTokens {
    secrets: ResourceClient,
    accounts: ResourceClient,
    /// A program without pods has none.
    pods: Option<ResourceClient>,
    config_maps: ResourceClient,
}

/// An action on a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    MakeInvalid,
    Remove,
}

impl UnusedTokens {
    /// `None` for a server without secrets or service accounts.
    pub(super) fn new(stores: &Stores, loopback: &Loopback) -> Option<Self> {
        let objects = |plural| Some(ResourceClient::of(stores, loopback, "", "v1", plural)?.managed_by(MANAGER));
        Some(Self {
            secrets: objects("secrets")?,
            accounts: objects("serviceaccounts")?,
            pods: objects("pods"),
            config_maps: objects("configmaps")?,
        })
    }

    /// Returns the time since when the use of every token is recorded, in seconds since 1970.
    fn known_since(&self) -> Option<i64> {
        let config_map = self.config_maps.get(token_tracking::NAMESPACE, token_tracking::NAME)?;
        let since = start_of(text(&config_map, "/data/since"))?;
        // The first day is not recorded in full.
        Some(since.as_second() + DAY)
    }

    /// True if the service account of a secret lists it.
    fn is_mentioned(&self, secret: &Value) -> bool {
        let annotation = |name: &str| secret["metadata"]["annotations"][name].as_str().unwrap_or_default();
        let namespace = text(secret, "/metadata/namespace");
        let Some(account) = self.accounts.get(namespace, annotation(ACCOUNT_NAME)) else {
            return false;
        };
        let uid = annotation(ACCOUNT_UID);
        let is_same = uid.is_empty() || uid == text(&account, "/metadata/uid");
        let mentioned = account["secrets"].as_array().into_iter().flatten();
        is_same
            && mentioned
                .into_iter()
                .any(|mentioned| mentioned["name"] == secret["metadata"]["name"])
    }

    /// Returns the secrets that pods in a namespace use.
    fn used_by_pods(&self, namespace: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for pod in self.pods.iter().flat_map(|pods| pods.all(namespace)) {
            secret_names(&pod["spec"], &mut names);
        }
        names
    }
}

impl Periodic for UnusedTokens {
    const NAME: &'static str = "removal of unused tokens";
    const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

    async fn work(&self) -> Result<(), LoopbackError> {
        let now = Time::from(self.secrets.clock().now());
        if self.known_since().is_none_or(|since| now.as_second() < since + UNUSED) {
            return Ok(());
        }
        let mut used: HashMap<String, BTreeSet<String>> = HashMap::new();
        for secret in self.secrets.selected_by("", "type", TYPE) {
            let Some(step) = step(&secret, now) else { continue };
            let (namespace, name) = (text(&secret, "/metadata/namespace"), text(&secret, "/metadata/name"));
            let used = used
                .entry(namespace.to_owned())
                .or_insert_with(|| self.used_by_pods(namespace));
            if used.contains(name) || !self.is_mentioned(&secret) {
                continue;
            }
            match step {
                Step::MakeInvalid => {
                    let uid = &secret["metadata"]["uid"];
                    let change = json!({"metadata": {"uid": uid, "labels": {INVALID_SINCE: day(now)}}});
                    self.secrets.merge(namespace, name, &change).await?;
                }
                Step::Remove => self.secrets.delete_exactly(&secret, None).await?,
            }
        }
        Ok(())
    }
}

/// Returns the action that is due on a token that no pod uses; `None` if there is none.
fn step(secret: &Value, now: Time) -> Option<Step> {
    let long_ago = now.as_second() - UNUSED;
    let made: Time = text(secret, "/metadata/creationTimestamp").parse().ok()?;
    if made.as_second() >= long_ago || !secret["metadata"]["deletionTimestamp"].is_null() {
        return None;
    }
    let long_ago = day(Time::from_second(long_ago));
    if let Some(used) = label(secret, LAST_USED) {
        // An invalid label says nothing about the use.
        start_of(used)?;
        if *used >= *long_ago {
            return None;
        }
    }
    match label(secret, INVALID_SINCE).filter(|since| start_of(since).is_some()) {
        None => Some(Step::MakeInvalid),
        Some(since) => (*since < *long_ago).then_some(Step::Remove),
    }
}

/// Adds the names of all secrets that a part of a pod refers to.
fn secret_names(part: &Value, names: &mut BTreeSet<String>) {
    let mut add = |name: &Value| names.extend(name.as_str().map(str::to_owned));
    match part {
        Value::Object(members) => {
            for (key, value) in members {
                match key.as_str() {
                    "secretName" => add(value),
                    "secretRef" | "secretKeyRef" | "nodePublishSecretRef" => add(&value["name"]),
                    // `secretName` in a volume, `name` in a projected source.
                    "secret" => ["secretName", "name"].iter().for_each(|key| add(&value[*key])),
                    "imagePullSecrets" => {
                        (value.as_array().into_iter().flatten()).for_each(|secret| add(&secret["name"]))
                    }
                    _ => {}
                }
            }
            members.values().for_each(|value| secret_names(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| secret_names(item, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: &str = "2026-06-15T12:00:00Z";

    fn step_of(made: &str, labels: &Value) -> Option<Step> {
        let secret = json!({"metadata": {"creationTimestamp": made, "labels": labels}});
        step(&secret, TODAY.parse().unwrap())
    }

    #[test]
    fn a_token_goes_in_two_steps_of_a_year() {
        const OLD: &str = "2020-01-01T00:00:00Z";
        assert_eq!(step_of("2026-01-01T00:00:00Z", &json!({})), None);
        assert_eq!(step_of(OLD, &json!({})), Some(Step::MakeInvalid));
        for (used, expected) in [
            ("2025-06-15", None),
            ("2025-06-14", Some(Step::MakeInvalid)),
            ("sometimes", None),
        ] {
            assert_eq!(step_of(OLD, &json!({LAST_USED: used})), expected, "{used}");
        }
        for (since, expected) in [
            ("2025-06-15", None),
            ("2025-06-14", Some(Step::Remove)),
            ("sometimes", Some(Step::MakeInvalid)),
        ] {
            assert_eq!(step_of(OLD, &json!({INVALID_SINCE: since})), expected, "{since}");
        }
    }

    #[test]
    fn pods_mention_secrets_in_many_places() {
        let spec = json!({
            "imagePullSecrets": [{"name": "a"}],
            "containers": [{
                "env": [{"valueFrom": {"secretKeyRef": {"name": "b", "key": "k"}}}],
                "envFrom": [{"secretRef": {"name": "c"}}],
            }],
            "volumes": [
                {"secret": {"secretName": "d"}},
                {"projected": {"sources": [{"secret": {"name": "e"}}]}},
                {"azureFile": {"secretName": "f"}},
                {"csi": {"nodePublishSecretRef": {"name": "g"}}},
                {"configMap": {"name": "no"}},
            ],
        });
        let mut names = BTreeSet::new();
        secret_names(&spec, &mut names);
        assert_eq!(names.into_iter().collect::<String>(), "abcdefg");
    }
}

//! Removes tokens in secrets that were unused for a year.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use planesmith_machinery::time::Time;
use planesmith_server::stores::Stores;
use serde_json::{Value, json};

use super::MANAGER;
use crate::bootstrap::token_tracking;
use crate::loopback::{Loopback, LoopbackError};
use crate::periodic::Periodic;
use crate::resource_client::{ResourceClient, text};
use crate::secret_users::SecretUsers;
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
    config_maps: ResourceClient,
    users: Vec<Arc<dyn SecretUsers>>,
}

/// An action on a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    MakeInvalid,
    Remove,
}

impl UnusedTokens {
    /// `None` for a server without secrets or service accounts.
    pub(super) fn new(stores: &Stores, loopback: &Loopback, users: &[Arc<dyn SecretUsers>]) -> Option<Self> {
        let objects = |plural| Some(ResourceClient::of(stores, loopback, "", "v1", plural)?.managed_by(MANAGER));
        Some(Self {
            secrets: objects("secrets")?,
            accounts: objects("serviceaccounts")?,
            config_maps: objects("configmaps")?,
            users: users.to_vec(),
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

    /// Returns the secrets that objects in a namespace use.
    fn used_in(&self, namespace: &str) -> BTreeSet<String> {
        self.users
            .iter()
            .flat_map(|users| users.used_secrets(namespace))
            .collect()
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
                .or_insert_with(|| self.used_in(namespace));
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

/// Returns the action that is due on a token that no object uses; `None` if there is none.
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
}

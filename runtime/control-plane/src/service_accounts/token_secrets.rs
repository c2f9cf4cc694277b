//! Secrets with tokens of service accounts: their contents and their last use.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planesmith_access::authentication::service_account::{TokenSecret, TokenSecrets};
use planesmith_machinery::time::Time;
use planesmith_server::stores::Stores;
use serde_json::{Value, json};

use crate::loopback::Loopback;
use crate::resource_client::{ResourceClient, text};
use planesmith_server::task;

/// The type of such secrets.
pub(crate) const TYPE: &str = "kubernetes.io/service-account-token";
/// The annotation with the name of the account.
pub(crate) const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
/// The annotation with the UID of the account.
pub(crate) const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";
/// The label with the day on which the token was last used.
pub(crate) const LAST_USED: &str = "kubernetes.io/legacy-token-last-used";
/// The label with the day on which the token was invalidated.
pub(crate) const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";

const DAY: i64 = 24 * 60 * 60;

/// Secrets in the store. Their use is recorded once a day.
pub(crate) struct StoredTokenSecrets {
    secrets: ResourceClient,
    accounts: Option<ResourceClient>,
    /// Namespace and name of secrets whose use is being recorded.
    noting: Arc<Mutex<HashSet<(String, String)>>>,
}

impl StoredTokenSecrets {
    /// `None` for a server without secrets.
    pub(crate) fn new(stores: &Stores, loopback: &Loopback) -> Option<Self> {
        Some(Self {
            secrets: ResourceClient::of(stores, loopback, "", "v1", "secrets")?,
            accounts: ResourceClient::of(stores, loopback, "", "v1", "serviceaccounts"),
            noting: Arc::default(),
        })
    }
}

impl StoredTokenSecrets {
    /// True if the account of a secret lists it.
    fn is_listed(&self, namespace: &str, secret: &Value) -> bool {
        let name = &secret["metadata"]["name"];
        let account = secret["metadata"]["annotations"]
            .get(ACCOUNT_NAME)
            .and_then(Value::as_str);
        let account = self.accounts.as_ref().zip(account);
        let account = account.and_then(|(accounts, account)| accounts.get(namespace, account));
        let listed = account.as_ref().and_then(|account| account.get("secrets")?.as_array());
        listed.is_some_and(|listed| listed.iter().any(|reference| reference["name"] == *name))
    }
}

impl TokenSecrets for StoredTokenSecrets {
    fn find(&self, namespace: &str, name: &str) -> Option<TokenSecret> {
        let secret = self.secrets.get(namespace, name)?;
        Some(TokenSecret {
            token: STANDARD.decode(text(&secret, "/data/token")).unwrap_or_default(),
            is_deleted: !secret["metadata"]["deletionTimestamp"].is_null(),
            is_invalid: label(&secret, INVALID_SINCE).is_some_and(|since| !since.is_empty()),
            is_generated: self.is_listed(namespace, &secret),
        })
    }

    fn note_use(&self, namespace: &str, name: &str) {
        let Some(secret) = self.secrets.get(namespace, name) else {
            return;
        };
        let now = Time::from(self.secrets.clock().now());
        // Another server's clock may be ahead.
        let (today, tomorrow) = (day(now), day(Time::from_second(now.as_second() + DAY)));
        if label(&secret, LAST_USED).is_some_and(|used| used == today || used == tomorrow) {
            return;
        }
        let key = (namespace.to_owned(), name.to_owned());
        if !lock(&self.noting).insert(key.clone()) {
            return;
        }
        let (secrets, noting) = (self.secrets.clone(), Arc::clone(&self.noting));
        let change = json!({"metadata": {"uid": secret["metadata"]["uid"], "labels": {LAST_USED: today}}});
        task::spawn(async move {
            let (namespace, name) = (&key.0, &key.1);
            if let Err(error) = secrets.merge(namespace, name, &change).await {
                tracing::warn!(namespace, name, %error, "the last use of a token cannot be recorded");
            }
            lock(&noting).remove(&key);
        });
    }
}

/// Returns the day of a time, such as 2026-01-31.
pub(crate) fn day(time: Time) -> String {
    let mut text = time.to_string();
    text.truncate(text.find('T').unwrap_or(text.len()));
    text
}

/// Returns the beginning of a day such as 2026-01-31; `None` for other texts.
pub(crate) fn start_of(day: &str) -> Option<Time> {
    format!("{day}T00:00:00Z").parse().ok()
}

/// Returns the value of an object's label.
pub(crate) fn label<'o>(object: &'o Value, name: &str) -> Option<&'o str> {
    object["metadata"]["labels"].get(name)?.as_str()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for StoredTokenSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredTokenSecrets").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_told_from_other_texts() {
        let day_of = |text| start_of(text).map(day);
        assert_eq!(day_of("2026-02-28").as_deref(), Some("2026-02-28"));
        for text in ["", "2026-02-30", "yesterday", "2026-02-28T00:00:00Z"] {
            assert_eq!(day_of(text), None, "{text}");
        }
    }
}

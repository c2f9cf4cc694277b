//! Secrets with bootstrap tokens.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planesmith_access::authentication::{BootstrapSecret, BootstrapSecrets};
use planesmith_server::stores::Stores;
use serde_json::Value;

use crate::loopback::Loopback;
use crate::resource_client::{ResourceClient, text};

/// The namespace of bootstrap tokens.
const NAMESPACE: &str = "kube-system";

/// Secrets in the store.
pub(super) struct StoredBootstrapSecrets {
    secrets: ResourceClient,
}

impl StoredBootstrapSecrets {
    /// `None` for a server without secrets.
    pub(super) fn new(stores: &Stores, loopback: &Loopback) -> Option<Self> {
        let secrets = ResourceClient::of(stores, loopback, "", "v1", "secrets")?;
        Some(Self { secrets })
    }
}

impl BootstrapSecrets for StoredBootstrapSecrets {
    fn find(&self, name: &str) -> Option<BootstrapSecret> {
        let secret = self.secrets.get(NAMESPACE, name)?;
        let data = secret.get("data").and_then(Value::as_object).into_iter().flatten();
        let decoded = |value: &Value| STANDARD.decode(value.as_str().unwrap_or_default()).unwrap_or_default();
        Some(BootstrapSecret {
            secret_type: text(&secret, "/type").to_owned(),
            is_deleted: !secret["metadata"]["deletionTimestamp"].is_null(),
            data: data.map(|(key, value)| (key.clone(), decoded(value))).collect(),
        })
    }
}

impl fmt::Debug for StoredBootstrapSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredBootstrapSecrets").finish_non_exhaustive()
    }
}

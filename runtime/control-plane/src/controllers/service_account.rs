//! Gives every namespace the service account that its pods have unless they say otherwise.

use planesmith_server::stores::Stores;
use serde_json::json;

use super::{MANAGER, is_active};
use crate::loopback::{Loopback, LoopbackError};
use crate::objects::Objects;
use crate::reconciler::Reconcile;

const NAME: &str = "default";

/// Makes the account `default` in each namespace, and makes it again when it is deleted.
pub(super) struct ServiceAccountController {
    namespaces: Objects,
    accounts: Objects,
}

impl ServiceAccountController {
    /// `None` for a server without service accounts.
    pub(super) fn new(stores: &Stores, loopback: &Loopback) -> Option<Self> {
        Some(Self {
            namespaces: Objects::of(stores, loopback, "", "v1", "namespaces")?,
            accounts: Objects::of(stores, loopback, "", "v1", "serviceaccounts")?.managed_by(MANAGER),
        })
    }
}

impl Reconcile for ServiceAccountController {
    const NAME: &'static str = "default service account";

    fn watched(&self) -> Vec<&Objects> {
        vec![&self.namespaces, &self.accounts]
    }

    fn all(&self) -> Vec<String> {
        self.namespaces.names()
    }

    fn touched(&self, kind: usize, namespace: &str, name: &str) -> Vec<String> {
        match kind {
            0 => vec![name.to_owned()],
            _ if name == NAME => vec![namespace.to_owned()],
            _ => Vec::new(),
        }
    }

    async fn reconcile(&self, key: &str) -> Result<(), LoopbackError> {
        if self.accounts.has(key, NAME) || !is_active(&self.namespaces, key) {
            return Ok(());
        }
        let account = json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": NAME, "namespace": key},
        });
        self.accounts.create(&account).await
    }
}

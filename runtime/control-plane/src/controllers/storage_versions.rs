//! Removes the entries of stopped servers from StorageVersion objects.

use planesmith_machinery::time::Time;
use planesmith_server::chain::SharedTable;
use planesmith_server::stores::Stores;
use planesmith_store::{Event, EventKind};
use serde_json::Value;

use super::MANAGER;
use crate::bootstrap::identity_lease::{self, LABEL, LABEL_VALUE, NAMESPACE};
use crate::bootstrap::storage_versions;
use crate::feature_gates::FeatureGates;
use crate::loopback::{Loopback, LoopbackError};
use crate::reconciler::Reconcile;
use crate::resource_client::{ResourceClient, text};

/// Removes the entries of servers without a lease, and objects without entries.
pub(super) struct StaleStorageVersions {
    versions: ResourceClient,
    leases: ResourceClient,
    /// The name of this server, which counts as present whatever its lease says.
    own: String,
}

impl StaleStorageVersions {
    /// `None` if no versions are recorded, or if there are no leases that show the running servers.
    pub(super) fn new(
        tables: &[SharedTable],
        stores: &Stores,
        loopback: &Loopback,
        gates: &FeatureGates,
    ) -> Option<Self> {
        let has_leases = gates.enabled(identity_lease::GATE);
        if !has_leases || !gates.enabled(storage_versions::GATE) || !storage_versions::are_served(tables) {
            return None;
        }
        Some(Self {
            versions: storage_versions::objects(stores, loopback)?.managed_by(MANAGER),
            leases: ResourceClient::of(stores, loopback, "coordination.k8s.io", "v1", "leases")?,
            own: identity_lease::own_name(),
        })
    }

    fn is_there(&self, server: &str) -> bool {
        server == self.own || self.leases.label(NAMESPACE, server, LABEL).as_deref() == Some(LABEL_VALUE)
    }
}

impl Reconcile for StaleStorageVersions {
    const NAME: &'static str = "removal of storage versions of terminated servers";

    fn watched(&self) -> Vec<&ResourceClient> {
        vec![&self.versions, &self.leases]
    }

    fn all(&self) -> Vec<String> {
        self.versions.names()
    }

    fn touched(&self, kind: usize, namespace: &str, name: &str) -> Vec<String> {
        match kind {
            0 => vec![name.to_owned()],
            _ if namespace == NAMESPACE => self.all(),
            _ => Vec::new(),
        }
    }

    fn touched_by(&self, kind: usize, event: &Event) -> Vec<String> {
        // Leases are renewed all the time; only their deletion matters.
        if kind != 0 && !matches!(event.kind(), EventKind::Delete) {
            return Vec::new();
        }
        let (namespace, name) = self.watched()[kind].names_of(event.entry());
        self.touched(kind, namespace, name)
    }

    async fn reconcile(&self, name: &str) -> Result<(), LoopbackError> {
        let Some(mut object) = self.versions.get("", name) else {
            return Ok(());
        };
        let said = object["status"]["storageVersions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let there = |server: &Value| self.is_there(text(server, "/apiServerID"));
        let left: Vec<Value> = said.iter().filter(|server| there(server)).cloned().collect();
        if left.len() == said.len() {
            return Ok(());
        }
        if left.is_empty() {
            return self.versions.delete_exactly(&object, None).await;
        }
        let now = Time::from(self.versions.clock().now()).to_string();
        object["status"] = storage_versions::agreed(&object["status"], &left, &now);
        self.versions.replace_part(&object, "/status").await
    }
}

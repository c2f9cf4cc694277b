//! The secrets of persistent volumes.

use std::collections::HashMap;
use std::sync::Arc;

use planesmith_api_defs::core::v1::{ObjectReference, PersistentVolume};

use super::graph::Referent;

/// The claims whose volumes need a secret on the node. Volumes without such secrets take no memory.
#[derive(Debug, Default)]
pub(super) struct VolumeSecrets {
    /// By the volume's key in the store.
    volumes: HashMap<Arc<str>, BoundVolume>,
    /// The keys of the volumes that need a secret, by secret.
    secrets: HashMap<String, Vec<Arc<str>>>,
}

#[derive(Debug)]
struct BoundVolume {
    claim: String,
    secrets: Vec<String>,
}

impl VolumeSecrets {
    /// Returns the claims whose volumes need `secret`.
    pub(super) fn claims(&self, secret: &str) -> impl Iterator<Item = &str> {
        let volumes = self.secrets.get(secret).into_iter().flatten();
        let volumes = volumes.filter_map(|key| self.volumes.get(key));
        volumes.map(|volume| volume.claim.as_str())
    }

    /// Adds a volume, or replaces it.
    pub(super) fn put(&mut self, key: &str, volume: &PersistentVolume) {
        self.remove(key);
        let Some(claim) = claim_of(volume) else {
            return;
        };
        let secrets = secrets(volume);
        if secrets.is_empty() {
            return;
        }
        let key: Arc<str> = key.into();
        for secret in &secrets {
            self.secrets.entry(secret.clone()).or_default().push(Arc::clone(&key));
        }
        self.volumes.insert(key, BoundVolume { claim, secrets });
    }

    /// Removes a volume, if it is there.
    pub(super) fn remove(&mut self, key: &str) {
        let Some(volume) = self.volumes.remove(key) else {
            return;
        };
        for secret in volume.secrets {
            if let Some(volumes) = self.secrets.get_mut(&secret) {
                volumes.retain(|volume| **volume != *key);
                if volumes.is_empty() {
                    self.secrets.remove(&secret);
                }
            }
        }
    }
}

/// Returns the claim of a volume, as the graph identifies it.
pub(super) fn claim_of(volume: &PersistentVolume) -> Option<String> {
    let claim = volume.spec.claim_ref.as_ref()?;
    Some(Referent::VolumeClaim.object(&claim.namespace, &claim.name))
}

/// The secrets that a node needs for a volume, each once. Secrets without a namespace are in that of the claim.
fn secrets(volume: &PersistentVolume) -> Vec<String> {
    let source = &volume.spec.persistent_volume_source;
    let namespace = volume.spec.claim_ref.as_ref().map_or("", |claim| &claim.namespace);
    let csi = source.csi.as_ref();
    let referred = [
        source.cephfs.as_ref().and_then(|source| source.secret_ref.as_ref()),
        source.cinder.as_ref().and_then(|source| source.secret_ref.as_ref()),
        source
            .flex_volume
            .as_ref()
            .and_then(|source| source.secret_ref.as_ref()),
        source.rbd.as_ref().and_then(|source| source.secret_ref.as_ref()),
        source.scale_io.as_ref().and_then(|source| source.secret_ref.as_ref()),
        source.iscsi.as_ref().and_then(|source| source.secret_ref.as_ref()),
        csi.and_then(|source| source.node_publish_secret_ref.as_ref()),
        csi.and_then(|source| source.node_stage_secret_ref.as_ref()),
        csi.and_then(|source| source.node_expand_secret_ref.as_ref()),
    ];
    let referred = referred.into_iter().flatten();
    let referred = referred.map(|secret| (secret.namespace.as_str(), secret.name.as_str()));
    let storageos = source.storageos.as_ref().and_then(|source| source.secret_ref.as_ref());
    let storageos = storageos.map(|ObjectReference { namespace, name, .. }| (namespace.as_str(), name.as_str()));
    let azure = source.azure_file.as_ref();
    let azure = azure.map(|file| {
        let namespace = file.secret_namespace.as_deref().unwrap_or_default();
        (namespace, file.secret_name.as_str())
    });
    let named = referred
        .chain(storageos)
        .chain(azure)
        .filter(|(_, name)| !name.is_empty());
    let mut all: Vec<String> = named
        .map(|(own, name)| Referent::Secret.object(if own.is_empty() { namespace } else { own }, name))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::json::{self, Strictness};
    use serde_json::{Value, json};

    use super::*;

    fn volume(claim: &Value, csi: &Value) -> PersistentVolume {
        let mut volume = PersistentVolume::default();
        let value = json!({"metadata": {"name": "v"}, "spec": {"claimRef": claim, "csi": csi}});
        json::from_value(&value, &mut volume, Strictness::Lenient).unwrap();
        volume
    }

    #[test]
    fn secrets_lead_to_the_claims_of_their_volumes() {
        let secret = |namespace, name| Referent::Secret.object(namespace, name);
        let csi = json!({
            "driver": "d",
            "nodePublishSecretRef": {"name": "own"},
            "nodeStageSecretRef": {"name": "shared", "namespace": "storage"},
            "controllerPublishSecretRef": {"name": "controller"},
        });
        let claim = json!({"namespace": "ns", "name": "c"});
        let mut secrets = VolumeSecrets::default();
        secrets.put("v", &volume(&claim, &csi));
        let found =
            |secrets: &VolumeSecrets, secret: &str| secrets.claims(secret).map(str::to_owned).collect::<Vec<_>>();
        for visible in [secret("ns", "own"), secret("storage", "shared")] {
            assert_eq!(found(&secrets, &visible), [Referent::VolumeClaim.object("ns", "c")]);
        }
        assert!(found(&secrets, &secret("ns", "controller")).is_empty());
        secrets.put("v", &volume(&Value::Null, &csi));
        assert!(secrets.volumes.is_empty() && secrets.secrets.is_empty());
    }
}

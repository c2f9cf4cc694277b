//! Sorts of storage.

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::rules::Rules;

use crate::core::v1::TopologySelectorTerm;
use crate::storage::v1::default_policies;

/// A sort of storage that claims can ask for by name, and how volumes of it are made on demand.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "storage.k8s.io", version = "v1beta1", cluster, short("sc"), unserved, rules)]
#[resource(storage_version = crate::storage::v1::StorageClass)]
pub struct StorageClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Who makes the volumes: the name of a storage driver. Cannot change.
    #[field(proto = 2, keep)]
    pub provisioner: String,
    /// What the provisioner is told about each volume, as it documents it. Cannot change.
    #[field(proto = 3)]
    pub parameters: BTreeMap<String, String>,
    /// What becomes of a volume that was made on demand when its claim is deleted: Delete, which is the default, or
    /// Retain. Cannot change.
    #[field(
        proto = 4,
        known("Recycle", "Delete", "Retain"),
        go_type = "v1.PersistentVolumeReclaimPolicy"
    )]
    pub reclaim_policy: Option<String>,
    /// Options with which volumes are mounted. Not checked: a wrong one makes mounting fail.
    #[field(proto = 5, list_type = atomic)]
    pub mount_options: Vec<String>,
    /// Whether claims of the class may be enlarged.
    #[field(proto = 6)]
    pub allow_volume_expansion: Option<bool>,
    /// When claims are bound and volumes made: Immediate, which is the default, or WaitForFirstConsumer, when a pod
    /// needs them and its node is known. Cannot change.
    #[field(proto = 7, go_type = "VolumeBindingMode")]
    pub volume_binding_mode: Option<String>,
    /// Parts of the cluster in which volumes may be made, by labels of nodes; all when empty.
    #[field(proto = 8, list_type = atomic)]
    pub allowed_topologies: Vec<TopologySelectorTerm>,
}

impl Rules for StorageClass {
    fn default_values(&mut self) {
        default_policies(&mut self.reclaim_policy, &mut self.volume_binding_mode);
    }
}

//! Storage classes.

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use crate::core::v1::TopologySelectorTerm;
use crate::storage::v1::default_policies;

/// A class of storage that claims can request by name, and the parameters of dynamic provisioning.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storage.k8s.io",
    version = "v1beta1",
    cluster,
    short("sc"),
    unserved,
    strategy
)]
#[resource(storage_version = crate::storage::v1::StorageClass)]
pub struct StorageClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Name of the storage driver that provisions the volumes. Immutable.
    #[field(proto = 2, keep)]
    pub provisioner: String,
    /// Parameters for the provisioner, which documents them. Immutable.
    #[field(proto = 3)]
    pub parameters: BTreeMap<String, String>,
    /// Treatment of dynamically provisioned volumes after their claim is deleted: Delete (the default) or Retain.
    /// Immutable.
    #[field(
        proto = 4,
        known("Recycle", "Delete", "Retain"),
        go_type = "v1.PersistentVolumeReclaimPolicy"
    )]
    pub reclaim_policy: Option<String>,
    /// Mount options of the volumes. Not validated: the mount fails if an option is invalid.
    #[field(proto = 5, list_type = atomic)]
    pub mount_options: Vec<String>,
    /// True if claims of the class can be resized.
    #[field(proto = 6)]
    pub allow_volume_expansion: Option<bool>,
    /// Time of binding claims and provisioning volumes: Immediate (the default), or WaitForFirstConsumer, after the
    /// first pod that uses the claim has been assigned a node. Immutable.
    #[field(proto = 7, go_type = "VolumeBindingMode")]
    pub volume_binding_mode: Option<String>,
    /// Topologies in which volumes can be provisioned, by node labels. All when empty.
    #[field(proto = 8, list_type = atomic)]
    pub allowed_topologies: Vec<TopologySelectorTerm>,
}

impl Strategy for StorageClass {
    fn set_defaults(&mut self) {
        default_policies(&mut self.reclaim_policy, &mut self.volume_binding_mode);
    }
}

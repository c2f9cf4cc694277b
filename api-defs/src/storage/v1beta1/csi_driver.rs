//! Storage drivers.

use planesmith_machinery::conversion::copy_alike;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::rules::Rules;
use planesmith_machinery::{Resource, Struct};

use crate::storage::v1::{self, TokenRequest};

/// What the cluster has to know of a storage driver: whether its volumes are attached, what it wants to be told when it
/// mounts one, and who sets the ownership of files. The object is named as the driver calls itself.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "storage.k8s.io", version = "v1beta1", cluster, unserved, rules)]
#[resource(storage_version = crate::storage::v1::CSIDriver)]
pub struct CSIDriver {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// How the driver is to be used.
    #[field(proto = 2, keep)]
    pub spec: CSIDriverSpec,
}

/// How a storage driver is to be used.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CSIDriverSpec {
    /// Whether volumes have to be attached to a node before they can be mounted. True when absent; cannot change.
    #[field(proto = 1)]
    pub attach_required: Option<bool>,
    /// Whether the driver is told the name, namespace, UID and service account of the pod for which it mounts a volume.
    #[field(proto = 2)]
    pub pod_info_on_mount: Option<bool>,
    /// Kinds of volumes that the driver supports: Persistent, which is the default, and Ephemeral, written into a pod.
    /// Cannot change.
    #[field(proto = 3, list_type = atomic, go_type = "[]VolumeLifecycleMode")]
    pub volume_lifecycle_modes: Vec<String>,
    /// Whether the scheduler looks at the CSIStorageCapacity objects of the driver before it places a pod whose volume
    /// is yet to be made.
    #[field(proto = 4)]
    pub storage_capacity: Option<bool>,
    /// Whether the owner and the permissions of a volume are changed for the group of a pod: ReadWriteOnceWithFSType,
    /// which is the default, File or None.
    #[field(proto = 5, go_type = "FSGroupPolicy")]
    pub fs_group_policy: Option<String>,
    /// Tokens of the service account of the pod that the driver is given when it mounts a volume, at most one per
    /// audience.
    #[field(proto = 6, list_type = atomic)]
    pub token_requests: Vec<TokenRequest>,
    /// Whether the driver is called again and again for mounted volumes, so that it can refresh what they hold.
    #[field(proto = 7)]
    pub requires_republish: Option<bool>,
    /// Whether the driver can mount volumes with an SELinux label as a mount option.
    #[field(proto = 8)]
    pub se_linux_mount: Option<bool>,
    /// How often nodes ask the driver anew how many volumes it can take, in seconds; at least 10. Never when absent.
    #[field(proto = 9)]
    pub node_allocatable_update_period_seconds: Option<i64>,
    /// Whether tokens are handed over in the field for secrets instead of among the attributes of the volume. Only
    /// together with tokenRequests.
    #[field(proto = 10)]
    pub service_account_token_in_secrets: Option<bool>,
    /// Whether pods that use the driver stay away from nodes where it is not registered. An alpha feature that is
    /// switched off: dropped.
    #[field(proto = 11)]
    pub prevent_pod_scheduling_if_missing: Option<bool>,
}

impl Rules for CSIDriver {
    fn default_values(&mut self) {
        let mut spec = v1::CSIDriverSpec::default();
        copy_alike(&self.spec, &mut spec);
        spec.set_defaults();
        copy_alike(&spec, &mut self.spec);
    }
}

//! Storage drivers.

use planesmith_machinery::conversion::copy_alike;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use crate::storage::v1::{self, TokenRequest};

/// Properties of a storage driver that the cluster needs: the attachment of its volumes, the information it receives on
/// mounting, and the ownership of files. The name of the object is the name of the driver.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "storage.k8s.io", version = "v1beta1", cluster, unserved, strategy)]
#[resource(storage_version = crate::storage::v1::CSIDriver)]
pub struct CSIDriver {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Properties of the driver.
    #[field(proto = 2, keep)]
    pub spec: CSIDriverSpec,
}

/// Properties of a storage driver.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CSIDriverSpec {
    /// True if volumes must be attached to a node before they are mounted. True when absent. Immutable.
    #[field(proto = 1)]
    pub attach_required: Option<bool>,
    /// True if the driver receives the name, namespace, UID and service account of the pod when it mounts a volume.
    #[field(proto = 2)]
    pub pod_info_on_mount: Option<bool>,
    /// Modes of volumes that the driver supports: Persistent (the default), and Ephemeral for inline volumes of pods.
    /// Immutable.
    #[field(proto = 3, list_type = atomic, go_type = "[]VolumeLifecycleMode")]
    pub volume_lifecycle_modes: Vec<String>,
    /// True if the scheduler considers the CSIStorageCapacity objects of the driver when it places a pod whose volume
    /// is not provisioned yet.
    #[field(proto = 4)]
    pub storage_capacity: Option<bool>,
    /// Policy for changing the owner and the permissions of a volume to the fsGroup of a pod: ReadWriteOnceWithFSType
    /// (the default), File or None.
    #[field(proto = 5, go_type = "FSGroupPolicy")]
    pub fs_group_policy: Option<String>,
    /// Tokens of the pod's service account that the driver receives when it mounts a volume, at most one for each
    /// audience.
    #[field(proto = 6, list_type = atomic)]
    pub token_requests: Vec<TokenRequest>,
    /// True if the driver is called periodically for mounted volumes, so that it can refresh their content.
    #[field(proto = 7)]
    pub requires_republish: Option<bool>,
    /// True if the driver supports SELinux labels as a mount option.
    #[field(proto = 8)]
    pub se_linux_mount: Option<bool>,
    /// Interval in seconds at which nodes update the driver's volume limit; at least 10. No periodic updates when
    /// absent.
    #[field(proto = 9)]
    pub node_allocatable_update_period_seconds: Option<i64>,
    /// True if tokens are passed in the field for secrets instead of the volume attributes. Only together with
    /// tokenRequests.
    #[field(proto = 10)]
    pub service_account_token_in_secrets: Option<bool>,
    /// True if pods that use the driver are not scheduled to nodes where it is not registered. Belongs to an alpha
    /// feature that is disabled here: values are dropped.
    #[field(proto = 11)]
    pub prevent_pod_scheduling_if_missing: Option<bool>,
}

impl Strategy for CSIDriver {
    fn set_defaults(&mut self) {
        let mut spec = v1::CSIDriverSpec::default();
        copy_alike(&self.spec, &mut spec);
        spec.set_defaults();
        copy_alike(&spec, &mut self.spec);
    }
}

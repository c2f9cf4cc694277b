//! Volume sources of persistent volumes that differ from the inline sources of pods.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;

use crate::core::v1::ObjectReference;
use crate::core::v1::SecretReference;

/// A GlusterFS volume.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GlusterfsPersistentVolumeSource {
    /// Name of the Endpoints object with the addresses of the servers.
    #[field(proto = 1, keep, go_name = "EndpointsName")]
    pub endpoints: String,
    /// Name of the GlusterFS volume.
    #[field(proto = 2, keep)]
    pub path: String,
    /// True for a read-only mount. False by default.
    #[field(proto = 3)]
    pub read_only: bool,
    /// Namespace of the Endpoints object. That of the claim when absent.
    #[field(proto = 4)]
    pub endpoints_namespace: Option<String>,
}

/// A Ceph block device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RBDPersistentVolumeSource {
    /// Addresses of the Ceph monitors.
    #[field(proto = 1, keep, list_type = atomic, go_name = "CephMonitors")]
    pub monitors: Vec<String>,
    /// Name of the image in the pool.
    #[field(proto = 2, keep, go_name = "RBDImage")]
    pub image: String,
    /// Filesystem to mount, such as ext4. Chosen by the driver when empty.
    #[field(proto = 3)]
    pub fs_type: String,
    /// Pool of the image. Defaults to rbd.
    #[field(proto = 4, default = "rbd", go_name = "RBDPool")]
    pub pool: String,
    /// User of the login. Defaults to admin.
    #[field(proto = 5, default = "admin", go_name = "RadosUser")]
    pub user: String,
    /// Path of the keyring file. Defaults to /etc/ceph/keyring.
    #[field(proto = 6, default = "/etc/ceph/keyring")]
    pub keyring: String,
    /// Secret with the key of the user. Takes precedence over keyring.
    #[field(proto = 7)]
    pub secret_ref: Option<SecretReference>,
    /// True for a read-only mount. False by default.
    #[field(proto = 8)]
    pub read_only: bool,
}

/// An iSCSI disk.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ISCSIPersistentVolumeSource {
    /// Address of the target, with a port unless it is 860 or 3260.
    #[field(proto = 1, keep)]
    pub target_portal: String,
    /// Qualified name of the target.
    #[field(proto = 2, keep)]
    pub iqn: String,
    /// Number of the logical unit.
    #[field(proto = 3, keep)]
    pub lun: i32,
    /// Interface of the initiator. Defaults to `default`, which is TCP.
    #[field(proto = 4, default = "default")]
    pub iscsi_interface: String,
    /// Filesystem to mount, such as ext4. Chosen by the driver when empty.
    #[field(proto = 5)]
    pub fs_type: String,
    /// True for a read-only mount. False by default.
    #[field(proto = 6)]
    pub read_only: bool,
    /// Further addresses of the target.
    #[field(proto = 7, list_type = atomic)]
    pub portals: Vec<String>,
    /// True if the discovery of targets requires CHAP authentication.
    #[field(proto = 8, go_name = "DiscoveryCHAPAuth")]
    pub chap_auth_discovery: bool,
    /// True if sessions require CHAP authentication.
    #[field(proto = 11, go_name = "SessionCHAPAuth")]
    pub chap_auth_session: bool,
    /// Secret with the login credentials.
    #[field(proto = 10)]
    pub secret_ref: Option<SecretReference>,
    /// Name of the initiator. That of the node when absent.
    #[field(proto = 12)]
    pub initiator_name: Option<String>,
}

/// A disk of OpenStack Cinder.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CinderPersistentVolumeSource {
    /// ID of the disk in OpenStack.
    #[field(name = "volumeID", proto = 1, keep)]
    pub volume_id: String,
    /// Filesystem to mount, such as ext4. Chosen by the driver when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// True for a read-only mount. False by default.
    #[field(proto = 3)]
    pub read_only: bool,
    /// Secret with the login credentials.
    #[field(proto = 4)]
    pub secret_ref: Option<SecretReference>,
}

/// A CephFS file system.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CephFSPersistentVolumeSource {
    /// Addresses of the Ceph monitors.
    #[field(proto = 1, keep, list_type = atomic)]
    pub monitors: Vec<String>,
    /// Directory to mount. Defaults to the root.
    #[field(proto = 2)]
    pub path: String,
    /// User of the login. Defaults to admin.
    #[field(proto = 3)]
    pub user: String,
    /// Path of the file with the user's key. Defaults to /etc/ceph/user.secret.
    #[field(proto = 4)]
    pub secret_file: String,
    /// Secret with the key of the user. Takes precedence over secretFile.
    #[field(proto = 5)]
    pub secret_ref: Option<SecretReference>,
    /// True for a read-only mount. False by default.
    #[field(proto = 6)]
    pub read_only: bool,
}

/// A volume of a FlexVolume driver.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlexPersistentVolumeSource {
    /// Name of the driver on the node.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// Filesystem to mount, such as ext4. Chosen by the driver when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// Secret with the login credentials.
    #[field(proto = 3)]
    pub secret_ref: Option<SecretReference>,
    /// True for a read-only mount. False by default.
    #[field(proto = 4)]
    pub read_only: bool,
    /// Further options for the driver.
    #[field(proto = 5)]
    pub options: BTreeMap<String, String>,
}

/// A share of Azure Files.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AzureFilePersistentVolumeSource {
    /// Secret with the name and the key of the storage account.
    #[field(proto = 1, keep)]
    pub secret_name: String,
    /// Name of the share in the storage account.
    #[field(proto = 2, keep)]
    pub share_name: String,
    /// True for a read-only mount. False by default.
    #[field(proto = 3)]
    pub read_only: bool,
    /// Namespace of the secret. That of the claim when absent.
    #[field(proto = 4, keep, optional)]
    pub secret_namespace: Option<String>,
}

/// A ScaleIO volume.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ScaleIOPersistentVolumeSource {
    /// Address of the ScaleIO gateway.
    #[field(proto = 1, keep)]
    pub gateway: String,
    /// Name of the storage system.
    #[field(proto = 2, keep)]
    pub system: String,
    /// Secret with the login credentials.
    #[field(proto = 3, keep)]
    pub secret_ref: Option<SecretReference>,
    /// True if the gateway is accessed through TLS.
    #[field(proto = 4)]
    pub ssl_enabled: bool,
    /// Protection domain of the storage.
    #[field(proto = 5)]
    pub protection_domain: String,
    /// Pool of the protection domain.
    #[field(proto = 6)]
    pub storage_pool: String,
    /// Provisioning mode: ThickProvisioned or ThinProvisioned (the default).
    #[field(proto = 7, default = "ThinProvisioned")]
    pub storage_mode: String,
    /// Name of the volume in the system.
    #[field(proto = 8)]
    pub volume_name: String,
    /// Filesystem to mount, such as ext4. Chosen by the driver when empty.
    #[field(proto = 9, default = "xfs")]
    pub fs_type: String,
    /// True for a read-only mount. False by default.
    #[field(proto = 10)]
    pub read_only: bool,
}

/// A disk or directory of one node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LocalVolumeSource {
    /// Path on the node.
    #[field(proto = 1, keep)]
    pub path: String,
    /// Filesystem of the device if path is a block device. Detected or chosen automatically when absent.
    #[field(proto = 2)]
    pub fs_type: Option<String>,
}

/// A StorageOS volume.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StorageOSPersistentVolumeSource {
    /// Name of the volume within its namespace.
    #[field(proto = 1)]
    pub volume_name: String,
    /// Namespace of the volume in StorageOS. That of the claim when empty.
    #[field(proto = 2)]
    pub volume_namespace: String,
    /// Filesystem to mount, such as ext4. Chosen by the driver when empty.
    #[field(proto = 3)]
    pub fs_type: String,
    /// True for a read-only mount. False by default.
    #[field(proto = 4)]
    pub read_only: bool,
    /// Secret with the login credentials.
    #[field(proto = 5)]
    pub secret_ref: Option<ObjectReference>,
}

/// A volume of a CSI driver.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CSIPersistentVolumeSource {
    /// Name of the CSI driver.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// ID of the volume in the driver. Immutable.
    #[field(proto = 2, keep)]
    pub volume_handle: String,
    /// True for a read-only mount. False by default.
    #[field(proto = 3)]
    pub read_only: bool,
    /// Filesystem to mount, such as ext4. Chosen by the driver when empty.
    #[field(proto = 4)]
    pub fs_type: String,
    /// Attributes that the driver receives when the volume is published.
    #[field(proto = 5)]
    pub volume_attributes: BTreeMap<String, String>,
    /// Secret for attaching and detaching.
    #[field(proto = 6)]
    pub controller_publish_secret_ref: Option<SecretReference>,
    /// Secret for preparing the volume on a node.
    #[field(proto = 7)]
    pub node_stage_secret_ref: Option<SecretReference>,
    /// Secret for mounting the volume into a pod.
    #[field(proto = 8)]
    pub node_publish_secret_ref: Option<SecretReference>,
    /// Secret for resizing the volume.
    #[field(proto = 9)]
    pub controller_expand_secret_ref: Option<SecretReference>,
    /// Secret for resizing the filesystem on a node.
    #[field(proto = 10)]
    pub node_expand_secret_ref: Option<SecretReference>,
}

//! Volume sources of persistent volumes that differ from the inline sources of pods.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;

use crate::core::v1::ObjectReference;
use crate::core::v1::SecretReference;

/// A Glusterfs volume for the whole cluster.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GlusterfsPersistentVolumeSource {
    /// Name of the Endpoints object with the addresses of the servers.
    #[field(proto = 1, keep)]
    pub endpoints: String,
    /// Name of the Glusterfs volume.
    #[field(proto = 2, keep)]
    pub path: String,
    /// Mounts the volume without the right to write; false when not given.
    #[field(proto = 3)]
    pub read_only: bool,
    /// Namespace of the Endpoints object; that of the claim when absent.
    #[field(proto = 4)]
    pub endpoints_namespace: Option<String>,
}

/// A block device of Ceph.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RBDPersistentVolumeSource {
    /// Addresses of the Ceph monitors.
    #[field(proto = 1, keep, list_type = atomic)]
    pub monitors: Vec<String>,
    /// Name of the image in the pool that is mounted.
    #[field(proto = 2, keep)]
    pub image: String,
    /// Filesystem to mount, such as ext4; the driver decides when empty.
    #[field(proto = 3)]
    pub fs_type: String,
    /// Pool of the image; rbd by default.
    #[field(proto = 4, default = "rbd")]
    pub pool: String,
    /// User to log in as; admin by default.
    #[field(proto = 5, default = "admin")]
    pub user: String,
    /// File with the key of the user; /etc/ceph/keyring by default.
    #[field(proto = 6, default = "/etc/ceph/keyring")]
    pub keyring: String,
    /// Secret with the key of the user; wins over keyring.
    #[field(proto = 7)]
    pub secret_ref: Option<SecretReference>,
    /// Mounts the volume without the right to write; false when not given.
    #[field(proto = 8)]
    pub read_only: bool,
}

/// A disk reached over iSCSI.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ISCSIPersistentVolumeSource {
    /// Address of the target, with a port unless it is 860 or 3260.
    #[field(proto = 1, keep)]
    pub target_portal: String,
    /// Qualified name of the target.
    #[field(proto = 2, keep)]
    pub iqn: String,
    /// Number of the disk at the target.
    #[field(proto = 3, keep)]
    pub lun: i32,
    /// Transport of the initiator; default, which is TCP, when not given.
    #[field(proto = 4, default = "default")]
    pub iscsi_interface: String,
    /// Filesystem to mount, such as ext4; the driver decides when empty.
    #[field(proto = 5)]
    pub fs_type: String,
    /// Mounts the volume without the right to write; false when not given.
    #[field(proto = 6)]
    pub read_only: bool,
    /// Further addresses of the target.
    #[field(proto = 7, list_type = atomic)]
    pub portals: Vec<String>,
    /// True if the discovery of targets requires CHAP authentication.
    #[field(proto = 8)]
    pub chap_auth_discovery: bool,
    /// True if sessions require CHAP authentication.
    #[field(proto = 11)]
    pub chap_auth_session: bool,
    /// Secret with what is needed to log in.
    #[field(proto = 10)]
    pub secret_ref: Option<SecretReference>,
    /// Name of the initiator to use instead of that of the node.
    #[field(proto = 12)]
    pub initiator_name: Option<String>,
}

/// A disk of OpenStack Cinder.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CinderPersistentVolumeSource {
    /// ID of the disk in OpenStack.
    #[field(name = "volumeID", proto = 1, keep)]
    pub volume_id: String,
    /// Filesystem to mount, such as ext4; the driver decides when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// Mounts the volume without the right to write; false when not given.
    #[field(proto = 3)]
    pub read_only: bool,
    /// Secret with what is needed to log in.
    #[field(proto = 4)]
    pub secret_ref: Option<SecretReference>,
}

/// A Ceph file system.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CephFSPersistentVolumeSource {
    /// Addresses of the Ceph monitors.
    #[field(proto = 1, keep, list_type = atomic)]
    pub monitors: Vec<String>,
    /// Directory to mount; the root by default.
    #[field(proto = 2)]
    pub path: String,
    /// User to log in as; admin by default.
    #[field(proto = 3)]
    pub user: String,
    /// File with the key of the user; /etc/ceph/user.secret by default.
    #[field(proto = 4)]
    pub secret_file: String,
    /// Secret with the key of the user; wins over secretFile.
    #[field(proto = 5)]
    pub secret_ref: Option<SecretReference>,
    /// Mounts the volume without the right to write; false when not given.
    #[field(proto = 6)]
    pub read_only: bool,
}

/// A volume of a program installed on the nodes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlexPersistentVolumeSource {
    /// Name of the program on the node that mounts the volume.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// Filesystem to mount, such as ext4; the driver decides when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// Secret with what is needed to log in.
    #[field(proto = 3)]
    pub secret_ref: Option<SecretReference>,
    /// Mounts the volume without the right to write; false when not given.
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
    /// Mounts the volume without the right to write; false when not given.
    #[field(proto = 3)]
    pub read_only: bool,
    /// Namespace of the secret; that of the claim when absent.
    #[field(proto = 4, keep, optional)]
    pub secret_namespace: Option<String>,
}

/// A ScaleIO volume.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ScaleIOPersistentVolumeSource {
    /// Address of the gateway in front of the ScaleIO system.
    #[field(proto = 1, keep)]
    pub gateway: String,
    /// Name of the storage system.
    #[field(proto = 2, keep)]
    pub system: String,
    /// Secret with what is needed to log in.
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
    /// ThickProvisioned, or ThinProvisioned, which is the default.
    #[field(proto = 7, default = "ThinProvisioned")]
    pub storage_mode: String,
    /// Name of the volume in the system.
    #[field(proto = 8)]
    pub volume_name: String,
    /// Filesystem to mount, such as ext4; the driver decides when empty.
    #[field(proto = 9, default = "xfs")]
    pub fs_type: String,
    /// Mounts the volume without the right to write; false when not given.
    #[field(proto = 10)]
    pub read_only: bool,
}

/// A disk or directory of one node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LocalVolumeSource {
    /// Path on the node.
    #[field(proto = 1, keep)]
    pub path: String,
    /// Filesystem to make when the path is an unformatted disk; found out when absent.
    #[field(proto = 2)]
    pub fs_type: Option<String>,
}

/// A StorageOS volume.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StorageOSPersistentVolumeSource {
    /// Name of the volume within its namespace.
    #[field(proto = 1)]
    pub volume_name: String,
    /// Namespace of the volume in StorageOS; that of the claim when empty.
    #[field(proto = 2)]
    pub volume_namespace: String,
    /// Filesystem to mount, such as ext4; the driver decides when empty.
    #[field(proto = 3)]
    pub fs_type: String,
    /// Mounts the volume without the right to write; false when not given.
    #[field(proto = 4)]
    pub read_only: bool,
    /// Secret with what is needed to log in.
    #[field(proto = 5)]
    pub secret_ref: Option<ObjectReference>,
}

/// A volume of a storage driver.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CSIPersistentVolumeSource {
    /// Name of the CSI driver that looks after the volume.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// ID of the volume in the driver. Immutable.
    #[field(proto = 2, keep)]
    pub volume_handle: String,
    /// Mounts the volume without the right to write; false when not given.
    #[field(proto = 3)]
    pub read_only: bool,
    /// Filesystem to mount, such as ext4; the driver decides when empty.
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
    /// Secret for enlarging the volume.
    #[field(proto = 9)]
    pub controller_expand_secret_ref: Option<SecretReference>,
    /// Secret for enlarging the filesystem on a node.
    #[field(proto = 10)]
    pub node_expand_secret_ref: Option<SecretReference>,
}

//! Volumes reached over a network.

use planesmith_machinery::Struct;

use crate::core::v1::LocalObjectReference;

/// A folder of an NFS server.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NFSVolumeSource {
    /// Name or address of the server.
    #[field(proto = 1, keep)]
    pub server: String,
    /// Path of the folder on the server.
    #[field(proto = 2, keep)]
    pub path: String,
    /// True if mounts are read-only.
    #[field(proto = 3)]
    pub read_only: bool,
}

/// A disk reached by iSCSI.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ISCSIVolumeSource {
    /// Address of the target, with a port unless it is 3260.
    #[field(proto = 1, keep)]
    pub target_portal: String,
    /// Qualified name of the iSCSI target.
    #[field(proto = 2, keep)]
    pub iqn: String,
    /// Number of the disk at the target.
    #[field(proto = 3, keep)]
    pub lun: i32,
    /// Interface of the initiator; default by default.
    #[field(proto = 4, default = "default")]
    pub iscsi_interface: String,
    /// File system of the disk; ext4 when empty.
    #[field(proto = 5)]
    pub fs_type: String,
    /// True if mounts are read-only.
    #[field(proto = 6)]
    pub read_only: bool,
    /// Further addresses of the target.
    #[field(proto = 7, list_type = atomic)]
    pub portals: Vec<String>,
    /// True if discovery uses CHAP authentication.
    #[field(proto = 8)]
    pub chap_auth_discovery: bool,
    /// True if sessions use CHAP authentication.
    #[field(proto = 11)]
    pub chap_auth_session: bool,
    /// Secret with what CHAP needs.
    #[field(proto = 10)]
    pub secret_ref: Option<LocalObjectReference>,
    /// Name of the initiator, in place of the node's.
    #[field(proto = 12)]
    pub initiator_name: Option<String>,
}

/// A volume of GlusterFS.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GlusterfsVolumeSource {
    /// Name of the Endpoints object that lists the servers.
    #[field(proto = 1, keep)]
    pub endpoints: String,
    /// Name of the Glusterfs volume that is mounted.
    #[field(proto = 2, keep)]
    pub path: String,
    /// True if mounts are read-only.
    #[field(proto = 3)]
    pub read_only: bool,
}

/// A block device of Ceph.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RBDVolumeSource {
    /// Addresses of the monitors of the Ceph cluster.
    #[field(proto = 1, keep, list_type = atomic)]
    pub monitors: Vec<String>,
    /// Name of the image in the pool that is mounted.
    #[field(proto = 2, keep)]
    pub image: String,
    /// File system of the device; ext4 when empty.
    #[field(proto = 3)]
    pub fs_type: String,
    /// Name of the pool that has the image; rbd when not given.
    #[field(proto = 4, default = "rbd")]
    pub pool: String,
    /// Name by which Ceph knows the client; admin when not given.
    #[field(proto = 5, default = "admin")]
    pub user: String,
    /// Path of the key ring on the node.
    #[field(proto = 6, default = "/etc/ceph/keyring")]
    pub keyring: String,
    /// Secret with the key, in place of the key ring.
    #[field(proto = 7)]
    pub secret_ref: Option<LocalObjectReference>,
    /// True if mounts are read-only.
    #[field(proto = 8)]
    pub read_only: bool,
}

/// A folder of CephFS.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CephFSVolumeSource {
    /// Addresses of the monitors of the Ceph cluster.
    #[field(proto = 1, keep, list_type = atomic)]
    pub monitors: Vec<String>,
    /// Folder that is mounted; / by default.
    #[field(proto = 2)]
    pub path: String,
    /// Name of the user; admin by default.
    #[field(proto = 3)]
    pub user: String,
    /// Path of the key ring on the node.
    #[field(proto = 4)]
    pub secret_file: String,
    /// Secret with the key, in place of the file.
    #[field(proto = 5)]
    pub secret_ref: Option<LocalObjectReference>,
    /// True if mounts are read-only.
    #[field(proto = 6)]
    pub read_only: bool,
}

/// A dataset of Flocker.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlockerVolumeSource {
    /// Name of the dataset. Deprecated.
    #[field(proto = 1)]
    pub dataset_name: String,
    /// Identifies the dataset, in place of its name.
    #[field(name = "datasetUUID", proto = 2)]
    pub dataset_uuid: String,
}

/// A disk behind Fibre Channel.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FCVolumeSource {
    /// World wide names of the targets. Excludes wwids.
    #[field(name = "targetWWNs", proto = 1, list_type = atomic)]
    pub target_wwns: Vec<String>,
    /// Number of the disk at the targets.
    #[field(proto = 2)]
    pub lun: Option<i32>,
    /// File system of the disk; ext4 when empty.
    #[field(proto = 3)]
    pub fs_type: String,
    /// True if mounts are read-only.
    #[field(proto = 4)]
    pub read_only: bool,
    /// World wide identifiers of the disk. Excludes targetWWNs and lun.
    #[field(proto = 5, list_type = atomic)]
    pub wwids: Vec<String>,
}

/// A volume of Quobyte.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct QuobyteVolumeSource {
    /// Registries as host:port, separated by commas.
    #[field(proto = 1, keep)]
    pub registry: String,
    /// Name of a volume that Quobyte has already.
    #[field(proto = 2, keep)]
    pub volume: String,
    /// True if mounts are read-only.
    #[field(proto = 3)]
    pub read_only: bool,
    /// User that the volume is mounted as; the one of the service account when not given.
    #[field(proto = 4)]
    pub user: String,
    /// Group that the volume is mounted as; none when not given.
    #[field(proto = 5)]
    pub group: String,
    /// Tenant that owns the volume.
    #[field(proto = 6)]
    pub tenant: String,
}

/// A volume of Portworx.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PortworxVolumeSource {
    /// ID of the volume in Portworx.
    #[field(name = "volumeID", proto = 1, keep)]
    pub volume_id: String,
    /// File system of the volume; ext4 when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// True if mounts are read-only.
    #[field(proto = 3)]
    pub read_only: bool,
}

/// A volume of ScaleIO.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ScaleIOVolumeSource {
    /// Address of the gateway in front of the ScaleIO system.
    #[field(proto = 1, keep)]
    pub gateway: String,
    /// Name of the storage system.
    #[field(proto = 2, keep)]
    pub system: String,
    /// Secret with the user and password for signing in to the gateway.
    #[field(proto = 3, keep)]
    pub secret_ref: Option<LocalObjectReference>,
    /// True if the gateway is accessed through TLS.
    #[field(proto = 4)]
    pub ssl_enabled: bool,
    /// Name of the protection domain.
    #[field(proto = 5)]
    pub protection_domain: String,
    /// Name of the storage pool.
    #[field(proto = 6)]
    pub storage_pool: String,
    /// ThickProvisioned or ThinProvisioned; the latter by default.
    #[field(proto = 7, default = "ThinProvisioned")]
    pub storage_mode: String,
    /// Name of a volume that ScaleIO has already.
    #[field(proto = 8)]
    pub volume_name: String,
    /// File system of the volume; xfs when empty.
    #[field(proto = 9, default = "xfs")]
    pub fs_type: String,
    /// True if mounts are read-only.
    #[field(proto = 10)]
    pub read_only: bool,
}

/// A volume of StorageOS.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StorageOSVolumeSource {
    /// Name of the volume in its StorageOS namespace.
    #[field(proto = 1)]
    pub volume_name: String,
    /// Namespace of the volume in StorageOS; that of the pod when empty.
    #[field(proto = 2)]
    pub volume_namespace: String,
    /// File system of the volume; ext4 when empty.
    #[field(proto = 3)]
    pub fs_type: String,
    /// True if mounts are read-only.
    #[field(proto = 4)]
    pub read_only: bool,
    /// Secret with what is needed for signing in to StorageOS.
    #[field(proto = 5)]
    pub secret_ref: Option<LocalObjectReference>,
}

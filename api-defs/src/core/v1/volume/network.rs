//! Network volumes.

use planesmith_machinery::Struct;

use crate::core::v1::LocalObjectReference;

/// A directory of an NFS server.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NFSVolumeSource {
    /// Host name or address of the server.
    #[field(proto = 1, keep)]
    pub server: String,
    /// Path of the directory on the server.
    #[field(proto = 2, keep)]
    pub path: String,
    /// True if mounts are read-only.
    #[field(proto = 3)]
    pub read_only: bool,
}

/// An iSCSI disk.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ISCSIVolumeSource {
    /// Address of the target, with a port unless it is 3260.
    #[field(proto = 1, keep)]
    pub target_portal: String,
    /// Qualified name of the iSCSI target.
    #[field(proto = 2, keep)]
    pub iqn: String,
    /// Number of the logical unit.
    #[field(proto = 3, keep)]
    pub lun: i32,
    /// Interface of the initiator. Defaults to `default`.
    #[field(proto = 4, default = "default")]
    pub iscsi_interface: String,
    /// Filesystem of the disk. ext4 when empty.
    #[field(proto = 5)]
    pub fs_type: String,
    /// True if mounts are read-only.
    #[field(proto = 6)]
    pub read_only: bool,
    /// Further addresses of the target.
    #[field(proto = 7, list_type = atomic)]
    pub portals: Vec<String>,
    /// True if discovery uses CHAP authentication.
    #[field(proto = 8, go_name = "DiscoveryCHAPAuth")]
    pub chap_auth_discovery: bool,
    /// True if sessions use CHAP authentication.
    #[field(proto = 11, go_name = "SessionCHAPAuth")]
    pub chap_auth_session: bool,
    /// Secret with the CHAP credentials.
    #[field(proto = 10)]
    pub secret_ref: Option<LocalObjectReference>,
    /// Name of the initiator. That of the node when absent.
    #[field(proto = 12)]
    pub initiator_name: Option<String>,
}

/// A volume of GlusterFS.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GlusterfsVolumeSource {
    /// Name of the Endpoints object with the addresses of the servers.
    #[field(proto = 1, keep, go_name = "EndpointsName")]
    pub endpoints: String,
    /// Name of the GlusterFS volume.
    #[field(proto = 2, keep)]
    pub path: String,
    /// True if mounts are read-only.
    #[field(proto = 3)]
    pub read_only: bool,
}

/// A Ceph block device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RBDVolumeSource {
    /// Addresses of the Ceph monitors.
    #[field(proto = 1, keep, list_type = atomic, go_name = "CephMonitors")]
    pub monitors: Vec<String>,
    /// Name of the image in the pool.
    #[field(proto = 2, keep, go_name = "RBDImage")]
    pub image: String,
    /// Filesystem of the device. ext4 when empty.
    #[field(proto = 3)]
    pub fs_type: String,
    /// Pool of the image. Defaults to rbd.
    #[field(proto = 4, default = "rbd", go_name = "RBDPool")]
    pub pool: String,
    /// Ceph user. Defaults to admin.
    #[field(proto = 5, default = "admin", go_name = "RadosUser")]
    pub user: String,
    /// Path of the keyring on the node.
    #[field(proto = 6, default = "/etc/ceph/keyring")]
    pub keyring: String,
    /// Secret with the key. Takes precedence over keyring.
    #[field(proto = 7)]
    pub secret_ref: Option<LocalObjectReference>,
    /// True if mounts are read-only.
    #[field(proto = 8)]
    pub read_only: bool,
}

/// A directory of CephFS.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CephFSVolumeSource {
    /// Addresses of the Ceph monitors.
    #[field(proto = 1, keep, list_type = atomic)]
    pub monitors: Vec<String>,
    /// Directory to mount. Defaults to the root.
    #[field(proto = 2)]
    pub path: String,
    /// Ceph user. Defaults to admin.
    #[field(proto = 3)]
    pub user: String,
    /// Path of the file with the user's key on the node.
    #[field(proto = 4)]
    pub secret_file: String,
    /// Secret with the key. Takes precedence over secretFile.
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
    /// UUID of the dataset. Excludes datasetName.
    #[field(name = "datasetUUID", proto = 2)]
    pub dataset_uuid: String,
}

/// A Fibre Channel disk.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FCVolumeSource {
    /// World wide names of the targets. Excludes wwids.
    #[field(name = "targetWWNs", proto = 1, list_type = atomic)]
    pub target_wwns: Vec<String>,
    /// Logical unit number of the disk.
    #[field(proto = 2)]
    pub lun: Option<i32>,
    /// Filesystem of the disk. ext4 when empty.
    #[field(proto = 3)]
    pub fs_type: String,
    /// True if mounts are read-only.
    #[field(proto = 4)]
    pub read_only: bool,
    /// World wide identifiers of the disk. Excludes targetWWNs and lun.
    #[field(proto = 5, list_type = atomic, go_name = "WWIDs")]
    pub wwids: Vec<String>,
}

/// A volume of Quobyte.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct QuobyteVolumeSource {
    /// Registries as host:port, separated by commas.
    #[field(proto = 1, keep)]
    pub registry: String,
    /// Name of an existing volume in Quobyte.
    #[field(proto = 2, keep)]
    pub volume: String,
    /// True if mounts are read-only.
    #[field(proto = 3)]
    pub read_only: bool,
    /// User of the mount. That of the service account when empty.
    #[field(proto = 4)]
    pub user: String,
    /// Group of the mount. None when empty.
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
    /// Filesystem of the volume. ext4 when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// True if mounts are read-only.
    #[field(proto = 3)]
    pub read_only: bool,
}

/// A volume of ScaleIO.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ScaleIOVolumeSource {
    /// Address of the ScaleIO gateway.
    #[field(proto = 1, keep)]
    pub gateway: String,
    /// Name of the storage system.
    #[field(proto = 2, keep)]
    pub system: String,
    /// Secret with the credentials of the gateway.
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
    /// Provisioning mode: ThickProvisioned or ThinProvisioned (the default).
    #[field(proto = 7, default = "ThinProvisioned")]
    pub storage_mode: String,
    /// Name of an existing volume in ScaleIO.
    #[field(proto = 8)]
    pub volume_name: String,
    /// Filesystem of the volume. xfs when empty.
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
    /// Namespace of the volume in StorageOS. That of the pod when empty.
    #[field(proto = 2)]
    pub volume_namespace: String,
    /// Filesystem of the volume. ext4 when empty.
    #[field(proto = 3)]
    pub fs_type: String,
    /// True if mounts are read-only.
    #[field(proto = 4)]
    pub read_only: bool,
    /// Secret with the credentials of StorageOS.
    #[field(proto = 5)]
    pub secret_ref: Option<LocalObjectReference>,
}

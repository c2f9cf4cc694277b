//! Volumes reached over a network.

use planesmith_machinery::Struct;

use crate::core::v1::LocalObjectReference;

/// Nfsvolume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NFSVolumeSource {
    /// The server.
    #[field(proto = 1, keep)]
    pub server: String,
    /// The path.
    #[field(proto = 2, keep)]
    pub path: String,
    /// The read only.
    #[field(proto = 3)]
    pub read_only: bool,
}

/// Iscsivolume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ISCSIVolumeSource {
    /// The target portal.
    #[field(proto = 1, keep)]
    pub target_portal: String,
    /// The iqn.
    #[field(proto = 2, keep)]
    pub iqn: String,
    /// The lun.
    #[field(proto = 3, keep)]
    pub lun: i32,
    /// The iscsi interface.
    #[field(proto = 4, default = "default")]
    pub iscsi_interface: String,
    /// The fs type.
    #[field(proto = 5)]
    pub fs_type: String,
    /// The read only.
    #[field(proto = 6)]
    pub read_only: bool,
    /// The portals.
    #[field(proto = 7, list_type = atomic)]
    pub portals: Vec<String>,
    /// The chap auth discovery.
    #[field(proto = 8)]
    pub chap_auth_discovery: bool,
    /// The chap auth session.
    #[field(proto = 11)]
    pub chap_auth_session: bool,
    /// The secret ref.
    #[field(proto = 10)]
    pub secret_ref: Option<LocalObjectReference>,
    /// The initiator name.
    #[field(proto = 12)]
    pub initiator_name: Option<String>,
}

/// Glusterfs volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GlusterfsVolumeSource {
    /// The endpoints.
    #[field(proto = 1, keep)]
    pub endpoints: String,
    /// The path.
    #[field(proto = 2, keep)]
    pub path: String,
    /// The read only.
    #[field(proto = 3)]
    pub read_only: bool,
}

/// Rbdvolume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RBDVolumeSource {
    /// The monitors.
    #[field(proto = 1, keep, list_type = atomic)]
    pub monitors: Vec<String>,
    /// The image.
    #[field(proto = 2, keep)]
    pub image: String,
    /// The fs type.
    #[field(proto = 3)]
    pub fs_type: String,
    /// The pool.
    #[field(proto = 4, default = "rbd")]
    pub pool: String,
    /// The user.
    #[field(proto = 5, default = "admin")]
    pub user: String,
    /// The keyring.
    #[field(proto = 6, default = "/etc/ceph/keyring")]
    pub keyring: String,
    /// The secret ref.
    #[field(proto = 7)]
    pub secret_ref: Option<LocalObjectReference>,
    /// The read only.
    #[field(proto = 8)]
    pub read_only: bool,
}

/// Ceph fsvolume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CephFSVolumeSource {
    /// The monitors.
    #[field(proto = 1, keep, list_type = atomic)]
    pub monitors: Vec<String>,
    /// The path.
    #[field(proto = 2)]
    pub path: String,
    /// The user.
    #[field(proto = 3)]
    pub user: String,
    /// The secret file.
    #[field(proto = 4)]
    pub secret_file: String,
    /// The secret ref.
    #[field(proto = 5)]
    pub secret_ref: Option<LocalObjectReference>,
    /// The read only.
    #[field(proto = 6)]
    pub read_only: bool,
}

/// Flocker volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlockerVolumeSource {
    /// The dataset name.
    #[field(proto = 1)]
    pub dataset_name: String,
    /// The dataset uuid.
    #[field(name = "datasetUUID", proto = 2)]
    pub dataset_uuid: String,
}

/// Fcvolume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FCVolumeSource {
    /// The target ww ns.
    #[field(name = "targetWWNs", proto = 1, list_type = atomic)]
    pub target_wwns: Vec<String>,
    /// The lun.
    #[field(proto = 2)]
    pub lun: Option<i32>,
    /// The fs type.
    #[field(proto = 3)]
    pub fs_type: String,
    /// The read only.
    #[field(proto = 4)]
    pub read_only: bool,
    /// The wwids.
    #[field(proto = 5, list_type = atomic)]
    pub wwids: Vec<String>,
}

/// Quobyte volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct QuobyteVolumeSource {
    /// The registry.
    #[field(proto = 1, keep)]
    pub registry: String,
    /// The volume.
    #[field(proto = 2, keep)]
    pub volume: String,
    /// The read only.
    #[field(proto = 3)]
    pub read_only: bool,
    /// The user.
    #[field(proto = 4)]
    pub user: String,
    /// The group.
    #[field(proto = 5)]
    pub group: String,
    /// The tenant.
    #[field(proto = 6)]
    pub tenant: String,
}

/// Portworx volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PortworxVolumeSource {
    /// The volume id.
    #[field(name = "volumeID", proto = 1, keep)]
    pub volume_id: String,
    /// The fs type.
    #[field(proto = 2)]
    pub fs_type: String,
    /// The read only.
    #[field(proto = 3)]
    pub read_only: bool,
}

/// Scale iovolume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ScaleIOVolumeSource {
    /// The gateway.
    #[field(proto = 1, keep)]
    pub gateway: String,
    /// The system.
    #[field(proto = 2, keep)]
    pub system: String,
    /// The secret ref.
    #[field(proto = 3, keep)]
    pub secret_ref: Option<LocalObjectReference>,
    /// The ssl enabled.
    #[field(proto = 4)]
    pub ssl_enabled: bool,
    /// The protection domain.
    #[field(proto = 5)]
    pub protection_domain: String,
    /// The storage pool.
    #[field(proto = 6)]
    pub storage_pool: String,
    /// The storage mode.
    #[field(proto = 7, default = "ThinProvisioned")]
    pub storage_mode: String,
    /// The volume name.
    #[field(proto = 8)]
    pub volume_name: String,
    /// The fs type.
    #[field(proto = 9, default = "xfs")]
    pub fs_type: String,
    /// The read only.
    #[field(proto = 10)]
    pub read_only: bool,
}

/// Storage osvolume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StorageOSVolumeSource {
    /// The volume name.
    #[field(proto = 1)]
    pub volume_name: String,
    /// The volume namespace.
    #[field(proto = 2)]
    pub volume_namespace: String,
    /// The fs type.
    #[field(proto = 3)]
    pub fs_type: String,
    /// The read only.
    #[field(proto = 4)]
    pub read_only: bool,
    /// The secret ref.
    #[field(proto = 5)]
    pub secret_ref: Option<LocalObjectReference>,
}

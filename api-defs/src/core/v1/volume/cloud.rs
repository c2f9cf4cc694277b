//! Disks of clouds.

use planesmith_machinery::Struct;

use crate::core::v1::LocalObjectReference;

/// Gcepersistent disk volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GCEPersistentDiskVolumeSource {
    /// The pd name.
    #[field(proto = 1, keep)]
    pub pd_name: String,
    /// The fs type.
    #[field(proto = 2)]
    pub fs_type: String,
    /// The partition.
    #[field(proto = 3)]
    pub partition: i32,
    /// The read only.
    #[field(proto = 4)]
    pub read_only: bool,
}

/// Awselastic block store volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AWSElasticBlockStoreVolumeSource {
    /// The volume id.
    #[field(name = "volumeID", proto = 1, keep)]
    pub volume_id: String,
    /// The fs type.
    #[field(proto = 2)]
    pub fs_type: String,
    /// The partition.
    #[field(proto = 3)]
    pub partition: i32,
    /// The read only.
    #[field(proto = 4)]
    pub read_only: bool,
}

/// Azure file volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AzureFileVolumeSource {
    /// The secret name.
    #[field(proto = 1, keep)]
    pub secret_name: String,
    /// The share name.
    #[field(proto = 2, keep)]
    pub share_name: String,
    /// The read only.
    #[field(proto = 3)]
    pub read_only: bool,
}

/// Azure disk volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AzureDiskVolumeSource {
    /// The disk name.
    #[field(proto = 1, keep)]
    pub disk_name: String,
    /// The disk uri.
    #[field(name = "diskURI", proto = 2, keep)]
    pub disk_uri: String,
    /// The caching mode.
    #[field(proto = 3, default = "ReadWrite")]
    pub caching_mode: Option<String>,
    /// The fs type.
    #[field(proto = 4, default = "ext4")]
    pub fs_type: Option<String>,
    /// The read only.
    #[field(proto = 5, default = false)]
    pub read_only: Option<bool>,
    /// The kind.
    #[field(proto = 6, default = "Shared")]
    pub kind: Option<String>,
}

/// Cinder volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CinderVolumeSource {
    /// The volume id.
    #[field(name = "volumeID", proto = 1, keep)]
    pub volume_id: String,
    /// The fs type.
    #[field(proto = 2)]
    pub fs_type: String,
    /// The read only.
    #[field(proto = 3)]
    pub read_only: bool,
    /// The secret ref.
    #[field(proto = 4)]
    pub secret_ref: Option<LocalObjectReference>,
}

/// Vsphere virtual disk volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VsphereVirtualDiskVolumeSource {
    /// The volume path.
    #[field(proto = 1, keep)]
    pub volume_path: String,
    /// The fs type.
    #[field(proto = 2)]
    pub fs_type: String,
    /// The storage policy name.
    #[field(proto = 3)]
    pub storage_policy_name: String,
    /// The storage policy id.
    #[field(name = "storagePolicyID", proto = 4)]
    pub storage_policy_id: String,
}

/// Photon persistent disk volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PhotonPersistentDiskVolumeSource {
    /// The pd id.
    #[field(name = "pdID", proto = 1, keep)]
    pub pd_id: String,
    /// The fs type.
    #[field(proto = 2)]
    pub fs_type: String,
}

//! Cloud disks.

use planesmith_machinery::Struct;

use crate::core::v1::LocalObjectReference;

/// A disk of Google Compute Engine.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GCEPersistentDiskVolumeSource {
    /// Name of the disk in Google Compute Engine.
    #[field(proto = 1, keep)]
    pub pd_name: String,
    /// Filesystem of the disk. ext4 when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// Number of the partition; 0 for the whole disk.
    #[field(proto = 3)]
    pub partition: i32,
    /// True if mounts are read-only.
    #[field(proto = 4)]
    pub read_only: bool,
}

/// A disk of Amazon Elastic Block Store.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AWSElasticBlockStoreVolumeSource {
    /// ID of the disk in AWS, such as vol-0a1b2c3d.
    #[field(name = "volumeID", proto = 1, keep)]
    pub volume_id: String,
    /// Filesystem of the disk. ext4 when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// Number of the partition; 0 for the whole disk.
    #[field(proto = 3)]
    pub partition: i32,
    /// True if mounts are read-only.
    #[field(proto = 4)]
    pub read_only: bool,
}

/// A share of Azure Files.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AzureFileVolumeSource {
    /// Name of the secret with the name and the key of the storage account.
    #[field(proto = 1, keep)]
    pub secret_name: String,
    /// Name of the share in the storage account.
    #[field(proto = 2, keep)]
    pub share_name: String,
    /// True if mounts are read-only.
    #[field(proto = 3)]
    pub read_only: bool,
}

/// A disk of Azure.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AzureDiskVolumeSource {
    /// Name of the disk in the blob storage.
    #[field(proto = 1, keep)]
    pub disk_name: String,
    /// URI of the disk in the blob storage.
    #[field(name = "diskURI", proto = 2, keep, go_name = "DataDiskURI")]
    pub disk_uri: String,
    /// Caching mode of the node: None, ReadOnly or ReadWrite.
    #[field(
        proto = 3,
        default = "ReadWrite",
        known("None", "ReadOnly", "ReadWrite"),
        go_type = "AzureDataDiskCachingMode"
    )]
    pub caching_mode: Option<String>,
    /// Filesystem of the disk.
    #[field(proto = 4, default = "ext4")]
    pub fs_type: Option<String>,
    /// True if mounts are read-only.
    #[field(proto = 5, default = false)]
    pub read_only: Option<bool>,
    /// Kind of the disk: Shared for several disks in one storage account, Dedicated for one disk in an account, Managed
    /// for a managed disk without an account.
    #[field(
        proto = 6,
        default = "Shared",
        known("Shared", "Dedicated", "Managed"),
        go_type = "AzureDataDiskKind"
    )]
    pub kind: Option<String>,
}

/// A disk of OpenStack.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CinderVolumeSource {
    /// ID of the disk in OpenStack.
    #[field(name = "volumeID", proto = 1, keep)]
    pub volume_id: String,
    /// Filesystem of the disk. ext4 when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// True if mounts are read-only.
    #[field(proto = 3)]
    pub read_only: bool,
    /// Secret with the credentials of OpenStack.
    #[field(proto = 4)]
    pub secret_ref: Option<LocalObjectReference>,
}

/// A disk of vSphere.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VsphereVirtualDiskVolumeSource {
    /// Path of the disk in the vSphere datastore.
    #[field(proto = 1, keep)]
    pub volume_path: String,
    /// Filesystem of the disk. ext4 when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// Name of the storage policy.
    #[field(proto = 3)]
    pub storage_policy_name: String,
    /// ID of the storage policy.
    #[field(name = "storagePolicyID", proto = 4)]
    pub storage_policy_id: String,
}

/// A disk of Photon Controller.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PhotonPersistentDiskVolumeSource {
    /// ID of the disk in Photon Controller.
    #[field(name = "pdID", proto = 1, keep, go_name = "PdID")]
    pub pd_id: String,
    /// Filesystem of the disk. ext4 when empty.
    #[field(proto = 2)]
    pub fs_type: String,
}

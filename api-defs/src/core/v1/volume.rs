//! Volumes of a pod.

mod check;
mod claim;
mod cloud;
mod config;
mod driver;
mod network;
mod node;
mod path;
mod projected;

use planesmith_machinery::Struct;

pub(crate) use check::{GoodVolumes, check_driver_name, check_driver_options, check_iscsi_name, check_volumes};
pub use claim::{EphemeralVolumeSource, PersistentVolumeClaimTemplate, PersistentVolumeClaimVolumeSource};
pub use cloud::{
    AWSElasticBlockStoreVolumeSource, AzureDiskVolumeSource, AzureFileVolumeSource, CinderVolumeSource,
    GCEPersistentDiskVolumeSource, PhotonPersistentDiskVolumeSource, VsphereVirtualDiskVolumeSource,
};
pub use config::{
    ConfigMapVolumeSource, DownwardAPIVolumeFile, DownwardAPIVolumeSource, KeyToPath, SecretVolumeSource,
};
pub use driver::{CSIVolumeSource, FlexVolumeSource};
pub use network::{
    CephFSVolumeSource, FCVolumeSource, FlockerVolumeSource, GlusterfsVolumeSource, ISCSIVolumeSource, NFSVolumeSource,
    PortworxVolumeSource, QuobyteVolumeSource, RBDVolumeSource, ScaleIOVolumeSource, StorageOSVolumeSource,
};
pub use node::{EmptyDirVolumeSource, GitRepoVolumeSource, HostPathVolumeSource, ImageVolumeSource};
pub(crate) use path::{check_descending, check_no_steps_back, check_unreserved, steps_back};
pub use projected::{
    ClusterTrustBundleProjection, ConfigMapProjection, DownwardAPIProjection, PodCertificateProjection,
    ProjectedVolumeSource, SecretProjection, ServiceAccountTokenProjection, VolumeProjection,
};

/// Volume.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Volume {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The volume source.
    #[field(inline, proto = 2)]
    pub volume_source: VolumeSource,
}

/// Volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeSource {
    /// The host path.
    #[field(proto = 1)]
    pub host_path: Option<HostPathVolumeSource>,
    /// The empty dir.
    #[field(proto = 2)]
    pub empty_dir: Option<EmptyDirVolumeSource>,
    /// The gce persistent disk.
    #[field(proto = 3)]
    pub gce_persistent_disk: Option<GCEPersistentDiskVolumeSource>,
    /// The aws elastic block store.
    #[field(proto = 4)]
    pub aws_elastic_block_store: Option<AWSElasticBlockStoreVolumeSource>,
    /// The git repo.
    #[field(proto = 5)]
    pub git_repo: Option<GitRepoVolumeSource>,
    /// The secret.
    #[field(proto = 6)]
    pub secret: Option<SecretVolumeSource>,
    /// The nfs.
    #[field(proto = 7)]
    pub nfs: Option<NFSVolumeSource>,
    /// The iscsi.
    #[field(proto = 8)]
    pub iscsi: Option<ISCSIVolumeSource>,
    /// The glusterfs.
    #[field(proto = 9)]
    pub glusterfs: Option<GlusterfsVolumeSource>,
    /// The persistent volume claim.
    #[field(proto = 10)]
    pub persistent_volume_claim: Option<PersistentVolumeClaimVolumeSource>,
    /// The rbd.
    #[field(proto = 11)]
    pub rbd: Option<RBDVolumeSource>,
    /// The flex volume.
    #[field(proto = 12)]
    pub flex_volume: Option<FlexVolumeSource>,
    /// The cinder.
    #[field(proto = 13)]
    pub cinder: Option<CinderVolumeSource>,
    /// The cephfs.
    #[field(proto = 14)]
    pub cephfs: Option<CephFSVolumeSource>,
    /// The flocker.
    #[field(proto = 15)]
    pub flocker: Option<FlockerVolumeSource>,
    /// The downward api.
    #[field(name = "downwardAPI", proto = 16)]
    pub downward_api: Option<DownwardAPIVolumeSource>,
    /// The fc.
    #[field(proto = 17)]
    pub fc: Option<FCVolumeSource>,
    /// The azure file.
    #[field(proto = 18)]
    pub azure_file: Option<AzureFileVolumeSource>,
    /// The config map.
    #[field(proto = 19)]
    pub config_map: Option<ConfigMapVolumeSource>,
    /// The vsphere volume.
    #[field(proto = 20)]
    pub vsphere_volume: Option<VsphereVirtualDiskVolumeSource>,
    /// The quobyte.
    #[field(proto = 21)]
    pub quobyte: Option<QuobyteVolumeSource>,
    /// The azure disk.
    #[field(proto = 22)]
    pub azure_disk: Option<AzureDiskVolumeSource>,
    /// The photon persistent disk.
    #[field(proto = 23)]
    pub photon_persistent_disk: Option<PhotonPersistentDiskVolumeSource>,
    /// The projected.
    #[field(proto = 26)]
    pub projected: Option<ProjectedVolumeSource>,
    /// The portworx volume.
    #[field(proto = 24)]
    pub portworx_volume: Option<PortworxVolumeSource>,
    /// The scale io.
    #[field(name = "scaleIO", proto = 25)]
    pub scale_io: Option<ScaleIOVolumeSource>,
    /// The storageos.
    #[field(proto = 27)]
    pub storageos: Option<StorageOSVolumeSource>,
    /// The csi.
    #[field(proto = 28)]
    pub csi: Option<CSIVolumeSource>,
    /// The ephemeral.
    #[field(proto = 29)]
    pub ephemeral: Option<EphemeralVolumeSource>,
    /// The image.
    #[field(proto = 30)]
    pub image: Option<ImageVolumeSource>,
}

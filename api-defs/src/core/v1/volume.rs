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

/// A volume that the containers of a pod can share.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Volume {
    /// Name of the volume, a DNS label; unique in the pod.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Source of the data.
    #[field(inline, proto = 2)]
    pub volume_source: VolumeSource,
}

/// Source of a volume's data: exactly one of the members. An empty directory when none is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(internal = crate::core::v1::internal_layout::VOLUME_SOURCE)]
pub struct VolumeSource {
    /// A file or directory of the node. Insecure: it gives the pod access to the node's own files.
    #[field(proto = 1)]
    pub host_path: Option<HostPathVolumeSource>,
    /// An empty directory that is deleted with the pod.
    #[field(proto = 2)]
    pub empty_dir: Option<EmptyDirVolumeSource>,
    /// A disk of Google Compute Engine. Deprecated: handled by the driver pd.csi.storage.gke.io.
    #[field(proto = 3)]
    pub gce_persistent_disk: Option<GCEPersistentDiskVolumeSource>,
    /// A disk of Amazon Elastic Block Store. Deprecated: handled by the driver ebs.csi.aws.com.
    #[field(proto = 4)]
    pub aws_elastic_block_store: Option<AWSElasticBlockStoreVolumeSource>,
    /// A copy of a git repository. Deprecated: clone it in an init container instead.
    #[field(proto = 5)]
    pub git_repo: Option<GitRepoVolumeSource>,
    /// The keys of a secret, as files.
    #[field(proto = 6)]
    pub secret: Option<SecretVolumeSource>,
    /// A directory of an NFS server.
    #[field(proto = 7)]
    pub nfs: Option<NFSVolumeSource>,
    /// An iSCSI disk.
    #[field(proto = 8)]
    pub iscsi: Option<ISCSIVolumeSource>,
    /// A volume of GlusterFS. No longer supported.
    #[field(proto = 9)]
    pub glusterfs: Option<GlusterfsVolumeSource>,
    /// The volume that is bound to a claim in the pod's namespace.
    #[field(proto = 10)]
    pub persistent_volume_claim: Option<PersistentVolumeClaimVolumeSource>,
    /// A Ceph block device. No longer supported.
    #[field(proto = 11)]
    pub rbd: Option<RBDVolumeSource>,
    /// A volume of a FlexVolume driver. Deprecated: use a CSI driver.
    #[field(proto = 12)]
    pub flex_volume: Option<FlexVolumeSource>,
    /// A disk of OpenStack. Deprecated: handled by the driver cinder.csi.openstack.org.
    #[field(proto = 13)]
    pub cinder: Option<CinderVolumeSource>,
    /// A directory of CephFS. No longer supported.
    #[field(proto = 14, go_name = "CephFS")]
    pub cephfs: Option<CephFSVolumeSource>,
    /// A dataset of Flocker. No longer supported.
    #[field(proto = 15)]
    pub flocker: Option<FlockerVolumeSource>,
    /// Fields of the pod, as files.
    #[field(name = "downwardAPI", proto = 16)]
    pub downward_api: Option<DownwardAPIVolumeSource>,
    /// A Fibre Channel disk.
    #[field(proto = 17)]
    pub fc: Option<FCVolumeSource>,
    /// A share of Azure Files. Deprecated: handled by the driver file.csi.azure.com.
    #[field(proto = 18)]
    pub azure_file: Option<AzureFileVolumeSource>,
    /// The keys of a config map, as files.
    #[field(proto = 19)]
    pub config_map: Option<ConfigMapVolumeSource>,
    /// A disk of vSphere. Deprecated: handled by the driver csi.vsphere.vmware.com.
    #[field(proto = 20)]
    pub vsphere_volume: Option<VsphereVirtualDiskVolumeSource>,
    /// A volume of Quobyte. No longer supported.
    #[field(proto = 21)]
    pub quobyte: Option<QuobyteVolumeSource>,
    /// A disk of Azure. Deprecated: handled by the driver disk.csi.azure.com.
    #[field(proto = 22)]
    pub azure_disk: Option<AzureDiskVolumeSource>,
    /// A disk of Photon Controller. No longer supported.
    #[field(proto = 23)]
    pub photon_persistent_disk: Option<PhotonPersistentDiskVolumeSource>,
    /// Secrets, config maps, pod fields and tokens in one directory.
    #[field(proto = 26)]
    pub projected: Option<ProjectedVolumeSource>,
    /// A volume of Portworx. Deprecated: handled by the driver pxd.portworx.com.
    #[field(proto = 24)]
    pub portworx_volume: Option<PortworxVolumeSource>,
    /// A volume of ScaleIO. No longer supported.
    #[field(name = "scaleIO", proto = 25)]
    pub scale_io: Option<ScaleIOVolumeSource>,
    /// A volume of StorageOS. No longer supported.
    #[field(proto = 27, go_name = "StorageOS")]
    pub storageos: Option<StorageOSVolumeSource>,
    /// A volume that a CSI driver provides for the lifetime of the pod.
    #[field(proto = 28)]
    pub csi: Option<CSIVolumeSource>,
    /// A claim that is created and deleted with the pod.
    #[field(proto = 29)]
    pub ephemeral: Option<EphemeralVolumeSource>,
    /// The read-only content of an image.
    #[field(proto = 30)]
    pub image: Option<ImageVolumeSource>,
}

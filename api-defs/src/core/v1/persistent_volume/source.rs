//! Storage backends of volumes.

use planesmith_machinery::Struct;

use super::driver_source::AzureFilePersistentVolumeSource;
use super::driver_source::CSIPersistentVolumeSource;
use super::driver_source::CephFSPersistentVolumeSource;
use super::driver_source::CinderPersistentVolumeSource;
use super::driver_source::FlexPersistentVolumeSource;
use super::driver_source::GlusterfsPersistentVolumeSource;
use super::driver_source::ISCSIPersistentVolumeSource;
use super::driver_source::LocalVolumeSource;
use super::driver_source::RBDPersistentVolumeSource;
use super::driver_source::ScaleIOPersistentVolumeSource;
use super::driver_source::StorageOSPersistentVolumeSource;
use crate::core::v1::AWSElasticBlockStoreVolumeSource;
use crate::core::v1::AzureDiskVolumeSource;
use crate::core::v1::FCVolumeSource;
use crate::core::v1::FlockerVolumeSource;
use crate::core::v1::GCEPersistentDiskVolumeSource;
use crate::core::v1::HostPathVolumeSource;
use crate::core::v1::NFSVolumeSource;
use crate::core::v1::PhotonPersistentDiskVolumeSource;
use crate::core::v1::PortworxVolumeSource;
use crate::core::v1::QuobyteVolumeSource;
use crate::core::v1::VsphereVirtualDiskVolumeSource;

/// Storage backend of a volume. Exactly one field is set. Immutable.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(internal = crate::core::v1::internal_layout::PERSISTENT_VOLUME_SOURCE)]
pub struct PersistentVolumeSource {
    /// A disk of Google Compute Engine. Deprecated: handled by the driver pd.csi.storage.gke.io.
    #[field(proto = 1)]
    pub gce_persistent_disk: Option<GCEPersistentDiskVolumeSource>,
    /// A disk of Amazon Elastic Block Store. Deprecated: handled by the driver ebs.csi.aws.com.
    #[field(proto = 2)]
    pub aws_elastic_block_store: Option<AWSElasticBlockStoreVolumeSource>,
    /// A directory of the node. Only for tests with a single node.
    #[field(proto = 3)]
    pub host_path: Option<HostPathVolumeSource>,
    /// A GlusterFS volume. Deprecated and no longer supported.
    #[field(proto = 4)]
    pub glusterfs: Option<GlusterfsPersistentVolumeSource>,
    /// An exported directory of an NFS server.
    #[field(proto = 5)]
    pub nfs: Option<NFSVolumeSource>,
    /// A Ceph block device. Deprecated and no longer supported.
    #[field(proto = 6)]
    pub rbd: Option<RBDPersistentVolumeSource>,
    /// An iSCSI disk.
    #[field(proto = 7)]
    pub iscsi: Option<ISCSIPersistentVolumeSource>,
    /// A disk of OpenStack Cinder. Deprecated: handled by the driver cinder.csi.openstack.org.
    #[field(proto = 8)]
    pub cinder: Option<CinderPersistentVolumeSource>,
    /// A CephFS file system. Deprecated and no longer supported.
    #[field(proto = 9, go_name = "CephFS")]
    pub cephfs: Option<CephFSPersistentVolumeSource>,
    /// A Fibre Channel disk.
    #[field(proto = 10)]
    pub fc: Option<FCVolumeSource>,
    /// A Flocker volume. Deprecated and no longer supported.
    #[field(proto = 11)]
    pub flocker: Option<FlockerVolumeSource>,
    /// A volume of a FlexVolume driver. Deprecated: use a CSI driver.
    #[field(proto = 12)]
    pub flex_volume: Option<FlexPersistentVolumeSource>,
    /// A share of Azure Files. Deprecated: handled by the driver file.csi.azure.com.
    #[field(proto = 13)]
    pub azure_file: Option<AzureFilePersistentVolumeSource>,
    /// A disk of vSphere. Deprecated: handled by the driver csi.vsphere.vmware.com.
    #[field(proto = 14)]
    pub vsphere_volume: Option<VsphereVirtualDiskVolumeSource>,
    /// A Quobyte volume. Deprecated and no longer supported.
    #[field(proto = 15)]
    pub quobyte: Option<QuobyteVolumeSource>,
    /// A disk of Azure. Deprecated: handled by the driver disk.csi.azure.com.
    #[field(proto = 16)]
    pub azure_disk: Option<AzureDiskVolumeSource>,
    /// A disk of Photon Controller. Deprecated and no longer supported.
    #[field(proto = 17)]
    pub photon_persistent_disk: Option<PhotonPersistentDiskVolumeSource>,
    /// A Portworx volume. Deprecated: handled by the driver pxd.portworx.com.
    #[field(proto = 18)]
    pub portworx_volume: Option<PortworxVolumeSource>,
    /// A ScaleIO volume. Deprecated and no longer supported.
    #[field(name = "scaleIO", proto = 19)]
    pub scale_io: Option<ScaleIOPersistentVolumeSource>,
    /// A disk or directory of one node, which nodeAffinity must select.
    #[field(proto = 20)]
    pub local: Option<LocalVolumeSource>,
    /// A StorageOS volume. Deprecated and no longer supported.
    #[field(proto = 21, go_name = "StorageOS")]
    pub storageos: Option<StorageOSPersistentVolumeSource>,
    /// A volume of a CSI driver.
    #[field(proto = 22)]
    pub csi: Option<CSIPersistentVolumeSource>,
}

//! Desired storage of claims.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

use crate::core::v1::ResourceList;
use crate::core::v1::TypedLocalObjectReference;
use crate::core::v1::TypedObjectReference;

/// Desired storage of a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimSpec {
    /// Required access modes: ReadWriteOnce for one node, ReadOnlyMany or ReadWriteMany for many nodes,
    /// ReadWriteOncePod for a single pod.
    #[field(proto = 1, list_type = atomic, known("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"), go_type = "[]PersistentVolumeAccessMode")]
    pub access_modes: Vec<String>,
    /// Labels that the volume must have.
    #[field(proto = 4)]
    pub selector: Option<LabelSelector>,
    /// Requested amount of storage. Can grow after the claim is bound if the storage class permits it.
    #[field(proto = 2)]
    pub resources: VolumeResourceRequirements,
    /// The volume that the claim is bound to, or wants to be bound to.
    #[field(proto = 3)]
    pub volume_name: String,
    /// The storage class of the volume: that of the cluster by default when absent, none when empty.
    #[field(proto = 5)]
    pub storage_class_name: Option<String>,
    /// Filesystem, which is the default, or Block, for a raw device.
    #[field(proto = 6, known("Block", "Filesystem"), go_type = "PersistentVolumeMode")]
    pub volume_mode: Option<String>,
    /// Source of the volume's initial content: a snapshot or another claim of the namespace. dataSourceRef is the more
    /// general field; if only one of the two is set, the server sets the other.
    #[field(proto = 7)]
    pub data_source: Option<TypedLocalObjectReference>,
    /// The object that the volume is filled from when it is made: another claim, or any object that a populator
    /// understands.
    #[field(proto = 8)]
    pub data_source_ref: Option<TypedObjectReference>,
    /// The VolumeAttributesClass whose settings the volume is to have. Can change while the volume is in use, though
    /// not to empty once it was set.
    #[field(proto = 9)]
    pub volume_attributes_class_name: Option<String>,
}

/// Requested amount of storage.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeResourceRequirements {
    /// The most that is acceptable.
    #[field(proto = 1, go_type = "ResourceList")]
    pub limits: ResourceList,
    /// The least that is needed, under the key storage.
    #[field(proto = 2, go_type = "ResourceList")]
    pub requests: ResourceList,
}

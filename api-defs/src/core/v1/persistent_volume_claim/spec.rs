//! What a claim asks for.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

use crate::core::v1::ResourceList;
use crate::core::v1::TypedLocalObjectReference;
use crate::core::v1::TypedObjectReference;

/// What storage a claim wants.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimSpec {
    /// How the storage is to be mounted: ReadWriteOnce by one node, ReadOnlyMany or ReadWriteMany by many,
    /// ReadWriteOncePod by a single pod.
    #[field(proto = 1, list_type = atomic, known("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"), go_type = "[]PersistentVolumeAccessMode")]
    pub access_modes: Vec<String>,
    /// Labels that the volume must have.
    #[field(proto = 4)]
    pub selector: Option<LabelSelector>,
    /// How much storage is wanted. Can grow once the claim is bound, when the storage class allows it.
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
    /// What the volume starts with: a snapshot or another claim of the namespace. dataSourceRef says the same and more;
    /// when only one is given the other is filled in.
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

/// How much storage is wanted.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeResourceRequirements {
    /// The most that is acceptable.
    #[field(proto = 1, go_type = "ResourceList")]
    pub limits: ResourceList,
    /// The least that is needed, under the key storage.
    #[field(proto = 2, go_type = "ResourceList")]
    pub requests: ResourceList,
}

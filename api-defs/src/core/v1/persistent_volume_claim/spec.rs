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
    /// Name of the volume that the claim is bound to or requests.
    #[field(proto = 3)]
    pub volume_name: String,
    /// Storage class of the volume. The default class of the cluster when absent, no class when empty.
    #[field(proto = 5)]
    pub storage_class_name: Option<String>,
    /// Mode of the volume: Filesystem (the default), or Block for a raw block device.
    #[field(proto = 6, known("Block", "Filesystem"), go_type = "PersistentVolumeMode")]
    pub volume_mode: Option<String>,
    /// Source of the volume's initial content: a snapshot or another claim of the namespace. dataSourceRef is the more
    /// general field; if only one of the two is set, the server sets the other.
    #[field(proto = 7)]
    pub data_source: Option<TypedLocalObjectReference>,
    /// Source of the volume's initial content: a claim, a snapshot, or any object that a volume populator supports.
    #[field(proto = 8)]
    pub data_source_ref: Option<TypedObjectReference>,
    /// VolumeAttributesClass of the volume. Can change while the volume is in use, but cannot be cleared once set.
    #[field(proto = 9)]
    pub volume_attributes_class_name: Option<String>,
}

/// Requested amount of storage.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeResourceRequirements {
    /// Maximum amount.
    #[field(proto = 1, go_type = "ResourceList")]
    pub limits: ResourceList,
    /// Minimum amount, under the key storage.
    #[field(proto = 2, go_type = "ResourceList")]
    pub requests: ResourceList,
}

//! Classes of volume attributes.

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

/// Attributes of volumes, such as performance, that can change while a volume is in use: the claim then names another
/// class.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "storage.k8s.io", version = "v1alpha1", cluster, short("vac"), unserved)]
#[resource(storage_version = crate::storage::v1::VolumeAttributesClass)]
pub struct VolumeAttributesClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Name of the storage driver. Immutable.
    #[field(proto = 2, keep)]
    pub driver_name: String,
    /// Parameters for the driver, at most 512. Immutable.
    #[field(proto = 3)]
    pub parameters: BTreeMap<String, String>,
}

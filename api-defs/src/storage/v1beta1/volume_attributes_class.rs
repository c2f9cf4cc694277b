//! Settings of volumes.

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

/// Settings of volumes, such as speed, that can be changed while a volume is in use by letting its claim name another
/// class.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storage.k8s.io",
    version = "v1beta1",
    cluster,
    short("vac"),
    returns_deleted
)]
#[resource(storage_version = crate::storage::v1::VolumeAttributesClass)]
#[resource(
    deprecated = "storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass"
)]
pub struct VolumeAttributesClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The storage driver that understands the settings. Cannot change.
    #[field(proto = 2, keep)]
    pub driver_name: String,
    /// The settings, at most 512. Cannot change.
    #[field(proto = 3)]
    pub parameters: BTreeMap<String, String>,
}

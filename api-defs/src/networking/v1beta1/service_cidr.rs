//! Ranges that services get their addresses from, in the version that came before v1.

use planesmith_machinery::meta::{Condition, ObjectMeta};
use planesmith_machinery::{Resource, Struct};

use crate::networking::v1;

/// A range, or one of each IP family, that services get their addresses from.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(deprecated = "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+")]
#[resource(group = "networking.k8s.io", version = "v1beta1", cluster, status)]
#[resource(storage_version = v1::ServiceCIDR)]
pub struct ServiceCIDR {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The ranges.
    #[field(proto = 2)]
    pub spec: ServiceCIDRSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: ServiceCIDRStatus,
}

/// Ranges for services.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceCIDRSpec {
    /// One range, or one of each IP family. Cannot change, but a second one can be added.
    #[field(proto = 1, list_type = atomic)]
    pub cidrs: Vec<String>,
}

/// Observed state of a ServiceCIDR.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceCIDRStatus {
    /// Aspects of the state; Ready says whether addresses are taken from the ranges.
    #[field(proto = 1, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
}

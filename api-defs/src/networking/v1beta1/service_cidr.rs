//! IP ranges of services, in v1beta1.

use planesmith_machinery::meta::{Condition, ObjectMeta};
use planesmith_machinery::{Resource, Struct};

use crate::networking::v1;

/// One IP range, or one for each IP family, from which addresses of services are allocated.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(deprecated = "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+")]
#[resource(group = "networking.k8s.io", version = "v1beta1", cluster, status)]
#[resource(storage_version = v1::ServiceCIDR)]
pub struct ServiceCIDR {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The IP ranges.
    #[field(proto = 2)]
    pub spec: ServiceCIDRSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: ServiceCIDRStatus,
}

/// IP ranges of a ServiceCIDR.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceCIDRSpec {
    /// One range, or one for each IP family. Immutable, except that a second one can be added.
    #[field(proto = 1, list_type = atomic, go_name = "CIDRs")]
    pub cidrs: Vec<String>,
}

/// Observed state of a ServiceCIDR.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceCIDRStatus {
    /// Conditions. Ready is True if addresses can be allocated from the ranges.
    #[field(proto = 1, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
}

//! Ranges that services get their addresses from, in the version that came before v1.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::networking::v1::{self, ServiceCIDRSpec, ServiceCIDRStatus};

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
    /// Whether addresses are taken from the ranges.
    #[field(proto = 3)]
    pub status: ServiceCIDRStatus,
}

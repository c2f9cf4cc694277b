//! Resource requests and limits of containers and claims.

mod check;
mod total;

use planesmith_machinery::Struct;

use crate::core::v1::ResourceList;

pub(crate) use check::{ResourceNames, has_odd_huge_pages};
pub(crate) use total::add;

/// Resource requests and limits of a container or pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceRequirements {
    /// Maximum amounts that may be used.
    #[field(proto = 1, go_type = "ResourceList")]
    pub limits: ResourceList,
    /// Amounts that are reserved on the node. Defaults to the limits.
    #[field(proto = 2, go_type = "ResourceList")]
    pub requests: ResourceList,
    /// Device claims of the pod that the container uses. Only for containers.
    #[field(proto = 3, list_type = map, list_map_keys("name"))]
    pub claims: Vec<ResourceClaim>,
}

/// A device claim that a container uses.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceClaim {
    /// Name of an entry in the pod's resourceClaims.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Name of a request of the claim. All of its requests when empty.
    #[field(proto = 2)]
    pub request: String,
}

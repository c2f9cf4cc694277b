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
    /// The most that it may use.
    #[field(proto = 1, go_type = "ResourceList")]
    pub limits: ResourceList,
    /// The least that it needs; nodes are chosen by it. Limits count as requests where none are given.
    #[field(proto = 2, go_type = "ResourceList")]
    pub requests: ResourceList,
    /// Names of the pod's claims to devices that the container uses. Only for containers.
    #[field(proto = 3, list_type = map, list_map_keys("name"))]
    pub claims: Vec<ResourceClaim>,
}

/// A claim to devices that a container uses.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceClaim {
    /// Name of an entry in the pod's resourceClaims.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The request of that claim that is meant; all of them when empty.
    #[field(proto = 2)]
    pub request: String,
}

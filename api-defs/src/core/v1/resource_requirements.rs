//! What containers and claims ask for.

mod check;
mod total;

use planesmith_machinery::Struct;

use crate::core::v1::ResourceList;

pub(crate) use check::{ResourceNames, check_amount, has_odd_huge_pages};
pub(crate) use total::add;

/// Resource requirements.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceRequirements {
    /// The limits.
    #[field(proto = 1)]
    pub limits: ResourceList,
    /// The requests.
    #[field(proto = 2)]
    pub requests: ResourceList,
    /// The claims.
    #[field(proto = 3, list_type = map, list_map_keys("name"))]
    pub claims: Vec<ResourceClaim>,
}

/// Resource claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceClaim {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The request.
    #[field(proto = 2)]
    pub request: String,
}

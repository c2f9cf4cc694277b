//! Devices that a pod claims, and what became of its claims.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

/// Pod resource claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodResourceClaim {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The resource claim name.
    #[field(proto = 3)]
    pub resource_claim_name: Option<String>,
    /// The resource claim template name.
    #[field(proto = 4)]
    pub resource_claim_template_name: Option<String>,
}

/// Pod resource claim status.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodResourceClaimStatus {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The resource claim name.
    #[field(proto = 2)]
    pub resource_claim_name: Option<String>,
}

/// Pod extended resource claim status.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodExtendedResourceClaimStatus {
    /// The request mappings.
    #[field(proto = 1, keep, list_type = atomic)]
    pub request_mappings: Vec<ContainerExtendedResourceRequest>,
    /// The resource claim name.
    #[field(proto = 2, keep)]
    pub resource_claim_name: String,
}

/// Container extended resource request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerExtendedResourceRequest {
    /// The container name.
    #[field(proto = 1, keep)]
    pub container_name: String,
    /// The resource name.
    #[field(proto = 2, keep)]
    pub resource_name: String,
    /// The request name.
    #[field(proto = 3, keep)]
    pub request_name: String,
}

/// Node allocatable resource claim status.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeAllocatableResourceClaimStatus {
    /// The resource claim name.
    #[field(proto = 1, keep)]
    pub resource_claim_name: String,
    /// The containers.
    #[field(proto = 2, list_type = set)]
    pub containers: Vec<String>,
    /// The resources.
    #[field(proto = 3, keep)]
    pub resources: BTreeMap<String, Quantity>,
}

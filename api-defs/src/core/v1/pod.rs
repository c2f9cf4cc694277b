//! Pods: containers that run together on a node.

mod dns;
mod resource_claim;
mod security_context;
mod spec;
mod status;
mod topology_spread;

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

pub use dns::{HostAlias, PodDNSConfig, PodDNSConfigOption};
pub use resource_claim::{
    ContainerExtendedResourceRequest, NodeAllocatableResourceClaimStatus, PodExtendedResourceClaimStatus,
    PodResourceClaim, PodResourceClaimStatus,
};
pub use security_context::{PodSecurityContext, Sysctl};
pub use spec::{PodOS, PodReadinessGate, PodSchedulingGate, PodSchedulingGroup, PodSpec};
pub use status::{HostIP, PodCondition, PodIP, PodStatus};
pub use topology_spread::TopologySpreadConstraint;

/// Pod.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    short("po"),
    categories("all"),
    status,
    status_on_create,
    returns_deleted,
    generation,
    selectable(
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName"
    )
)]
pub struct Pod {
    /// The metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The spec.
    #[field(proto = 2)]
    pub spec: PodSpec,
    /// The status.
    #[field(proto = 3)]
    pub status: PodStatus,
}

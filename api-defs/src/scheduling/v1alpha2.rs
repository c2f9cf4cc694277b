//! `scheduling.k8s.io/v1alpha2`: pods that are scheduled as a group.

mod pod_group;
mod scheduling_policy;
mod workload;

pub use pod_group::{
    PodGroup, PodGroupResourceClaimStatus, PodGroupSpec, PodGroupStatus, PodGroupTemplateReference,
    WorkloadPodGroupTemplateReference,
};
pub use scheduling_policy::{
    BasicSchedulingPolicy, GangSchedulingPolicy, PodGroupResourceClaim, PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy, TopologyConstraint,
};
pub use workload::{PodGroupTemplate, TypedLocalObjectReference, Workload, WorkloadSpec};

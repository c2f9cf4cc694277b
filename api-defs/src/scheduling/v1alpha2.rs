//! `scheduling.k8s.io/v1alpha2`: pods that are scheduled as a group.

mod pod_group;
mod scheduling_policy;
mod workload;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use pod_group::{
    PodGroup, PodGroupResourceClaimStatus, PodGroupSpec, PodGroupStatus, PodGroupTemplateReference,
    WorkloadPodGroupTemplateReference,
};
pub use scheduling_policy::{
    BasicSchedulingPolicy, GangSchedulingPolicy, PodGroupResourceClaim, PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy, TopologyConstraint,
};
pub use workload::{PodGroupTemplate, TypedLocalObjectReference, Workload, WorkloadSpec};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_600, 1);

//! `apps/v1`: deployments, replica sets, daemon sets, stateful sets and controller revisions.

mod controller_revision;
mod daemon_set;
mod deployment;
mod internal_layout;
mod replica_set;
mod stateful_set;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use controller_revision::ControllerRevision;
pub use daemon_set::{
    DaemonSet, DaemonSetCondition, DaemonSetSpec, DaemonSetStatus, DaemonSetUpdateStrategy, RollingUpdateDaemonSet,
};
pub(crate) use daemon_set::{TEMPLATE_GENERATION, set_template_generation, template_generation};
pub(crate) use deployment::ROLLBACK_TO;
pub use deployment::{
    Deployment, DeploymentCondition, DeploymentSpec, DeploymentStatus, DeploymentStrategy, RollingUpdateDeployment,
};
pub use replica_set::{ReplicaSet, ReplicaSetCondition, ReplicaSetSpec, ReplicaSetStatus};
pub use stateful_set::{
    RollingUpdateStatefulSetStrategy, StatefulSet, StatefulSetCondition, StatefulSetOrdinals,
    StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetSpec, StatefulSetStatus, StatefulSetUpdateStrategy,
};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_800, 15);

//! `extensions/v1beta1`, which is no longer served: the first versions of kinds that moved to other groups.

mod daemon_set;
mod deployment;
mod deployment_rollback;
mod ingress;
mod network_policy;
mod replica_set;
mod scale;

pub use daemon_set::{DaemonSet, DaemonSetSpec};
pub use deployment::Deployment;
pub use deployment_rollback::DeploymentRollback;
pub use ingress::Ingress;
pub use network_policy::NetworkPolicy;
pub use replica_set::{ReplicaSet, ReplicaSetSpec};
pub use scale::Scale;

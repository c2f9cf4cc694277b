//! `apps/v1beta2`, which is no longer served: the kinds of v1 under another version.

mod controller_revision;
mod daemon_set;
mod deployment;
mod replica_set;
mod scale;
mod stateful_set;

pub use controller_revision::ControllerRevision;
pub use daemon_set::DaemonSet;
pub use deployment::Deployment;
pub use replica_set::ReplicaSet;
pub use scale::{Scale, ScaleStatus};
pub use stateful_set::StatefulSet;

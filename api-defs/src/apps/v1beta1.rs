//! `apps/v1beta1`, which is no longer served.

mod controller_revision;
mod deployment;
mod deployment_rollback;
mod scale;
mod stateful_set;

pub use controller_revision::ControllerRevision;
pub use deployment::{Deployment, DeploymentSpec};
pub(crate) use deployment::{rollback_from_hub, rollback_to_hub};
pub use deployment_rollback::{DeploymentRollback, RollbackConfig};
pub use scale::{Scale, ScaleStatus};
pub use stateful_set::{StatefulSet, StatefulSetSpec, StatefulSetStatus};

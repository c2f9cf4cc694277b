//! Deployments, as in v1.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use crate::apps::v1::{DeploymentSpec, DeploymentStatus};

/// Runs a number of equal pods, as in the newest version.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apps",
    version = "v1beta2",
    short("deploy"),
    categories("all"),
    status,
    scale(spec = "spec.replicas", status = "status.replicas", selector = "spec.selector"),
    unserved,
    storage_version = crate::apps::v1::Deployment,
    strategy
)]
pub struct Deployment {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: DeploymentSpec,
    /// Observed state, written by the controller.
    #[field(proto = 3)]
    pub status: DeploymentStatus,
}

impl Strategy for Deployment {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}

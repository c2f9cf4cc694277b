//! Deployments in their first version.

use planesmith_machinery::Resource;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;

use crate::apps::v1;
use crate::apps::v1::DeploymentStatus;
use crate::apps::v1beta1::{DeploymentSpec, rollback_from_hub, rollback_to_hub};
use crate::core::v1::workload::old_labels::{default_from_template, keeps_labels};

/// Runs a number of equal pods.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "extensions",
    version = "v1beta1",
    short("deploy"),
    categories("all"),
    status,
    scale(spec = "spec.replicas", status = "status.replicas", selector = "spec.selector"),
    unserved,
    storage_version = v1::Deployment,
    convert,
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
        let spec = &mut self.spec;
        default_from_template(&spec.template.metadata.labels, &mut self.metadata, &mut spec.selector);
        // The maximum integer stands for no limit.
        spec.set_defaults(&IntOrString::Int(1), i32::MAX, i32::MAX);
    }
}

impl Convert<v1::Deployment> for Deployment {
    fn finish_to_hub(&self, hub: &mut v1::Deployment) {
        rollback_to_hub(self.spec.rollback_to.as_ref(), &mut hub.metadata);
    }

    fn finish_from_hub(&mut self, _hub: &v1::Deployment) {
        self.spec.rollback_to = rollback_from_hub(&mut self.metadata);
    }

    fn can_hold(hub: &v1::Deployment) -> bool {
        keeps_labels(&hub.metadata, &hub.spec.template)
    }
}

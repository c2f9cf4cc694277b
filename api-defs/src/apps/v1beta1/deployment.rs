//! Deployments in v1beta1, which support rollbacks on request and take the default selector from the template.

use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use super::RollbackConfig;
use crate::apps::v1;
use crate::apps::v1::{DeploymentStatus, DeploymentStrategy, ROLLBACK_TO};
use crate::core::v1::PodTemplateSpec;
use crate::core::v1::workload::old_labels::{default_from_template, keeps_labels};

/// Runs a number of equal pods.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apps",
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

/// Desired state of a deployment.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeploymentSpec {
    /// Desired number of pods.
    #[field(proto = 1)]
    pub replicas: Option<i32>,
    /// Labels of the pods that belong to the deployment. The labels of the template when absent.
    #[field(proto = 2)]
    pub selector: Option<LabelSelector>,
    /// Template of the pods.
    #[field(proto = 3, keep)]
    pub template: PodTemplateSpec,
    /// Strategy to replace pods after the template changed.
    #[field(proto = 4, patch_strategy(retain_keys))]
    pub strategy: DeploymentStrategy,
    /// Minimum time in seconds that a new pod must be ready to count as available.
    #[field(proto = 5)]
    pub min_ready_seconds: i32,
    /// Number of old revisions that are kept.
    #[field(proto = 6)]
    pub revision_history_limit: Option<i32>,
    /// True to pause rollouts.
    #[field(proto = 7)]
    pub paused: bool,
    /// Revision to roll back to. Cleared after the rollback.
    #[field(proto = 8)]
    pub rollback_to: Option<RollbackConfig>,
    /// Maximum time in seconds without progress until the deployment counts as failed.
    #[field(proto = 9)]
    pub progress_deadline_seconds: Option<i32>,
}

impl Strategy for Deployment {
    fn set_defaults(&mut self) {
        let spec = &mut self.spec;
        default_from_template(&spec.template.metadata.labels, &mut self.metadata, &mut spec.selector);
        spec.set_defaults(&IntOrString::from("25%"), 2, 600);
    }
}

impl DeploymentSpec {
    /// Sets the defaults, some of which depend on the version.
    pub(crate) fn set_defaults(&mut self, amount: &IntOrString, history: i32, deadline: i32) {
        self.replicas.get_or_insert(1);
        self.strategy.set_defaults(amount);
        self.revision_history_limit.get_or_insert(history);
        self.progress_deadline_seconds.get_or_insert(deadline);
        self.template.set_defaults();
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

/// Stores the requested rollback in an annotation.
pub(crate) fn rollback_to_hub(wanted: Option<&RollbackConfig>, meta: &mut ObjectMeta) {
    if let Some(wanted) = wanted {
        meta.annotations
            .insert(ROLLBACK_TO.to_owned(), wanted.revision.to_string());
    }
}

/// Removes the requested rollback from the annotation and returns it.
pub(crate) fn rollback_from_hub(meta: &mut ObjectMeta) -> Option<RollbackConfig> {
    let revision = meta.annotations.get(ROLLBACK_TO)?.parse().ok()?;
    meta.annotations.remove(ROLLBACK_TO);
    Some(RollbackConfig { revision })
}

//! Pods: containers that run together on a node.

mod annotations;
mod app_armor;
mod check;
mod columns;
mod defaults;
mod disabled;
mod dns;
mod ephemeral;
mod host;
mod options;
mod placed_container;
mod prepare;
mod quality;
mod resize;
mod resource_claim;
mod security_context;
mod spec;
mod status;
mod topology_spread;
mod update;
mod warnings;

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::selector::{FieldAlias, FieldLabels, FieldRefusal};
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions};
use planesmith_machinery::table::Completion;

pub use dns::{HostAlias, PodDNSConfig, PodDNSConfigOption};
pub use options::PodOptions;
pub use resource_claim::{
    ContainerExtendedResourceRequest, NodeAllocatableResourceClaimStatus, PodExtendedResourceClaimStatus,
    PodResourceClaim, PodResourceClaimStatus,
};
pub use security_context::{PodSecurityContext, Sysctl};
pub use spec::{PodOS, PodReadinessGate, PodSchedulingGate, PodSchedulingGroup, PodSpec};
pub use status::{HostIP, PodCondition, PodIP, PodStatus};
pub use topology_spread::TopologySpreadConstraint;

pub(crate) use annotations::{check as check_annotations, check_seccomp_fields};
pub(crate) use app_armor::check_app_armor_fields;

/// A group of containers that run together on a node and share a network address, volumes and a lifecycle.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    short("po"),
    categories("all"),
    status,
    status_resets("metadata.deletionTimestamp", "metadata.ownerReferences"),
    status_on_create,
    returns_deleted,
    generation,
    strategy,
    strategy_extensions
)]
#[resource(
    selectable(
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName"
    ),
    partitioned_by = "spec.nodeName",
    deleted_first,
    column(name),
    column(name = "Ready", type = "string", doc = "Ready containers of all containers.", with = columns::ready),
    column(name = "Status", type = "string", doc = "Status in one word.", with = columns::status),
    column(name = "Restarts", type = "string", doc = "Number of container restarts.", with = columns::restarts),
    column(age),
    column(name = "IP", type = "string", doc = "Its first address.", priority = 1, with = columns::ip),
    column(name = "Node", type = "string", doc = "Node of the component.", priority = 1, with = columns::node),
    column(name = "Nominated Node", type = "string", doc = "Nominated node.", priority = 1, with = columns::nominated_node),
    column(name = "Readiness Gates", type = "string", doc = "Fulfilled readiness gates of all gates.", priority = 1, with = columns::readiness_gates)
)]
#[resource(
    subresource = "attach",
    subresource = "binding",
    subresource = "ephemeralcontainers",
    subresource = "eviction",
    subresource = "exec",
    subresource = "log",
    subresource = "portforward",
    subresource = "proxy",
    subresource = "resize"
)]
pub struct Pod {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: PodSpec,
    /// Observed state, reported by the kubelet and other components.
    #[field(proto = 3)]
    pub status: PodStatus,
}

impl Strategy for Pod {
    fn set_defaults(&mut self) {
        self.fill_in();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        self.prepare(context);
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        self.spec.drop_disabled(Some(&old.spec), context.features);
    }

    fn prepare_for_status_update(&mut self, context: &Context<'_>, old: &Self) {
        self.prepare_status(old, context.features);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.check_always(PodOptions::of_pod(None), errors);
        let mut errors = errors.at("spec");
        if !self.spec.ephemeral_containers.is_empty() {
            errors.forbidden("ephemeralContainers", "cannot be set on create");
        }
        if !self.spec.node_name.is_empty() && !self.spec.scheduling_gates.is_empty() {
            errors.forbidden("nodeName", "cannot be set until all schedulingGates have been cleared");
        }
        let annotations = &self.metadata.annotations;
        check_seccomp_fields(annotations, &self.spec, &mut errors);
        check_app_armor_fields(annotations, &self.spec, &mut errors);
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.check_status_update(old, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        self.creation_warnings()
    }

    fn warnings_on_update(&self, _: &Self) -> Vec<String> {
        // Later writes come from controllers, whose warnings no user reads.
        Vec::new()
    }

    fn warnings_on_status_update(&self, _old: &Self) -> Vec<String> {
        self.address_warnings()
    }
}

impl StrategyExtensions for Pod {
    const FIELD_LABELS: FieldLabels = FieldLabels {
        aliases: &[
            FieldAlias {
                name: "spec.host",
                paths: &["spec.nodeName"],
            },
            // The alias is accepted but never matches.
            FieldAlias {
                name: "status.podIPs",
                paths: &[],
            },
        ],
        refusal: FieldRefusal::Field,
        ..FieldLabels::NONE
    };

    fn preparation_warnings(&self) -> Vec<String> {
        app_armor::warnings(&self.metadata.annotations, &self.spec)
    }

    fn completion(&self) -> Option<Completion> {
        columns::completion(&self.status)
    }

    fn grace_period(&self, requested: Option<i64>) -> Option<i64> {
        Some(self.grace_period_after(requested))
    }

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        self.check_update(old, errors);
    }
}

#[cfg(test)]
mod tests;

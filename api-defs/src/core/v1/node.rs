//! Nodes, the machines that run pods.

mod annotations;
mod columns;
mod config_source;
mod declared_feature;
mod pod_cidr;
mod status;
mod system_info;
mod taint;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::{Resource, Struct, ip};

pub use config_source::{ConfigMapNodeConfigSource, NodeConfigSource, NodeConfigStatus};
pub use status::{
    AttachedVolume, ContainerImage, DaemonEndpoint, NodeAddress, NodeCondition, NodeDaemonEndpoints, NodeFeatures,
    NodeRuntimeHandler, NodeRuntimeHandlerFeatures, NodeStatus,
};
pub use system_info::{NodeSwapStatus, NodeSystemInfo};
pub use taint::Taint;

use super::resource_list::round_up_to_milli;

/// A machine that runs pods.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    storage_name = "minions",
    short("no"),
    cluster,
    status,
    subresource = "proxy",
    status_on_create,
    selectable("spec.unschedulable"),
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Status", type = "string", doc = "Status of the node.", with = columns::status),
    column(name = "Roles", type = "string", doc = "Roles that its labels give it.", with = columns::roles),
    column(age),
    column(name = "Version", type = "string", doc = "Version of its kubelet.", path = "status.nodeInfo.kubeletVersion"),
    column(name = "Internal-IP", type = "string", doc = "Its address inside the cluster.", priority = 1, with = columns::internal_ip),
    column(name = "External-IP", type = "string", doc = "Its address for the outside.", priority = 1, with = columns::external_ip),
    column(name = "OS-Image", type = "string", doc = "Its operating system.", priority = 1, with = columns::os_image),
    column(name = "Kernel-Version", type = "string", doc = "Its kernel.", priority = 1, with = columns::kernel_version),
    column(name = "Container-Runtime", type = "string", doc = "Container runtime.", priority = 1, with = columns::container_runtime)
)]
pub struct Node {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: NodeSpec,
    /// Capacity, health and addresses of the node, reported by its kubelet.
    #[field(proto = 3)]
    pub status: NodeStatus,
}

/// Desired state of a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeSpec {
    /// IP range of the node's pods, equal to the first entry of podCIDRs.
    #[field(name = "podCIDR", proto = 1)]
    pub pod_cidr: String,
    /// IP ranges of the node's pods, at most one per IP family. Immutable once set.
    #[field(name = "podCIDRs", proto = 7, list_type = set, patch_strategy(merge))]
    pub pod_cidrs: Vec<String>,
    /// ID of the machine at its cloud provider, as provider://name. Immutable once set.
    #[field(name = "providerID", proto = 3)]
    pub provider_id: String,
    /// True to exclude the node from scheduling of new pods; set by kubectl cordon.
    #[field(proto = 4)]
    pub unschedulable: bool,
    /// Taints, which repel pods that do not tolerate them.
    #[field(proto = 5, list_type = atomic)]
    pub taints: Vec<Taint>,
    /// Has no effect: kubelets no longer read their configuration from the API.
    #[field(proto = 6)]
    pub config_source: Option<NodeConfigSource>,
    /// Has no effect. Preserved for nodes that were registered by very old kubelets.
    #[field(name = "externalID", proto = 2, go_name = "DoNotUseExternalID")]
    pub external_id: String,
}

impl Strategy for Node {
    fn set_defaults(&mut self) {
        self.spec.unite_pod_cidrs();
        round_up_to_milli(&mut self.status.capacity);
        round_up_to_milli(&mut self.status.allocatable);
        if self.status.allocatable.is_empty() {
            self.status.allocatable.clone_from(&self.status.capacity);
        }
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        self.spec.config_source = None;
        self.status.config = None;
        self.status.drop_declared_features(None, context.features);
    }

    fn prepare_for_update(&mut self, _: &Context<'_>, old: &Self) {
        if old.spec.config_source.is_none() {
            self.spec.config_source = None;
        }
    }

    fn prepare_for_status_update(&mut self, context: &Context<'_>, old: &Self) {
        if old.status.config.is_none() {
            self.status.config = None;
        }
        self.status.drop_declared_features(Some(&old.status), context.features);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        annotations::check(&self.metadata.annotations, errors);
        taint::check(taint::FIELD, &self.spec.taints, errors);
        self.status.check_amounts(errors);
        if let Some(swap) = &self.status.node_info.swap {
            swap.check(errors);
        }
        self.status.check_declared_features(errors);
        self.spec.check_pod_cidrs(errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        // The rules for updates repeat some of the rules for new nodes, as in kube-apiserver.
        annotations::check(&self.metadata.annotations, errors);
        self.status.check_amounts(errors);
        self.status.check_declared_features(errors);
        self.status.check_addresses(errors);
        self.spec.check_update(&old.spec, errors);
        if let Some(config) = &self.status.config {
            config.check(errors);
        }
        taint::check(taint::FIELD, &self.spec.taints, errors);
        if self.spec.external_id != old.spec.external_id {
            errors.forbidden("spec.externalID", "may not be updated");
        }
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.validate_update(old, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.spec.config_source.is_some() {
            warnings.push("spec.configSource: the feature is removed".to_owned());
        }
        if !self.spec.external_id.is_empty() {
            warnings.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".to_owned());
        }
        for (index, cidr) in self.spec.pod_cidrs.iter().enumerate() {
            warnings.extend(ip::range_warnings(&format!("spec.podCIDRs[{index}]"), cidr));
        }
        warnings
    }
}

impl StrategyExtensions for Node {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;
}

impl NodeSpec {
    fn check_update(&self, old: &Self, errors: &mut FieldErrors) {
        const SET_ONCE: &str = "node updates may not change podCIDR except from \"\" to valid";
        if !old.pod_cidrs.is_empty() {
            if old.pod_cidrs.len() != self.pod_cidrs.len() {
                errors.forbidden("spec.podCIDRs", SET_ONCE);
            } else {
                for _ in old
                    .pod_cidrs
                    .iter()
                    .zip(&self.pod_cidrs)
                    .filter(|(old, new)| old != new)
                {
                    errors.forbidden("spec.podCIDRs", SET_ONCE);
                }
            }
        }
        if !old.provider_id.is_empty() && old.provider_id != self.provider_id {
            errors.forbidden(
                "spec.providerID",
                "node updates may not change providerID except from \"\" to valid",
            );
        }
        if let Some(source) = &self.config_source {
            source.check_in_spec(errors);
        }
    }
}

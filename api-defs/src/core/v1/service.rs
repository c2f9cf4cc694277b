//! Services: names and addresses for sets of pods.

mod allocated;
mod check;
mod columns;
mod family;
mod port;
mod replacement;
mod spec;
mod status;
mod type_change;
mod warnings;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep};
use planesmith_machinery::{Resource, names};

use crate::features::RELAXED_SERVICE_NAME_VALIDATION;

pub(crate) use columns::first_filled;
pub use family::check_cluster_ips;
pub use port::ServicePort;
pub use spec::{ClientIPConfig, ServiceSpec, SessionAffinityConfig};
pub(crate) use status::check_balancer_hostname;
pub use status::{LoadBalancerIngress, LoadBalancerStatus, PortStatus, ServiceStatus};

/// A stable name, and usually an address and ports, for a set of pods.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    storage_name = "services/specs",
    short("svc"),
    categories("all"),
    name_rule = dns_label,
    status,
    subresource = "proxy",
    create_on_update,
    returns_deleted,
    selectable("spec.clusterIP", "spec.type"),
    strategy, strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Type", type = "string", doc = "Type of the service.", path = "spec.type"),
    column(name = "Cluster-IP", type = "string", doc = "Its address inside the cluster.", with = columns::cluster_ip),
    column(name = "External-IP", type = "string", doc = "Its addresses for the outside.", with = columns::external_ip),
    column(name = "Port(s)", type = "string", doc = "Its ports, each with the port of nodes behind it.", with = columns::ports),
    column(age),
    column(name = "Selector", type = "string", doc = "Labels of the pods behind it.", priority = 1, with = columns::selector)
)]
pub struct Service {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: ServiceSpec,
    /// Observed state, reported by the load balancer.
    #[field(proto = 3)]
    pub status: ServiceStatus,
}

/// The value of `clusterIP` for a service without an address.
const NONE: &str = "None";

const CLUSTER_IP: &str = "ClusterIP";
const NODE_PORT: &str = "NodePort";
const LOAD_BALANCER: &str = "LoadBalancer";
const EXTERNAL_NAME: &str = "ExternalName";

const CLUSTER: &str = "Cluster";
const LOCAL: &str = "Local";

const SINGLE_STACK: &str = "SingleStack";

/// Predicates on the type of a service that several rules share.
impl Service {
    /// True if the service is a DNS alias, for which no address or port is allocated.
    #[must_use]
    pub fn is_external_name(&self) -> bool {
        self.spec.type_ == EXTERNAL_NAME
    }

    /// True if the service has a load balancer.
    #[must_use]
    pub fn is_load_balancer(&self) -> bool {
        self.spec.type_ == LOAD_BALANCER
    }

    /// True if DNS resolves the service to the addresses of its pods.
    #[must_use]
    pub fn is_headless(&self) -> bool {
        self.spec.cluster_ips == [NONE]
    }

    /// True if the service has node ports.
    #[must_use]
    pub fn needs_node_ports(&self) -> bool {
        matches!(self.spec.type_.as_str(), NODE_PORT | LOAD_BALANCER)
    }

    /// True if load balancers probe a port of the node for the presence of local pods.
    #[must_use]
    pub fn needs_health_check_port(&self) -> bool {
        self.is_load_balancer() && self.spec.external_traffic_policy == LOCAL
    }

    /// True if the service can be reached from outside of the cluster.
    #[must_use]
    pub fn is_externally_accessible(&self) -> bool {
        self.needs_node_ports() || (self.spec.type_ == CLUSTER_IP && !self.spec.external_ips.is_empty())
    }

    /// Drops a valid traffic policy of an ExternalName service, which has no effect. An invalid one stays for the
    /// validation to refuse.
    fn drop_policy_of_external_name(&mut self) {
        let policy = &mut self.spec.internal_traffic_policy;
        if self.spec.type_ == EXTERNAL_NAME && matches!(policy.as_deref(), Some(CLUSTER | LOCAL)) {
            *policy = None;
        }
    }

    /// Returns the policy for IP families; empty if none is set.
    #[must_use]
    pub fn family_policy(&self) -> &str {
        self.spec.ip_family_policy.as_deref().unwrap_or_default()
    }
}

impl Strategy for Service {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
        if self.is_externally_accessible() && self.spec.external_traffic_policy.is_empty() {
            CLUSTER.clone_into(&mut self.spec.external_traffic_policy);
        }
        if self.is_load_balancer() {
            self.status.load_balancer.set_default_modes();
        }
    }

    fn prepare_for_create(&mut self, _: &Context<'_>) {
        self.drop_policy_of_external_name();
    }

    fn prepare_for_update(&mut self, _: &Context<'_>, old: &Self) {
        self.drop_fields_of_other_type(old);
        self.drop_policy_of_external_name();
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let name = self.metadata.name.as_str();
        if !errors.features().has(&RELAXED_SERVICE_NAME_VALIDATION) && names::dns_label(name).is_empty() {
            for complaint in names::dns_label_1035(name) {
                errors.invalid("metadata.name", name, complaint);
            }
        }
        self.check(None, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.check_replacement(old, errors);
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        let balancer = &self.status.load_balancer;
        balancer.check(&old.status.load_balancer, self.is_load_balancer(), errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        self.warnings_of_spec()
    }

    fn warnings_on_status_update(&self, _old: &Self) -> Vec<String> {
        self.status.load_balancer.warnings()
    }
}

impl StrategyExtensions for Service {
    const UPDATE_ORDER: &'static [UpdateStep] = &[UpdateStep::MetadataChange, UpdateStep::Change, UpdateStep::Object];

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        self.check(Some(old), errors);
    }
}

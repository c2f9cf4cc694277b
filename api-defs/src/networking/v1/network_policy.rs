//! Policies for the network traffic of pods.

mod check;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep};
use planesmith_machinery::table::Cell;
use planesmith_machinery::{Resource, Struct, ip};

use crate::selector_text::selector_text;

/// Policy for the ingress and egress traffic of a set of pods. Pods that no policy selects allow all traffic. Otherwise
/// traffic passes if any policy of the pod allows it.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "networking.k8s.io",
    version = "v1",
    short("netpol"),
    generation = as_sent,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Pod-Selector", type = "string", doc = "Selector of the pods.", with = pod_selector_cell),
    column(age)
)]
pub struct NetworkPolicy {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The selected pods and the traffic they allow.
    #[field(proto = 2)]
    pub spec: NetworkPolicySpec,
}

/// The pods that a network policy selects and the traffic they allow.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NetworkPolicySpec {
    /// Labels of the pods that the policy selects; all pods of the namespace when empty.
    #[field(proto = 1, keep, optional)]
    pub pod_selector: LabelSelector,
    /// Rules for ingress traffic, which passes if any rule allows it. Without rules, a policy for Ingress allows none.
    #[field(proto = 2, list_type = atomic)]
    pub ingress: Vec<NetworkPolicyIngressRule>,
    /// Rules for egress traffic, which passes if any rule allows it. Without rules, a policy for Egress allows none.
    #[field(proto = 3, list_type = atomic)]
    pub egress: Vec<NetworkPolicyEgressRule>,
    /// Directions that the policy applies to: Ingress, Egress or both. Defaults to Ingress, and also Egress if there
    /// are egress rules.
    #[field(proto = 4, list_type = atomic, known("Ingress", "Egress"), go_type = "[]PolicyType")]
    pub policy_types: Vec<String>,
}

/// Traffic from certain sources to certain ports of the selected pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NetworkPolicyIngressRule {
    /// Ports of the selected pods. All ports when empty.
    #[field(proto = 1, list_type = atomic)]
    pub ports: Vec<NetworkPolicyPort>,
    /// Allowed sources of the traffic. All sources when empty.
    #[field(proto = 2, list_type = atomic)]
    pub from: Vec<NetworkPolicyPeer>,
}

/// Traffic from the selected pods to certain ports of certain destinations.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NetworkPolicyEgressRule {
    /// Ports of the destinations. All ports when empty.
    #[field(proto = 1, list_type = atomic)]
    pub ports: Vec<NetworkPolicyPort>,
    /// Allowed destinations of the traffic. All destinations when empty.
    #[field(proto = 2, list_type = atomic)]
    pub to: Vec<NetworkPolicyPeer>,
}

/// A port or a range of ports.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NetworkPolicyPort {
    /// Protocol: TCP (the default), UDP or SCTP.
    #[field(proto = 1, known("TCP", "UDP", "SCTP"), go_type = "v1.Protocol")]
    pub protocol: Option<String>,
    /// Port as a number or as the name of a container port. All ports of the protocol when absent.
    #[field(proto = 2)]
    pub port: Option<IntOrString>,
    /// Last port of a range that starts at port, which must then be a number.
    #[field(proto = 3)]
    pub end_port: Option<i32>,
}

/// A source or destination of traffic: pods, or IP addresses.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NetworkPolicyPeer {
    /// Labels of the pods, in the policy's namespace or in those that namespaceSelector selects.
    #[field(proto = 1)]
    pub pod_selector: Option<LabelSelector>,
    /// Labels of the namespaces; all namespaces when empty. Selects their pods, or those that podSelector matches.
    #[field(proto = 2)]
    pub namespace_selector: Option<LabelSelector>,
    /// IP range of the peer. Excludes podSelector and namespaceSelector.
    #[field(proto = 3)]
    pub ip_block: Option<IPBlock>,
}

/// An IP range, optionally without some subranges.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "IPBlock")]
pub struct IPBlock {
    /// IP range, such as 192.0.2.0/24 or 2001:db8::/64.
    #[field(proto = 1, keep)]
    pub cidr: String,
    /// Subranges to exclude.
    #[field(proto = 2, list_type = atomic)]
    pub except: Vec<String>,
}

fn pod_selector_cell(policy: &NetworkPolicy) -> Cell {
    Cell::Text(selector_text(&policy.spec.pod_selector))
}

impl Strategy for NetworkPolicy {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(None, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (path, peer) in self.spec.peers() {
            if let Some(block) = &peer.ip_block {
                warnings.extend(ip::range_warnings(&format!("{path}.ipBlock.cidr"), &block.cidr));
                for (index, range) in block.except.iter().enumerate() {
                    warnings.extend(ip::range_warnings(&format!("{path}.ipBlock.except[{index}]"), range));
                }
            }
        }
        warnings
    }
}

impl StrategyExtensions for NetworkPolicy {
    const UPDATE_ORDER: &'static [UpdateStep] = &[UpdateStep::MetadataChange, UpdateStep::Object];

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(Some(&old.spec), errors);
    }
}

impl NetworkPolicySpec {
    /// Sets the default protocols and policy types.
    pub(crate) fn set_defaults(&mut self) {
        let ports = self.ingress.iter_mut().flat_map(|rule| &mut rule.ports);
        for port in ports.chain(self.egress.iter_mut().flat_map(|rule| &mut rule.ports)) {
            port.protocol.get_or_insert_with(|| "TCP".to_owned());
        }
        if self.policy_types.is_empty() {
            self.policy_types.push("Ingress".to_owned());
            if !self.egress.is_empty() {
                self.policy_types.push("Egress".to_owned());
            }
        }
    }

    /// Iterates over all peers with their field paths.
    fn peers(&self) -> impl Iterator<Item = (String, &NetworkPolicyPeer)> {
        let incoming = self.ingress.iter().enumerate().flat_map(|(rule, ingress)| {
            let peers = ingress.from.iter().enumerate();
            peers.map(move |(index, peer)| (format!("spec.ingress[{rule}].from[{index}]"), peer))
        });
        let outgoing = self.egress.iter().enumerate().flat_map(|(rule, egress)| {
            let peers = egress.to.iter().enumerate();
            peers.map(move |(index, peer)| (format!("spec.egress[{rule}].to[{index}]"), peer))
        });
        incoming.chain(outgoing)
    }
}

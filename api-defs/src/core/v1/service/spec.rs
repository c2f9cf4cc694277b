//! Desired state of services.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::int_or_string::IntOrString;

use super::{CLUSTER, CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT, ServicePort};

/// Default timeout of client affinity in seconds: three hours.
const AFFINITY_SECONDS: i32 = 10_800;

/// Desired state of a service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceSpec {
    /// Ports of the service.
    #[field(proto = 1, list_type = map, list_map_keys("port", "protocol"), patch_strategy(merge), patch_merge_key = "port")]
    pub ports: Vec<ServicePort>,
    /// Labels of the pods behind the service. When empty, the EndpointSlices are managed externally. Ignored for
    /// ExternalName.
    #[field(proto = 2, atomic)]
    pub selector: BTreeMap<String, String>,
    /// Primary address of the service inside the cluster, from the cluster's ranges: allocated by the server, or
    /// specified by the user if it is free. None makes the service headless: DNS resolves its name to the addresses of
    /// the pods. Immutable, except for changes to and from ExternalName, which has no address.
    #[field(name = "clusterIP", proto = 3)]
    pub cluster_ip: String,
    /// Addresses of the service inside the cluster, at most two, of different IP families. The first equals clusterIP.
    #[field(name = "clusterIPs", proto = 18, list_type = atomic)]
    pub cluster_ips: Vec<String>,
    /// Type of the service: ClusterIP (the default) has an address inside the cluster; NodePort adds a port on every
    /// node; LoadBalancer adds an external load balancer; ExternalName is an alias of an external host.
    #[field(
        name = "type",
        proto = 4,
        known("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
        go_type = "ServiceType"
    )]
    pub type_: String,
    /// Additional addresses at which nodes accept traffic for the service. The administrator must route the traffic to
    /// the nodes.
    #[field(name = "externalIPs", proto = 5, list_type = atomic)]
    pub external_ips: Vec<String>,
    /// Affinity of clients to pods: ClientIP routes all connections of a client to one pod, None (the default) does
    /// not.
    #[field(proto = 7, known("ClientIP", "None"), go_type = "ServiceAffinity")]
    pub session_affinity: String,
    /// Requested address of the load balancer, if the cloud provider supports it. Deprecated: its meaning differs
    /// between providers.
    #[field(name = "loadBalancerIP", proto = 8)]
    pub load_balancer_ip: String,
    /// IP ranges of the clients that the load balancer admits, if the cloud provider supports restrictions.
    #[field(proto = 9, list_type = atomic)]
    pub load_balancer_source_ranges: Vec<String>,
    /// External host that an ExternalName service resolves to, a DNS name in lower case.
    #[field(proto = 10)]
    pub external_name: String,
    /// Policy for external traffic: Local routes it to pods on the receiving node and preserves the client's address;
    /// Cluster (the default) distributes it over all pods.
    #[field(proto = 11, known("Cluster", "Local"), go_type = "ServiceExternalTrafficPolicy")]
    pub external_traffic_policy: String,
    /// Node port on which load balancers probe for local pods of the service. Only for LoadBalancer with
    /// externalTrafficPolicy Local. Allocated by the server unless specified. Immutable once set.
    #[field(proto = 12)]
    pub health_check_node_port: i32,
    /// True if pods that are not ready are published, for instance for the discovery of peers in a StatefulSet.
    #[field(proto = 13)]
    pub publish_not_ready_addresses: bool,
    /// Parameters of the session affinity.
    #[field(proto = 14)]
    pub session_affinity_config: Option<SessionAffinityConfig>,
    /// IP families of the service: IPv4, IPv6 or both. The first is that of clusterIP. Set by the server according to
    /// ipFamilyPolicy unless specified. A secondary family can be added and removed.
    #[field(proto = 19, list_type = atomic, known("IPv4", "IPv6", ""), go_type = "[]IPFamily")]
    pub ip_families: Vec<String>,
    /// Policy for IP families: SingleStack (the default) assigns one, PreferDualStack assigns two if the cluster has
    /// them, RequireDualStack assigns two or fails.
    #[field(
        proto = 17,
        known("SingleStack", "PreferDualStack", "RequireDualStack"),
        go_type = "IPFamilyPolicy"
    )]
    pub ip_family_policy: Option<String>,
    /// True if a LoadBalancer service gets node ports, which some load balancers do not need. True by default.
    /// Explicitly specified ports are always allocated.
    #[field(proto = 20)]
    pub allocate_load_balancer_node_ports: Option<bool>,
    /// Class of the load balancer, a label-style name such as example.com/internal. The default of the cloud provider
    /// when absent. Only for LoadBalancer. Immutable while the type is LoadBalancer.
    #[field(proto = 21)]
    pub load_balancer_class: Option<String>,
    /// Policy for internal traffic: Local routes it to pods on the client's node, Cluster (the default) distributes it
    /// over all pods.
    #[field(proto = 22, known("Cluster", "Local"), go_type = "ServiceInternalTrafficPolicy")]
    pub internal_traffic_policy: Option<String>,
    /// Preferred distribution of traffic within the limits of the policies: PreferSameZone, PreferSameNode, or
    /// PreferClose, the deprecated name of PreferSameZone.
    #[field(proto = 23)]
    pub traffic_distribution: Option<String>,
}

/// Parameters of session affinity.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SessionAffinityConfig {
    /// Parameters of the affinity ClientIP.
    #[field(name = "clientIP", proto = 1)]
    pub client_ip: Option<ClientIPConfig>,
}

/// Parameters of an affinity by the client's address.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ClientIPConfig {
    /// Timeout of the affinity in seconds, 1 to 86400. Defaults to 10800 (three hours).
    #[field(proto = 1)]
    pub timeout_seconds: Option<i32>,
}

impl ServiceSpec {
    /// Sets the defaults that depend on fields of the spec only.
    pub(super) fn set_defaults(&mut self) {
        if self.session_affinity.is_empty() {
            "None".clone_into(&mut self.session_affinity);
        }
        self.default_affinity_config();
        if self.type_.is_empty() {
            CLUSTER_IP.clone_into(&mut self.type_);
        }
        for port in &mut self.ports {
            let unset = match &port.target_port {
                IntOrString::Int(number) => *number == 0,
                IntOrString::String(name) => name.is_empty(),
            };
            if unset {
                port.target_port = IntOrString::Int(port.port);
            }
        }
        if matches!(self.type_.as_str(), CLUSTER_IP | NODE_PORT | LOAD_BALANCER) {
            self.internal_traffic_policy.get_or_insert_with(|| CLUSTER.to_owned());
        }
        if self.type_ == LOAD_BALANCER {
            self.allocate_load_balancer_node_ports.get_or_insert(true);
        }
    }

    fn default_affinity_config(&mut self) {
        let timeout =
            |config: &SessionAffinityConfig| config.client_ip.as_ref().and_then(|client| client.timeout_seconds);
        match self.session_affinity.as_str() {
            "None" => self.session_affinity_config = None,
            "ClientIP" if self.session_affinity_config.as_ref().and_then(timeout).is_none() => {
                let client_ip = ClientIPConfig {
                    timeout_seconds: Some(AFFINITY_SECONDS),
                };
                self.session_affinity_config = Some(SessionAffinityConfig {
                    client_ip: Some(client_ip),
                });
            }
            _ => {}
        }
    }

    /// True if the server chooses node ports that the user did not specify.
    #[must_use]
    pub fn allocates_node_ports(&self) -> bool {
        match self.type_.as_str() {
            NODE_PORT => true,
            LOAD_BALANCER => self.allocate_load_balancer_node_ports.unwrap_or(true),
            _ => false,
        }
    }

    /// True if the service has a cluster IP or is headless.
    pub(super) fn needs_cluster_ip(&self) -> bool {
        self.type_ != EXTERNAL_NAME
    }
}

//! What is wanted of a pod.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;

use crate::core::v1::{
    Affinity, Container, EphemeralContainer, HostAlias, LocalObjectReference, PodDNSConfig, PodResourceClaim,
    PodSecurityContext, ResourceList, ResourceRequirements, Toleration, TopologySpreadConstraint, Volume,
};

/// Pod spec.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodSpec {
    /// The volumes.
    #[field(proto = 1, list_type = map, list_map_keys("name"), patch_strategy(merge, retain_keys), patch_merge_key = "name")]
    pub volumes: Vec<Volume>,
    /// The init containers.
    #[field(proto = 20, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub init_containers: Vec<Container>,
    /// The containers.
    #[field(proto = 2, keep, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub containers: Vec<Container>,
    /// The ephemeral containers.
    #[field(proto = 34, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub ephemeral_containers: Vec<EphemeralContainer>,
    /// The restart policy.
    #[field(proto = 3)]
    pub restart_policy: String,
    /// The termination grace period seconds.
    #[field(proto = 4)]
    pub termination_grace_period_seconds: Option<i64>,
    /// The active deadline seconds.
    #[field(proto = 5)]
    pub active_deadline_seconds: Option<i64>,
    /// The dns policy.
    #[field(proto = 6)]
    pub dns_policy: String,
    /// The node selector.
    #[field(proto = 7, atomic)]
    pub node_selector: BTreeMap<String, String>,
    /// The service account name.
    #[field(proto = 8)]
    pub service_account_name: String,
    /// The service account.
    #[field(proto = 9)]
    pub service_account: String,
    /// The automount service account token.
    #[field(proto = 21)]
    pub automount_service_account_token: Option<bool>,
    /// The node name.
    #[field(proto = 10)]
    pub node_name: String,
    /// The host network.
    #[field(proto = 11)]
    pub host_network: bool,
    /// The host pid.
    #[field(name = "hostPID", proto = 12)]
    pub host_pid: bool,
    /// The host ipc.
    #[field(name = "hostIPC", proto = 13)]
    pub host_ipc: bool,
    /// The share process namespace.
    #[field(proto = 27)]
    pub share_process_namespace: Option<bool>,
    /// The security context.
    #[field(proto = 14)]
    pub security_context: Option<PodSecurityContext>,
    /// The image pull secrets.
    #[field(proto = 15, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// The hostname.
    #[field(proto = 16)]
    pub hostname: String,
    /// The subdomain.
    #[field(proto = 17)]
    pub subdomain: String,
    /// The affinity.
    #[field(proto = 18)]
    pub affinity: Option<Affinity>,
    /// The scheduler name.
    #[field(proto = 19)]
    pub scheduler_name: String,
    /// The tolerations.
    #[field(proto = 22, list_type = atomic)]
    pub tolerations: Vec<Toleration>,
    /// The host aliases.
    #[field(proto = 23, list_type = map, list_map_keys("ip"), patch_strategy(merge), patch_merge_key = "ip")]
    pub host_aliases: Vec<HostAlias>,
    /// The priority class name.
    #[field(proto = 24)]
    pub priority_class_name: String,
    /// The priority.
    #[field(proto = 25)]
    pub priority: Option<i32>,
    /// The dns config.
    #[field(proto = 26)]
    pub dns_config: Option<PodDNSConfig>,
    /// The readiness gates.
    #[field(proto = 28, list_type = atomic)]
    pub readiness_gates: Vec<PodReadinessGate>,
    /// The runtime class name.
    #[field(proto = 29)]
    pub runtime_class_name: Option<String>,
    /// The enable service links.
    #[field(proto = 30)]
    pub enable_service_links: Option<bool>,
    /// The preemption policy.
    #[field(proto = 31)]
    pub preemption_policy: Option<String>,
    /// The overhead.
    #[field(proto = 32)]
    pub overhead: ResourceList,
    /// The topology spread constraints.
    #[field(proto = 33, list_type = map, list_map_keys("topologyKey", "whenUnsatisfiable"), patch_strategy(merge), patch_merge_key = "topologyKey")]
    pub topology_spread_constraints: Vec<TopologySpreadConstraint>,
    /// The set hostname as fqdn.
    #[field(name = "setHostnameAsFQDN", proto = 35)]
    pub set_hostname_as_fqdn: Option<bool>,
    /// The os.
    #[field(proto = 36)]
    pub os: Option<PodOS>,
    /// The host users.
    #[field(proto = 37)]
    pub host_users: Option<bool>,
    /// The scheduling gates.
    #[field(proto = 38, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub scheduling_gates: Vec<PodSchedulingGate>,
    /// The resource claims.
    #[field(proto = 39, list_type = map, list_map_keys("name"), patch_strategy(merge, retain_keys), patch_merge_key = "name")]
    pub resource_claims: Vec<PodResourceClaim>,
    /// The resources.
    #[field(proto = 40)]
    pub resources: Option<ResourceRequirements>,
    /// The hostname override.
    #[field(proto = 41)]
    pub hostname_override: Option<String>,
    /// The scheduling group.
    #[field(proto = 43)]
    pub scheduling_group: Option<PodSchedulingGroup>,
}

/// Pod os.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodOS {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
}

/// Pod readiness gate.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodReadinessGate {
    /// The condition type.
    #[field(proto = 1, keep)]
    pub condition_type: String,
}

/// Pod scheduling gate.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodSchedulingGate {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
}

/// Pod scheduling group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct PodSchedulingGroup {
    /// The pod group name.
    #[field(proto = 1)]
    pub pod_group_name: Option<String>,
}

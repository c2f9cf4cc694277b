//! Desired state of pods.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::{Struct, names};

use crate::core::v1::{
    Affinity, Container, EphemeralContainer, HostAlias, LocalObjectReference, PodDNSConfig, PodResourceClaim,
    PodSecurityContext, ResourceList, ResourceRequirements, Toleration, TopologySpreadConstraint, Volume,
};

/// Desired state of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(internal = crate::core::v1::internal_layout::POD_SPEC)]
pub struct PodSpec {
    /// Volumes that the containers can mount.
    #[field(proto = 1, list_type = map, list_map_keys("name"), patch_strategy(merge, retain_keys), patch_merge_key = "name")]
    pub volumes: Vec<Volume>,
    /// Containers that prepare the pod. They run to completion one after the other before the main containers start. If
    /// one fails, the pod fails or the container is restarted, according to restartPolicy. Immutable.
    #[field(proto = 20, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub init_containers: Vec<Container>,
    /// Main containers; at least one. Containers cannot be added or removed later.
    #[field(proto = 2, keep, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub containers: Vec<Container>,
    /// Containers that were added to the running pod for debugging, through the ephemeralcontainers subresource. They
    /// are never restarted.
    #[field(proto = 34, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub ephemeral_containers: Vec<EphemeralContainer>,
    /// Restart policy of the containers: Always, OnFailure or Never. Always by default.
    #[field(proto = 3, known("Always", "OnFailure", "Never"), go_type = "RestartPolicy")]
    pub restart_policy: String,
    /// Termination grace period in seconds: the time between the termination signal and the kill signal. 30 by default;
    /// 0 kills at once.
    #[field(proto = 4)]
    pub termination_grace_period_seconds: Option<i64>,
    /// Maximum run time of the pod on its node in seconds, after which it is terminated as failed. No limit when
    /// absent.
    #[field(proto = 5)]
    pub active_deadline_seconds: Option<i64>,
    /// DNS policy: ClusterFirst (the default), ClusterFirstWithHostNet for pods in the node's network, Default for the
    /// node's configuration, None for dnsConfig only.
    #[field(
        proto = 6,
        known("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"),
        go_type = "DNSPolicy"
    )]
    pub dns_policy: String,
    /// Labels that the node must have.
    #[field(proto = 7, atomic)]
    pub node_selector: BTreeMap<String, String>,
    /// Name of the service account whose identity the pod has.
    #[field(proto = 8)]
    pub service_account_name: String,
    /// Deprecated name of serviceAccountName. Always equal to it.
    #[field(proto = 9)]
    pub service_account: String,
    /// True if a token of the service account is mounted into the containers. Defaults to the setting of the service
    /// account.
    #[field(proto = 21)]
    pub automount_service_account_token: Option<bool>,
    /// Name of the node that the pod runs on, set by the scheduler. A pod that is created with it is not scheduled.
    #[field(proto = 10)]
    pub node_name: String,
    /// True if the pod uses the node's network namespace. Its ports are then ports of the node.
    #[field(proto = 11)]
    pub host_network: bool,
    /// True if the pod uses the node's PID namespace.
    #[field(name = "hostPID", proto = 12)]
    pub host_pid: bool,
    /// True if the pod uses the node's IPC namespace.
    #[field(name = "hostIPC", proto = 13)]
    pub host_ipc: bool,
    /// True if all containers share one PID namespace. Excludes hostPID.
    #[field(proto = 27)]
    pub share_process_namespace: Option<bool>,
    /// Security settings of the pod and defaults for its containers.
    #[field(proto = 14)]
    pub security_context: Option<PodSecurityContext>,
    /// Secrets of the namespace with credentials to pull the images.
    #[field(proto = 15, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// Host name of the pod. Derived from its name when empty.
    #[field(proto = 16)]
    pub hostname: String,
    /// Name of a headless Service. The pod's domain name is then hostname.subdomain.namespace.svc.domain.
    #[field(proto = 17)]
    pub subdomain: String,
    /// Affinity and anti-affinity of the pod.
    #[field(proto = 18)]
    pub affinity: Option<Affinity>,
    /// Name of the scheduler of the pod. default-scheduler when empty.
    #[field(proto = 19)]
    pub scheduler_name: String,
    /// Taints that the pod tolerates.
    #[field(proto = 22, list_type = atomic)]
    pub tolerations: Vec<Toleration>,
    /// Entries of the pod's /etc/hosts.
    #[field(proto = 23, list_type = map, list_map_keys("ip"), patch_strategy(merge), patch_merge_key = "ip")]
    pub host_aliases: Vec<HostAlias>,
    /// Name of the priority class: system-node-critical, system-cluster-critical or a PriorityClass. The default class
    /// when empty.
    #[field(proto = 24)]
    pub priority_class_name: String,
    /// Priority of the pod, set from its priority class. Higher values are more important.
    #[field(proto = 25)]
    pub priority: Option<i32>,
    /// DNS settings in addition to those of dnsPolicy.
    #[field(proto = 26)]
    pub dns_config: Option<PodDNSConfig>,
    /// Pod conditions that must be True, besides the readiness of all containers, for the pod to be ready.
    #[field(proto = 28, list_type = atomic)]
    pub readiness_gates: Vec<PodReadinessGate>,
    /// Name of the RuntimeClass of the pod. The default runtime when absent.
    #[field(proto = 29)]
    pub runtime_class_name: Option<String>,
    /// True if the containers have environment variables for the services of the namespace. True by default.
    #[field(proto = 30)]
    pub enable_service_links: Option<bool>,
    /// Preemption of pods with lower priority: PreemptLowerPriority (the default) or Never.
    #[field(proto = 31, known("PreemptLowerPriority", "Never"), go_type = "PreemptionPolicy")]
    pub preemption_policy: Option<String>,
    /// Resource overhead of the pod besides its containers, set from the RuntimeClass.
    #[field(proto = 32, go_type = "ResourceList")]
    pub overhead: ResourceList,
    /// Constraints on the distribution of pods over zones, nodes and other domains. All of them must hold.
    #[field(proto = 33, list_type = map, list_map_keys("topologyKey", "whenUnsatisfiable"), patch_strategy(merge), patch_merge_key = "topologyKey")]
    pub topology_spread_constraints: Vec<TopologySpreadConstraint>,
    /// True if the kernel's hostname is the fully qualified domain name of the pod. False by default.
    #[field(name = "setHostnameAsFQDN", proto = 35)]
    pub set_hostname_as_fqdn: Option<bool>,
    /// Operating system of the containers. Settings of other systems are refused.
    #[field(proto = 36)]
    pub os: Option<PodOS>,
    /// True if the pod uses the node's user namespace; false creates one for the pod. True by default.
    #[field(proto = 37)]
    pub host_users: Option<bool>,
    /// Gates that block scheduling until the list is empty. Can be set on creation only; updates can only remove
    /// entries.
    #[field(proto = 38, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub scheduling_gates: Vec<PodSchedulingGate>,
    /// Device claims that must be allocated before the pod starts. Immutable.
    #[field(proto = 39, list_type = map, list_map_keys("name"), patch_strategy(merge, retain_keys), patch_merge_key = "name")]
    pub resource_claims: Vec<PodResourceClaim>,
    /// Resource requests and limits of the whole pod: cpu, memory and huge pages.
    #[field(proto = 40)]
    pub resources: Option<ResourceRequirements>,
    /// Host name of the pod, at most 64 characters. Takes precedence over hostname and subdomain.
    #[field(proto = 41)]
    pub hostname_override: Option<String>,
    /// Group of pods that the pod is scheduled with.
    #[field(proto = 43)]
    pub scheduling_group: Option<PodSchedulingGroup>,
}

/// An operating system.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodOS {
    /// Name of the operating system: linux or windows.
    #[field(proto = 1, keep, go_type = "OSName")]
    pub name: String,
}

/// A pod condition that must be True for the pod to be ready.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodReadinessGate {
    /// Type of the pod condition.
    #[field(proto = 1, keep, go_type = "PodConditionType")]
    pub condition_type: String,
}

/// A gate that blocks the scheduling of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodSchedulingGate {
    /// Name of the gate, unique in the pod.
    #[field(proto = 1, keep)]
    pub name: String,
}

impl PodSchedulingGroup {
    /// Reports a missing or malformed name of the group.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        match &self.pod_group_name {
            None => errors.invalid(
                "podGroupName",
                serde_json::Value::Null,
                "must specify one of: `podGroupName`",
            ),
            Some(name) => {
                for problem in names::dns_subdomain(name) {
                    errors.invalid("podGroupName", name, problem);
                }
            }
        }
    }
}

/// The group of pods that a pod is scheduled with.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct PodSchedulingGroup {
    /// Name of the PodGroup, in the same namespace.
    #[field(proto = 1)]
    pub pod_group_name: Option<String>,
}

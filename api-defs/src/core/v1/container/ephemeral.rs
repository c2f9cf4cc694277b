//! Containers that are added to a running pod to look into it.

use planesmith_machinery::Struct;

use crate::core::v1::{
    ContainerPort, ContainerResizePolicy, ContainerRestartRule, EnvFromSource, EnvVar, Lifecycle, Probe,
    ResourceRequirements, SecurityContext, VolumeDevice, VolumeMount,
};

/// Ephemeral container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EphemeralContainer {
    /// The ephemeral container common.
    #[field(inline, proto = 1)]
    pub ephemeral_container_common: EphemeralContainerCommon,
    /// The target container name.
    #[field(proto = 2)]
    pub target_container_name: String,
}

/// Ephemeral container common.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EphemeralContainerCommon {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The image.
    #[field(proto = 2)]
    pub image: String,
    /// The command.
    #[field(proto = 3, list_type = atomic)]
    pub command: Vec<String>,
    /// The args.
    #[field(proto = 4, list_type = atomic)]
    pub args: Vec<String>,
    /// The working dir.
    #[field(proto = 5)]
    pub working_dir: String,
    /// The ports.
    #[field(proto = 6, list_type = map, list_map_keys("containerPort", "protocol"), patch_strategy(merge), patch_merge_key = "containerPort")]
    pub ports: Vec<ContainerPort>,
    /// The env from.
    #[field(proto = 19, list_type = atomic)]
    pub env_from: Vec<EnvFromSource>,
    /// The env.
    #[field(proto = 7, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub env: Vec<EnvVar>,
    /// The resources.
    #[field(proto = 8)]
    pub resources: ResourceRequirements,
    /// The resize policy.
    #[field(proto = 23, list_type = atomic)]
    pub resize_policy: Vec<ContainerResizePolicy>,
    /// The restart policy.
    #[field(proto = 24)]
    pub restart_policy: Option<String>,
    /// The restart policy rules.
    #[field(proto = 25, list_type = atomic)]
    pub restart_policy_rules: Vec<ContainerRestartRule>,
    /// The volume mounts.
    #[field(proto = 9, list_type = map, list_map_keys("mountPath"), patch_strategy(merge), patch_merge_key = "mountPath")]
    pub volume_mounts: Vec<VolumeMount>,
    /// The volume devices.
    #[field(proto = 21, list_type = map, list_map_keys("devicePath"), patch_strategy(merge), patch_merge_key = "devicePath")]
    pub volume_devices: Vec<VolumeDevice>,
    /// The liveness probe.
    #[field(proto = 10)]
    pub liveness_probe: Option<Probe>,
    /// The readiness probe.
    #[field(proto = 11)]
    pub readiness_probe: Option<Probe>,
    /// The startup probe.
    #[field(proto = 22)]
    pub startup_probe: Option<Probe>,
    /// The lifecycle.
    #[field(proto = 12)]
    pub lifecycle: Option<Lifecycle>,
    /// The termination message path.
    #[field(proto = 13)]
    pub termination_message_path: String,
    /// The termination message policy.
    #[field(proto = 20)]
    pub termination_message_policy: String,
    /// The image pull policy.
    #[field(proto = 14)]
    pub image_pull_policy: String,
    /// The security context.
    #[field(proto = 15)]
    pub security_context: Option<SecurityContext>,
    /// The stdin.
    #[field(proto = 16)]
    pub stdin: bool,
    /// The stdin once.
    #[field(proto = 17)]
    pub stdin_once: bool,
    /// The tty.
    #[field(proto = 18)]
    pub tty: bool,
}

//! Ephemeral containers, which are added to a running pod to debug it.

use planesmith_machinery::Struct;

use crate::core::v1::{
    ContainerPort, ContainerResizePolicy, ContainerRestartRule, EnvFromSource, EnvVar, Lifecycle, Probe,
    ResourceRequirements, SecurityContext, VolumeDevice, VolumeMount,
};

/// A container that is added to a running pod to debug it. It has no guaranteed resources and is never restarted.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EphemeralContainer {
    /// Fields shared with other containers.
    #[field(inline, proto = 1)]
    pub ephemeral_container_common: EphemeralContainerCommon,
    /// Name of the container whose process namespace is shared. The pod's own namespaces when empty.
    #[field(proto = 2)]
    pub target_container_name: String,
}

/// Fields that ephemeral containers share with others. Ports, resources, probes and hooks cannot be set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EphemeralContainerCommon {
    /// Name of the container, a DNS label; unique among all containers of the pod.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The image to run, as name with tag or digest; usually one with debugging tools.
    #[field(proto = 2)]
    pub image: String,
    /// Command that replaces the entry point of the image, executed without a shell. $(NAME) expands to a variable of
    /// the container, $$(NAME) to a literal $(NAME).
    #[field(proto = 3, list_type = atomic)]
    pub command: Vec<String>,
    /// Arguments of the command. Those of the image when absent. Variables expand as in command.
    #[field(proto = 4, list_type = atomic)]
    pub args: Vec<String>,
    /// Working directory of the command. That of the image when absent.
    #[field(proto = 5)]
    pub working_dir: String,
    /// Not allowed for ephemeral containers. Exists for uniformity with other containers.
    #[field(proto = 6, list_type = map, list_map_keys("containerPort", "protocol"), patch_strategy(merge), patch_merge_key = "containerPort")]
    pub ports: Vec<ContainerPort>,
    /// Objects whose keys all become environment variables. A later object takes precedence over an earlier one, and
    /// env over both.
    #[field(proto = 19, list_type = atomic)]
    pub env_from: Vec<EnvFromSource>,
    /// Environment variables of the container. A later variable replaces an earlier one of the same name.
    #[field(proto = 7, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub env: Vec<EnvVar>,
    /// Not allowed for ephemeral containers, which use spare resources of the pod.
    #[field(proto = 8)]
    pub resources: ResourceRequirements,
    /// Not allowed for ephemeral containers. Exists for uniformity with other containers.
    #[field(proto = 23, list_type = atomic)]
    pub resize_policy: Vec<ContainerResizePolicy>,
    /// Not allowed for ephemeral containers. Exists for uniformity with other containers.
    #[field(proto = 24, go_type = "ContainerRestartPolicy")]
    pub restart_policy: Option<String>,
    /// Not allowed for ephemeral containers. Exists for uniformity with other containers.
    #[field(proto = 25, list_type = atomic)]
    pub restart_policy_rules: Vec<ContainerRestartRule>,
    /// Volumes of the pod that are mounted into the container. Subpaths are not allowed.
    #[field(proto = 9, list_type = map, list_map_keys("mountPath"), patch_strategy(merge), patch_merge_key = "mountPath")]
    pub volume_mounts: Vec<VolumeMount>,
    /// Volumes that the container uses as block devices.
    #[field(proto = 21, list_type = map, list_map_keys("devicePath"), patch_strategy(merge), patch_merge_key = "devicePath")]
    pub volume_devices: Vec<VolumeDevice>,
    /// Not allowed for ephemeral containers. Exists for uniformity with other containers.
    #[field(proto = 10)]
    pub liveness_probe: Option<Probe>,
    /// Not allowed for ephemeral containers. Exists for uniformity with other containers.
    #[field(proto = 11)]
    pub readiness_probe: Option<Probe>,
    /// Not allowed for ephemeral containers. Exists for uniformity with other containers.
    #[field(proto = 22)]
    pub startup_probe: Option<Probe>,
    /// Not allowed for ephemeral containers. Exists for uniformity with other containers.
    #[field(proto = 12)]
    pub lifecycle: Option<Lifecycle>,
    /// Path of a file in the container whose content, up to 4096 bytes, becomes the termination message. By default
    /// /dev/termination-log.
    #[field(proto = 13)]
    pub termination_message_path: String,
    /// Source of the termination message: File, or FallbackToLogsOnError, which uses the end of the log when the file
    /// is empty and the container failed. File by default.
    #[field(
        proto = 20,
        known("File", "FallbackToLogsOnError"),
        go_type = "TerminationMessagePolicy"
    )]
    pub termination_message_policy: String,
    /// Pull policy of the image: Always, Never or IfNotPresent. By default Always for the tag latest, otherwise
    /// IfNotPresent.
    #[field(proto = 14, known("Always", "Never", "IfNotPresent"), go_type = "PullPolicy")]
    pub image_pull_policy: String,
    /// Security settings. They take precedence over those of the pod.
    #[field(proto = 15)]
    pub security_context: Option<SecurityContext>,
    /// True if clients can write to standard input. Otherwise reads return end of file at once.
    #[field(proto = 16)]
    pub stdin: bool,
    /// True if standard input is closed after the first attached client disconnects.
    #[field(proto = 17)]
    pub stdin_once: bool,
    /// True if the container has a terminal. Requires stdin.
    #[field(proto = 18)]
    pub tty: bool,
}

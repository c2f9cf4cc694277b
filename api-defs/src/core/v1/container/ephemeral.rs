//! Containers that are added to a running pod to look into it.

use planesmith_machinery::Struct;

use crate::core::v1::{
    ContainerPort, ContainerResizePolicy, ContainerRestartRule, EnvFromSource, EnvVar, Lifecycle, Probe,
    ResourceRequirements, SecurityContext, VolumeDevice, VolumeMount,
};

/// A container that is added to a running pod to look into it. It is given no resources and never started again.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EphemeralContainer {
    /// Fields shared with other containers.
    #[field(inline, proto = 1)]
    pub ephemeral_container_common: EphemeralContainerCommon,
    /// Name of the container whose processes it sees; those of the pod when empty.
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
    /// Folder in which it is started; that of the image when absent.
    #[field(proto = 5)]
    pub working_dir: String,
    /// Has the form that containers have, but cannot be given for an ephemeral one.
    #[field(proto = 6, list_type = map, list_map_keys("containerPort", "protocol"), patch_strategy(merge), patch_merge_key = "containerPort")]
    pub ports: Vec<ContainerPort>,
    /// Objects all of whose keys become variables. Of two keys with one name the later one counts, and env comes before
    /// both.
    #[field(proto = 19, list_type = atomic)]
    pub env_from: Vec<EnvFromSource>,
    /// Environment variables of the container; a later one of the same name wins.
    #[field(proto = 7, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub env: Vec<EnvVar>,
    /// Cannot be given: the container uses what is left of the pod's resources.
    #[field(proto = 8)]
    pub resources: ResourceRequirements,
    /// Has the form that containers have, but cannot be given for an ephemeral one.
    #[field(proto = 23, list_type = atomic)]
    pub resize_policy: Vec<ContainerResizePolicy>,
    /// Has the form that containers have, but cannot be given for an ephemeral one.
    #[field(proto = 24, go_type = "ContainerRestartPolicy")]
    pub restart_policy: Option<String>,
    /// Has the form that containers have, but cannot be given for an ephemeral one.
    #[field(proto = 25, list_type = atomic)]
    pub restart_policy_rules: Vec<ContainerRestartRule>,
    /// Volumes of the pod that are mounted into the container. Subpaths are not allowed.
    #[field(proto = 9, list_type = map, list_map_keys("mountPath"), patch_strategy(merge), patch_merge_key = "mountPath")]
    pub volume_mounts: Vec<VolumeMount>,
    /// Volumes that the container sees as devices.
    #[field(proto = 21, list_type = map, list_map_keys("devicePath"), patch_strategy(merge), patch_merge_key = "devicePath")]
    pub volume_devices: Vec<VolumeDevice>,
    /// Has the form that containers have, but cannot be given for an ephemeral one.
    #[field(proto = 10)]
    pub liveness_probe: Option<Probe>,
    /// Has the form that containers have, but cannot be given for an ephemeral one.
    #[field(proto = 11)]
    pub readiness_probe: Option<Probe>,
    /// Has the form that containers have, but cannot be given for an ephemeral one.
    #[field(proto = 22)]
    pub startup_probe: Option<Probe>,
    /// Has the form that containers have, but cannot be given for an ephemeral one.
    #[field(proto = 12)]
    pub lifecycle: Option<Lifecycle>,
    /// File in the container whose content becomes the message of its end, up to 4096 bytes. By default
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
    /// Security settings; they come before those of the pod.
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

//! Containers of a pod.

mod check;
mod env;
mod ephemeral;
mod lifecycle;
mod probe;
mod security_context;
mod status;
mod stop_signal;

use planesmith_machinery::Struct;

pub(crate) use check::{
    Surroundings, check_containers, check_ephemeral_containers, check_init_containers, check_pull_policy,
};
pub use env::{
    ConfigMapEnvSource, ConfigMapKeySelector, EnvFromSource, EnvVar, EnvVarSource, FileKeySelector,
    ObjectFieldSelector, ResourceFieldSelector, SecretEnvSource, SecretKeySelector,
};
pub(crate) use env::{FieldPaths, ResourceOf};
pub use ephemeral::{EphemeralContainer, EphemeralContainerCommon};
pub use lifecycle::{Lifecycle, LifecycleHandler, SleepAction};
pub use probe::{ExecAction, GRPCAction, HTTPGetAction, HTTPHeader, Probe, ProbeHandler, TCPSocketAction};
pub(crate) use security_context::check_id;
pub use security_context::{
    AppArmorProfile, Capabilities, SELinuxOptions, SeccompProfile, SecurityContext, WindowsSecurityContextOptions,
};
pub use status::{
    ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting, ContainerStatus,
    ContainerUser, ImageVolumeStatus, LinuxContainerUser, ResourceHealth, ResourceStatus, VolumeMountStatus,
    VolumeStatus,
};

use crate::core::v1::ResourceRequirements;

/// A container of a pod: an image, its command and its requirements.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Container {
    /// Name of the container, a DNS label; unique in the pod. Immutable.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Image to run. Optional in templates whose controller sets it.
    #[field(proto = 2)]
    pub image: String,
    /// Command that replaces the entry point of the image, executed without a shell. $(NAME) expands to a variable of
    /// the container, $$(NAME) to a literal $(NAME). Immutable.
    #[field(proto = 3, list_type = atomic)]
    pub command: Vec<String>,
    /// Arguments of the command. Those of the image when absent. Variables expand as in command. Immutable.
    #[field(proto = 4, list_type = atomic)]
    pub args: Vec<String>,
    /// Working directory of the command. That of the image when absent. Immutable.
    #[field(proto = 5)]
    pub working_dir: String,
    /// Ports that the container exposes. The list is informative; other ports are accessible, too. Immutable.
    #[field(proto = 6, list_type = map, list_map_keys("containerPort", "protocol"), patch_strategy(merge), patch_merge_key = "containerPort")]
    pub ports: Vec<ContainerPort>,
    /// Objects whose keys all become environment variables. A later object takes precedence over an earlier one, and
    /// env over both. Immutable.
    #[field(proto = 19, list_type = atomic)]
    pub env_from: Vec<EnvFromSource>,
    /// Environment variables of the container. Immutable.
    #[field(proto = 7, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub env: Vec<EnvVar>,
    /// Resource requests and limits.
    #[field(proto = 8)]
    pub resources: ResourceRequirements,
    /// Restart policy of the container for changes of individual resources.
    #[field(proto = 23, list_type = atomic)]
    pub resize_policy: Vec<ContainerResizePolicy>,
    /// Restart policy that overrides the one of the pod: Always, OnFailure or Never. An init container with Always
    /// keeps running beside the main containers, and the next init container starts once it has started.
    #[field(proto = 24, go_type = "ContainerRestartPolicy")]
    pub restart_policy: Option<String>,
    /// Rules about exit codes, evaluated in order before restartPolicy.
    #[field(proto = 25, list_type = atomic)]
    pub restart_policy_rules: Vec<ContainerRestartRule>,
    /// Volumes of the pod that are mounted into the container. Immutable.
    #[field(proto = 9, list_type = map, list_map_keys("mountPath"), patch_strategy(merge), patch_merge_key = "mountPath")]
    pub volume_mounts: Vec<VolumeMount>,
    /// Volumes that the container uses as block devices.
    #[field(proto = 21, list_type = map, list_map_keys("devicePath"), patch_strategy(merge), patch_merge_key = "devicePath")]
    pub volume_devices: Vec<VolumeDevice>,
    /// Probe of the container's liveness. The container is restarted when it fails.
    #[field(proto = 10)]
    pub liveness_probe: Option<Probe>,
    /// Probe of the container's readiness. Services do not route traffic to the pod while it fails.
    #[field(proto = 11)]
    pub readiness_probe: Option<Probe>,
    /// Probe of the container's startup. The other probes start after it has succeeded. The container is restarted when
    /// it fails.
    #[field(proto = 22)]
    pub startup_probe: Option<Probe>,
    /// Hooks that run after the container starts and before it stops.
    #[field(proto = 12)]
    pub lifecycle: Option<Lifecycle>,
    /// Path of a file in the container whose content, up to 4096 bytes, becomes the termination message. By default
    /// /dev/termination-log. Immutable.
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
    /// IfNotPresent. Immutable.
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

/// A port that a container exposes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerPort {
    /// Name of the port, unique in the pod. Services can refer to it.
    #[field(proto = 1)]
    pub name: String,
    /// Port of the node that is forwarded to the container, from 1 to 65535. Most pods need none. Must equal
    /// containerPort for pods in the node's network.
    #[field(proto = 2)]
    pub host_port: i32,
    /// Port on the pod's address, from 1 to 65535.
    #[field(proto = 3, keep)]
    pub container_port: i32,
    /// Protocol: TCP (the default), UDP or SCTP.
    #[field(proto = 4, default = "TCP", known("TCP", "UDP", "SCTP"), go_type = "Protocol")]
    pub protocol: String,
    /// Address of the node that hostPort is bound to.
    #[field(name = "hostIP", proto = 5)]
    pub host_ip: String,
}

/// Consequence of a resource change for a running container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerResizePolicy {
    /// Name of the resource: cpu or memory.
    #[field(proto = 1, keep, go_type = "ResourceName")]
    pub resource_name: String,
    /// Restart on resize: NotRequired (the default) leaves the container running, RestartContainer restarts it.
    #[field(proto = 2, keep, go_type = "ResourceResizeRestartPolicy")]
    pub restart_policy: String,
}

/// Action after the container exits with certain exit codes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerRestartRule {
    /// Action on a match: Restart starts the container again.
    #[field(proto = 1, expected, go_type = "ContainerRestartRuleAction")]
    pub action: String,
    /// Exit codes that match.
    #[field(proto = 2)]
    pub exit_codes: Option<ContainerRestartRuleOnExitCodes>,
}

/// A requirement on exit codes of containers.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerRestartRuleOnExitCodes {
    /// Operator: In matches the listed codes, NotIn all others.
    #[field(proto = 1, expected, go_type = "ContainerRestartRuleOnExitCodesOperator")]
    pub operator: String,
    /// Exit codes, at most 255 entries.
    #[field(proto = 2, list_type = set)]
    pub values: Vec<i32>,
}

/// A volume that is mounted into a container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeMount {
    /// Name of a volume of the pod.
    #[field(proto = 1, keep)]
    pub name: String,
    /// True if the container can only read the volume.
    #[field(proto = 2)]
    pub read_only: bool,
    /// Extension of readOnly to mounts below the volume's root: Disabled, IfPossible or Enabled. Requires readOnly.
    #[field(proto = 7, go_type = "RecursiveReadOnlyMode")]
    pub recursive_read_only: Option<String>,
    /// Path of the mount in the container. Must not contain a colon.
    #[field(proto = 3, keep)]
    pub mount_path: String,
    /// Path within the volume that is mounted instead of its root.
    #[field(proto = 4)]
    pub sub_path: String,
    /// Propagation of mounts that are created later, between node and container: None, HostToContainer or
    /// Bidirectional. None by default.
    #[field(
        proto = 5,
        known("None", "HostToContainer", "Bidirectional"),
        go_type = "MountPropagationMode"
    )]
    pub mount_propagation: Option<String>,
    /// Path within the volume like subPath, in which $(NAME) expands to variables of the container. Excludes subPath.
    #[field(proto = 6)]
    pub sub_path_expr: String,
}

/// A volume that a container uses as a block device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeDevice {
    /// Name of a volume of the pod, which must refer to a claim.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Path of the device in the container.
    #[field(proto = 2, keep)]
    pub device_path: String,
}

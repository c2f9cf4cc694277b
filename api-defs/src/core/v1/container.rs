//! Containers of a pod.

mod check;
mod env;
mod ephemeral;
mod lifecycle;
mod probe;
mod security_context;
mod status;

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
pub use security_context::allow_privileged_containers;
pub use security_context::{
    AppArmorProfile, Capabilities, SELinuxOptions, SeccompProfile, SecurityContext, WindowsSecurityContextOptions,
};
pub(crate) use security_context::{check_id, privileged_allowed};
pub use status::{
    ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting, ContainerStatus,
    ContainerUser, ImageVolumeStatus, LinuxContainerUser, ResourceHealth, ResourceStatus, VolumeMountStatus,
    VolumeStatus,
};

use crate::core::v1::ResourceRequirements;

/// A program of a pod, in an image, with what it needs.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Container {
    /// Name of the container, a DNS label; unique in the pod. Cannot change.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Image to run. May be left out in a template whose controller fills it in.
    #[field(proto = 2)]
    pub image: String,
    /// Command that replaces the entry point of the image, executed without a shell. $(NAME) expands to a variable of
    /// the container, $$(NAME) to a literal $(NAME). Immutable.
    #[field(proto = 3, list_type = atomic)]
    pub command: Vec<String>,
    /// Arguments of the command. Those of the image when absent. Variables expand as in command. Immutable.
    #[field(proto = 4, list_type = atomic)]
    pub args: Vec<String>,
    /// Folder in which it is started; that of the image when absent. Cannot change.
    #[field(proto = 5)]
    pub working_dir: String,
    /// Ports on which it listens. A port that is not named here can be reached as well. Cannot change.
    #[field(proto = 6, list_type = map, list_map_keys("containerPort", "protocol"), patch_strategy(merge), patch_merge_key = "containerPort")]
    pub ports: Vec<ContainerPort>,
    /// Objects all of whose keys become variables. Of two keys with one name the later one counts, and env comes before
    /// both. Cannot change.
    #[field(proto = 19, list_type = atomic)]
    pub env_from: Vec<EnvFromSource>,
    /// Variables of the container. Cannot change.
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
    /// Exit codes that decide, in this order, before restartPolicy does.
    #[field(proto = 25, list_type = atomic)]
    pub restart_policy_rules: Vec<ContainerRestartRule>,
    /// Volumes of the pod that are mounted into the container. Immutable.
    #[field(proto = 9, list_type = map, list_map_keys("mountPath"), patch_strategy(merge), patch_merge_key = "mountPath")]
    pub volume_mounts: Vec<VolumeMount>,
    /// Volumes that the container sees as devices.
    #[field(proto = 21, list_type = map, list_map_keys("devicePath"), patch_strategy(merge), patch_merge_key = "devicePath")]
    pub volume_devices: Vec<VolumeDevice>,
    /// Tells whether the container is alive; it is started again when not.
    #[field(proto = 10)]
    pub liveness_probe: Option<Probe>,
    /// Tells whether the container can serve; Services leave the pod out while it cannot.
    #[field(proto = 11)]
    pub readiness_probe: Option<Probe>,
    /// Tells whether the container has started. The other probes wait for it, and the container is started again when
    /// it takes too long.
    #[field(proto = 22)]
    pub startup_probe: Option<Probe>,
    /// Hooks that run after the container starts and before it stops.
    #[field(proto = 12)]
    pub lifecycle: Option<Lifecycle>,
    /// File in the container whose content becomes the message of its end, up to 4096 bytes. By default
    /// /dev/termination-log. Cannot change.
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

/// A port on which a container listens.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerPort {
    /// Name of the port, unique in the pod; Services can refer to it.
    #[field(proto = 1)]
    pub name: String,
    /// Port of the node that leads to it, from 1 to 65535. Most pods need none. Equal to containerPort in the node's
    /// network.
    #[field(proto = 2)]
    pub host_port: i32,
    /// Port at the pod's address, from 1 to 65535.
    #[field(proto = 3, keep)]
    pub container_port: i32,
    /// TCP, UDP or SCTP; TCP by default.
    #[field(proto = 4, default = "TCP", known("TCP", "UDP", "SCTP"), go_type = "Protocol")]
    pub protocol: String,
    /// Address of the node at which hostPort is bound.
    #[field(name = "hostIP", proto = 5)]
    pub host_ip: String,
}

/// Consequence of a resource change for a running container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerResizePolicy {
    /// The resource: cpu or memory.
    #[field(proto = 1, keep, go_type = "ResourceName")]
    pub resource_name: String,
    /// NotRequired to leave the container running, RestartContainer to start it again. NotRequired by default.
    #[field(proto = 2, keep, go_type = "ResourceResizeRestartPolicy")]
    pub restart_policy: String,
}

/// Action after the container exits with certain exit codes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerRestartRule {
    /// Action on a match: Restart starts the container again.
    #[field(proto = 1, expected, go_type = "ContainerRestartRuleAction")]
    pub action: String,
    /// The exit codes that are meant.
    #[field(proto = 2)]
    pub exit_codes: Option<ContainerRestartRuleOnExitCodes>,
}

/// Exit codes of containers.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerRestartRuleOnExitCodes {
    /// In for the codes listed, NotIn for all others.
    #[field(proto = 1, expected, go_type = "ContainerRestartRuleOnExitCodesOperator")]
    pub operator: String,
    /// The codes, at most 255.
    #[field(proto = 2, list_type = set)]
    pub values: Vec<i32>,
}

/// A volume that is mounted into a container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeMount {
    /// Name of the volume, as the pod lists it.
    #[field(proto = 1, keep)]
    pub name: String,
    /// True if the container can only read the volume.
    #[field(proto = 2)]
    pub read_only: bool,
    /// Extension of readOnly to mounts below the volume's root: Disabled, IfPossible or Enabled. Requires readOnly.
    #[field(proto = 7, go_type = "RecursiveReadOnlyMode")]
    pub recursive_read_only: Option<String>,
    /// Path in the container; without a colon.
    #[field(proto = 3, keep)]
    pub mount_path: String,
    /// Path in the volume that is mounted in place of its root.
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
    /// As subPath, with $(NAME) for variables of the container. Excludes subPath.
    #[field(proto = 6)]
    pub sub_path_expr: String,
}

/// A volume that a container uses as a block device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeDevice {
    /// Name of the volume, which must be behind a claim.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Path of the device in the container.
    #[field(proto = 2, keep)]
    pub device_path: String,
}

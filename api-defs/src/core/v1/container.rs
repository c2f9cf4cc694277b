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

/// Container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Container {
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

/// Container port.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerPort {
    /// The name.
    #[field(proto = 1)]
    pub name: String,
    /// The host port.
    #[field(proto = 2)]
    pub host_port: i32,
    /// The container port.
    #[field(proto = 3, keep)]
    pub container_port: i32,
    /// The protocol.
    #[field(proto = 4, default = "TCP")]
    pub protocol: String,
    /// The host ip.
    #[field(name = "hostIP", proto = 5)]
    pub host_ip: String,
}

/// Container resize policy.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerResizePolicy {
    /// The resource name.
    #[field(proto = 1, keep)]
    pub resource_name: String,
    /// The restart policy.
    #[field(proto = 2, keep)]
    pub restart_policy: String,
}

/// Container restart rule.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerRestartRule {
    /// The action.
    #[field(proto = 1, expected)]
    pub action: String,
    /// The exit codes.
    #[field(proto = 2)]
    pub exit_codes: Option<ContainerRestartRuleOnExitCodes>,
}

/// Container restart rule on exit codes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerRestartRuleOnExitCodes {
    /// The operator.
    #[field(proto = 1, expected)]
    pub operator: String,
    /// The values.
    #[field(proto = 2, list_type = set)]
    pub values: Vec<i32>,
}

/// Volume mount.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeMount {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The read only.
    #[field(proto = 2)]
    pub read_only: bool,
    /// The recursive read only.
    #[field(proto = 7)]
    pub recursive_read_only: Option<String>,
    /// The mount path.
    #[field(proto = 3, keep)]
    pub mount_path: String,
    /// The sub path.
    #[field(proto = 4)]
    pub sub_path: String,
    /// The mount propagation.
    #[field(proto = 5)]
    pub mount_propagation: Option<String>,
    /// The sub path expr.
    #[field(proto = 6)]
    pub sub_path_expr: String,
}

/// Volume device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeDevice {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The device path.
    #[field(proto = 2, keep)]
    pub device_path: String,
}

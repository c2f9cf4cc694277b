//! Observed state of containers.

use planesmith_machinery::Struct;
use planesmith_machinery::time::Time;

use super::stop_signal::STOP_SIGNALS;
use crate::core::v1::{ResourceList, ResourceRequirements};

/// Observed state of a container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerStatus {
    /// Name of the container, unique in the pod.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Current state of the container: waiting, running or terminated.
    #[field(proto = 2)]
    pub state: ContainerState,
    /// State of the last terminated execution, if the container was restarted.
    #[field(proto = 3, go_name = "LastTerminationState")]
    pub last_state: ContainerState,
    /// True if the readiness probe succeeds or, without a probe, the container runs.
    #[field(proto = 4, keep)]
    pub ready: bool,
    /// Number of restarts. Lower when terminated containers were removed.
    #[field(proto = 5, keep)]
    pub restart_count: i32,
    /// Image that the container runs. Its name may differ from the one in the spec.
    #[field(proto = 6, keep)]
    pub image: String,
    /// ID of the running image in the container runtime.
    #[field(name = "imageID", proto = 7, keep)]
    pub image_id: String,
    /// ID of the container, as type://id.
    #[field(name = "containerID", proto = 8)]
    pub container_id: String,
    /// True if the container runs, its postStart hook has completed and its startup probe has succeeded.
    #[field(proto = 9)]
    pub started: Option<bool>,
    /// Resources that the node has allocated to the container.
    #[field(proto = 10, go_type = "ResourceList")]
    pub allocated_resources: ResourceList,
    /// Limits and requests in effect for the container.
    #[field(proto = 11)]
    pub resources: Option<ResourceRequirements>,
    /// Observed state of its mounts.
    #[field(proto = 12, list_type = map, list_map_keys("mountPath"), patch_strategy(merge), patch_merge_key = "mountPath")]
    pub volume_mounts: Vec<VolumeMountStatus>,
    /// User and groups of the container's first process.
    #[field(proto = 13)]
    pub user: Option<ContainerUser>,
    /// Health of the devices that are allocated to the container.
    #[field(proto = 14, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub allocated_resources_status: Vec<ResourceStatus>,
    /// Signal that stops the container.
    #[field(proto = 15, known = STOP_SIGNALS, go_type = "Signal")]
    pub stop_signal: Option<String>,
}

/// State of a container: exactly one of the members; waiting when none is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerState {
    /// Set while the container is waiting to start, for instance for its image.
    #[field(proto = 1)]
    pub waiting: Option<ContainerStateWaiting>,
    /// Set while the container is running.
    #[field(proto = 2)]
    pub running: Option<ContainerStateRunning>,
    /// Set after the container has terminated.
    #[field(proto = 3)]
    pub terminated: Option<ContainerStateTerminated>,
}

/// State of a waiting container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerStateWaiting {
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 1)]
    pub reason: String,
    /// Human-readable explanation of the reason.
    #[field(proto = 2)]
    pub message: String,
}

/// State of a running container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerStateRunning {
    /// Time of the container's last start.
    #[field(proto = 1)]
    pub started_at: Time,
}

/// State of a terminated container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerStateTerminated {
    /// Exit code of the terminated execution.
    #[field(proto = 1, keep)]
    pub exit_code: i32,
    /// Signal that terminated the execution.
    #[field(proto = 2)]
    pub signal: i32,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 3)]
    pub reason: String,
    /// Termination message of the container.
    #[field(proto = 4)]
    pub message: String,
    /// Start time of the terminated execution.
    #[field(proto = 5)]
    pub started_at: Time,
    /// End time of the terminated execution.
    #[field(proto = 6)]
    pub finished_at: Time,
    /// ID of the container, as type://id.
    #[field(name = "containerID", proto = 7)]
    pub container_id: String,
}

/// Observed state of a mount.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeMountStatus {
    /// Name of the container's volume mount.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Path of the mount in the container.
    #[field(proto = 2, keep)]
    pub mount_path: String,
    /// True if the mount is read-only.
    #[field(proto = 3)]
    pub read_only: bool,
    /// State of readOnly for mounts below the volume's root: Disabled or Enabled.
    #[field(proto = 4, go_type = "RecursiveReadOnlyMode")]
    pub recursive_read_only: Option<String>,
    /// Further status of the volume.
    #[field(proto = 5)]
    pub volume_status: Option<VolumeStatus>,
}

/// Status of a volume.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeStatus {
    /// Status of an image volume.
    #[field(proto = 1)]
    pub image: Option<ImageVolumeStatus>,
}

/// Status of an image that is mounted as a volume.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ImageVolumeStatus {
    /// Image reference with its digest.
    #[field(proto = 1, expected)]
    pub image_ref: String,
}

/// User and groups of a container's first process.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerUser {
    /// Linux user and groups, as numeric IDs.
    #[field(proto = 1)]
    pub linux: Option<LinuxContainerUser>,
}

/// Linux user and groups of a process.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LinuxContainerUser {
    /// User ID of the container's first process.
    #[field(proto = 1, keep)]
    pub uid: i64,
    /// Primary group ID of the container's first process.
    #[field(proto = 2, keep)]
    pub gid: i64,
    /// Supplemental group IDs of the container's first process.
    #[field(proto = 3, list_type = atomic)]
    pub supplemental_groups: Vec<i64>,
}

/// Health of the devices that are allocated to a container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceStatus {
    /// Name of the resource, or claim:CLAIM/REQUEST.
    #[field(proto = 1, keep, go_type = "ResourceName")]
    pub name: String,
    /// Health of the individual devices.
    #[field(proto = 2, list_type = map, list_map_keys("resourceID"))]
    pub resources: Vec<ResourceHealth>,
}

/// Health of a device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceHealth {
    /// ID of the device, unique within its resource.
    #[field(name = "resourceID", proto = 1, keep, go_type = "ResourceID")]
    pub resource_id: String,
    /// Health: Healthy, Unhealthy, or Unknown before the first report. Does not terminate the pod.
    #[field(proto = 2, go_type = "ResourceHealthStatus")]
    pub health: String,
    /// Human-readable explanation of the health.
    #[field(proto = 6)]
    pub message: Option<String>,
}

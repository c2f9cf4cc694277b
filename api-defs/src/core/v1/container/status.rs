//! What became of a container.

use planesmith_machinery::Struct;
use planesmith_machinery::time::Time;

use crate::core::v1::{ResourceList, ResourceRequirements};

/// Container status.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerStatus {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The state.
    #[field(proto = 2)]
    pub state: ContainerState,
    /// The last state.
    #[field(proto = 3)]
    pub last_state: ContainerState,
    /// The ready.
    #[field(proto = 4, keep)]
    pub ready: bool,
    /// The restart count.
    #[field(proto = 5, keep)]
    pub restart_count: i32,
    /// The image.
    #[field(proto = 6, keep)]
    pub image: String,
    /// The image id.
    #[field(name = "imageID", proto = 7, keep)]
    pub image_id: String,
    /// The container id.
    #[field(name = "containerID", proto = 8)]
    pub container_id: String,
    /// The started.
    #[field(proto = 9)]
    pub started: Option<bool>,
    /// The allocated resources.
    #[field(proto = 10)]
    pub allocated_resources: ResourceList,
    /// The resources.
    #[field(proto = 11)]
    pub resources: Option<ResourceRequirements>,
    /// The volume mounts.
    #[field(proto = 12, list_type = map, list_map_keys("mountPath"), patch_strategy(merge), patch_merge_key = "mountPath")]
    pub volume_mounts: Vec<VolumeMountStatus>,
    /// The user.
    #[field(proto = 13)]
    pub user: Option<ContainerUser>,
    /// The allocated resources status.
    #[field(proto = 14, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub allocated_resources_status: Vec<ResourceStatus>,
    /// The stop signal.
    #[field(proto = 15)]
    pub stop_signal: Option<String>,
}

/// Container state.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerState {
    /// The waiting.
    #[field(proto = 1)]
    pub waiting: Option<ContainerStateWaiting>,
    /// The running.
    #[field(proto = 2)]
    pub running: Option<ContainerStateRunning>,
    /// The terminated.
    #[field(proto = 3)]
    pub terminated: Option<ContainerStateTerminated>,
}

/// Container state waiting.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerStateWaiting {
    /// The reason.
    #[field(proto = 1)]
    pub reason: String,
    /// The message.
    #[field(proto = 2)]
    pub message: String,
}

/// Container state running.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerStateRunning {
    /// The started at.
    #[field(proto = 1)]
    pub started_at: Time,
}

/// Container state terminated.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerStateTerminated {
    /// The exit code.
    #[field(proto = 1, keep)]
    pub exit_code: i32,
    /// The signal.
    #[field(proto = 2)]
    pub signal: i32,
    /// The reason.
    #[field(proto = 3)]
    pub reason: String,
    /// The message.
    #[field(proto = 4)]
    pub message: String,
    /// The started at.
    #[field(proto = 5)]
    pub started_at: Time,
    /// The finished at.
    #[field(proto = 6)]
    pub finished_at: Time,
    /// The container id.
    #[field(name = "containerID", proto = 7)]
    pub container_id: String,
}

/// Volume mount status.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeMountStatus {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The mount path.
    #[field(proto = 2, keep)]
    pub mount_path: String,
    /// The read only.
    #[field(proto = 3)]
    pub read_only: bool,
    /// The recursive read only.
    #[field(proto = 4)]
    pub recursive_read_only: Option<String>,
    /// The volume status.
    #[field(proto = 5)]
    pub volume_status: Option<VolumeStatus>,
}

/// Volume status.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeStatus {
    /// The image.
    #[field(proto = 1)]
    pub image: Option<ImageVolumeStatus>,
}

/// Image volume status.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ImageVolumeStatus {
    /// The image ref.
    #[field(proto = 1, expected)]
    pub image_ref: String,
}

/// Container user.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerUser {
    /// The linux.
    #[field(proto = 1)]
    pub linux: Option<LinuxContainerUser>,
}

/// Linux container user.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LinuxContainerUser {
    /// The uid.
    #[field(proto = 1, keep)]
    pub uid: i64,
    /// The gid.
    #[field(proto = 2, keep)]
    pub gid: i64,
    /// The supplemental groups.
    #[field(proto = 3, list_type = atomic)]
    pub supplemental_groups: Vec<i64>,
}

/// Resource status.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceStatus {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The resources.
    #[field(proto = 2, list_type = map, list_map_keys("resourceID"))]
    pub resources: Vec<ResourceHealth>,
}

/// Resource health.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceHealth {
    /// The resource id.
    #[field(name = "resourceID", proto = 1, keep)]
    pub resource_id: String,
    /// The health.
    #[field(proto = 2)]
    pub health: String,
    /// The message.
    #[field(proto = 6)]
    pub message: Option<String>,
}

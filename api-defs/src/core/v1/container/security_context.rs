//! Security settings of containers.

mod check;
mod privileged;
mod windows;

use planesmith_machinery::Struct;

pub(crate) use check::check_id;
pub use privileged::allow_privileged_containers;
pub(crate) use privileged::are_allowed as privileged_allowed;

/// Security settings of a container. They come before those of the pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SecurityContext {
    /// Capabilities of the kernel that are added and taken away. Not on Windows.
    #[field(proto = 1)]
    pub capabilities: Option<Capabilities>,
    /// True if the container has the privileges of root on the node. Not on Windows.
    #[field(proto = 2)]
    pub privileged: Option<bool>,
    /// SELinux context of the container; made up by the runtime when absent. Not on Windows.
    #[field(proto = 3)]
    pub se_linux_options: Option<SELinuxOptions>,
    /// Settings for Windows. Not on Linux.
    #[field(proto = 10)]
    pub windows_options: Option<WindowsSecurityContextOptions>,
    /// User, by number, that the container runs as; that of the image when absent. Not on Windows.
    #[field(proto = 4)]
    pub run_as_user: Option<i64>,
    /// Group, by number, that the container runs as; that of the runtime when absent. Not on Windows.
    #[field(proto = 8)]
    pub run_as_group: Option<i64>,
    /// Refuses to start the container when it would run as root.
    #[field(proto = 5)]
    pub run_as_non_root: Option<bool>,
    /// True if the root file system of the container is read-only. Not on Windows.
    #[field(proto = 6)]
    pub read_only_root_filesystem: Option<bool>,
    /// True if a process can gain more privileges than its parent. Always true for privileged containers. Not on
    /// Windows.
    #[field(proto = 7)]
    pub allow_privilege_escalation: Option<bool>,
    /// Type of the /proc mount: Default hides parts of it; Unmasked hides nothing and requires a user namespace of the
    /// pod's own. Not on Windows.
    #[field(proto = 9, known("Default", "Unmasked"), go_type = "ProcMountType")]
    pub proc_mount: Option<String>,
    /// Seccomp profile, which limits the system calls of the container. Not on Windows.
    #[field(proto = 11)]
    pub seccomp_profile: Option<SeccompProfile>,
    /// AppArmor profile of the container. Not on Windows.
    #[field(proto = 12)]
    pub app_armor_profile: Option<AppArmorProfile>,
}

/// Capabilities of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Capabilities {
    /// Capabilities that the container gets besides those that its runtime gives to all.
    #[field(proto = 1, list_type = atomic, go_type = "[]Capability")]
    pub add: Vec<String>,
    /// Those that are taken away.
    #[field(proto = 2, list_type = atomic, go_type = "[]Capability")]
    pub drop: Vec<String>,
}

/// An SELinux context.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SELinuxOptions {
    /// User part of the SELinux label of the process.
    #[field(proto = 1)]
    pub user: String,
    /// Role part of the SELinux label of the process.
    #[field(proto = 2)]
    pub role: String,
    /// Type part of the SELinux label of the process, which most policies decide by.
    #[field(proto = 3)]
    pub type_: String,
    /// Level part of the SELinux label of the process, which keeps containers apart.
    #[field(proto = 4)]
    pub level: String,
}

/// Settings for Windows.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WindowsSecurityContextOptions {
    /// Name of the object with the credentials of a group managed service account.
    #[field(proto = 1)]
    pub gmsa_credential_spec_name: Option<String>,
    /// Those credentials themselves; filled in by a webhook.
    #[field(proto = 2)]
    pub gmsa_credential_spec: Option<String>,
    /// User, perhaps with a domain, that containers run as; that of the image when absent.
    #[field(proto = 3)]
    pub run_as_user_name: Option<String>,
    /// True if the container runs as a process of the node. Must be the same for all containers of a pod. Requires
    /// hostNetwork.
    #[field(proto = 4)]
    pub host_process: Option<bool>,
}

/// Seccomp profile, which limits system calls.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct SeccompProfile {
    /// Localhost for a file on the node, RuntimeDefault for what the runtime allows, Unconfined for all.
    #[field(
        proto = 1,
        keep,
        discriminator,
        known("Unconfined", "RuntimeDefault", "Localhost"),
        go_type = "SeccompProfileType"
    )]
    pub type_: String,
    /// Path of the file, below the kubelet's folder of profiles. Only and always for Localhost.
    #[field(proto = 2)]
    pub localhost_profile: Option<String>,
}

/// A profile of AppArmor.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct AppArmorProfile {
    /// Localhost for a profile loaded on the node, RuntimeDefault for that of the runtime, Unconfined for none.
    #[field(
        proto = 1,
        keep,
        discriminator,
        known("Unconfined", "RuntimeDefault", "Localhost"),
        go_type = "AppArmorProfileType"
    )]
    pub type_: String,
    /// Name of the loaded profile. Only and always for Localhost.
    #[field(proto = 2)]
    pub localhost_profile: Option<String>,
}

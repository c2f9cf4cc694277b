//! Security settings of containers.

mod check;
mod windows;

use planesmith_machinery::Struct;

pub(crate) use check::check_id;

/// Security settings of a container. They take precedence over those of the pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SecurityContext {
    /// Kernel capabilities to add and drop. Not on Windows.
    #[field(proto = 1)]
    pub capabilities: Option<Capabilities>,
    /// True if the container has the privileges of root on the node. Not on Windows.
    #[field(proto = 2)]
    pub privileged: Option<bool>,
    /// SELinux context of the container. Chosen by the runtime when absent. Not on Windows.
    #[field(proto = 3)]
    pub se_linux_options: Option<SELinuxOptions>,
    /// Options for Windows. Not on Linux.
    #[field(proto = 10)]
    pub windows_options: Option<WindowsSecurityContextOptions>,
    /// User ID of the container's processes. That of the image when absent. Not on Windows.
    #[field(proto = 4)]
    pub run_as_user: Option<i64>,
    /// Group ID of the container's processes. Chosen by the runtime when absent. Not on Windows.
    #[field(proto = 8)]
    pub run_as_group: Option<i64>,
    /// True to refuse to start the container if it would run as root.
    #[field(proto = 5)]
    pub run_as_non_root: Option<bool>,
    /// True if the root file system of the container is read-only. Not on Windows.
    #[field(proto = 6)]
    pub read_only_root_filesystem: Option<bool>,
    /// True if processes may have more privileges than their parents. Always true for privileged containers. Not on
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

/// Kernel capabilities.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Capabilities {
    /// Capabilities to add to those that the runtime grants by default.
    #[field(proto = 1, list_type = atomic, go_type = "[]Capability")]
    pub add: Vec<String>,
    /// Capabilities to drop.
    #[field(proto = 2, list_type = atomic, go_type = "[]Capability")]
    pub drop: Vec<String>,
}

/// An SELinux context.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SELinuxOptions {
    /// User of the SELinux label.
    #[field(proto = 1)]
    pub user: String,
    /// Role of the SELinux label.
    #[field(proto = 2)]
    pub role: String,
    /// Type of the SELinux label, which most policies are based on.
    #[field(proto = 3)]
    pub type_: String,
    /// Level of the SELinux label, which isolates containers from each other.
    #[field(proto = 4)]
    pub level: String,
}

/// Options for Windows.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WindowsSecurityContextOptions {
    /// Name of the object with the credential specification of a group managed service account.
    #[field(proto = 1)]
    pub gmsa_credential_spec_name: Option<String>,
    /// Credential specification of the group managed service account, set by a webhook.
    #[field(proto = 2)]
    pub gmsa_credential_spec: Option<String>,
    /// User name, optionally with a domain, of the container's processes. That of the image when absent.
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
    /// Type of the profile: Localhost for a file on the node, RuntimeDefault for the default of the runtime, Unconfined
    /// for no restrictions.
    #[field(
        proto = 1,
        keep,
        discriminator,
        known("Unconfined", "RuntimeDefault", "Localhost"),
        go_type = "SeccompProfileType"
    )]
    pub type_: String,
    /// Path of the profile, relative to the kubelet's directory of profiles. Required for Localhost, forbidden
    /// otherwise.
    #[field(proto = 2)]
    pub localhost_profile: Option<String>,
}

/// An AppArmor profile.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct AppArmorProfile {
    /// Type of the profile: Localhost for a profile that is loaded on the node, RuntimeDefault for the default of the
    /// runtime, Unconfined for none.
    #[field(
        proto = 1,
        keep,
        discriminator,
        known("Unconfined", "RuntimeDefault", "Localhost"),
        go_type = "AppArmorProfileType"
    )]
    pub type_: String,
    /// Name of the loaded profile. Required for Localhost, forbidden otherwise.
    #[field(proto = 2)]
    pub localhost_profile: Option<String>,
}

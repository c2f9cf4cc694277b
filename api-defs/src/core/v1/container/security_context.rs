//! Security settings of containers.

mod check;
mod privileged;
mod windows;

use planesmith_machinery::Struct;

pub(crate) use check::check_id;
pub use privileged::allow_privileged_containers;
pub(crate) use privileged::are_allowed as privileged_allowed;

/// Security context.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SecurityContext {
    /// The capabilities.
    #[field(proto = 1)]
    pub capabilities: Option<Capabilities>,
    /// The privileged.
    #[field(proto = 2)]
    pub privileged: Option<bool>,
    /// The se linux options.
    #[field(proto = 3)]
    pub se_linux_options: Option<SELinuxOptions>,
    /// The windows options.
    #[field(proto = 10)]
    pub windows_options: Option<WindowsSecurityContextOptions>,
    /// The run as user.
    #[field(proto = 4)]
    pub run_as_user: Option<i64>,
    /// The run as group.
    #[field(proto = 8)]
    pub run_as_group: Option<i64>,
    /// The run as non root.
    #[field(proto = 5)]
    pub run_as_non_root: Option<bool>,
    /// The read only root filesystem.
    #[field(proto = 6)]
    pub read_only_root_filesystem: Option<bool>,
    /// The allow privilege escalation.
    #[field(proto = 7)]
    pub allow_privilege_escalation: Option<bool>,
    /// The proc mount.
    #[field(proto = 9)]
    pub proc_mount: Option<String>,
    /// The seccomp profile.
    #[field(proto = 11)]
    pub seccomp_profile: Option<SeccompProfile>,
    /// The app armor profile.
    #[field(proto = 12)]
    pub app_armor_profile: Option<AppArmorProfile>,
}

/// Capabilities.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Capabilities {
    /// The add.
    #[field(proto = 1, list_type = atomic)]
    pub add: Vec<String>,
    /// The drop.
    #[field(proto = 2, list_type = atomic)]
    pub drop: Vec<String>,
}

/// Selinux options.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SELinuxOptions {
    /// The user.
    #[field(proto = 1)]
    pub user: String,
    /// The role.
    #[field(proto = 2)]
    pub role: String,
    /// The type.
    #[field(proto = 3)]
    pub type_: String,
    /// The level.
    #[field(proto = 4)]
    pub level: String,
}

/// Windows security context options.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WindowsSecurityContextOptions {
    /// The gmsa credential spec name.
    #[field(proto = 1)]
    pub gmsa_credential_spec_name: Option<String>,
    /// The gmsa credential spec.
    #[field(proto = 2)]
    pub gmsa_credential_spec: Option<String>,
    /// The run as user name.
    #[field(proto = 3)]
    pub run_as_user_name: Option<String>,
    /// The host process.
    #[field(proto = 4)]
    pub host_process: Option<bool>,
}

/// Seccomp profile.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct SeccompProfile {
    /// The type.
    #[field(proto = 1, keep, discriminator)]
    pub type_: String,
    /// The localhost profile.
    #[field(proto = 2)]
    pub localhost_profile: Option<String>,
}

/// App armor profile.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct AppArmorProfile {
    /// The type.
    #[field(proto = 1, keep, discriminator)]
    pub type_: String,
    /// The localhost profile.
    #[field(proto = 2)]
    pub localhost_profile: Option<String>,
}

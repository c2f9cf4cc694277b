//! Security settings that all containers of a pod share.

use planesmith_machinery::Struct;

use crate::core::v1::{AppArmorProfile, SELinuxOptions, SeccompProfile, WindowsSecurityContextOptions};

/// Pod security context.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodSecurityContext {
    /// The se linux options.
    #[field(proto = 1)]
    pub se_linux_options: Option<SELinuxOptions>,
    /// The windows options.
    #[field(proto = 8)]
    pub windows_options: Option<WindowsSecurityContextOptions>,
    /// The run as user.
    #[field(proto = 2)]
    pub run_as_user: Option<i64>,
    /// The run as group.
    #[field(proto = 6)]
    pub run_as_group: Option<i64>,
    /// The run as non root.
    #[field(proto = 3)]
    pub run_as_non_root: Option<bool>,
    /// The supplemental groups.
    #[field(proto = 4, list_type = atomic)]
    pub supplemental_groups: Vec<i64>,
    /// The supplemental groups policy.
    #[field(proto = 12)]
    pub supplemental_groups_policy: Option<String>,
    /// The fs group.
    #[field(proto = 5)]
    pub fs_group: Option<i64>,
    /// The sysctls.
    #[field(proto = 7, list_type = atomic)]
    pub sysctls: Vec<Sysctl>,
    /// The fs group change policy.
    #[field(proto = 9)]
    pub fs_group_change_policy: Option<String>,
    /// The seccomp profile.
    #[field(proto = 10)]
    pub seccomp_profile: Option<SeccompProfile>,
    /// The app armor profile.
    #[field(proto = 11)]
    pub app_armor_profile: Option<AppArmorProfile>,
    /// The se linux change policy.
    #[field(proto = 13)]
    pub se_linux_change_policy: Option<String>,
}

/// Sysctl.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Sysctl {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The value.
    #[field(proto = 2, keep)]
    pub value: String,
}

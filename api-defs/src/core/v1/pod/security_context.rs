//! Security settings of pods.

use std::collections::BTreeSet;

use super::{PodOptions, PodSpec};
use crate::core::v1::container::check_id;
use crate::features::SELINUX_MOUNT;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;

use crate::core::v1::{AppArmorProfile, SELinuxOptions, SeccompProfile, WindowsSecurityContextOptions};

/// Security settings that all containers of a pod share. Settings of a container take precedence.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(internal = crate::core::v1::internal_layout::POD_SECURITY_CONTEXT)]
pub struct PodSecurityContext {
    /// SELinux context of the containers. Chosen by the runtime when absent. Not on Windows.
    #[field(proto = 1)]
    pub se_linux_options: Option<SELinuxOptions>,
    /// Options for Windows. Not on Linux.
    #[field(proto = 8)]
    pub windows_options: Option<WindowsSecurityContextOptions>,
    /// User ID of the containers' processes. That of the image when absent. Not on Windows.
    #[field(proto = 2)]
    pub run_as_user: Option<i64>,
    /// Group ID of the containers' processes. Chosen by the runtime when absent. Not on Windows.
    #[field(proto = 6)]
    pub run_as_group: Option<i64>,
    /// True to refuse to start a container that would run as root.
    #[field(proto = 3)]
    pub run_as_non_root: Option<bool>,
    /// Supplemental group IDs of the first process of each container. Not on Windows.
    #[field(proto = 4, list_type = atomic)]
    pub supplemental_groups: Vec<i64>,
    /// Source of the supplemental groups: Merge (the default) includes the groups that the image assigns to the user,
    /// Strict does not. Not on Windows.
    #[field(proto = 12, known("Merge", "Strict"), go_type = "SupplementalGroupsPolicy")]
    pub supplemental_groups_policy: Option<String>,
    /// Group ID that owns the files of volumes that support ownership, and a supplemental group of the containers. Not
    /// on Windows.
    #[field(proto = 5)]
    pub fs_group: Option<i64>,
    /// Kernel parameters (sysctls). Not on Windows.
    #[field(proto = 7, list_type = atomic)]
    pub sysctls: Vec<Sysctl>,
    /// Time of changing the owner and the permissions of a volume's files: OnRootMismatch, or Always (the default). Not
    /// on Windows.
    #[field(proto = 9, known("OnRootMismatch", "Always"), go_type = "PodFSGroupChangePolicy")]
    pub fs_group_change_policy: Option<String>,
    /// Seccomp profile, which limits the system calls of the containers. Not on Windows.
    #[field(proto = 10)]
    pub seccomp_profile: Option<SeccompProfile>,
    /// AppArmor profile of the containers. Not on Windows.
    #[field(proto = 11)]
    pub app_armor_profile: Option<AppArmorProfile>,
    /// Method of labeling the files of volumes for SELinux: MountOption labels all at once on mounting, Recursive
    /// labels each file. Not on Windows.
    #[field(proto = 13, go_type = "PodSELinuxChangePolicy")]
    pub se_linux_change_policy: Option<String>,
}

/// A kernel parameter (sysctl).
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Sysctl {
    /// Name of the sysctl, such as net.ipv4.ip_local_port_range.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Value of the sysctl for the pod.
    #[field(proto = 2, keep)]
    pub value: String,
}

/// Maximum length of a sysctl name in bytes.
const LONGEST_SYSCTL: usize = 253;

impl PodSecurityContext {
    /// Reports errors in the settings of the pod `spec`.
    pub(super) fn check(&self, spec: &PodSpec, options: PodOptions, errors: &mut FieldErrors) {
        for (field, id) in [
            ("fsGroup", self.fs_group),
            ("runAsUser", self.run_as_user),
            ("runAsGroup", self.run_as_group),
        ] {
            if let Some(id) = id {
                check_id(field, id, errors);
            }
        }
        for (index, id) in self.supplemental_groups.iter().enumerate() {
            check_id("", *id, &mut errors.at_index("supplementalGroups", index));
        }
        if spec.host_pid && spec.share_process_namespace == Some(true) {
            let problem = "ShareProcessNamespace and HostPID cannot both be enabled";
            errors.invalid("shareProcessNamespace", true, problem);
        }
        check_sysctls(&self.sysctls, spec, options, errors);
        let check_one_of = |field: &str, value: &Option<String>, known: &[&str], errors: &mut FieldErrors| {
            if let Some(value) = value.as_deref()
                && !known.contains(&value)
            {
                errors.not_supported(field, value, known);
            }
        };
        let changes = ["Always", "OnRootMismatch"];
        check_one_of("fsGroupChangePolicy", &self.fs_group_change_policy, &changes, errors);
        if let Some(profile) = &self.seccomp_profile {
            profile.check(&mut errors.at("seccompProfile"));
        }
        if let Some(windows) = &self.windows_options {
            windows.check(&mut errors.at("windowsOptions"));
        }
        if let Some(profile) = &self.app_armor_profile {
            profile.check(&mut errors.at("appArmorProfile"));
        }
        let groups = ["Merge", "Strict"];
        check_one_of(
            "supplementalGroupsPolicy",
            &self.supplemental_groups_policy,
            &groups,
            errors,
        );
        let any = options.any_label_change || errors.features().has(&SELINUX_MOUNT);
        let labels: &[&str] = if any {
            &["MountOption", "Recursive"]
        } else {
            &["Recursive"]
        };
        check_one_of("seLinuxChangePolicy", &self.se_linux_change_policy, labels, errors);
    }
}

fn check_sysctls(sysctls: &[Sysctl], spec: &PodSpec, options: PodOptions, errors: &mut FieldErrors) {
    let mut known = BTreeSet::new();
    for (index, sysctl) in sysctls.iter().enumerate() {
        let mut errors = errors.at_index("sysctls", index);
        let name = sysctl.name.as_str();
        if name.is_empty() {
            errors.required("name", "");
        } else if !is_sysctl(name) {
            let problem = format!(
                "must have at most {LONGEST_SYSCTL} characters and match regex \
                 ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
            );
            errors.invalid("name", name, problem);
        } else if known.contains(name) {
            errors.duplicate("name", name);
        }
        if let Some(shared) = sysctl.shared_with_node(spec).filter(|_| !options.host_sysctls) {
            errors.invalid("name", name, format!("may not be specified when '{shared}' is true"));
        }
        known.insert(name);
    }
}

impl Sysctl {
    /// Returns the field of `spec` that shares the node's namespace of the sysctl with the pod; `None` when it is not
    /// shared.
    pub(super) fn shared_with_node(&self, spec: &PodSpec) -> Option<&'static str> {
        match namespace_of(&self.name) {
            Some("net") if spec.host_network => Some("hostNetwork"),
            Some("ipc") if spec.host_ipc => Some("hostIPC"),
            _ => None,
        }
    }
}

/// True for labels with inner dashes and underscores, joined by dots or slashes.
fn is_sysctl(name: &str) -> bool {
    let is_label = |label: &str| {
        let outer = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
        let bytes = label.as_bytes();
        outer(bytes.first()) && outer(bytes.last()) && bytes.iter().all(inner)
    };
    name.len() <= LONGEST_SYSCTL && name.split(['.', '/']).all(is_label)
}

/// Returns the kernel namespace of a sysctl if pods can have their own; `None` otherwise.
fn namespace_of(name: &str) -> Option<&'static str> {
    // The first dot or slash determines the separator. The other character is then part of a name.
    let slashed = name.find(['.', '/']).is_some_and(|at| name.as_bytes()[at] == b'/');
    let swap = |c: char| match c {
        '.' => '/',
        '/' => '.',
        c => c,
    };
    let name: String = if slashed {
        name.chars().map(swap).collect()
    } else {
        name.to_owned()
    };
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if name == "kernel.sem" || starts(&["kernel.shm", "kernel.msg", "fs.mqueue."]) {
        Some("ipc")
    } else if starts(&["net."]) {
        Some("net")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_belong_to_namespaces() {
        let cases = [
            ("kernel.sem", Some("ipc")),
            ("kernel/shmmax", Some("ipc")),
            ("net/ipv4/conf/eth0.1/x", Some("net")),
            ("vm.swappiness", None),
        ];
        for (name, expected) in cases {
            assert_eq!(namespace_of(name), expected, "{name}");
            assert!(is_sysctl(name), "{name}");
        }
        for name in ["", "bad name", "a..b", "A", "-a", &"a".repeat(254)] {
            assert!(!is_sysctl(name), "{name}");
        }
    }
}

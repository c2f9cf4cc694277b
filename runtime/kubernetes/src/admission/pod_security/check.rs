//! The checks of the security levels: one function per topic, each with the versions in which it is in force.

mod app_armor_profile;
mod capabilities;
mod host;
mod privilege;
mod proc_mount;
mod run_as;
mod se_linux_options;
mod seccomp_profile;
mod sysctls;
mod volumes;
mod wording;

use planesmith_api_defs::core::v1::PodSpec;
use planesmith_machinery::meta::ObjectMeta;

use super::policy::{Level, LevelVersion, Version};

/// A reason why a pod does not meet a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    /// The problem, without the names of containers.
    pub(super) reason: &'static str,
    /// The fields at fault, and the values that are required.
    pub(super) detail: String,
}

/// A pod, or a pod template.
#[derive(Clone, Copy)]
pub(super) struct Checked<'p> {
    pub(super) metadata: &'p ObjectMeta,
    pub(super) spec: &'p PodSpec,
}

type Function = fn(Checked<'_>) -> Option<Violation>;

/// One check, in the order in which violations are reported.
struct Check {
    /// The name by which an overriding check refers to this one.
    id: &'static str,
    level: Level,
    /// The functions, each with the first version in which it is in force, oldest first.
    versions: &'static [(u32, Function)],
    /// The baseline check that this one replaces at the restricted level.
    overrides: &'static str,
}

impl Check {
    const fn baseline(id: &'static str, versions: &'static [(u32, Function)]) -> Self {
        Self {
            id,
            level: Level::Baseline,
            versions,
            overrides: "",
        }
    }

    const fn restricted(id: &'static str, versions: &'static [(u32, Function)], overrides: &'static str) -> Self {
        Self {
            id,
            level: Level::Restricted,
            versions,
            overrides,
        }
    }

    fn in_version(&self, version: Version) -> Option<Function> {
        let counts = |from: &u32| match version {
            Version::Latest => true,
            Version::Minor(minor) => *from <= minor,
        };
        let mut newest_first = self.versions.iter().rev();
        newest_first.find(|(from, _)| counts(from)).map(|(_, check)| *check)
    }
}

/// All checks: baseline first, then restricted, each in alphabetic order of their names.
const CHECKS: &[Check] = &[
    Check::baseline("appArmorProfile", &[(0, app_armor_profile::check)]),
    Check::baseline("capabilities_baseline", &[(0, capabilities::check_baseline)]),
    Check::baseline("hostNamespaces", &[(0, host::check_namespaces)]),
    Check::baseline("hostPathVolumes", &[(0, volumes::check_host_paths)]),
    Check::baseline("hostPorts", &[(0, host::check_ports)]),
    Check::baseline("hostProbesAndHostLifecycle", &[(34, host::check_probes)]),
    Check::baseline("privileged", &[(0, privilege::check_privileged)]),
    Check::baseline(
        "procMount",
        &[(0, proc_mount::check), (35, proc_mount::check_without_user_namespace)],
    ),
    Check::baseline(
        "seLinuxOptions",
        &[(0, se_linux_options::check), (31, se_linux_options::check_with_engine)],
    ),
    Check::baseline(
        "seccompProfile_baseline",
        &[
            (0, seccomp_profile::check_annotations),
            (19, seccomp_profile::check_baseline),
        ],
    ),
    Check::baseline(
        "sysctls",
        &[
            (0, |pod| sysctls::check(pod, 0)),
            (27, |pod| sysctls::check(pod, 27)),
            (29, |pod| sysctls::check(pod, 29)),
            (32, |pod| sysctls::check(pod, 32)),
        ],
    ),
    Check::baseline("windowsHostProcess", &[(0, host::check_windows_processes)]),
    Check::restricted(
        "allowPrivilegeEscalation",
        &[
            (8, privilege::check_escalation),
            (25, |pod| unless_windows(pod, privilege::check_escalation)),
        ],
        "",
    ),
    Check::restricted(
        "capabilities_restricted",
        &[
            (22, capabilities::check_restricted),
            (25, |pod| unless_windows(pod, capabilities::check_restricted)),
        ],
        "capabilities_baseline",
    ),
    Check::restricted("procMount_restricted", &[(35, proc_mount::check)], "procMount"),
    Check::restricted("restrictedVolumes", &[(0, volumes::check_types)], "hostPathVolumes"),
    Check::restricted(
        "runAsNonRoot",
        &[
            (0, run_as::check_non_root),
            (35, |pod| unless_user_namespace(pod, run_as::check_non_root)),
        ],
        "",
    ),
    Check::restricted(
        "runAsUser",
        &[
            (23, run_as::check_user),
            (35, |pod| unless_user_namespace(pod, run_as::check_user)),
        ],
        "",
    ),
    Check::restricted(
        "seccompProfile_restricted",
        &[
            (19, seccomp_profile::check_restricted),
            (25, |pod| unless_windows(pod, seccomp_profile::check_restricted)),
        ],
        "seccompProfile_baseline",
    ),
];

/// Exempts Windows pods, for which the fields have no meaning.
fn unless_windows(pod: Checked<'_>, check: Function) -> Option<Violation> {
    let is_windows = pod.spec.os.as_ref().is_some_and(|os| os.name == "windows");
    if is_windows { None } else { check(pod) }
}

/// Exempts pods in a user namespace of their own, where root has no rights outside.
fn unless_user_namespace(pod: Checked<'_>, check: Function) -> Option<Violation> {
    if pod.spec.host_users == Some(false) {
        None
    } else {
        check(pod)
    }
}

/// Returns the violations of a level by a pod; empty if it meets the level.
pub(super) fn violations(pod: Checked<'_>, wanted: LevelVersion) -> Vec<Violation> {
    let in_force: Vec<(&Check, Function)> = CHECKS
        .iter()
        .filter(|check| check.level <= wanted.level)
        .filter_map(|check| Some((check, check.in_version(wanted.version)?)))
        .collect();
    let is_overridden = |id: &str| in_force.iter().any(|(check, _)| check.overrides == id);
    in_force
        .iter()
        .filter(|(check, _)| !is_overridden(check.id))
        .filter_map(|(_, function)| function(pod))
        .collect()
}

/// Joins the reasons.
pub(super) fn reasons(violations: &[Violation]) -> String {
    let reasons: Vec<&str> = violations.iter().map(|violation| violation.reason).collect();
    reasons.join(", ")
}

/// Joins the reasons with their details.
pub(super) fn details(violations: &[Violation]) -> String {
    let shown: Vec<String> = violations
        .iter()
        .map(|violation| match violation.detail.as_str() {
            "" => violation.reason.to_owned(),
            detail => format!("{} ({detail})", violation.reason),
        })
        .collect();
    shown.join(", ")
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "values that are written in place are passed on as they are"
)]
mod tests;

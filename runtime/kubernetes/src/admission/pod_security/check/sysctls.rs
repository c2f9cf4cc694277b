//! Checks of kernel parameters.

use super::wording::violation;
use super::{Checked, Violation};

/// Parameters without effect outside the pod, each with the first version in which they may be set.
const SAFE: [(u32, &str); 12] = [
    (0, "kernel.shm_rmid_forced"),
    (0, "net.ipv4.ip_local_port_range"),
    (0, "net.ipv4.tcp_syncookies"),
    (0, "net.ipv4.ping_group_range"),
    (0, "net.ipv4.ip_unprivileged_port_start"),
    (27, "net.ipv4.ip_local_reserved_ports"),
    (29, "net.ipv4.tcp_keepalive_time"),
    (29, "net.ipv4.tcp_fin_timeout"),
    (29, "net.ipv4.tcp_keepalive_intvl"),
    (29, "net.ipv4.tcp_keepalive_probes"),
    (32, "net.ipv4.tcp_rmem"),
    (32, "net.ipv4.tcp_wmem"),
];

pub(super) fn check(pod: Checked<'_>, version: u32) -> Option<Violation> {
    let is_safe = |name: &str| SAFE.iter().any(|(from, safe)| *from <= version && *safe == name);
    let sysctls = pod.spec.security_context.iter().flat_map(|context| &context.sysctls);
    let forbidden: Vec<&str> = sysctls
        .map(|sysctl| sysctl.name.as_str())
        .filter(|name| !is_safe(name))
        .collect();
    if forbidden.is_empty() {
        return None;
    }
    violation("forbidden sysctls", forbidden.join(", "))
}

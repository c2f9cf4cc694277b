//! Checks of privileged containers, and of privilege escalation.

use super::wording::{bad_containers, named_containers, violation};
use super::{Checked, Violation};

pub(super) fn check_privileged(pod: Checked<'_>) -> Option<Violation> {
    let containers = bad_containers(pod, |container| {
        container.security_context.and_then(|context| context.privileged) == Some(true)
    });
    if containers.is_empty() {
        return None;
    }
    let who = named_containers(&containers);
    violation(
        "privileged",
        format!("{who} must not set securityContext.privileged=true"),
    )
}

pub(super) fn check_escalation(pod: Checked<'_>) -> Option<Violation> {
    let containers = bad_containers(pod, |container| {
        let context = container.security_context;
        context.and_then(|context| context.allow_privilege_escalation) != Some(false)
    });
    if containers.is_empty() {
        return None;
    }
    let who = named_containers(&containers);
    violation(
        "allowPrivilegeEscalation != false",
        format!("{who} must set securityContext.allowPrivilegeEscalation=false"),
    )
}

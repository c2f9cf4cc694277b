//! Checks of the users that containers run as.

use super::wording::{bad_containers, named_containers, setters, violation};
use super::{Checked, Violation};

pub(super) fn check_non_root(pod: Checked<'_>) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    let own = pod
        .spec
        .security_context
        .as_ref()
        .and_then(|context| context.run_as_non_root);
    let with = |wanted: Option<bool>| {
        bad_containers(pod, |container| {
            container.security_context.and_then(|context| context.run_as_non_root) == wanted
        })
    };
    if let Some(who) = setters(own == Some(false), &with(Some(false))) {
        return violation(REASON, format!("{who} must not set securityContext.runAsNonRoot=false"));
    }
    let silent = with(None);
    if own == Some(true) || silent.is_empty() {
        return None;
    }
    let who = named_containers(&silent);
    violation(
        REASON,
        format!("pod or {who} must set securityContext.runAsNonRoot=true"),
    )
}

pub(super) fn check_user(pod: Checked<'_>) -> Option<Violation> {
    let own = pod
        .spec
        .security_context
        .as_ref()
        .and_then(|context| context.run_as_user);
    let containers = bad_containers(pod, |container| {
        container.security_context.and_then(|context| context.run_as_user) == Some(0)
    });
    let who = setters(own == Some(0), &containers)?;
    violation("runAsUser=0", format!("{who} must not set runAsUser=0"))
}

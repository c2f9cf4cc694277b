//! Checks of capabilities.

use std::collections::BTreeSet;

use super::wording::{bad_containers, named_containers, quoted_set, violation};
use super::{Checked, Violation};

/// The capabilities that container runtimes usually grant.
const USUAL: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

pub(super) fn check_baseline(pod: Checked<'_>) -> Option<Violation> {
    let (containers, added) = adding(pod, &USUAL);
    if containers.is_empty() {
        return None;
    }
    violation("non-default capabilities", must_not_include(&containers, &added))
}

pub(super) fn check_restricted(pod: Checked<'_>) -> Option<Violation> {
    let keeping = bad_containers(pod, |container| {
        let capabilities = container
            .security_context
            .and_then(|context| context.capabilities.as_ref());
        !capabilities.is_some_and(|capabilities| capabilities.drop.iter().any(|name| name == "ALL"))
    });
    let (containers, added) = adding(pod, &["NET_BIND_SERVICE"]);
    let mut details = Vec::new();
    if !keeping.is_empty() {
        let who = named_containers(&keeping);
        details.push(format!("{who} must set securityContext.capabilities.drop=[\"ALL\"]"));
    }
    if !containers.is_empty() {
        details.push(must_not_include(&containers, &added));
    }
    if details.is_empty() {
        return None;
    }
    violation("unrestricted capabilities", details.join("; "))
}

/// Returns the containers that add capabilities other than `allowed`, and those capabilities.
fn adding<'p>(pod: Checked<'p>, allowed: &[&str]) -> (Vec<&'p str>, BTreeSet<&'p str>) {
    let mut added = BTreeSet::new();
    let containers = bad_containers(pod, |container| {
        let context = container
            .security_context
            .and_then(|context| context.capabilities.as_ref());
        let others = context.iter().flat_map(|capabilities| &capabilities.add);
        let others: Vec<&str> = others
            .map(String::as_str)
            .filter(|name| !allowed.contains(name))
            .collect();
        added.extend(others.iter().copied());
        !others.is_empty()
    });
    (containers, added)
}

fn must_not_include(containers: &[&str], added: &BTreeSet<&str>) -> String {
    let (who, what) = (named_containers(containers), quoted_set(added));
    format!("{who} must not include {what} in securityContext.capabilities.add")
}

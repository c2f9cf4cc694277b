//! The check of the parts of `/proc` that containers see.

use std::collections::BTreeSet;

use super::wording::{bad_containers, named_containers, quoted_set, violation};
use super::{Checked, Violation, unless_user_namespace};

pub(super) fn check(pod: Checked<'_>) -> Option<Violation> {
    let mut values = BTreeSet::new();
    let containers = bad_containers(pod, |container| {
        let value = container
            .security_context
            .and_then(|context| context.proc_mount.as_deref());
        let bad = value.filter(|value| *value != "Default");
        values.extend(bad);
        bad.is_some()
    });
    if containers.is_empty() {
        return None;
    }
    let (who, what) = (named_containers(&containers), quoted_set(&values));
    violation(
        "procMount",
        format!("{who} must not set securityContext.procMount to {what}"),
    )
}

pub(super) fn check_without_user_namespace(pod: Checked<'_>) -> Option<Violation> {
    unless_user_namespace(pod, check)
}

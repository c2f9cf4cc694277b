//! Checks of SELinux options.

use std::collections::BTreeSet;

use planesmith_api_defs::core::v1::SELinuxOptions;

use super::wording::{bad_containers, quoted_set, setters, violation};
use super::{Checked, Violation};

/// Types for containers; the last came with 1.31.
const TYPES: [&str; 5] = [
    "",
    "container_t",
    "container_init_t",
    "container_kvm_t",
    "container_engine_t",
];

pub(super) fn check(pod: Checked<'_>) -> Option<Violation> {
    check_types(pod, &TYPES[..4])
}

pub(super) fn check_with_engine(pod: Checked<'_>) -> Option<Violation> {
    check_types(pod, &TYPES)
}

fn check_types(pod: Checked<'_>, allowed: &[&str]) -> Option<Violation> {
    let mut types = BTreeSet::new();
    let (mut user, mut role) = (false, false);
    let mut is_bad = |options: Option<&SELinuxOptions>| {
        let Some(options) = options else { return false };
        let bad_type = !allowed.contains(&options.type_.as_str());
        if bad_type {
            types.insert(options.type_.clone());
        }
        let (sets_user, sets_role) = (!options.user.is_empty(), !options.role.is_empty());
        user |= sets_user;
        role |= sets_role;
        bad_type || sets_user || sets_role
    };
    let own = pod.spec.security_context.as_ref();
    let pod_is_bad = is_bad(own.and_then(|context| context.se_linux_options.as_ref()));
    let containers = bad_containers(pod, |container| {
        is_bad(
            container
                .security_context
                .and_then(|context| context.se_linux_options.as_ref()),
        )
    });
    let who = setters(pod_is_bad, &containers)?;
    let mut what = Vec::new();
    let types: BTreeSet<&str> = types.iter().map(String::as_str).collect();
    match types.len() {
        0 => {}
        1 => what.push(format!("type {}", quoted_set(&types))),
        _ => what.push(format!("types {}", quoted_set(&types))),
    }
    if user {
        what.push("user may not be set".to_owned());
    }
    if role {
        what.push("role may not be set".to_owned());
    }
    violation(
        "seLinuxOptions",
        format!(
            "{who} set forbidden securityContext.seLinuxOptions: {}",
            what.join("; ")
        ),
    )
}

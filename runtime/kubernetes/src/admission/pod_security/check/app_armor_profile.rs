//! Checks of AppArmor profiles: those of the runtime or of the node are allowed, unconfined ones are not.

use std::collections::BTreeSet;

use planesmith_api_defs::core::v1::AppArmorProfile;
use planesmith_machinery::go_format;

use super::wording::{bad_containers, quoted, setters, violation};
use super::{Checked, Violation};

/// The prefix of annotations with the profile of one container; fields have replaced them.
const ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";

pub(super) fn check(pod: Checked<'_>) -> Option<Violation> {
    let mut values = BTreeSet::new();
    let mut is_bad = |profile: Option<&'_ AppArmorProfile>| -> bool {
        let bad = profile.filter(|profile| !matches!(profile.type_.as_str(), "RuntimeDefault" | "Localhost"));
        if let Some(profile) = bad {
            values.insert(profile.type_.clone());
        }
        bad.is_some()
    };
    let own = pod.spec.security_context.as_ref();
    let pod_is_bad = is_bad(own.and_then(|context| context.app_armor_profile.as_ref()));
    let containers = bad_containers(pod, |container| {
        is_bad(
            container
                .security_context
                .and_then(|context| context.app_armor_profile.as_ref()),
        )
    });
    let annotations = pod.metadata.annotations.iter();
    let annotations: Vec<String> = annotations
        .filter(|(key, value)| key.starts_with(ANNOTATION) && !is_allowed(value))
        .map(|(key, value)| format!("{key}={}", go_format::quote(value)))
        .collect();
    let mut who: Vec<String> = setters(pod_is_bad, &containers).into_iter().collect();
    match annotations.len() {
        0 => {}
        1 => who.push("annotation".to_owned()),
        _ => who.push("annotations".to_owned()),
    }
    if who.is_empty() {
        return None;
    }
    let values: Vec<String> = values.into_iter().chain(annotations).collect();
    let reason = match values.len() {
        1 => "forbidden AppArmor profile",
        _ => "forbidden AppArmor profiles",
    };
    let who = who.join(" and ");
    violation(
        reason,
        format!("{who} must not set AppArmor profile type to {}", quoted(&values)),
    )
}

fn is_allowed(profile: &str) -> bool {
    matches!(profile, "" | "runtime/default") || profile.starts_with("localhost/")
}

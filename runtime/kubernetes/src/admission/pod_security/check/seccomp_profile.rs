//! Checks of seccomp profiles.

use std::collections::BTreeSet;

use planesmith_api_defs::core::v1::SeccompProfile;
use planesmith_machinery::go_format;

use super::super::super::any_container::containers;
use super::wording::{bad_containers, named_containers, quoted_set, setters, violation};
use super::{Checked, Violation};

const REASON: &str = "seccompProfile";
/// The annotation with the profile of a pod from before there was a field for it.
const ANNOTATION_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const ANNOTATION_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";

pub(super) fn check_annotations(pod: Checked<'_>) -> Option<Violation> {
    let of_containers = containers(pod.spec).map(|container| format!("{ANNOTATION_OF_CONTAINER}{}", container.name));
    let keys = std::iter::once(ANNOTATION_OF_POD.to_owned()).chain(of_containers);
    let forbidden: BTreeSet<String> = keys
        .filter_map(|key| {
            let value = pod.metadata.annotations.get(&key)?;
            let allowed = matches!(value.as_str(), "runtime/default" | "docker/default");
            (!allowed && !value.starts_with("localhost/")).then(|| format!("{key}={}", go_format::quote(value)))
        })
        .collect();
    let word = match forbidden.len() {
        0 => return None,
        1 => "annotation",
        _ => "annotations",
    };
    let forbidden: Vec<String> = forbidden.into_iter().collect();
    violation(REASON, format!("forbidden {word} {}", forbidden.join(", ")))
}

pub(super) fn check_baseline(pod: Checked<'_>) -> Option<Violation> {
    let mut values = BTreeSet::new();
    let own = profile_of_pod(pod);
    let pod_is_bad = own.is_some_and(|profile| !is_allowed(profile));
    values.extend(own.filter(|_| pod_is_bad).map(|profile| profile.type_.as_str()));
    let containers = bad_containers(pod, |container| {
        let profile = container
            .security_context
            .and_then(|context| context.seccomp_profile.as_ref());
        let bad = profile.filter(|profile| !is_allowed(profile));
        values.extend(bad.map(|profile| profile.type_.as_str()));
        bad.is_some()
    });
    let who = setters(pod_is_bad, &containers)?;
    let what = quoted_set(&values);
    violation(
        REASON,
        format!("{who} must not set securityContext.seccompProfile.type to {what}"),
    )
}

pub(super) fn check_restricted(pod: Checked<'_>) -> Option<Violation> {
    if let Some(found) = check_baseline(pod) {
        return Some(found);
    }
    if profile_of_pod(pod).is_some() {
        return None;
    }
    let silent = bad_containers(pod, |container| {
        container
            .security_context
            .is_none_or(|context| context.seccomp_profile.is_none())
    });
    if silent.is_empty() {
        return None;
    }
    let who = named_containers(&silent);
    violation(
        REASON,
        format!("pod or {who} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\""),
    )
}

fn profile_of_pod<'p>(pod: Checked<'p>) -> Option<&'p SeccompProfile> {
    pod.spec.security_context.as_ref()?.seccomp_profile.as_ref()
}

fn is_allowed(profile: &SeccompProfile) -> bool {
    matches!(profile.type_.as_str(), "RuntimeDefault" | "Localhost")
}

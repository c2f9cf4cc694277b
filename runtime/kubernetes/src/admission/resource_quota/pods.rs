//! The usage of pods.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use planesmith_api_defs::core::v1::{
    ContainerStatus, Pod, PodAffinityTerm, PodSpec, ResourceList, ResourceRequirements,
    ScopedResourceSelectorRequirement,
};

use planesmith_machinery::time::Time;

use super::super::pod_amounts::{Side, is_best_effort, is_set_for_pod, total_with_overhead};
use super::evaluator::number;

/// The counted resources of pods, besides huge pages and extended resources.
const COUNTED: [&str; 11] = [
    "count/pods",
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "pods",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// The resources that every container must set when a quota bounds them.
const DEMANDED: [&str; 6] = [
    "cpu",
    "limits.cpu",
    "limits.memory",
    "memory",
    "requests.cpu",
    "requests.memory",
];

const LARGE_PAGES: &str = "hugepages-";

/// The prefix of extended resources that stand for the devices of a class.
pub(super) const OF_CLASS: &str = "deviceclass.resource.kubernetes.io/";

pub(super) fn counts(name: &str) -> bool {
    COUNTED.contains(&name)
        || name.starts_with(LARGE_PAGES)
        || name.strip_prefix("requests.").is_some_and(|requested| {
            requested.starts_with(LARGE_PAGES) || requested.starts_with(OF_CLASS) || !is_native(name)
        })
}

/// True if a resource is one of Kubernetes' own.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// True if a resource is an extended one, which nodes advertise.
pub(in super::super) fn is_extended(name: &str) -> bool {
    !is_native(name) && !name.starts_with("requests.")
}

pub(super) fn is_in_scope(pod: &Pod, scope: &ScopedResourceSelectorRequirement) -> bool {
    match scope.scope_name.as_str() {
        "Terminating" => is_terminating(pod),
        "NotTerminating" => !is_terminating(pod),
        "BestEffort" => is_best_effort(pod),
        "NotBestEffort" => !is_best_effort(pod),
        "PriorityClass" => {
            let class = Some(pod.spec.priority_class_name.as_str()).filter(|class| !class.is_empty());
            is_among(class, scope)
        }
        "CrossNamespacePodAffinity" => looks_into_other_namespaces(pod),
        _ => false,
    }
}

/// True if a pod has an active deadline.
pub(super) fn is_terminating(pod: &Pod) -> bool {
    pod.spec.active_deadline_seconds.is_some_and(|seconds| seconds >= 0)
}

/// True if an optional value meets a requirement.
pub(super) fn is_among(value: Option<&str>, scope: &ScopedResourceSelectorRequirement) -> bool {
    let is_listed = || value.is_some_and(|value| scope.values.iter().any(|listed| listed == value));
    match scope.operator.as_str() {
        "In" => is_listed(),
        "NotIn" => !is_listed(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        _ => false,
    }
}

fn looks_into_other_namespaces(pod: &Pod) -> bool {
    let Some(affinity) = &pod.spec.affinity else {
        return false;
    };
    let elsewhere = |term: &PodAffinityTerm| !term.namespaces.is_empty() || term.namespace_selector.is_some();
    let (near, far) = (affinity.pod_affinity.as_ref(), affinity.pod_anti_affinity.as_ref());
    let required = near
        .iter()
        .flat_map(|affinity| &affinity.required_during_scheduling_ignored_during_execution)
        .chain(
            far.iter()
                .flat_map(|affinity| &affinity.required_during_scheduling_ignored_during_execution),
        );
    let mut preferred = near
        .iter()
        .flat_map(|affinity| &affinity.preferred_during_scheduling_ignored_during_execution)
        .chain(
            far.iter()
                .flat_map(|affinity| &affinity.preferred_during_scheduling_ignored_during_execution),
        );
    required.into_iter().any(elsewhere) || preferred.any(|term| elsewhere(&term.pod_affinity_term))
}

/// Refuses a pod with containers that do not set the counted resources.
pub(super) fn check(pod: &Pod, required: &[&str]) -> Result<(), String> {
    if is_set_for_pod(&pod.spec) {
        return Ok(());
    }
    let demanded: Vec<&str> = DEMANDED.into_iter().filter(|name| required.contains(name)).collect();
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
        let ResourceRequirements { requests, limits, .. } = &container.resources;
        let said = amounts(requests, limits);
        for name in demanded.iter().filter(|name| !said.contains_key(**name)) {
            missing.entry(name).or_default().insert(&container.name);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = missing
        .into_iter()
        .map(|(name, containers)| format!("{name} for: {}", containers.into_iter().collect::<Vec<_>>().join(",")))
        .collect();
    Err(format!("must specify {}", shown.join("; ")))
}

/// Returns the usage of a pod. A pod that is finished, or whose grace period is over at `now`, is only counted as an
/// object.
pub(super) fn usage(pod: &Pod, now: &Time) -> ResourceList {
    let mut usage = ResourceList::from([("count/pods".to_owned(), number(1))]);
    if matches!(pod.status.phase.as_str(), "Failed" | "Succeeded") || is_overdue(pod, now) {
        return usage;
    }
    let spec = in_effect(pod);
    let requests = total_with_overhead(&spec, Side::Requests);
    let limits = total_with_overhead(&spec, Side::Limits);
    usage.extend(amounts(&requests, &limits));
    usage
}

/// True if the grace period of a deleted pod is over: its node may be lost.
fn is_overdue(pod: &Pod, now: &Time) -> bool {
    match (
        &pod.metadata.deletion_timestamp,
        pod.metadata.deletion_grace_period_seconds,
    ) {
        (Some(deleted), Some(grace)) => now.as_second() > deleted.as_second().saturating_add(grace),
        _ => false,
    }
}

/// Returns the spec of a pod in which containers that are being resized have the larger amount.
fn in_effect(pod: &Pod) -> Cow<'_, PodSpec> {
    let statuses = pod
        .status
        .container_statuses
        .iter()
        .chain(&pod.status.init_container_statuses);
    let known: BTreeMap<&str, &ContainerStatus> = statuses.map(|status| (status.name.as_str(), status)).collect();
    if known.values().all(|status| status.resources.is_none()) {
        return Cow::Borrowed(&pod.spec);
    }
    let pending = pod
        .status
        .conditions
        .iter()
        .find(|condition| condition.type_ == "PodResizePending");
    let infeasible = pending.is_some_and(|condition| condition.reason == "Infeasible");
    let mut spec = pod.spec.clone();
    let sidecars = spec
        .init_containers
        .iter_mut()
        .filter(|container| container.is_sidecar());
    for container in spec.containers.iter_mut().chain(sidecars) {
        let Some(status) = known.get(container.name.as_str()) else {
            continue;
        };
        let Some(actual) = &status.resources else { continue };
        let wanted = &mut container.resources;
        if infeasible {
            wanted.requests.clear();
            wanted.limits.clear();
        }
        raise(&mut wanted.requests, &actual.requests);
        raise(&mut wanted.requests, &status.allocated_resources);
        raise(&mut wanted.limits, &actual.limits);
    }
    Cow::Owned(spec)
}

/// Makes each amount at least that of `other`.
fn raise(list: &mut ResourceList, other: &ResourceList) {
    for (name, amount) in other {
        if list.get(name).is_none_or(|own| own < amount) {
            list.insert(name.clone(), amount.clone());
        }
    }
}

/// Returns the amounts that quotas count for requests and limits.
fn amounts(requests: &ResourceList, limits: &ResourceList) -> ResourceList {
    let mut amounts = ResourceList::from([("pods".to_owned(), number(1))]);
    for name in ["cpu", "memory", "ephemeral-storage"] {
        if let Some(request) = requests.get(name) {
            amounts.insert(name.to_owned(), request.clone());
            amounts.insert(format!("requests.{name}"), request.clone());
        }
        if let Some(limit) = limits.get(name) {
            amounts.insert(format!("limits.{name}"), limit.clone());
        }
    }
    for (name, request) in requests {
        let is_large_page = name.starts_with(LARGE_PAGES);
        if is_large_page {
            amounts.insert(name.clone(), request.clone());
        }
        if is_large_page || is_extended(name) || name.starts_with(OF_CLASS) {
            amounts.insert(format!("requests.{name}"), request.clone());
        }
    }
    amounts
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::testing::object;

    /// Returns the CPU usage of a pod one minute into the year.
    fn cpu(meta: &Value, status: &Value) -> Option<String> {
        let container = json!({"name": "c", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}});
        let pod: Pod = object(json!({"metadata": meta, "spec": {"containers": [container]}, "status": status}));
        let now = Time::from_second(1_767_225_660);
        let usage = usage(&pod, &now);
        Some(format!("{}/{}", usage.get("requests.cpu")?, usage.get("limits.cpu")?))
    }

    #[test]
    fn a_pod_that_is_overdue_gives_back() {
        let deleted = |grace: i64| json!({"name": "p", "deletionTimestamp": "2026-01-01T00:00:30Z", "deletionGracePeriodSeconds": grace});
        assert_eq!(cpu(&deleted(30), &json!({})).as_deref(), Some("1/2"));
        assert_eq!(cpu(&deleted(29), &json!({})), None);
    }

    #[test]
    fn while_resources_change_the_larger_amount_counts() {
        let own = json!({"requests": {"cpu": "1500m"}, "limits": {"cpu": "3"}});
        let container = json!({"name": "c", "image": "i", "imageID": "", "ready": true, "restartCount": 0, "resources": own, "allocatedResources": {"cpu": "500m"}});
        let meta = json!({"name": "p"});
        assert_eq!(
            cpu(&meta, &json!({"containerStatuses": [container.clone()]})).as_deref(),
            Some("1500m/3")
        );
        let mut smaller = container.clone();
        smaller["resources"] = json!({"requests": {"cpu": "250m"}, "limits": {"cpu": "1"}});
        assert_eq!(
            cpu(&meta, &json!({"containerStatuses": [smaller.clone()]})).as_deref(),
            Some("1/2")
        );
        let infeasible = json!([{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]);
        let status = json!({"containerStatuses": [smaller], "conditions": infeasible});
        assert_eq!(
            cpu(&meta, &status).as_deref(),
            Some("500m/1"),
            "what cannot be had does not count"
        );
    }
}

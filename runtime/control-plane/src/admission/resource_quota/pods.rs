//! What pods use.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_api_defs::core::v1::{
    Pod, PodAffinityTerm, ResourceList, ResourceRequirements, ScopedResourceSelectorRequirement,
};

use super::super::pod_amounts::{Side, is_best_effort, is_set_for_pod, total_with_overhead};
use super::evaluator::number;

/// What is counted of pods, besides large pages and extended resources.
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

/// What every container must say when a quota counts it.
const DEMANDED: [&str; 6] = [
    "cpu",
    "limits.cpu",
    "limits.memory",
    "memory",
    "requests.cpu",
    "requests.memory",
];

const LARGE_PAGES: &str = "hugepages-";

pub(super) fn counts(name: &str) -> bool {
    COUNTED.contains(&name)
        || name.starts_with(LARGE_PAGES)
        || name
            .strip_prefix("requests.")
            .is_some_and(|requested| requested.starts_with(LARGE_PAGES) || !is_native(name))
}

/// Whether a resource is one of Kubernetes' own.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Whether a resource is one that nodes advertise.
pub(in super::super) fn is_extended(name: &str) -> bool {
    !is_native(name) && !name.starts_with("requests.")
}

pub(super) fn is_in_scope(pod: &Pod, scope: &ScopedResourceSelectorRequirement) -> bool {
    let is_terminating = || pod.spec.active_deadline_seconds.is_some_and(|seconds| seconds >= 0);
    match scope.scope_name.as_str() {
        "Terminating" => is_terminating(),
        "NotTerminating" => !is_terminating(),
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

/// Whether a value that may be missing meets a requirement.
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

/// Refuses a pod with containers that do not say what is counted.
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

/// What a pod uses; one that is finished is only counted as an object.
pub(super) fn usage(pod: &Pod) -> ResourceList {
    let mut usage = ResourceList::from([("count/pods".to_owned(), number(1))]);
    if matches!(pod.status.phase.as_str(), "Failed" | "Succeeded") {
        return usage;
    }
    let requests = total_with_overhead(&pod.spec, Side::Requests);
    let limits = total_with_overhead(&pod.spec, Side::Limits);
    usage.extend(amounts(&requests, &limits));
    usage
}

/// What requests and limits count as.
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
        if is_large_page || is_extended(name) {
            amounts.insert(format!("requests.{name}"), request.clone());
        }
    }
    amounts
}

//! What a pod asks for as a whole.

use planesmith_api_defs::core::v1::{Container, Pod, PodSpec, ResourceList, ResourceRequirements};
use planesmith_machinery::quantity::Quantity;

/// Which side of what is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// What the pod is sure to get.
    Requests,
    /// What it gets at most.
    Limits,
}

impl Side {
    /// This side of one container's wishes.
    pub(super) fn of(self, resources: &ResourceRequirements) -> &ResourceList {
        match self {
            Side::Requests => &resources.requests,
            Side::Limits => &resources.limits,
        }
    }
}

/// The most that a pod asks for at any moment, without its overhead: its containers and sidecars run together, other init
/// containers one after the other beside the sidecars that came before. What the pod says as a whole comes first.
pub(super) fn total(spec: &PodSpec, side: Side) -> ResourceList {
    let mut total = ResourceList::new();
    for container in &spec.containers {
        add(&mut total, side.of(&container.resources));
    }
    let mut sidecars = ResourceList::new();
    let mut starting = ResourceList::new();
    for container in &spec.init_containers {
        let own = side.of(&container.resources);
        let mut at_once = sidecars.clone();
        add(&mut at_once, own);
        if is_sidecar(container) {
            add(&mut total, own);
            sidecars.clone_from(&at_once);
        }
        raise(&mut starting, &at_once);
    }
    raise(&mut total, &starting);
    if let Some(of_pod) = &spec.resources {
        let own = side.of(of_pod).iter().filter(|(name, _)| is_for_pods(name));
        total.extend(own.map(|(name, amount)| (name.clone(), amount.clone())));
    }
    total
}

/// As [`total`], with the overhead of the pod; a limit that is not there has none.
pub(super) fn total_with_overhead(spec: &PodSpec, side: Side) -> ResourceList {
    let mut total = total(spec, side);
    for (name, amount) in &spec.overhead {
        match (side, total.get_mut(name)) {
            (_, Some(own)) if side == Side::Requests || !own.is_zero() => *own = sum(own, amount),
            (Side::Requests, None) => drop(total.insert(name.clone(), amount.clone())),
            _ => {}
        }
    }
    total
}

/// Whether the pod says as a whole what it asks for.
pub(super) fn is_set_for_pod(spec: &PodSpec) -> bool {
    spec.resources.as_ref().is_some_and(|resources| {
        let mut names = resources.requests.keys().chain(resources.limits.keys());
        names.any(|name| is_for_pods(name))
    })
}

/// Whether nothing that counts is asked for: such pods go first when a node runs short.
pub(super) fn is_best_effort(pod: &Pod) -> bool {
    if !pod.status.qos_class.is_empty() {
        return pod.status.qos_class == "BestEffort";
    }
    let asks = |resources: &ResourceRequirements| {
        [&resources.requests, &resources.limits].into_iter().any(|list| {
            let counted = ["cpu", "memory"].iter().filter_map(|name| list.get(*name));
            counted.into_iter().any(|amount| !amount.is_zero())
        })
    };
    if let Some(of_pod) = pod.spec.resources.as_ref().filter(|_| is_set_for_pod(&pod.spec)) {
        return !asks(of_pod);
    }
    let mut containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    !containers.any(|container| asks(&container.resources))
}

/// The sum; the first when it is out of range.
pub(super) fn sum(first: &Quantity, second: &Quantity) -> Quantity {
    first.checked_add(second).unwrap_or_else(|| first.clone())
}

/// Adds what `more` has to `list`.
pub(super) fn add(list: &mut ResourceList, more: &ResourceList) {
    for (name, amount) in more {
        match list.get_mut(name) {
            Some(own) => *own = sum(own, amount),
            None => drop(list.insert(name.clone(), amount.clone())),
        }
    }
}

/// Raises what `list` has to what `least` has.
fn raise(list: &mut ResourceList, least: &ResourceList) {
    for (name, amount) in least {
        if list.get(name).is_none_or(|own| own < amount) {
            list.insert(name.clone(), amount.clone());
        }
    }
}

fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

fn is_for_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::testing::object;

    fn cpu(spec: Value) -> String {
        let pod: Pod = object(json!({"spec": spec}));
        let total = total_with_overhead(&pod.spec, Side::Requests);
        total.get("cpu").map(ToString::to_string).unwrap_or_default()
    }

    fn container(name: &str, cpu: &str) -> Value {
        json!({"name": name, "resources": {"requests": {"cpu": cpu}}})
    }

    #[test]
    fn the_largest_moment_counts() {
        let containers = json!([container("a", "1"), container("b", "500m")]);
        assert_eq!(cpu(json!({"containers": containers.clone()})), "1500m");
        let init = json!([container("i", "2")]);
        assert_eq!(
            cpu(json!({"containers": containers.clone(), "initContainers": init})),
            "2"
        );
        let mut sidecar = container("s", "1");
        sidecar["restartPolicy"] = json!("Always");
        let init = json!([sidecar, container("i", "2")]);
        assert_eq!(
            cpu(json!({"containers": containers.clone(), "initContainers": init})),
            "3"
        );
        let whole = json!({"requests": {"cpu": "4"}});
        let overhead = json!({"cpu": "100m"});
        assert_eq!(
            cpu(json!({"containers": containers, "resources": whole, "overhead": overhead})),
            "4100m"
        );
    }

    #[test]
    fn a_pod_that_asks_for_nothing_is_best_effort() {
        let best = |spec: Value| is_best_effort(&object(json!({"spec": spec})));
        assert!(best(json!({"containers": [{"name": "c"}]})));
        assert!(best(json!({"containers": [container("c", "0")]})));
        assert!(!best(json!({"containers": [container("c", "1")]})));
    }
}

//! The resources that a pod requests as a whole.

use planesmith_api_defs::core::v1::{Pod, PodSpec, ResourceList, ResourceRequirements};

/// The side of a resource specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The amounts that the pod is guaranteed.
    Requests,
    /// The most the pod may use.
    Limits,
}

impl Side {
    /// Returns this side of one container's resources.
    pub(super) fn of(self, resources: &ResourceRequirements) -> &ResourceList {
        match self {
            Side::Requests => &resources.requests,
            Side::Limits => &resources.limits,
        }
    }
}

/// Returns the most that a pod requests at any moment, without its overhead. Resources at the level of the pod take
/// precedence.
pub(super) fn total(spec: &PodSpec, side: Side) -> ResourceList {
    let mut total = match side {
        Side::Requests => spec.container_requests(),
        Side::Limits => spec.container_limits(),
    };
    if let Some(of_pod) = &spec.resources {
        let own = side.of(of_pod).iter().filter(|(name, _)| is_for_pods(name));
        total.extend(own.map(|(name, amount)| (name.clone(), amount.clone())));
    }
    total
}

/// As [`total`], with the overhead of the pod; a resource without a limit gets none.
pub(super) fn total_with_overhead(spec: &PodSpec, side: Side) -> ResourceList {
    let mut total = total(spec, side);
    for (name, amount) in &spec.overhead {
        match (side, total.get_mut(name)) {
            (_, Some(own)) if side == Side::Requests || !own.is_zero() => *own = own.rounded_add(amount),
            (Side::Requests, None) => drop(total.insert(name.clone(), amount.clone())),
            _ => {}
        }
    }
    total
}

/// True if the pod sets resources at the level of the pod.
pub(super) fn is_set_for_pod(spec: &PodSpec) -> bool {
    spec.resources.as_ref().is_some_and(|resources| {
        let mut names = resources.requests.keys().chain(resources.limits.keys());
        names.any(|name| is_for_pods(name))
    })
}

/// True if the pod requests no CPU and no memory: such pods are evicted first when a node runs short.
pub(super) fn is_best_effort(pod: &Pod) -> bool {
    pod.quality_class() == "BestEffort"
}

fn is_for_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "values that are written in place are passed on as they are"
)]
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
}

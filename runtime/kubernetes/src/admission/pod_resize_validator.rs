//! Refuses to resize running pods where their node cannot.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::{Node, Pod, ResourceList};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::status::{ApiResult, Cause};

use super::pod_amounts::{Side, total_with_overhead};

const OS_LABEL: &str = "kubernetes.io/os";

/// Refuses resizes that the node of a pod does not support.
pub(super) struct PodResizeValidator {
    pub(super) objects: Arc<dyn Lister>,
}

impl PodResizeValidator {
    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        if !attributes.is_for("", "pods") || attributes.subresource != "resize" {
            return Ok(());
        }
        let (Some(new), Some(old)) = (objects.new_as::<Pod>(), objects.old_as::<Pod>()) else {
            return Ok(());
        };
        // Only a change of the spec increments the generation.
        if new.spec.node_name.is_empty() || new.metadata.generation == old.metadata.generation {
            return Ok(());
        }
        let refuse = |why: String| attributes.forbidden(objects.new.as_deref(), why);
        let Some(node) = self.objects.find::<Node>("", &new.spec.node_name)? else {
            return Err(refuse(format!("node {} not found", quote(&new.spec.node_name))));
        };
        let (reason, why) = match (foreign_system(&node), shortage(new, &node.status.allocatable)) {
            (Some(why), _) => ("UnsupportedPlatform", why),
            (None, Some(why)) => ("NodeCapacity", why),
            (None, None) => return Ok(()),
        };
        Err(refuse(why).with_cause(Cause {
            reason: reason.to_owned(),
            ..Cause::default()
        }))
    }
}

fn foreign_system(node: &Node) -> Option<String> {
    let system = node
        .metadata
        .labels
        .get(OS_LABEL)
        .filter(|system| system.as_str() != "linux")?;
    let (name, system) = (quote(&node.metadata.name), quote(system));
    Some(format!(
        "pod resize is only supported on linux nodes, node {name} is {system}"
    ))
}

/// Returns the resources of which a node has too little for a pod, even if no other pod runs there.
fn shortage(pod: &Pod, allocatable: &ResourceList) -> Option<String> {
    let wanted = total_with_overhead(&pod.spec, Side::Requests);
    let lacks = |name: &str, number: fn(&Quantity) -> i64| {
        let amount = |list: &ResourceList| list.get(name).cloned().unwrap_or_default();
        let (wanted, there) = (amount(&wanted), amount(allocatable));
        let numbers = (number(&wanted), number(&there));
        (wanted > there).then(|| format!("{name}, requested: {}, allocatable: {}", numbers.0, numbers.1))
    };
    let lacking = [lacks("cpu", Quantity::milli_value), lacks("memory", Quantity::value)];
    let lacking: Vec<String> = lacking.into_iter().flatten().collect();
    let why = || format!("node didn't have enough allocatable resources: {}", lacking.join("; "));
    (!lacking.is_empty()).then(why)
}

impl Plugin for PodResizeValidator {
    fn name(&self) -> &'static str {
        "PodResizeValidator"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Update && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::object;

    #[test]
    fn missing_capacity_is_reported_in_units_of_the_resource() {
        let node: Node = object(json!({"status": {"allocatable": {"cpu": "1", "memory": "1Gi"}}}));
        let short = |cpu: &str, memory: &str| {
            let requests = json!({"cpu": cpu, "memory": memory});
            let pod: Pod =
                object(json!({"spec": {"containers": [{"name": "a", "resources": {"requests": requests}}]}}));
            shortage(&pod, &node.status.allocatable).unwrap_or_default()
        };
        assert_eq!(short("1", "1Gi"), "");
        assert_eq!(
            short("1001m", "2Gi"),
            "node didn't have enough allocatable resources: cpu, requested: 1001, allocatable: 1000; memory, requested: \
             2147483648, allocatable: 1073741824"
        );
    }

    #[test]
    fn only_linux_resizes() {
        let node = |labels| object(json!({"metadata": {"name": "w", "labels": labels}}));
        assert_eq!(foreign_system(&node(json!({}))), None);
        assert_eq!(foreign_system(&node(json!({OS_LABEL: "linux"}))), None);
        let warning = foreign_system(&node(json!({OS_LABEL: "windows"})));
        assert_eq!(
            warning.as_deref(),
            Some("pod resize is only supported on linux nodes, node \"w\" is \"windows\"")
        );
    }
}

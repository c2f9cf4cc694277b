//! Adds tolerations for nodes that are reserved for extended resources to the pods that request those.

use std::collections::BTreeSet;

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::{Pod, Toleration};

use super::resource_quota::is_extended;

/// Lets pods tolerate taints whose keys are the names of their extended resources.
pub(super) struct ExtendedResourceToleration;

impl Plugin for ExtendedResourceToleration {
    fn name(&self) -> &'static str {
        "ExtendedResourceToleration"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        if attributes.subresource.is_empty()
            && let Some(pod) = objects.new_as_mut::<Pod>()
        {
            let containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
            let names = containers.flat_map(|container| container.resources.requests.keys());
            let names: BTreeSet<String> = names.filter(|name| is_extended(name)).cloned().collect();
            for name in names {
                tolerate(&mut pod.spec.tolerations, name);
            }
        }
        decided(Ok(()))
    }
}

/// Adds a toleration for NoSchedule taints with the key `key`, replacing one that has a time limit.
fn tolerate(tolerations: &mut Vec<Toleration>, key: String) {
    let wanted = Toleration {
        key,
        operator: "Exists".to_owned(),
        effect: "NoSchedule".to_owned(),
        ..Toleration::default()
    };
    let is_alike = |own: &&mut Toleration| {
        own.key == wanted.key
            && own.operator == wanted.operator
            && own.effect == wanted.effect
            && own.value == wanted.value
    };
    match tolerations.iter_mut().find(is_alike) {
        Some(own) => *own = wanted,
        None => tolerations.push(wanted),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Request, object};

    #[test]
    fn a_requested_resource_is_tolerated_once() {
        let requests = json!({"cpu": "1", "example.com/gpu": "1", "kubernetes.io/x": "1", "a.example/fpga": "1"});
        let container = json!({"name": "c", "resources": {"requests": requests}});
        let spec = json!({"containers": [container], "initContainers": [container]});
        let pod: Pod = object(json!({"spec": spec}));
        let made = Request::create::<Pod>()
            .created(&ExtendedResourceToleration, pod)
            .unwrap();
        let keys: Vec<&str> = made.spec.tolerations.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys, ["a.example/fpga", "example.com/gpu"]);
        let again = Request::create::<Pod>()
            .created(&ExtendedResourceToleration, made.clone())
            .unwrap();
        assert_eq!(again, made);
    }
}

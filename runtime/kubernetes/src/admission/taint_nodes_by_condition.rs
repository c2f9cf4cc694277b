//! Keeps pods off new nodes until their kubelet reports that they are ready.

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::{Node, Taint};

const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Taints new nodes as not ready.
pub(super) struct TaintNodesByCondition;

impl Plugin for TaintNodesByCondition {
    fn name(&self) -> &'static str {
        "TaintNodesByCondition"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Create && phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        if attributes.subresource.is_empty()
            && let Some(node) = objects.new_as_mut::<Node>()
        {
            let taints = &mut node.spec.taints;
            let mut marks = taints.iter();
            if !marks.any(|taint| taint.key == NOT_READY && taint.effect == "NoSchedule") {
                taints.push(Taint {
                    key: NOT_READY.to_owned(),
                    effect: "NoSchedule".to_owned(),
                    ..Taint::default()
                });
            }
        }
        decided(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Request, object};

    #[test]
    fn a_new_node_is_not_ready_once() {
        let request = Request::create::<Node>();
        let node = request.created(&TaintNodesByCondition, Node::default()).unwrap();
        assert_eq!(node.spec.taints.len(), 1);
        let again = request.created(&TaintNodesByCondition, node.clone()).unwrap();
        assert_eq!(again, node);
        let other = json!({"spec": {"taints": [{"key": NOT_READY, "effect": "NoExecute"}]}});
        let node: Node = request.created(&TaintNodesByCondition, object(other)).unwrap();
        assert_eq!(node.spec.taints[1].effect, "NoSchedule");
    }
}

//! Restricts required anti-affinity to single nodes.

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::Pod;

const HOSTNAME: &str = "kubernetes.io/hostname";

/// Refuses pods with required anti-affinity over more than a node.
pub(super) struct LimitPodHardAntiAffinityTopology;

impl Plugin for LimitPodHardAntiAffinityTopology {
    fn name(&self) -> &'static str {
        "LimitPodHardAntiAffinityTopology"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        let pod = objects.new_as::<Pod>().filter(|_| attributes.subresource.is_empty());
        let affinity = pod.and_then(|pod| pod.spec.affinity.as_ref()?.pod_anti_affinity.as_ref());
        let mut terms = affinity
            .into_iter()
            .flat_map(|affinity| &affinity.required_during_scheduling_ignored_during_execution);
        let verdict = match terms.find(|term| term.topology_key != HOSTNAME) {
            None => Ok(()),
            Some(term) => {
                let key = &term.topology_key;
                let why = format!(
                    "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} but only key {HOSTNAME} is \
                     allowed"
                );
                Err(attributes.forbidden(objects.new.as_deref(), why))
            }
        };
        decided(verdict)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Request, object};

    #[test]
    fn only_nodes_are_kept_free() {
        let create = |key: &str| {
            let terms = json!([{"topologyKey": key}]);
            let affinity = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}});
            let pod: Pod = object(json!({"metadata": {"name": "p"}, "spec": {"affinity": affinity}}));
            Request::create::<Pod>().created(&LimitPodHardAntiAffinityTopology, pod)
        };
        assert!(create(HOSTNAME).is_ok());
        assert_eq!(
            create("zone").unwrap_err(),
            "pods \"p\" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key \
             kubernetes.io/hostname is allowed"
        );
    }
}

//! Runtime classes.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{MetadataRules, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::validation::check_labels;
use planesmith_machinery::{Resource, Struct};

use crate::core::v1::{
    PodOptions, ResourceList, ResourceNames, ResourceRequirements, Toleration, check_tolerations, old_node_label,
};

/// A class of container runtime that pods can select by name, for example one that isolates pods in virtual machines.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "node.k8s.io",
    version = "v1",
    cluster,
    create_on_update,
    conditional_update,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Handler", type = "string", doc = "Container runtime.", path = "handler"),
    column(age)
)]
pub struct RuntimeClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Name of the handler in the container runtime of the nodes, a DNS label. Immutable.
    #[field(proto = 2, keep)]
    pub handler: String,
    /// Resources that a pod of the class needs besides its containers.
    #[field(proto = 3)]
    pub overhead: Option<Overhead>,
    /// Scheduling of pods of the class. Any node is suitable when absent.
    #[field(proto = 4)]
    pub scheduling: Option<Scheduling>,
}

/// Resources that a pod of a class needs besides its containers.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Overhead {
    /// Resources per pod.
    #[field(proto = 1, go_type = "v1.ResourceList")]
    pub pod_fixed: ResourceList,
}

/// Scheduling of pods of a class.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Scheduling {
    /// Labels that the node must have, in addition to those that the pod requires.
    #[field(proto = 1, atomic)]
    pub node_selector: BTreeMap<String, String>,
    /// Taints that pods of the class tolerate, in addition to the pod's own tolerations.
    #[field(proto = 2, list_type = atomic)]
    pub tolerations: Vec<Toleration>,
}

impl Strategy for RuntimeClass {
    fn validate(&self, errors: &mut FieldErrors) {
        if self.handler.is_empty() {
            errors.required("handler", "");
        } else {
            for problem in names::dns_label(&self.handler) {
                errors.invalid("handler", &self.handler, problem);
            }
        }
        if let Some(overhead) = &self.overhead {
            // As in kube-apiserver, the overhead is validated like the limits of a container.
            let limits = ResourceRequirements {
                limits: overhead.pod_fixed.clone(),
                ..ResourceRequirements::default()
            };
            let (known, options) = (ResourceNames::OfContainers, PodOptions::default());
            limits.check(known, &BTreeSet::new(), options, &mut errors.at("overhead"));
        }
        if let Some(scheduling) = &self.scheduling {
            scheduling.check(&mut errors.at("scheduling"));
        }
    }

    fn warnings_on_create(&self) -> Vec<String> {
        let labels = self
            .scheduling
            .iter()
            .flat_map(|scheduling| scheduling.node_selector.keys());
        let old = labels.filter_map(|label| old_node_label(label));
        old.map(|words| format!("scheduling.nodeSelector: {words}")).collect()
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.handler != old.handler {
            errors.invalid("handler", &self.handler, "field is immutable");
        }
    }
}

impl StrategyExtensions for RuntimeClass {
    const METADATA: MetadataRules = MetadataRules::AnyFinalizers;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;
}

impl Scheduling {
    fn check(&self, errors: &mut FieldErrors) {
        check_labels("nodeSelector", &self.node_selector, errors);
        check_tolerations(&self.tolerations, false, errors);
        let mut known = BTreeSet::new();
        for (index, toleration) in self.tolerations.iter().enumerate() {
            if !known.insert(toleration.identity()) {
                errors.at_index("tolerations", index).duplicate("", GoValue(toleration));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerations_that_differ_in_seconds_alone_are_the_same() {
        let seconds = |seconds| Toleration {
            key: "k".to_owned(),
            effect: "NoExecute".to_owned(),
            toleration_seconds: Some(seconds),
            ..Toleration::default()
        };
        let class = RuntimeClass {
            handler: "h".to_owned(),
            scheduling: Some(Scheduling {
                tolerations: vec![seconds(1), seconds(2)],
                ..Scheduling::default()
            }),
            ..RuntimeClass::default()
        };
        let mut errors = FieldErrors::default();
        class.validate(&mut errors);
        let found: Vec<&str> = errors.as_slice().iter().map(|error| error.field.as_str()).collect();
        assert_eq!(found, ["scheduling.tolerations[1]"]);
    }
}

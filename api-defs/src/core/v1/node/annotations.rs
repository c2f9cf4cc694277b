//! Annotations of nodes with a meaning for schedulers of the past, which are still validated.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::json::decode_value;
use planesmith_machinery::meta::OwnerReference;
use planesmith_machinery::time::Time;

use super::taint::{self, Taint};
use crate::core::v1::annotation_list::internal_list;

const TAINTS: &str = "scheduler.alpha.kubernetes.io/taints";
const AVOIDED_PODS: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";

/// Pods that a node prefers not to run.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct AvoidPods {
    /// The pods, by the controller that creates them.
    prefer_avoid_pods: Vec<PreferAvoidPodsEntry>,
}

/// Pods that a node prefers not to run, and the reason.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct PreferAvoidPodsEntry {
    /// Identity of the pods.
    pod_signature: PodSignature,
    /// Time when the entry was added.
    eviction_time: Option<Time>,
    /// Short reason in CamelCase.
    reason: String,
    /// Details of the reason.
    message: String,
}

/// Identity of pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct PodSignature {
    /// Controller that creates the pods.
    pod_controller: Option<OwnerReference>,
}

/// Reports errors in the annotations of a node.
pub(super) fn check(annotations: &BTreeMap<String, String>, errors: &mut FieldErrors) {
    let errors = &mut *errors.at("metadata.annotations");
    let text = |key| annotations.get(key).filter(|text| !text.is_empty());
    match text(TAINTS).map(|text| internal_list::<Taint>(text)) {
        Some(Ok(taints)) => taint::check(TAINTS, &taints, errors),
        Some(Err(problem)) => errors.invalid("", TAINTS, problem),
        None => {}
    }
    match text(AVOIDED_PODS).map(|text| decode_value::<AvoidPods>(text.as_bytes())) {
        Some(Ok(avoided)) => avoided.check(errors),
        Some(Err(problem)) => errors.invalid("AvoidPods", AVOIDED_PODS, problem.to_string()),
        None => {}
    }
}

impl AvoidPods {
    fn check(&self, errors: &mut FieldErrors) {
        for (index, entry) in self.prefer_avoid_pods.iter().enumerate() {
            let errors = &mut *errors.at_index(AVOIDED_PODS, index);
            match &entry.pod_signature.pod_controller {
                None => errors.required("PodSignature", ""),
                Some(owner) if owner.controller != Some(true) => {
                    errors.invalid(
                        "PodSignature.PodController.Controller",
                        false,
                        "must point to a controller",
                    );
                }
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(key: &str, text: &str) -> String {
        let mut errors = FieldErrors::default();
        check(&BTreeMap::from([(key.to_owned(), text.to_owned())]), &mut errors);
        let lines = errors.as_slice().iter().map(|error| error.message());
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn taints_in_an_annotation_are_checked() {
        assert_eq!(found(TAINTS, ""), "");
        assert_eq!(found(TAINTS, r#"[{"key":"a","effect":"NoSchedule"}]"#), "");
        assert_eq!(
            found(TAINTS, "bad"),
            "metadata.annotations: Invalid value: \"scheduler.alpha.kubernetes.io/taints\": invalid character 'b' \
             looking for beginning of value"
        );
        assert_eq!(
            found(
                TAINTS,
                r#"[{"key":"a","effect":"NoSchedule"},{"key":"a","effect":"NoSchedule"}]"#
            ),
            "metadata.annotations.scheduler.alpha.kubernetes.io/taints[1]: Duplicate value: \
             {\"Key\":\"a\",\"Value\":\"\",\"Effect\":\"NoSchedule\",\"TimeAdded\":null}: \
             taints must be unique by key and effect pair"
        );
    }

    #[test]
    fn avoided_pods_have_a_controller() {
        let entry = |signature: &str| format!(r#"{{"preferAvoidPods":[{{"podSignature":{signature}}}]}}"#);
        let of = |controller| entry(&format!(r#"{{"podController":{{"controller":{controller}}}}}"#));
        assert_eq!(found(AVOIDED_PODS, &of(true)), "");
        let path = "metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature";
        assert_eq!(found(AVOIDED_PODS, &entry("{}")), format!("{path}: Required value"));
        assert_eq!(
            found(AVOIDED_PODS, &of(false)),
            format!("{path}.PodController.Controller: Invalid value: false: must point to a controller")
        );
        assert_eq!(
            found(AVOIDED_PODS, "[]"),
            "metadata.annotations.AvoidPods: Invalid value: \"scheduler.alpha.kubernetes.io/preferAvoidPods\": \
             json: cannot unmarshal array into Go value of type v1.AvoidPods"
        );
    }
}

//! Bindings: decisions where a pod runs.

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::rules::Rules;

use super::ObjectReference;

/// Ties a pod to a node; schedulers post it. Its labels and annotations go to the pod.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "", version = "v1", create_only, rules)]
pub struct Binding {
    /// Name and namespace of the pod. A UID or resourceVersion must be the pod's.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The node that the pod is to run on.
    #[field(proto = 2, keep)]
    pub target: ObjectReference,
}

impl Rules for Binding {
    fn validate(&self, errors: &mut FieldErrors) {
        let kind = self.target.kind.as_str();
        if !matches!(kind, "" | "Node") {
            errors.not_supported_in_order("target.kind", kind, &["Node", "<empty>"]);
        }
        if self.target.name.is_empty() {
            errors.required("target.name", "");
        }
    }
}

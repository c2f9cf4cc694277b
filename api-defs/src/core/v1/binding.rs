//! Bindings, which assign pods to nodes.

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use super::ObjectReference;

/// Assigns a pod to a node; created by schedulers. Its labels and annotations are added to the pod.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "", version = "v1", create_only, strategy)]
pub struct Binding {
    /// Name and namespace of the pod. If a UID or resourceVersion is set, it must match the pod.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Node that the pod is assigned to.
    #[field(proto = 2, keep)]
    pub target: ObjectReference,
}

impl Strategy for Binding {
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

//! Namespaces.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use super::finalizer_name::check_finalizer;

/// Label with the name of the namespace, so that selectors can match it.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Finalizer that is removed after all content of the namespace has been deleted.
const KUBERNETES: &str = "kubernetes";

/// A scope for names. Objects in different namespaces may have the same name, and permissions and quotas are assigned
/// per namespace. Deleting a namespace deletes everything in it.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "", version = "v1", short("ns"), cluster, is_namespace, name_rule = dns_label, subresource = "finalize", status)]
#[resource(
    selectable("status.phase"),
    returns_deleted,
    no_delete_collection,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(
        name = "Status",
        type = "string",
        doc = "Active, or Terminating once it is being deleted.",
        path = "status.phase"
    ),
    column(age)
)]
pub struct Namespace {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: NamespaceSpec,
    /// Phase of the namespace's lifecycle and obstacles to its deletion.
    #[field(proto = 3)]
    pub status: NamespaceStatus,
}

/// Desired state of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NamespaceSpec {
    /// Components that must finish before a deleted namespace is removed. Each removes its own entry through the
    /// finalize subresource.
    #[field(proto = 1, list_type = atomic, go_type = "[]FinalizerName")]
    pub finalizers: Vec<String>,
}

/// Phase of a namespace's lifecycle and obstacles to its deletion.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NamespaceStatus {
    /// Phase: Active, or Terminating while its content is deleted and nothing can be created in it.
    #[field(proto = 1, known("Active", "Terminating"), go_type = "NamespacePhase")]
    pub phase: String,
    /// Conditions that report obstacles to the deletion.
    #[field(proto = 2, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<NamespaceCondition>,
}

/// A condition of a namespace's deletion.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NamespaceCondition {
    /// Type of the condition, such as NamespaceContentRemaining.
    #[field(name = "type", proto = 1, keep, go_type = "NamespaceConditionType")]
    pub type_: String,
    /// Status of the condition: True, False or Unknown.
    #[field(proto = 2, keep, go_type = "ConditionStatus")]
    pub status: String,
    /// Time of the last change of status.
    #[field(proto = 4)]
    pub last_transition_time: Time,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 5)]
    pub reason: String,
    /// Human-readable explanation of the last transition. Its text may differ between releases.
    #[field(proto = 6)]
    pub message: String,
}

impl Strategy for Namespace {
    fn set_defaults(&mut self) {
        self.label_with_name();
        if self.status.phase.is_empty() {
            "Active".clone_into(&mut self.status.phase);
        }
    }

    fn prepare_for_create(&mut self, _: &Context<'_>) {
        // The name may have been generated after defaulting.
        self.label_with_name();
        self.status = NamespaceStatus {
            phase: "Active".to_owned(),
            ..NamespaceStatus::default()
        };
        // The finalizer is required on creation only, because its removal completes the deletion.
        if !self.spec.finalizers.iter().any(|finalizer| finalizer == KUBERNETES) {
            self.spec.finalizers.push(KUBERNETES.to_owned());
        }
    }

    fn prepare_for_update(&mut self, _: &Context<'_>, old: &Self) {
        self.spec.finalizers.clone_from(&old.spec.finalizers);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        for finalizer in &self.spec.finalizers {
            check_finalizer(errors, "spec.finalizers", finalizer);
        }
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        let phase = self.status.phase.as_str();
        let (expected, problem) = match self.metadata.deletion_timestamp {
            None => ("Active", "may only be 'Active' if `deletionTimestamp` is empty"),
            Some(_) => (
                "Terminating",
                "may only be 'Terminating' if `deletionTimestamp` is not empty",
            ),
        };
        if phase != expected {
            errors.invalid("status.Phase", phase, problem);
        }
    }
}

impl StrategyExtensions for Namespace {
    const PHASED_DELETION: bool = true;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;

    fn prepare_for_delete(&mut self) {
        "Terminating".clone_into(&mut self.status.phase);
    }

    fn blocks_deletion(&self) -> bool {
        !self.spec.finalizers.is_empty()
    }

    fn validate_replacement(&self, _old: &Self, errors: &mut FieldErrors) {
        // Only an update of the finalize subresource can add other finalizers.
        for (index, finalizer) in self.spec.finalizers.iter().enumerate() {
            check_finalizer(&mut errors.at_index("spec.finalizers", index), "", finalizer);
        }
    }
}

impl Namespace {
    fn label_with_name(&mut self) {
        if !self.metadata.name.is_empty() {
            self.metadata
                .labels
                .insert(NAME_LABEL.to_owned(), self.metadata.name.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::validation::check_update;

    use super::*;

    #[test]
    fn the_metadata_is_checked_before_its_changes() {
        let mut namespace = Namespace::default();
        namespace.metadata.finalizers = vec!["_".to_owned()];
        let errors = check_update(&namespace, &namespace, &Context::default());
        let fields = errors.as_slice().iter().map(|error| error.field.as_str());
        let fields: Vec<&str> = fields
            .filter(|field| field.starts_with("metadata.finalizers"))
            .collect();
        let (all, first) = ("metadata.finalizers", "metadata.finalizers[0]");
        assert_eq!(fields, [all, all, first, first]);
    }
}

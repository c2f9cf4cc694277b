//! Definitions of custom resources.

mod check;
mod layout;
mod structural;
mod warnings;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{
    Context, Dependents, MetadataRules, Strategy, StrategyExtensions, UpdateStep, update_order,
};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use crate::certificates::authorities_complaint;
use crate::created_at::created_at;

use super::{CustomResourceConversion, CustomResourceDefinitionVersion, WebhookConversion};
pub use check::{Approval, ApprovalState};

/// Finalizer that blocks the deletion of a definition until all its objects are deleted.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Declares a custom resource: its names, its versions and their schemas. The server serves it like a built-in
/// resource.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apiextensions.k8s.io",
    version = "v1",
    hashed_version = "v1beta1",
    cluster,
    status,
    generation,
    conditional_update,
    short("crd", "crds"),
    categories("api-extensions"),
    storage_name = "apiextensions.k8s.io/customresourcedefinitions",
    strategy,
    strategy_extensions
)]
#[resource(column(name), column(name = "Created At", type = "date", doc = "Creation time.", with = created_at))]
pub struct CustomResourceDefinition {
    /// Standard metadata. The name is plural.group.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Names, scope and versions of the kind.
    #[field(proto = 2, keep)]
    pub spec: CustomResourceDefinitionSpec,
    /// Observed state: accepted names, conditions and stored versions.
    #[field(proto = 3)]
    pub status: CustomResourceDefinitionStatus,
}

/// A custom kind in all its versions.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceDefinitionSpec {
    /// The API group, such as example.com. Objects are served under /apis/group.
    #[field(proto = 1, keep)]
    pub group: String,
    /// Names of the kind and its resource.
    #[field(proto = 3, keep)]
    pub names: CustomResourceDefinitionNames,
    /// Scope of the objects: Cluster or Namespaced.
    #[field(proto = 4, keep, go_type = "ResourceScope")]
    pub scope: String,
    /// Versions of the kind. Clients prefer them in the order of their names: v10, v2, v1, v11beta2, v10beta3,
    /// v3alpha1.
    #[field(proto = 7, keep, list_type = atomic)]
    pub versions: Vec<CustomResourceDefinitionVersion>,
    /// Conversion of objects between versions. By default, only apiVersion is changed.
    #[field(proto = 9)]
    pub conversion: Option<CustomResourceConversion>,
    /// True to preserve fields that the schema does not specify. Deprecated; use x-kubernetes-preserve-unknown-fields
    /// in the schema.
    #[field(proto = 10)]
    pub preserve_unknown_fields: bool,
}

/// Names of a kind and its resource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceDefinitionNames {
    /// Plural name in lower case, used in paths: /apis/group/version/plural.
    #[field(proto = 1, keep)]
    pub plural: String,
    /// Singular name that kubectl accepts. Default: the kind in lower case.
    #[field(proto = 2)]
    pub singular: String,
    /// Short names that kubectl accepts, in lower case, such as "po" for pods.
    #[field(proto = 3, list_type = atomic)]
    pub short_names: Vec<String>,
    /// Kind of the objects, in upper camel case.
    #[field(proto = 4, keep)]
    pub kind: String,
    /// Kind of lists. Default: the kind with the suffix List.
    #[field(proto = 5)]
    pub list_kind: String,
    /// Categories that kubectl accepts in place of a name, such as all.
    #[field(proto = 6, list_type = atomic)]
    pub categories: Vec<String>,
}

/// Observed state of a CustomResourceDefinition.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceDefinitionStatus {
    /// Conditions, for example about conflicts of names, about serving the kind and about errors in its schemas.
    #[field(proto = 1, keep, optional, list_type = map, list_map_keys("type"))]
    pub conditions: Vec<CustomResourceDefinitionCondition>,
    /// Names in effect. May differ from the spec because of conflicts with other resources.
    #[field(proto = 2, keep, optional)]
    pub accepted_names: CustomResourceDefinitionNames,
    /// Versions in which objects have ever been stored. A version can be removed from this list after all its objects
    /// have been migrated, and only then from the spec.
    #[field(proto = 3, keep, optional, list_type = atomic)]
    pub stored_versions: Vec<String>,
    /// Generation of the definition that the status describes.
    #[field(proto = 4)]
    pub observed_generation: i64,
}

/// A condition of a custom resource definition.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceDefinitionCondition {
    /// Type of the condition: NamesAccepted, Established, NonStructuralSchema, Terminating or
    /// KubernetesAPIApprovalPolicyConformant.
    #[field(proto = 1, keep, go_type = "CustomResourceDefinitionConditionType")]
    pub type_: String,
    /// Status of the condition: True, False, or Unknown if it cannot be determined.
    #[field(proto = 2, keep, go_type = "ConditionStatus")]
    pub status: String,
    /// Time of the last change of status.
    #[field(proto = 3)]
    pub last_transition_time: Time,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 4)]
    pub reason: String,
    /// Human-readable explanation of the last transition. Its text may differ between releases.
    #[field(proto = 5)]
    pub message: String,
    /// Generation of the definition that the condition describes.
    #[field(proto = 6)]
    pub observed_generation: i64,
}

impl Strategy for CustomResourceDefinition {
    fn set_defaults(&mut self) {
        self.spec.names.fill_in();
        let conversion = self.spec.conversion.get_or_insert_with(|| CustomResourceConversion {
            strategy: "None".to_owned(),
            webhook: None,
        });
        let webhook = &mut conversion.webhook;
        // An empty configuration is the same as none.
        webhook.take_if(|webhook| *webhook == WebhookConversion::default());
        if let Some(client) = webhook.as_mut().and_then(|webhook| webhook.client_config.as_mut()) {
            client.set_defaults();
        }
        if self.status.stored_versions.is_empty() {
            self.note_storage();
        }
    }

    fn prepare_for_create(&mut self, _: &Context<'_>) {
        self.status = CustomResourceDefinitionStatus::default();
        self.note_storage();
    }

    fn prepare_for_update(&mut self, _: &Context<'_>, _: &Self) {
        self.note_storage();
    }

    fn validate(&self, errors: &mut FieldErrors) {
        check::check(self, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        check::check_change(self, old, errors);
    }

    fn validate_status_update(&self, _: &Self, errors: &mut FieldErrors) {
        check::check_status(self, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        warnings::warnings(&self.spec, None)
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        warnings::warnings(&self.spec, Some(&old.spec))
    }
}

impl StrategyExtensions for CustomResourceDefinition {
    const CHECK_COST_PER_BYTE: u64 = 1_000;
    const STATUS_AS_TABLE: bool = false;
    const SCHEME_NAME: &'static str = "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55";
    const PHASED_DELETION: bool = true;
    const METADATA: MetadataRules = MetadataRules::AnyFinalizers;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
    const DEPENDENTS: Dependents = Dependents::IgnoredAtFirst;

    fn prepare_for_delete(&mut self) {
        self.begin_to_leave();
    }

    fn blocks_deletion(&self) -> bool {
        // The objects are deleted first.
        self.metadata.deletion_timestamp.is_none()
    }
}

impl CustomResourceDefinition {
    /// Records that objects are stored in the storage version from now on.
    fn note_storage(&mut self) {
        let storage = self.spec.versions.iter().find(|version| version.storage);
        let stored = &mut self.status.stored_versions;
        if let Some(version) = storage.filter(|version| !stored.contains(&version.name)) {
            stored.push(version.name.clone());
        }
    }

    /// Reports that the kind is terminating and its objects still exist.
    fn begin_to_leave(&mut self) {
        let finalizers = &mut self.metadata.finalizers;
        if !finalizers.iter().any(|finalizer| finalizer == CLEANUP) {
            finalizers.push(CLEANUP.to_owned());
        }
        let terminating = CustomResourceDefinitionCondition {
            type_: "Terminating".to_owned(),
            status: "True".to_owned(),
            last_transition_time: self.metadata.deletion_timestamp.unwrap_or_default(),
            reason: "InstanceDeletionPending".to_owned(),
            message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon".to_owned(),
            observed_generation: 0,
        };
        let conditions = &mut self.status.conditions;
        match conditions
            .iter_mut()
            .find(|condition| condition.type_ == terminating.type_)
        {
            Some(known) => *known = terminating,
            None => conditions.push(terminating),
        }
    }

    /// True if the condition `name` has status True.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        let mut conditions = self.status.conditions.iter();
        conditions.any(|condition| condition.type_ == name && condition.status == "True")
    }

    /// True if the CA bundle of its conversion webhook contains no valid certificate authorities.
    #[must_use]
    pub fn has_invalid_authorities(&self) -> bool {
        let webhook = self
            .spec
            .conversion
            .as_ref()
            .and_then(|conversion| conversion.webhook.as_ref());
        let config = webhook.and_then(|webhook| webhook.client_config.as_ref());
        config.is_some_and(|config| authorities_complaint(config.ca_bundle.as_ref()).is_some())
    }

    /// Returns the reasons why its schemas are not structural, joined into one message; `None` when all of them are
    /// structural.
    #[must_use]
    pub fn structural_problems(&self) -> Option<String> {
        let mut errors = FieldErrors::default();
        if self.spec.preserve_unknown_fields {
            errors.invalid("spec.preserveUnknownFields", true, "must be false");
        }
        for (index, version) in self.spec.versions.iter().enumerate() {
            let schema = version
                .schema
                .as_ref()
                .and_then(|schema| schema.open_apiv3_schema.as_ref());
            if let Some(schema) = schema {
                let mut errors = errors.at_index("spec.versions", index);
                structural::structural_errors(schema, &mut errors.at("schema.openAPIV3Schema"));
            }
        }
        errors.joined()
    }
}

impl CustomResourceDefinitionNames {
    /// Derives missing names from the kind.
    pub(crate) fn fill_in(&mut self) {
        if self.singular.is_empty() {
            self.singular = self.kind.to_lowercase();
        }
        if self.list_kind.is_empty() && !self.kind.is_empty() {
            self.list_kind = format!("{}List", self.kind);
        }
    }
}

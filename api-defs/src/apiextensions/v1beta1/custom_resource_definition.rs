//! Definitions of custom resources, in a version that is no longer served.

mod convert;

use crate::apiextensions::v1::{
    self, CustomResourceDefinitionNames, CustomResourceDefinitionStatus, CustomResourceSubresources,
    CustomResourceValidation, SelectableField, WebhookClientConfig,
};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

/// Declares a custom resource: its names, its versions and their schemas. The server serves it like a built-in
/// resource.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apiextensions.k8s.io",
    version = "v1beta1",
    cluster,
    status,
    generation,
    conditional_update,
    returns_deleted,
    short("crd", "crds"),
    categories("api-extensions"),
    storage_name = "apiextensions.k8s.io/customresourcedefinitions",
    storage_version = v1::CustomResourceDefinition,
    convert,
    strategy,
    unserved,
    deprecated = "apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated in v1.16+, unavailable in v1.22+; use apiextensions.k8s.io/v1 CustomResourceDefinition"
)]
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
    /// Name of the only version. Deprecated; use versions.
    #[field(proto = 2)]
    pub version: String,
    /// Names of the kind and its resource.
    #[field(proto = 3, keep)]
    pub names: CustomResourceDefinitionNames,
    /// Scope of the objects: Cluster or Namespaced.
    #[field(proto = 4, keep, go_type = "ResourceScope")]
    pub scope: String,
    /// Schema of all versions. Deprecated; specify one for each version.
    #[field(proto = 5)]
    pub validation: Option<CustomResourceValidation>,
    /// Subresources of all versions. Deprecated; specify them for each version.
    #[field(proto = 6)]
    pub subresources: Option<CustomResourceSubresources>,
    /// Versions of the kind. Clients prefer them in the order of their names: v10, v2, v1, v11beta2, v10beta3,
    /// v3alpha1.
    #[field(proto = 7, list_type = atomic)]
    pub versions: Vec<CustomResourceDefinitionVersion>,
    /// Columns of all versions. Deprecated; specify them for each version.
    #[field(proto = 8, list_type = atomic)]
    pub additional_printer_columns: Vec<CustomResourceColumnDefinition>,
    /// Fields of all versions that field selectors can use.
    #[field(proto = 11, list_type = atomic)]
    pub selectable_fields: Vec<SelectableField>,
    /// Conversion of objects between versions. By default, only apiVersion is changed.
    #[field(proto = 9)]
    pub conversion: Option<CustomResourceConversion>,
    /// True to preserve fields that the schema does not specify. Deprecated; use x-kubernetes-preserve-unknown-fields
    /// in the schema.
    #[field(proto = 10)]
    pub preserve_unknown_fields: Option<bool>,
}

/// A version of a custom kind.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceDefinitionVersion {
    /// Name of the version, such as v1 or v2beta1.
    #[field(proto = 1, keep)]
    pub name: String,
    /// True if clients can read and write objects in this version.
    #[field(proto = 2, keep)]
    pub served: bool,
    /// True if objects are stored in this version. Exactly one version is the storage version.
    #[field(proto = 3, keep)]
    pub storage: bool,
    /// True to add a warning to all responses for this version.
    #[field(proto = 7)]
    pub deprecated: bool,
    /// Text of the warning. By default it states that the version is deprecated and names a replacement.
    #[field(proto = 8)]
    pub deprecation_warning: Option<String>,
    /// Schema of the version's objects.
    #[field(proto = 4)]
    pub schema: Option<CustomResourceValidation>,
    /// Subresources of the objects.
    #[field(proto = 5)]
    pub subresources: Option<CustomResourceSubresources>,
    /// Columns that kubectl get prints after the name. Default: the age.
    #[field(proto = 6, list_type = atomic)]
    pub additional_printer_columns: Vec<CustomResourceColumnDefinition>,
    /// Fields that field selectors can use; at most 8.
    #[field(proto = 9, list_type = atomic)]
    pub selectable_fields: Vec<SelectableField>,
}

/// A column that kubectl get prints.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceColumnDefinition {
    /// Heading of the column.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The OpenAPI type of the cells: integer, number, string, boolean or date.
    #[field(proto = 2, keep)]
    pub type_: String,
    /// The OpenAPI format of the cells, such as int32, password or date-time.
    #[field(proto = 3)]
    pub format: String,
    /// Description of the column.
    #[field(proto = 4)]
    pub description: String,
    /// 0 for columns that are always printed. Columns with higher numbers are printed in wide output only.
    #[field(proto = 5)]
    pub priority: i32,
    /// JSONPath of the cells' value, such as .spec.replicas.
    #[field(name = "JSONPath", proto = 6, keep)]
    pub json_path: String,
}

/// Conversion of custom resources between versions.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceConversion {
    /// Strategy of the conversion: None changes only apiVersion, Webhook calls a webhook.
    #[field(proto = 1, keep, go_type = "ConversionStrategyType")]
    pub strategy: String,
    /// Address of the conversion webhook.
    #[field(proto = 2)]
    pub webhook_client_config: Option<WebhookClientConfig>,
    /// Supported versions of ConversionReview in order of preference.
    #[field(proto = 3, list_type = atomic)]
    pub conversion_review_versions: Vec<String>,
}

impl Strategy for CustomResourceDefinition {
    fn set_defaults(&mut self) {
        let spec = &mut self.spec;
        if spec.scope.is_empty() {
            "Namespaced".clone_into(&mut spec.scope);
        }
        spec.names.fill_in();
        spec.conversion.get_or_insert_with(|| CustomResourceConversion {
            strategy: "None".to_owned(),
            ..CustomResourceConversion::default()
        });
        let conversion = spec.conversion.as_mut();
        if let Some(client) = conversion.and_then(|conversion| conversion.webhook_client_config.as_mut()) {
            client.set_defaults();
        }
        spec.preserve_unknown_fields.get_or_insert(true);
    }
}

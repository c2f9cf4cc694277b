//! A version of a custom kind.

use planesmith_machinery::Struct;

use super::JSONSchemaProps;

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
    /// Subresources of the version's objects: status and scale.
    #[field(proto = 5)]
    pub subresources: Option<CustomResourceSubresources>,
    /// Columns that kubectl get prints after the name. Default: the age.
    #[field(proto = 6, list_type = atomic)]
    pub additional_printer_columns: Vec<CustomResourceColumnDefinition>,
    /// Fields that field selectors can use; at most 8.
    #[field(proto = 9, list_type = atomic)]
    pub selectable_fields: Vec<SelectableField>,
}

/// Validation of custom resources.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceValidation {
    /// Schema of the objects in a subset of OpenAPI v3. Determines validation, pruning and defaults.
    #[field(name = "openAPIV3Schema", proto = 1)]
    pub open_apiv3_schema: Option<JSONSchemaProps>,
}

/// A column that kubectl get prints.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceColumnDefinition {
    /// Heading of the column as kubectl prints it.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The OpenAPI type of the cells: integer, number, string, boolean or date.
    #[field(proto = 2, keep)]
    pub type_: String,
    /// The OpenAPI format of the cells, such as int32, password or date-time.
    #[field(proto = 3)]
    pub format: String,
    /// Description of the column, for clients that explain their tables.
    #[field(proto = 4)]
    pub description: String,
    /// 0 for columns that are always printed. Columns with higher numbers are printed in wide output only.
    #[field(proto = 5)]
    pub priority: i32,
    /// JSONPath of the cells' value, such as .spec.replicas.
    #[field(proto = 6, keep)]
    pub json_path: String,
}

/// Subresources of objects.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceSubresources {
    /// Enables the status subresource: writes to /status change only the status, writes to the object everything else.
    #[field(proto = 1)]
    pub status: Option<CustomResourceSubresourceStatus>,
    /// Gives each object a /scale subresource, through which autoscalers and kubectl scale set its replicas.
    #[field(proto = 2)]
    pub scale: Option<CustomResourceSubresourceScale>,
}

/// The status subresource, which has no settings.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceSubresourceStatus {}

/// Fields that the scale subresource reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CustomResourceSubresourceScale {
    /// JSONPath of the desired number of replicas, below .spec, such as .spec.replicas.
    #[field(proto = 1, keep)]
    pub spec_replicas_path: String,
    /// JSONPath of the observed number of replicas, below .status, such as .status.replicas.
    #[field(proto = 2, keep)]
    pub status_replicas_path: String,
    /// JSONPath of the label selector as a string, below .spec or .status, such as .status.selector. Required for
    /// autoscaling.
    #[field(proto = 3)]
    pub label_selector_path: Option<String>,
}

/// A field that field selectors can use.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SelectableField {
    /// JSONPath of the field, such as .spec.color. The field is a string, a boolean or an integer, and not part of a
    /// list or map.
    #[field(proto = 1, keep)]
    pub json_path: String,
}

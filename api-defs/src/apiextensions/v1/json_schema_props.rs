//! JSON schemas.

mod parts;

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::raw::AnyJson;
use planesmith_machinery::schema_or::{SchemaOrArray, SchemaOrBool, SchemaOrStrings};

/// A JSON schema in the draft that OpenAPI 3.0 is based on, with the extensions of Kubernetes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JSONSchemaProps {
    /// Identifier in JSON schema. Has no effect and is refused in definitions.
    #[field(proto = 1)]
    pub id: String,
    /// Dialect of JSON schema. Has no effect and is refused in definitions.
    #[field(name = "$schema", proto = 2, go_type = "JSONSchemaURL")]
    pub schema_: String,
    /// Reference to another schema. Refused in definitions, because structural schemas contain no references.
    #[field(name = "$ref", proto = 3)]
    pub ref_: Option<String>,
    /// Description of the value.
    #[field(proto = 4)]
    pub description: String,
    /// Type of the value: array, boolean, integer, number, object or string.
    #[field(proto = 5)]
    pub type_: String,
    /// Format of a string or number, such as date-time or int64.
    #[field(proto = 6)]
    pub format: String,
    /// Title of the schema.
    #[field(proto = 7)]
    pub title: String,
    /// Value that is set when the field is absent.
    #[field(proto = 8)]
    pub default: Option<AnyJson>,
    /// Maximum number; excluded itself when exclusiveMaximum is true.
    #[field(proto = 9)]
    pub maximum: Option<f64>,
    /// True if the maximum itself is not allowed.
    #[field(proto = 10)]
    pub exclusive_maximum: bool,
    /// Minimum number; excluded itself when exclusiveMinimum is true.
    #[field(proto = 11)]
    pub minimum: Option<f64>,
    /// True if the minimum itself is not allowed.
    #[field(proto = 12)]
    pub exclusive_minimum: bool,
    /// Maximum length of a string, in characters.
    #[field(proto = 13)]
    pub max_length: Option<i64>,
    /// Minimum length of a string, in characters.
    #[field(proto = 14)]
    pub min_length: Option<i64>,
    /// Regular expression that must match a part of the string.
    #[field(proto = 15)]
    pub pattern: String,
    /// Maximum number of list elements. A limit lowers the estimated cost of expressions.
    #[field(proto = 16)]
    pub max_items: Option<i64>,
    /// Minimum number of list elements.
    #[field(proto = 17)]
    pub min_items: Option<i64>,
    /// Not allowed because its check is too expensive. Use x-kubernetes-list-type set.
    #[field(proto = 18)]
    pub unique_items: bool,
    /// Number of which the value must be a multiple.
    #[field(proto = 19)]
    pub multiple_of: Option<f64>,
    // Checks distinguish some absent lists and maps from empty ones. Written are neither.
    /// Allowed values.
    #[field(proto = 20, list_type = atomic)]
    pub enum_: Option<Vec<AnyJson>>,
    /// Maximum number of properties of an object. A limit lowers the estimated cost of expressions.
    #[field(proto = 21)]
    pub max_properties: Option<i64>,
    /// Minimum number of properties of an object.
    #[field(proto = 22)]
    pub min_properties: Option<i64>,
    /// Required fields.
    #[field(proto = 23, list_type = atomic)]
    pub required: Vec<String>,
    /// Schema of the list elements.
    #[field(proto = 24)]
    pub items: Option<SchemaOrArray<JSONSchemaProps>>,
    /// Schemas that the value must all match.
    #[field(proto = 25, list_type = atomic)]
    pub all_of: Option<Vec<JSONSchemaProps>>,
    /// Schemas of which the value must match exactly one.
    #[field(proto = 26, list_type = atomic)]
    pub one_of: Option<Vec<JSONSchemaProps>>,
    /// Schemas of which the value must match at least one.
    #[field(proto = 27, list_type = atomic)]
    pub any_of: Option<Vec<JSONSchemaProps>>,
    /// Schema that the value must not match.
    #[field(proto = 28)]
    pub not: Option<Box<JSONSchemaProps>>,
    // Boxed because a map node reserves space for eleven entries, and most objects have only a few fields.
    /// Schemas of fields, by name.
    #[field(proto = 29)]
    pub properties: BTreeMap<String, Box<JSONSchemaProps>>,
    /// Schema of fields that properties does not list; describes the values of a map.
    #[field(proto = 30)]
    pub additional_properties: Option<SchemaOrBool<JSONSchemaProps>>,
    /// Schemas of properties whose names match patterns. Refused in definitions; use additionalProperties.
    #[field(proto = 31)]
    pub pattern_properties: Option<BTreeMap<String, JSONSchemaProps>>,
    /// Properties that require others. Refused in definitions; use a validation rule.
    #[field(proto = 32, go_type = "JSONSchemaDependencies")]
    pub dependencies: Option<BTreeMap<String, SchemaOrStrings<JSONSchemaProps>>>,
    /// Schema of the elements after a fixed list. Refused in definitions.
    #[field(proto = 33)]
    pub additional_items: Option<SchemaOrBool<JSONSchemaProps>>,
    /// Schemas for references. Refused in definitions, which have no references.
    #[field(proto = 34, go_type = "JSONSchemaDefinitions")]
    pub definitions: Option<BTreeMap<String, JSONSchemaProps>>,
    /// Reference to further documentation of the value.
    #[field(proto = 35)]
    pub external_docs: Option<ExternalDocumentation>,
    /// Example value for documentation. Not checked by the server.
    #[field(proto = 36)]
    pub example: Option<AnyJson>,
    /// True if null is a legal value.
    #[field(proto = 37)]
    pub nullable: bool,
    /// True to preserve fields that the schema does not specify.
    #[field(name = "x-kubernetes-preserve-unknown-fields", proto = 38)]
    pub x_kubernetes_preserve_unknown_fields: Option<bool>,
    /// True if the value is an API object with apiVersion, kind and metadata.
    #[field(name = "x-kubernetes-embedded-resource", proto = 39)]
    pub x_kubernetes_embedded_resource: bool,
    /// True if the value is an integer or a string.
    #[field(name = "x-kubernetes-int-or-string", proto = 40)]
    pub x_kubernetes_int_or_string: bool,
    /// Fields that identify an element of the list.
    #[field(name = "x-kubernetes-list-map-keys", proto = 41, list_type = atomic)]
    pub x_kubernetes_list_map_keys: Option<Vec<String>>,
    /// Ownership of the list's elements in server-side apply: atomic, set or map.
    #[field(name = "x-kubernetes-list-type", proto = 42)]
    pub x_kubernetes_list_type: Option<String>,
    /// Ownership of the map's entries in server-side apply: granular for each entry, atomic for the whole map.
    #[field(name = "x-kubernetes-map-type", proto = 43)]
    pub x_kubernetes_map_type: Option<String>,
    /// CEL rules that the value must satisfy.
    #[field(name = "x-kubernetes-validations", proto = 44, list_type = map, list_map_keys("rule"), patch_strategy(merge), patch_merge_key = "rule", go_type = "ValidationRules")]
    pub x_kubernetes_validations: Vec<ValidationRule>,
}

/// Reference to external documentation.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExternalDocumentation {
    /// Description of the documentation.
    #[field(proto = 1)]
    pub description: String,
    /// URL of the documentation.
    #[field(proto = 2)]
    pub url: String,
}

/// A CEL rule that values must satisfy.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ValidationRule {
    /// CEL expression. Variables: self for the value, oldSelf for the value before an update.
    #[field(proto = 1, keep)]
    pub rule: String,
    /// Message for the client when the rule is violated.
    #[field(proto = 2)]
    pub message: String,
    /// CEL expression that evaluates to the message. Takes precedence over message.
    #[field(proto = 3)]
    pub message_expression: String,
    /// Reason that clients receive. Default: FieldValueInvalid.
    #[field(
        proto = 4,
        known(
            "FieldValueRequired",
            "FieldValueDuplicate",
            "FieldValueInvalid",
            "FieldValueForbidden"
        ),
        go_type = "FieldValueErrorReason"
    )]
    pub reason: Option<String>,
    /// Field path that clients receive, such as .spec.color. Default: the path of the value.
    #[field(proto = 5)]
    pub field_path: String,
    /// True to evaluate the rule on creation, too. oldSelf is then an optional value.
    #[field(proto = 6)]
    pub optional_old_self: Option<bool>,
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::json::{self, Strictness};

    use super::*;

    /// True if the decoder accepts a schema with `count` properties, each of them `schema`.
    fn is_taken(count: usize, schema: &str) -> bool {
        let properties: Vec<_> = (0..count).map(|number| format!(r#""{number}":{schema}"#)).collect();
        let text = format!(r#"{{"properties":{{{}}}}}"#, properties.join(","));
        json::decode_sent(text.as_bytes(), &mut JSONSchemaProps::default(), Strictness::Strict).is_ok()
    }

    #[test]
    fn properties_count_for_what_they_are() {
        assert!(is_taken(100_000, r#"{"type":"string"}"#));
        assert!(!is_taken(100_000, "{}"));
    }
}

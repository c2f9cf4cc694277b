//! JSON schemas.

mod parts;

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::raw::AnyJson;
use planesmith_machinery::schema_or::{SchemaOrArray, SchemaOrBool, SchemaOrStrings};

/// A JSON schema, in the draft that OpenAPI 3.0 builds on, with the words of Kubernetes beside.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JSONSchemaProps {
    /// Identifies a schema in JSON schema; takes no effect here and is refused in definitions.
    #[field(proto = 1)]
    pub id: String,
    /// Names the dialect of JSON schema; takes no effect here and is refused in definitions.
    #[field(name = "$schema", proto = 2, go_type = "JSONSchemaURL")]
    pub schema_: String,
    /// Refers to another schema. Structural schemas have to be written out, so definitions refuse it.
    #[field(name = "$ref", proto = 3)]
    pub ref_: Option<String>,
    /// Description of the value.
    #[field(proto = 4)]
    pub description: String,
    /// array, boolean, integer, number, object or string.
    #[field(proto = 5)]
    pub type_: String,
    /// Format of a string or number, such as date-time or int64.
    #[field(proto = 6)]
    pub format: String,
    /// A name for the schema.
    #[field(proto = 7)]
    pub title: String,
    /// Value that is set when the field is absent.
    #[field(proto = 8)]
    pub default: Option<AnyJson>,
    /// The greatest number that is allowed; not itself when exclusiveMaximum is true.
    #[field(proto = 9)]
    pub maximum: Option<f64>,
    /// The greatest number itself is too much.
    #[field(proto = 10)]
    pub exclusive_maximum: bool,
    /// The least number that is allowed; not itself when exclusiveMinimum is true.
    #[field(proto = 11)]
    pub minimum: Option<f64>,
    /// The least number itself is too little.
    #[field(proto = 12)]
    pub exclusive_minimum: bool,
    /// The most characters that a text can have.
    #[field(proto = 13)]
    pub max_length: Option<i64>,
    /// The fewest characters that a text can have.
    #[field(proto = 14)]
    pub min_length: Option<i64>,
    /// A regular expression that the text matches somewhere.
    #[field(proto = 15)]
    pub pattern: String,
    /// The most elements that a list can have. A bound keeps the estimated cost of expressions low.
    #[field(proto = 16)]
    pub max_items: Option<i64>,
    /// The fewest elements that a list can have.
    #[field(proto = 17)]
    pub min_items: Option<i64>,
    /// Not allowed: checking it takes too long. Use x-kubernetes-list-type set.
    #[field(proto = 18)]
    pub unique_items: bool,
    /// The number is a multiple of this one.
    #[field(proto = 19)]
    pub multiple_of: Option<f64>,
    /// The values that are allowed.
    #[field(proto = 20, list_type = atomic)]
    pub enum_: Vec<AnyJson>,
    /// The most entries that an object can have. A bound keeps the estimated cost of expressions low.
    #[field(proto = 21)]
    pub max_properties: Option<i64>,
    /// The fewest entries that an object can have.
    #[field(proto = 22)]
    pub min_properties: Option<i64>,
    /// Fields that have to be there.
    #[field(proto = 23, list_type = atomic)]
    pub required: Vec<String>,
    /// The schema of each element of a list.
    #[field(proto = 24)]
    pub items: Option<SchemaOrArray<JSONSchemaProps>>,
    /// Schemas that all have to fit as well.
    #[field(proto = 25, list_type = atomic)]
    pub all_of: Vec<JSONSchemaProps>,
    /// Exactly one of these fits.
    #[field(proto = 26, list_type = atomic)]
    pub one_of: Vec<JSONSchemaProps>,
    /// At least one of these fits.
    #[field(proto = 27, list_type = atomic)]
    pub any_of: Vec<JSONSchemaProps>,
    /// A schema that must not fit.
    #[field(proto = 28)]
    pub not: Option<Box<JSONSchemaProps>>,
    // Boxed because a map has room for eleven, and most objects have a few fields only.
    /// Schemas of fields, by name.
    #[field(proto = 29)]
    pub properties: BTreeMap<String, Box<JSONSchemaProps>>,
    /// Schema of fields that properties does not list; describes the values of a map.
    #[field(proto = 30)]
    pub additional_properties: Option<SchemaOrBool<JSONSchemaProps>>,
    /// Schemas for properties whose names match patterns; definitions refuse it, use additionalProperties.
    #[field(proto = 31)]
    pub pattern_properties: BTreeMap<String, JSONSchemaProps>,
    /// Properties that need others; definitions refuse it, write a rule for it.
    #[field(proto = 32, go_type = "JSONSchemaDependencies")]
    pub dependencies: BTreeMap<String, SchemaOrStrings<JSONSchemaProps>>,
    /// Schema of elements behind a fixed list of them; definitions refuse it.
    #[field(proto = 33)]
    pub additional_items: Option<SchemaOrBool<JSONSchemaProps>>,
    /// Schemas to refer to; definitions refuse it as there are no references.
    #[field(proto = 34, go_type = "JSONSchemaDefinitions")]
    pub definitions: BTreeMap<String, JSONSchemaProps>,
    /// Reference to further documentation of the value.
    #[field(proto = 35)]
    pub external_docs: Option<ExternalDocumentation>,
    /// A value that fits, for documentation; the server does not look at it.
    #[field(proto = 36)]
    pub example: Option<AnyJson>,
    /// True if null is a legal value.
    #[field(proto = 37)]
    pub nullable: bool,
    /// Fields that the schema does not know are kept.
    #[field(name = "x-kubernetes-preserve-unknown-fields", proto = 38)]
    pub x_kubernetes_preserve_unknown_fields: Option<bool>,
    /// The value is an object with apiVersion, kind and metadata.
    #[field(name = "x-kubernetes-embedded-resource", proto = 39)]
    pub x_kubernetes_embedded_resource: bool,
    /// The value is a number or a text.
    #[field(name = "x-kubernetes-int-or-string", proto = 40)]
    pub x_kubernetes_int_or_string: bool,
    /// The fields that tell elements of the list apart.
    #[field(name = "x-kubernetes-list-map-keys", proto = 41, list_type = atomic)]
    pub x_kubernetes_list_map_keys: Vec<String>,
    /// Ownership of the list's elements in server-side apply: atomic, set or map.
    #[field(name = "x-kubernetes-list-type", proto = 42)]
    pub x_kubernetes_list_type: Option<String>,
    /// Ownership of the map's entries in server-side apply: granular for each entry, atomic for the whole map.
    #[field(name = "x-kubernetes-map-type", proto = 43)]
    pub x_kubernetes_map_type: Option<String>,
    /// CEL expressions that the value has to meet.
    #[field(name = "x-kubernetes-validations", proto = 44, list_type = map, list_map_keys("rule"), patch_strategy(merge), patch_merge_key = "rule", go_type = "ValidationRules")]
    pub x_kubernetes_validations: Vec<ValidationRule>,
}

/// Documentation elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExternalDocumentation {
    /// Description of the documentation.
    #[field(proto = 1)]
    pub description: String,
    /// Address of the documentation.
    #[field(proto = 2)]
    pub url: String,
}

/// A CEL expression that objects have to meet.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ValidationRule {
    /// The expression. self is the value that the schema is for, oldSelf the one before an update.
    #[field(proto = 1, keep)]
    pub rule: String,
    /// Message for the client when the rule is violated.
    #[field(proto = 2)]
    pub message: String,
    /// A CEL expression for what is said; wins over message.
    #[field(proto = 3)]
    pub message_expression: String,
    /// The reason that clients see. Default: FieldValueInvalid.
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
    /// The field that clients are told, such as .spec.color. Default: the one that the schema is for.
    #[field(proto = 5)]
    pub field_path: String,
    /// The expression is evaluated on create too; oldSelf is optional then.
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

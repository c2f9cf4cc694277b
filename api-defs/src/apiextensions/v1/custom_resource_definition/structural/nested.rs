//! Schemas under allOf, anyOf, oneOf and not, which restrict values but specify no types.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_pattern;
use planesmith_machinery::schema_or::SchemaOrBool;

use crate::apiextensions::v1::JSONSchemaProps;

/// Checks the value validations of a schema: all keywords except those about types.
pub(super) fn check_values(schema: &JSONSchemaProps, errors: &mut FieldErrors) {
    let lets_first = schema
        .all_of()
        .first()
        .is_some_and(|first| is_int_or_string(first.any_of()));
    check_junctors(schema, is_int_or_string(schema.any_of()), lets_first, errors);
}

/// Recognizes the only type specification that is allowed here: an integer or a string.
fn is_int_or_string(any_of: &[JSONSchemaProps]) -> bool {
    let is_only = |schema: &JSONSchemaProps, kind: &str| {
        schema.type_ == kind
            && *schema
                == JSONSchemaProps {
                    type_: kind.to_owned(),
                    ..JSONSchemaProps::default()
                }
    };
    matches!(any_of, [first, second] if is_only(first, "integer") && is_only(second, "string"))
}

fn check_junctors(schema: &JSONSchemaProps, lets_any_of: bool, lets_first: bool, errors: &mut FieldErrors) {
    if !lets_any_of {
        for (index, nested) in schema.any_of().iter().enumerate() {
            check_nested(nested, false, &mut errors.at_index("anyOf", index));
        }
    }
    for (index, nested) in schema.all_of().iter().enumerate() {
        check_nested(nested, lets_first && index == 0, &mut errors.at_index("allOf", index));
    }
    for (index, nested) in schema.one_of().iter().enumerate() {
        check_nested(nested, false, &mut errors.at_index("oneOf", index));
    }
    if let Some(not) = &schema.not {
        check_nested(not, false, &mut errors.at("not"));
    }
    if let Some(problem) = go_pattern::problem(&schema.pattern) {
        let detail = format!("must be a valid regular expression, but isn't: {problem}");
        errors.invalid("pattern", &schema.pattern, detail);
    }
}

fn check_nested(schema: &JSONSchemaProps, lets_any_of: bool, errors: &mut FieldErrors) {
    check_junctors(schema, lets_any_of, false, errors);
    if let Some(item) = schema.item() {
        check_nested(item, false, &mut errors.at("items"));
    }
    for (name, property) in &schema.properties {
        check_nested(property, false, &mut errors.at_key("properties", name));
    }
    let has_additional = schema
        .additional_properties
        .as_ref()
        .is_some_and(|additional| *additional != SchemaOrBool::Bool(false));
    let words = [
        ("type", !schema.type_.is_empty(), "empty"),
        ("additionalProperties", has_additional, "undefined"),
        (
            "default",
            schema.default.as_ref().is_some_and(|default| !default.is_null()),
            "undefined",
        ),
        ("title", !schema.title.is_empty(), "empty"),
        ("description", !schema.description.is_empty(), "empty"),
        ("nullable", schema.nullable, "false"),
        (
            "x-kubernetes-preserve-unknown-fields",
            schema.x_kubernetes_preserve_unknown_fields == Some(true),
            "false",
        ),
        (
            "x-kubernetes-embedded-resource",
            schema.x_kubernetes_embedded_resource,
            "false",
        ),
        ("x-kubernetes-int-or-string", schema.x_kubernetes_int_or_string, "false"),
        (
            "x-kubernetes-list-map-keys",
            !schema.list_map_keys().is_empty(),
            "empty",
        ),
        (
            "x-kubernetes-list-type",
            schema.x_kubernetes_list_type.is_some(),
            "undefined",
        ),
        (
            "x-kubernetes-map-type",
            schema.x_kubernetes_map_type.is_some(),
            "undefined",
        ),
        (
            "x-kubernetes-validations",
            !schema.x_kubernetes_validations.is_empty(),
            "empty",
        ),
    ];
    for (word, _, instead) in words.into_iter().filter(|(_, is_there, _)| *is_there) {
        errors.forbidden(word, format!("must be {instead} to be structural"));
    }
    if schema.properties.contains_key("metadata") {
        let mut errors = errors.at_key("properties", "metadata");
        errors.forbidden("", "must not be specified in a nested context");
    }
}

//! Structural schemas, which specify the types of all values. Other schemas can be neither pruned nor defaulted.

mod complete;
mod nested;

use planesmith_machinery::field_error::{FieldError, FieldErrors};
use planesmith_machinery::schema_or::SchemaOrBool;

use self::nested::check_values;
use crate::apiextensions::v1::JSONSchemaProps;

/// Position of a schema, which determines the keywords it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Returns the reason why a schema cannot be converted into a structural one, in kube-apiserver's words.
pub(super) fn unsupported(schema: &JSONSchemaProps) -> Option<String> {
    let mut found = None;
    schema.any(&mut |schema| {
        let words = [
            ("id", !schema.id.is_empty()),
            ("schema", !schema.schema_.is_empty()),
            ("$ref", schema.ref_.as_ref().is_some_and(|name| !name.is_empty())),
            (
                "patternProperties",
                schema.pattern_properties.as_ref().is_some_and(|all| !all.is_empty()),
            ),
            (
                "dependencies",
                schema.dependencies.as_ref().is_some_and(|all| !all.is_empty()),
            ),
            ("additionalItems", schema.additional_items.is_some()),
            (
                "definitions",
                schema.definitions.as_ref().is_some_and(|all| !all.is_empty()),
            ),
        ];
        found = words
            .into_iter()
            .find(|(_, is_there)| *is_there)
            .map(|(word, _)| format!("OpenAPIV3Schema '{word}' is not supported"));
        if found.is_none() && schema.x_kubernetes_preserve_unknown_fields == Some(false) {
            let words = "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
            found = Some(words.to_owned());
        }
        if found.is_none() && !schema.item_list().is_empty() {
            found = Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
        }
        found.is_some()
    });
    found
}

/// True if a schema is structural.
pub(super) fn is_structural(schema: &JSONSchemaProps) -> bool {
    let mut errors = FieldErrors::default();
    structural_errors(schema, &mut errors);
    errors.is_empty() && unsupported(schema).is_none()
}

/// Reports violations of structural schemas in alphabetic order.
pub(super) fn structural_errors(schema: &JSONSchemaProps, errors: &mut FieldErrors) {
    let mut found = FieldErrors::default();
    check(schema, Level::Root, &mut found);
    complete::check(schema, errors.prefix(), &mut found);
    // All errors share the path of the schema, except inside messages about completeness, so the messages determine the
    // order.
    let mut found: Vec<FieldError> = found.as_slice().to_vec();
    found.sort_by_key(FieldError::message);
    for error in found {
        errors.report(error);
    }
}

fn check(schema: &JSONSchemaProps, level: Level, errors: &mut FieldErrors) {
    if schema.type_ == "array" && schema.item().is_none() {
        errors.required("items", "must be specified");
    }
    if let Some(item) = schema.item() {
        check(item, Level::Item, &mut errors.at("items"));
    }
    for (name, property) in &schema.properties {
        check(property, Level::Field, &mut errors.at_key("properties", name));
    }
    if schema.additional_properties.is_some() && level == Level::Root {
        errors.forbidden("additionalProperties", "must not be used at the root");
    }
    if let Some(SchemaOrBool::Schema(additional)) = &schema.additional_properties {
        check(additional, Level::Field, &mut errors.at("additionalProperties"));
    }
    check_words(schema, errors);
    check_values(schema, errors);
    check_type(schema, level, errors);
    check_embedded(schema, level, errors);
}

/// Reports Kubernetes extensions that exclude each other.
fn check_words(schema: &JSONSchemaProps, errors: &mut FieldErrors) {
    if !schema.x_kubernetes_int_or_string {
        return;
    }
    let detail = "must be false if x-kubernetes-int-or-string is true";
    if keeps_unknown(schema) {
        errors.invalid("x-kubernetes-preserve-unknown-fields", true, detail);
    }
    if schema.x_kubernetes_embedded_resource {
        errors.invalid("x-kubernetes-embedded-resource", true, detail);
    }
}

fn keeps_unknown(schema: &JSONSchemaProps) -> bool {
    schema.x_kubernetes_preserve_unknown_fields == Some(true)
}

fn check_type(schema: &JSONSchemaProps, level: Level, errors: &mut FieldErrors) {
    let kind = schema.type_.as_str();
    if schema.x_kubernetes_embedded_resource && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        match kind {
            "" => errors.required("type", detail),
            other => errors.invalid("type", other, detail),
        }
    } else if kind.is_empty() && !schema.x_kubernetes_int_or_string && !keeps_unknown(schema) {
        errors.required(
            "type",
            match level {
                Level::Root => "must not be empty at the root",
                Level::Item => "must not be empty for specified array items",
                Level::Field => "must not be empty for specified object fields",
            },
        );
    }
    if schema.x_kubernetes_embedded_resource && schema.additional_properties.is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.forbidden("additionalProperties", detail);
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.invalid("type", kind, "must be object at the root");
    }
}

/// Checks that the schema of an API object leaves `apiVersion`, `kind` and `metadata` at their fixed types.
fn check_embedded(schema: &JSONSchemaProps, level: Level, errors: &mut FieldErrors) {
    let is_object_of_api = level == Level::Root || schema.x_kubernetes_embedded_resource;
    for name in ["kind", "apiVersion"] {
        if let Some(property) = schema.properties.get(name).filter(|_| is_object_of_api)
            && property.type_ != "string"
        {
            errors
                .at_key("properties", name)
                .invalid("type", &property.type_, "must be string");
        }
    }
    if let Some(metadata) = schema.properties.get("metadata") {
        let mut errors = errors.at_key("properties", "metadata");
        if is_object_of_api && metadata.type_ != "object" {
            errors.invalid("type", &metadata.type_, "must be object");
        }
        if level == Level::Root && !restricts_names_only(metadata) {
            let detail =
                "must not specify anything other than name and generateName, but metadata is implicitly specified";
            errors.forbidden("", detail);
        }
    }
    if schema.x_kubernetes_embedded_resource && !keeps_unknown(schema) && schema.properties.is_empty() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.required("properties", detail);
    }
}

fn restricts_names_only(metadata: &JSONSchemaProps) -> bool {
    let mut rest = metadata.clone();
    let mut names = rest.properties.keys();
    if names.all(|name| matches!(name.as_str(), "name" | "generateName")) {
        rest.properties.clear();
    }
    rest.type_.clear();
    rest.default = None;
    rest == JSONSchemaProps::default()
}

//! Validation of list types and map types, which determine the ownership of elements and entries.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::{FieldErrors, Json};

use super::tolerance::Tolerance;
use crate::apiextensions::v1::JSONSchemaProps;
use crate::apiextensions::v1::json_schema_rendering::rendered_items;

const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const KEYS: &str = "x-kubernetes-list-map-keys";

pub(super) fn check(schema: &JSONSchemaProps, tolerance: &Tolerance, errors: &mut FieldErrors) {
    if let Some(kind) = schema.x_kubernetes_map_type.as_deref() {
        check_type(schema, "object", MAP_TYPE, errors);
        if !matches!(kind, "atomic" | "granular") {
            errors.not_supported_in_order(MAP_TYPE, kind, &["atomic", "granular"]);
        }
    }
    let kind = schema.x_kubernetes_list_type.as_deref();
    if let Some(kind) = kind {
        if schema.type_ != "array" {
            check_type(schema, "array", LIST_TYPE, errors);
        } else if tolerance.atomic_sets && is_set_of_parts(schema) {
            check_elements(schema, errors);
        }
        if !matches!(kind, "atomic" | "set" | "map") {
            errors.not_supported_in_order(LIST_TYPE, kind, &["atomic", "set", "map"]);
        }
    }
    if !schema.list_map_keys().is_empty() {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        match kind {
            None => errors.required(LIST_TYPE, detail),
            Some("map") => {}
            Some(other) => errors.invalid(LIST_TYPE, other, detail),
        }
    }
    if kind == Some("map") {
        check_keyed(schema, errors);
    }
    if tolerance.sound_keys {
        check_keys(schema, errors);
    }
}

fn check_type(schema: &JSONSchemaProps, wanted: &str, because: &str, errors: &mut FieldErrors) {
    let detail = format!("must be {wanted} if {because} is specified");
    match schema.type_.as_str() {
        "" => errors.required("type", detail),
        other if other != wanted => errors.invalid("type", other, detail),
        _ => {}
    }
}

/// True if the elements of a set have parts that can have owners of their own.
pub(super) fn is_set_of_parts(schema: &JSONSchemaProps) -> bool {
    if schema.x_kubernetes_list_type.as_deref() != Some("set") {
        return false;
    }
    let owner = |kind: &Option<String>| kind.as_deref().is_some_and(|kind| kind != "atomic");
    schema.item().is_some_and(|item| match item.type_.as_str() {
        "array" => owner(&item.x_kubernetes_list_type),
        "object" => item.x_kubernetes_map_type.is_none() || owner(&item.x_kubernetes_map_type),
        _ => false,
    })
}

fn check_elements(schema: &JSONSchemaProps, errors: &mut FieldErrors) {
    let Some(item) = schema.item() else { return };
    let field = if item.type_ == "array" { LIST_TYPE } else { MAP_TYPE };
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let mut errors = errors.at("items");
    // Both errors report the list type.
    match &item.x_kubernetes_list_type {
        Some(kind) => errors.invalid(field, kind, detail),
        None => errors.invalid(field, Json("null"), detail),
    }
}

fn check_keyed(schema: &JSONSchemaProps, errors: &mut FieldErrors) {
    let keys = schema.list_map_keys();
    if keys.is_empty() {
        errors.required(KEYS, "must not be empty if x-kubernetes-list-type is map");
    }
    let Some(item) = schema.item() else {
        match schema.items {
            None => errors.required("items", "must have a schema if x-kubernetes-list-type is map"),
            Some(_) => {
                let detail = "must only have a single schema if x-kubernetes-list-type is map";
                errors.invalid("items", Json(&rendered_items(schema)), detail);
            }
        }
        return;
    };
    if item.type_ != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.at("items").invalid("type", &item.type_, detail);
        return;
    }
    let mut seen = BTreeSet::new();
    for key in keys {
        match item.properties.get(key) {
            Some(property) if matches!(property.type_.as_str(), "array" | "object") => {
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                // The error reports the type of the element, not that of the key.
                errors
                    .at_key("items.properties", key)
                    .invalid("type", &item.type_, detail);
            }
            Some(_) => {}
            None => errors.invalid(KEYS, keys, "entries must all be names of item properties"),
        }
        if !seen.insert(key) {
            errors.invalid(KEYS, keys, "must not contain duplicate entries");
        }
    }
}

/// True if elements of the list, or keys of the elements, can be missing or null.
pub(super) fn has_unsound_keys(schema: &JSONSchemaProps) -> bool {
    let mut errors = FieldErrors::default();
    check_keys(schema, &mut errors);
    !errors.is_empty()
}

fn check_keys(schema: &JSONSchemaProps, errors: &mut FieldErrors) {
    let (Some(item), Some(kind @ ("set" | "map"))) = (schema.item(), schema.x_kubernetes_list_type.as_deref()) else {
        return;
    };
    if item.nullable {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {kind}");
        errors.forbidden("items.nullable", detail);
    }
    if kind != "map" {
        return;
    }
    for key in schema.list_map_keys() {
        let Some(property) = item.properties.get(key) else {
            continue;
        };
        let mut errors = errors.at_key("items.properties", key);
        if !item.required.contains(key) && property.default.is_none() {
            let detail =
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.required("default", detail);
        }
        if property.nullable {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.forbidden("nullable", detail);
        }
    }
}

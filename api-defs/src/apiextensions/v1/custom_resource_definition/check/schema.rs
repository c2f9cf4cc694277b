//! Validation of a version's schema.

use std::cell::RefCell;
use std::collections::BTreeMap;

use planesmith_expressions::definition::{self, CheckContext};
use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::json::to_value;
use planesmith_machinery::schema_or::{SchemaOrBool, SchemaOrStrings};

use super::super::structural::{structural_errors, unsupported};
use super::tolerance::Tolerance;
use super::{defaults, expression, lists};
use crate::apiextensions::v1::json_schema_rendering::rendered;
use crate::apiextensions::v1::{CustomResourceValidation, JSONSchemaProps};

/// Types that OpenAPI defines.
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
/// Keywords that are allowed at the root of a schema when the status subresource is enabled.
const AT_ROOT: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength \
                       MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs \
                       Example XPreserveUnknownFields XValidations]";

/// Checks a schema. `errors` has the path of its wrapper.
pub(super) fn check(
    schema: &CustomResourceValidation,
    has_status: bool,
    tolerance: &Tolerance,
    errors: &mut FieldErrors,
) {
    let Some(schema) = &schema.open_apiv3_schema else {
        return;
    };
    let before = errors.count();
    let mut errors = errors.at("openAPIV3Schema");
    if has_status {
        check_root_beside_status(schema, &mut errors);
    }
    if schema.nullable {
        errors.forbidden("nullable", "nullable cannot be true at the root");
    }
    let cannot_be_read = tolerance.structural.then(|| unsupported(schema)).flatten();
    let mut has_rules = false;
    if tolerance.structural && cannot_be_read.is_none() {
        let found = errors.count();
        structural_errors(schema, &mut errors);
        if errors.count() == found {
            defaults::check(schema, tolerance, &mut errors);
            has_rules = errors.count() == found;
        }
    }
    let faulty = RefCell::default();
    Walk {
        tolerance,
        forbidden_defaults: None,
        is_inside_metadata: false,
        faulty: &faulty,
    }
    .check(schema, true, &mut errors);
    if let Some(problem) = cannot_be_read.filter(|_| errors.count() == before) {
        errors.invalid("", "", problem);
    }
    if has_rules {
        let known = CheckContext {
            wrong: &faulty.into_inner(),
            is_unchanged: tolerance.costly_rules,
        };
        definition::check(&to_value(schema), known, &mut errors);
    }
}

/// True if the type of a schema is empty or a type of OpenAPI.
pub(super) fn has_known_type(schema: &JSONSchemaProps) -> bool {
    schema.type_.is_empty() || TYPES.contains(&schema.type_.as_str())
}

/// Checks that the root has no keywords beyond those allowed with the status subresource. As in kube-apiserver, only
/// the first violation in its field order is reported.
fn check_root_beside_status(schema: &JSONSchemaProps, errors: &mut FieldErrors) {
    let first = [&schema.id, &schema.schema_].iter().any(|text| !text.is_empty()) || schema.ref_.is_some();
    if !first && !schema.type_.is_empty() && schema.type_ != "object" {
        let detail =
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        errors.invalid("type", &schema.type_, detail);
        return;
    }
    let others = schema.nullable
        || schema.default.is_some()
        || schema.enum_.is_some()
        || schema.max_properties.is_some()
        || schema.min_properties.is_some()
        || schema.all_of.is_some()
        || schema.one_of.is_some()
        || schema.any_of.is_some()
        || schema.not.is_some()
        || schema.additional_properties.is_some()
        || schema.pattern_properties.is_some()
        || schema.dependencies.is_some()
        || schema.additional_items.is_some()
        || schema.definitions.is_some()
        || schema.x_kubernetes_embedded_resource
        || schema.x_kubernetes_int_or_string
        || schema.x_kubernetes_list_map_keys.is_some()
        || schema.x_kubernetes_list_type.is_some()
        || schema.x_kubernetes_map_type.is_some();
    if first || others {
        let detail =
            format!("only {AT_ROOT} fields are allowed at the root of the schema if the status subresource is enabled");
        errors.invalid("", Json(&rendered(schema)), detail);
    }
}

fn is_filled<T>(schemas: Option<&BTreeMap<String, T>>) -> bool {
    schemas.is_some_and(|schemas| !schemas.is_empty())
}

/// A walk through a schema.
#[derive(Clone, Copy)]
struct Walk<'a> {
    tolerance: &'a Tolerance,
    /// Reason why defaults are forbidden; `None` when they are allowed.
    forbidden_defaults: Option<&'a str>,
    /// True if the schema is inside of an object's metadata.
    is_inside_metadata: bool,
    /// Paths of schemas with errors.
    faulty: &'a RefCell<Vec<String>>,
}

impl Walk<'_> {
    fn check(self, schema: &JSONSchemaProps, is_root: bool, errors: &mut FieldErrors) {
        let before = errors.count();
        self.check_forbidden(schema, errors);
        let first = errors.count() - before;
        self.check_parts(schema, is_root, errors);
        let before = errors.count();
        if schema.x_kubernetes_preserve_unknown_fields == Some(false) {
            errors.invalid(
                "x-kubernetes-preserve-unknown-fields",
                false,
                "must be true or undefined",
            );
        }
        lists::check(schema, self.tolerance, errors);
        expression::check(schema, errors);
        if first + errors.count() - before > 0 {
            self.faulty.borrow_mut().push(errors.prefix().to_owned());
        }
    }

    fn check_parts(self, schema: &JSONSchemaProps, is_root: bool, errors: &mut FieldErrors) {
        if let Some(SchemaOrBool::Schema(additional)) = &schema.additional_properties {
            let reason = "inside additionalProperties applying to object metadata";
            let walk = match self.is_inside_metadata {
                true => Walk {
                    forbidden_defaults: Some(reason),
                    ..self
                },
                false => self,
            };
            walk.check(additional, false, &mut errors.at("additionalProperties"));
        }
        for (name, property) in &schema.properties {
            let is_meta = matches!(name.as_str(), "metadata" | "kind" | "apiVersion");
            let reason = format!("in top-level {name}");
            let mut walk = self;
            if is_meta && (is_root || schema.x_kubernetes_embedded_resource) {
                walk.is_inside_metadata = true;
            }
            let mut errors = errors.at_key("properties", name);
            match is_meta && is_root {
                true => Walk {
                    forbidden_defaults: Some(&reason),
                    ..walk
                }
                .check(property, false, &mut errors),
                false => walk.check(property, false, &mut errors),
            }
        }
        self.check_junctors(schema, errors);
        for (name, definition) in schema.definitions.iter().flatten() {
            self.check(definition, false, &mut errors.at_key("definitions", name));
        }
        if let Some(item) = schema.item() {
            self.check(item, false, &mut errors.at("items"));
        }
        for (index, item) in schema.item_list().iter().enumerate() {
            self.check(item, false, &mut errors.at_index("items", index));
        }
        for (name, dependency) in schema.dependencies.iter().flatten() {
            if let SchemaOrStrings::Schema(dependency) = dependency {
                self.check(dependency, false, &mut errors.at_key("dependencies", name));
            }
        }
    }

    fn check_junctors(self, schema: &JSONSchemaProps, errors: &mut FieldErrors) {
        if let Some(not) = &schema.not {
            self.check(not, false, &mut errors.at("not"));
        }
        for (field, schemas) in [
            ("allOf", schema.all_of()),
            ("oneOf", schema.one_of()),
            ("anyOf", schema.any_of()),
        ] {
            for (index, schema) in schemas.iter().enumerate() {
                self.check(schema, false, &mut errors.at_index(field, index));
            }
        }
    }

    fn check_forbidden(self, schema: &JSONSchemaProps, errors: &mut FieldErrors) {
        if self.tolerance.known_types && !has_known_type(schema) {
            errors.not_supported("type", &schema.type_, &TYPES);
        }
        if let Some(reason) = self.forbidden_defaults
            && schema.default.is_some()
        {
            errors.forbidden("default", format!("must not be set {reason}"));
        }
        let words = [
            ("id", !schema.id.is_empty()),
            ("additionalItems", schema.additional_items.is_some()),
            ("patternProperties", is_filled(schema.pattern_properties.as_ref())),
            ("definitions", is_filled(schema.definitions.as_ref())),
            // Not even an empty one.
            ("dependencies", schema.dependencies.is_some()),
            ("$ref", schema.ref_.is_some()),
        ];
        for (word, _) in words.into_iter().filter(|(_, is_there)| *is_there) {
            errors.forbidden(word, format!("{word} is not supported"));
        }
        if schema.type_ == "null" {
            errors.forbidden("type", "type cannot be set to null, use nullable as an alternative");
        }
        if !schema.item_list().is_empty() {
            errors.forbidden("items", "items must be a schema object and not an array");
        }
        if self.is_inside_metadata && schema.x_kubernetes_embedded_resource {
            errors.forbidden(
                "x-kubernetes-embedded-resource",
                "must not be used inside of resource meta",
            );
        }
        if schema.unique_items {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            errors.forbidden("uniqueItems", detail);
        }
        if let Some(additional) = &schema.additional_properties
            && !schema.properties.is_empty()
            && *additional != SchemaOrBool::Bool(true)
        {
            let detail = "additionalProperties and properties are mutual exclusive";
            errors.forbidden("additionalProperties", detail);
        }
    }
}

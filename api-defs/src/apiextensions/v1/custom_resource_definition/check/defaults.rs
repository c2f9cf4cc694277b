//! Defaults, which must satisfy their own schema.

use std::sync::Arc;

use planesmith_dynamic::structural::{Malformed, Structural};
use planesmith_expressions::rules::Rules;
use planesmith_machinery::field_error::{FieldError, FieldErrors};
use planesmith_machinery::json::to_value;

use serde_json::{Value, json};

use super::tolerance::Tolerance;
use crate::apiextensions::v1::JSONSchemaProps;

const UNKNOWN_FIELDS: &str = "must not have unknown fields";

/// Checks the defaults of a structural schema.
pub(super) fn check(schema: &JSONSchemaProps, tolerance: &Tolerance, errors: &mut FieldErrors) {
    check_below(schema, &SchemaPosition::object(schema), tolerance, errors);
}

/// True if a default has fields that its schema does not specify.
pub(super) fn has_unknown_fields(schema: &JSONSchemaProps) -> bool {
    let mut errors = FieldErrors::default();
    check(schema, &Tolerance::NONE, &mut errors);
    let mut found = errors.as_slice().iter();
    found.any(|error| error.detail == UNKNOWN_FIELDS)
}

/// Position of a schema within the schema of the API object that encloses it.
#[derive(Clone, Copy)]
struct SchemaPosition<'p> {
    /// Schema of the object.
    object: &'p JSONSchemaProps,
    step: Step<'p>,
    /// True if the schema is inside of an object's metadata.
    is_metadata: bool,
}

/// One step of the path from the schema of the enclosing object to a nested schema.
#[derive(Clone, Copy)]
enum Step<'p> {
    /// The schema of the object itself.
    Object,
    /// The schema of the elements of another schema.
    Item(&'p SchemaPosition<'p>),
    /// The schema of a field of another schema.
    Field(&'p SchemaPosition<'p>, &'p str),
}

impl<'p> SchemaPosition<'p> {
    fn object(schema: &'p JSONSchemaProps) -> Self {
        Self {
            object: schema,
            step: Step::Object,
            is_metadata: false,
        }
    }

    fn is_object(&self) -> bool {
        matches!(self.step, Step::Object)
    }

    fn item(&'p self) -> Self {
        Self {
            step: Step::Item(self),
            ..*self
        }
    }

    fn field(&'p self, name: &'p str) -> Self {
        Self {
            step: Step::Field(self, name),
            is_metadata: self.is_metadata || self.is_object() && matches!(name, "metadata" | "apiVersion" | "kind"),
            ..*self
        }
    }

    /// Returns an object that contains nothing but `value` at this position.
    fn around(&self, value: Value) -> Value {
        match self.step {
            Step::Item(outer) => outer.around(json!([value])),
            Step::Field(outer, name) => outer.around(json!({name: value})),
            Step::Object => {
                let mut object = value;
                for (name, text) in [("apiVersion", "validation/v1"), ("kind", "Validation")] {
                    if object[name].is_null() {
                        object[name] = text.into();
                    }
                }
                object
            }
        }
    }
}

fn check_below(
    schema: &JSONSchemaProps,
    position: &SchemaPosition<'_>,
    tolerance: &Tolerance,
    errors: &mut FieldErrors,
) {
    let own = SchemaPosition::object(schema);
    let position = match schema.x_kubernetes_embedded_resource {
        true => &own,
        false => position,
    };
    if let Some(default) = &schema.default {
        check_default(schema, &default.to_value(), position, tolerance, errors);
    }
    // Defaults are forbidden below additionalProperties.
    if let Some(item) = schema.item() {
        check_below(item, &position.item(), tolerance, &mut errors.at("items"));
    }
    for (name, property) in &schema.properties {
        let mut errors = errors.at_key("properties", name);
        check_below(property, &position.field(name), tolerance, &mut errors);
    }
}

fn check_default(
    schema: &JSONSchemaProps,
    default: &Value,
    position: &SchemaPosition<'_>,
    tolerance: &Tolerance,
    errors: &mut FieldErrors,
) {
    let structural = compiled(schema, position.is_object());
    if position.is_metadata {
        let object = compiled(position.object, true);
        if let Some(problem) = metadata_problem(&object, position.around(default.clone())) {
            let detail = format!("must result in valid metadata: {problem}");
            errors.invalid("default", default, detail);
            return;
        }
    } else {
        if tolerance.pruned_defaults && !fits(&structural, default) {
            errors.invalid("default", default, UNKNOWN_FIELDS);
        }
        let mut errors = errors.at("default");
        if let Err(error) = structural.complete_embedded(&mut default.clone(), Malformed::Refused) {
            errors.report(*error);
            return;
        }
        let found = errors.count();
        structural.check_embedded(default, &mut errors);
        if errors.count() > found {
            return;
        }
    }
    let found = errors.count();
    // kube-apiserver's paths have a dot before the index of an element.
    Structural::compile_as_written(&written(schema, position.is_object())).validate(default, "default", errors);
    if errors.count() == found {
        check_rules(&structural, default, position.is_object(), &mut errors.at("default"));
    }
}

/// Compiles a schema; `as_object` treats it as the schema of an embedded API object.
fn compiled(schema: &JSONSchemaProps, as_object: bool) -> Structural {
    Structural::compile(&written(schema, as_object))
}

fn written(schema: &JSONSchemaProps, as_object: bool) -> Value {
    let mut schema = to_value(schema);
    if as_object {
        schema["x-kubernetes-embedded-resource"] = true.into();
    }
    schema
}

/// Returns the errors in the metadata of `object`; `None` when there are none.
fn metadata_problem(schema: &Structural, mut object: Value) -> Option<String> {
    if let Err(error) = schema.complete_embedded(&mut object, Malformed::Refused) {
        return Some(error.message());
    }
    let mut errors = FieldErrors::default();
    schema.check_embedded(&object, &mut errors);
    errors.joined()
}

/// Checks the rules of a default.
fn check_rules(schema: &Structural, value: &Value, is_object: bool, errors: &mut FieldErrors) {
    let mut wrong = FieldErrors::default();
    Rules::of_part(schema, is_object).check_default(schema, value, &mut wrong);
    for error in wrong.as_slice() {
        let below = if error.field == "<nil>" { "" } else { &error.field };
        let field = below.trim_start_matches('.').to_owned();
        errors.report(FieldError { field, ..error.clone() });
    }
}

/// True if the schema specifies all fields of the value.
fn fits(schema: &Structural, value: &Value) -> bool {
    let holder = Structural {
        properties: [("value".into(), Arc::new(schema.clone()))].into_iter().collect(),
        ..Structural::default()
    };
    let dropped = holder.prune(&mut json!({"value": value}));
    dropped.into_paths().is_empty()
}

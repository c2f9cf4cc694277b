//! The completeness rule of structural schemas: a field under allOf, anyOf, oneOf or not is also declared outside of
//! them.

use planesmith_machinery::field_error::FieldErrors;

use crate::apiextensions::v1::JSONSchemaProps;

/// Checks the schema at the path `root`.
pub(super) fn check(schema: &JSONSchemaProps, root: &str, errors: &mut FieldErrors) {
    check_junctors(schema, schema, "", root, errors);
}

/// Checks the schemas under the junctors of `values` at `here` against `schema` at `place`.
fn check_junctors(
    values: &JSONSchemaProps,
    schema: &JSONSchemaProps,
    place: &str,
    here: &str,
    errors: &mut FieldErrors,
) {
    if let Some(not) = &values.not {
        check_nested(not, Some(schema), place, &below(here, "not"), errors);
    }
    for (field, nested) in [
        ("allOf", values.all_of()),
        ("anyOf", values.any_of()),
        ("oneOf", values.one_of()),
    ] {
        for (index, nested) in nested.iter().enumerate() {
            let here = below(here, &format!("{field}[{index}]"));
            check_nested(nested, Some(schema), place, &here, errors);
        }
    }
}

fn check_nested(
    values: &JSONSchemaProps,
    schema: Option<&JSONSchemaProps>,
    place: &str,
    here: &str,
    errors: &mut FieldErrors,
) {
    let Some(schema) = schema else {
        errors.required(place, format!("because it is defined in {here}"));
        return;
    };
    check_junctors(values, schema, place, here, errors);
    if let Some(item) = values.item() {
        check_nested(
            item,
            schema.item(),
            &below(place, "items"),
            &below(here, "items"),
            errors,
        );
    }
    for (name, property) in &values.properties {
        let step = format!("properties[{name}]");
        check_nested(
            property,
            schema.properties.get(name).map(|schema| &**schema),
            &below(place, &step),
            &below(here, &step),
            errors,
        );
    }
}

fn below(path: &str, step: &str) -> String {
    match path {
        "" => step.to_owned(),
        path => format!("{path}.{step}"),
    }
}

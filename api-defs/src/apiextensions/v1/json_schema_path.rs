//! JSONPaths resolved through a schema.

use planesmith_expressions::field_path;
pub(super) use planesmith_expressions::field_path::Notation;

use super::JSONSchemaProps;

/// Returns the field names in `path` and the schema at its end; `None` for a value without a schema.
///
/// # Errors
///
/// Fails with the message of kube-apiserver if the path is malformed or leads to no field.
pub(super) fn follow<'s>(
    path: &str,
    schema: &'s JSONSchemaProps,
    notation: Notation,
) -> Result<(Vec<String>, Option<&'s JSONSchemaProps>), String> {
    field_path::follow(path, notation, Some(schema), below)
}

/// Returns the schema of the field or map entry `name`.
fn below<'s>(schema: Option<&'s JSONSchemaProps>, name: &str) -> Result<Option<&'s JSONSchemaProps>, String> {
    const NOWHERE: &str = "does not refer to a valid field";
    let schema = schema.ok_or(NOWHERE)?;
    if !schema.properties.is_empty() {
        let property = schema.properties.get(name).map(|schema| Some(&**schema));
        return property.ok_or_else(|| NOWHERE.to_owned());
    }
    match &schema.additional_properties {
        Some(_) => Ok(schema.additional()),
        None => Err(NOWHERE.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> JSONSchemaProps {
        let mut schema = JSONSchemaProps::default();
        let text = r#"{"properties": {"a": {"properties": {"b": {"type": "string"}}},
            "m": {"additionalProperties": {"type": "integer"}}, "any": {"additionalProperties": true}}}"#;
        planesmith_machinery::json::decode(
            text.as_bytes(),
            &mut schema,
            planesmith_machinery::json::Strictness::Lenient,
        )
        .unwrap();
        schema
    }

    #[track_caller]
    fn check(path: &str, notation: Notation, expected: Result<&str, &str>) {
        let schema = schema();
        let followed = follow(path, &schema, notation);
        let followed = followed.map(|(_, schema)| schema.map_or("", |schema| schema.type_.as_str()));
        assert_eq!(followed, expected.map_err(str::to_owned), "{path}");
    }

    #[test]
    fn paths_lead_through_fields_and_maps() {
        check(".a.b", Notation::Dots, Ok("string"));
        check(".m.x", Notation::Dots, Ok("integer"));
        check(".any.x", Notation::Dots, Ok(""));
        check(".m['x.y']", Notation::DotsAndBrackets, Ok("integer"));
        check(".a['b']", Notation::DotsAndBrackets, Ok("string"));
    }

    #[test]
    fn a_path_to_no_field_is_an_error() {
        check(".c", Notation::Dots, Err("does not refer to a valid field"));
        check(".a.b.c", Notation::Dots, Err("does not refer to a valid field"));
        check(".any.x.y", Notation::Dots, Err("does not refer to a valid field"));
        check("a", Notation::Dots, Err("expected [ or . but got: a"));
        check(".", Notation::Dots, Err("unexpected end of JSON path"));
        check(".a['b']", Notation::Dots, Err("array notation is not allowed"));
        check(
            ".a[b]",
            Notation::DotsAndBrackets,
            Err("expected single quoted string but got b"),
        );
        check(".a['b'", Notation::DotsAndBrackets, Err("unexpected end of JSON path"));
    }
}

//! Printer columns and other paths of custom resource definitions.

use planesmith_codegen_core::resource::CellSource;
use planesmith_machinery::json_path::JsonPath;
use serde_json::Value;

use super::draft::literal;
use super::schema::Words;

/// Metadata fields that definitions refer to.
const METADATA: [&str; 7] = [
    "creationTimestamp",
    "deletionTimestamp",
    "generateName",
    "generation",
    "name",
    "namespace",
    "uid",
];

/// The types of cells.
const TYPES: [&str; 5] = ["string", "integer", "number", "boolean", "date"];

/// Returns the keys of a version's columns, and marks for those without an equivalent.
pub(super) fn columns(declared: &Value, schema: &Value) -> (Vec<String>, Vec<String>) {
    let (mut keys, mut marks) = (Vec::new(), Vec::new());
    let mut names = vec!["Name"];
    for column in declared.as_array().into_iter().flatten() {
        if keys.is_empty() {
            keys.push("column(name)".to_owned());
        }
        let name = column["name"].as_str().unwrap_or_default();
        let found = match names.contains(&name) {
            true => Err("there is one of this name already".to_owned()),
            false => self::column(column, schema),
        };
        names.push(name);
        match found {
            Ok(key) => keys.push(key),
            Err(reason) => marks.push(format!(
                "column `{column}`: {reason}; write it as `column(... with = FUNCTION)`"
            )),
        }
    }
    (keys, marks)
}

/// Returns the key of a column, or the reason why it has none.
fn column(column: &Value, schema: &Value) -> Result<String, String> {
    let mut words = Words::from_object(column);
    let mut text = |word: &str| words.take(word).as_str().unwrap_or_default();
    let (name, ty, path) = (text("name"), text("type"), text("jsonPath"));
    let (format, doc) = (text("format"), text("description"));
    let priority = words.take("priority").as_i64().unwrap_or_default();
    let path = path.strip_prefix('.').unwrap_or(path);
    if !TYPES.contains(&ty) {
        return Err(format!("cells cannot be of type {ty}"));
    }
    let is_usual = name == "Age" && path == "metadata.creationTimestamp" && ty == "date";
    if is_usual && doc.is_empty() && format.is_empty() && priority == 0 {
        return Ok("column(age)".to_owned());
    }
    match CellSource::of_path(path.to_owned()) {
        CellSource::JsonPath(_) => {
            JsonPath::parse(&format!(".{path}"))?;
            let first = CellSource::first_name(path);
            if first.is_empty() || !leads(schema, first) {
                return Err("its path does not start at a field".to_owned());
            }
        }
        _ if leads(schema, path) => {
            if let Some(found) = type_at(schema, path)
                && !fits(found, ty)
            {
                return Err(format!("its path leads to a value of type {found}"));
            }
        }
        _ => return Err("its path leads to no field of the schema".to_owned()),
    }
    let mut parts = vec![format!("name = {}", literal(name)), format!("type = {}", literal(ty))];
    for (key, value) in [("format", format), ("doc", doc)] {
        if !value.is_empty() {
            parts.push(format!("{key} = {}", literal(value)));
        }
    }
    if priority != 0 {
        parts.push(format!("priority = {priority}"));
    }
    parts.push(format!("path = {}", literal(path)));
    Ok(format!("column({})", parts.join(", ")))
}

/// True if a dotted path leads from the root of a schema to a field or a map entry.
pub(super) fn leads(schema: &Value, path: &str) -> bool {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    match (first, rest) {
        ("metadata", None) => true,
        ("metadata", Some(rest)) => {
            METADATA.contains(&rest) || rest.starts_with("labels.") || rest.starts_with("annotations.")
        }
        // All objects have them, but they are not fields.
        ("apiVersion" | "kind", _) => false,
        _ => leads_on(schema, first, rest),
    }
}

/// Returns the type of the field or entry at a dotted path; `None` if the schema does not declare it.
pub(super) fn type_at<'s>(schema: &'s Value, path: &str) -> Option<&'s str> {
    let mut field = schema;
    let mut rest = path;
    while !rest.is_empty() {
        let (first, below) = rest.split_once('.').unwrap_or((rest, ""));
        (field, rest) = match &field["properties"] {
            Value::Object(properties) => (properties.get(first)?, below),
            _ => (&field["additionalProperties"], ""),
        };
    }
    field["type"].as_str()
}

/// True if a cell of type `cell` can render values of type `found`.
fn fits(found: &str, cell: &str) -> bool {
    match cell {
        "integer" | "number" => matches!(found, "integer" | "number"),
        "boolean" => found == "boolean",
        "date" => found == "string",
        _ => true,
    }
}

fn leads_on(schema: &Value, first: &str, rest: Option<&str>) -> bool {
    let field = &schema["properties"][first];
    let Some(rest) = rest else {
        return field.is_object();
    };
    if field["properties"].is_object() {
        let (first, rest) = match rest.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (rest, None),
        };
        return leads_on(field, first, rest);
    }
    field["additionalProperties"].is_object()
}

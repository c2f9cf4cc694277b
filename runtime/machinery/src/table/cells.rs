//! The cells of an object.

use std::borrow::Cow;

use planesmith_wire::json_path::{self, JsonPath, LazyPath};
use planesmith_wire::time::Time;
use serde_json::Value as Tree;

use super::{Cell, columns, printed};
use crate::age;
use crate::json;
use crate::resource::object::Object;
use crate::resource::{CellSource, Column};
use crate::value::{Struct, Value, View};

/// The path of the standard age column, which prints a time as text like date columns do.
const CREATED: &str = "metadata.creationTimestamp";

/// Returns the cells of an object, one per column of its kind.
#[must_use]
pub fn cells(object: &dyn Object) -> Vec<Cell> {
    columns(&printed(object.resource()))
        .iter()
        .map(|column| cell(object, column))
        .collect()
}

fn cell(object: &dyn Object, column: &Column) -> Cell {
    match &column.source {
        CellSource::Function(function) => function(object),
        // Every kind has these two fields: they need no search.
        CellSource::Path("metadata.name") => Cell::Text(object.meta().name.clone()),
        CellSource::Path(CREATED) => match object.meta().creation_timestamp.timestamp() {
            // Only bookmarks have no creation time.
            None if column.ty == "date" => Cell::Null,
            created => age::cell(created),
        },
        CellSource::Path(path) => match find(object, path) {
            None => Cell::Null,
            Some(value) => typed_cell(value, &column.ty),
        },
        CellSource::JsonPath(path) => lazy_cell(object, path, &column.ty),
        CellSource::DefinedPath(path) => lazy_cell(object, path, &column.ty),
    }
}

fn lazy_cell(object: &dyn Object, path: &LazyPath, ty: &str) -> Cell {
    path.get().map_or(Cell::Null, |path| json_cell(object, path, ty))
}

/// Returns the first value at a path as a cell of the column type.
fn json_cell(object: &dyn Object, path: &JsonPath, ty: &str) -> Cell {
    let document = match &object.resource().custom {
        Some(kind) => kind.part(object, path.first_field()),
        None => part(object, path.first_field()).map(Cow::Owned),
    };
    let Some(document) = document else { return Cell::Null };
    let found = match path.first_field() {
        Some(_) => path.find_below_first(&document),
        None => path.find(&document),
    };
    let Some(value) = found.ok().and_then(|found| found.first().copied()) else {
        return Cell::Null;
    };
    match (ty, value) {
        ("string", value) => Cell::Text(json_path::print(value)),
        ("date", Tree::String(text)) if matches!(text.as_str(), "" | "null") => age::cell(None),
        ("date", Tree::String(text)) => match text.parse::<Time>() {
            Ok(time) => age::cell(time.timestamp()),
            Err(_) => Cell::Text("<invalid>".to_owned()),
        },
        ("date", _) => Cell::Null,
        (ty, value) => typed_cell(value, ty),
    }
}

/// Returns the document of the field `name` of a declared kind, `None` if it is absent; without a name the document of
/// the object.
fn part(object: &dyn Object, name: Option<&str>) -> Option<Tree> {
    match name {
        None => Some(json::to_value(object)),
        Some("apiVersion") => object.type_meta().map(|meta| meta.api_version.into()),
        Some("kind") => object.type_meta().map(|meta| meta.kind.into()),
        Some(name) => find(object, name).map(|value| {
            let mut json = Vec::new();
            json::encode_part(value, &mut json);
            serde_json::from_slice(&json).unwrap_or_default()
        }),
    }
}

/// Returns the value at a dotted path; `None` if the value, or another value on the path, is absent.
fn find<'a>(object: &'a dyn Struct, path: &str) -> Option<&'a dyn Value> {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let fields = object.facts().fields;
    for (index, field) in fields.iter().enumerate() {
        let value = object.field(index);
        if field.inline {
            if let View::Struct(inner) = value.view()
                && let Some(found) = find(inner, path)
            {
                return Some(found);
            }
        } else if field.name == first {
            return match (rest, value.view()) {
                (_, View::Absent) => None,
                (None, _) => Some(value),
                (Some(rest), View::Struct(inner)) => find(inner, rest),
                // The rest of the path, including dots, is the key of an entry.
                (Some(key), View::Map(map)) => map.get(key),
                _ => None,
            };
        }
    }
    None
}

/// Returns a value as a cell of the column type; a value of another type is [`Cell::Null`].
fn typed_cell(value: &dyn Value, ty: &str) -> Cell {
    match (ty, value.view()) {
        ("integer", View::Int(number)) => Cell::Integer(number),
        ("integer", View::Double(number)) => Cell::Integer(whole_part(number)),
        #[expect(clippy::cast_precision_loss, reason = "the column asks for a floating point number")]
        ("number", View::Int(number)) => Cell::Number(number as f64),
        ("number", View::Double(number)) => Cell::Number(number),
        ("boolean", View::Bool(value)) => Cell::Bool(value),
        ("date", View::Str("")) => age::cell(None),
        ("date", View::Scalar(_) | View::Str(_)) => match cell_text(value).parse::<Time>() {
            Ok(time) => age::cell(time.timestamp()),
            Err(_) => Cell::Text("<invalid>".to_owned()),
        },
        ("string", _) => Cell::Text(cell_text(value)),
        _ => Cell::Null,
    }
}

/// Returns a number without its fraction; the least integer if it is too large, as Go on amd64.
#[expect(clippy::cast_possible_truncation, reason = "larger numbers are no integers")]
fn whole_part(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match (-LIMIT..LIMIT).contains(&number) {
        true => number as i64,
        false => i64::MIN,
    }
}

/// Returns text unchanged, any other value as JSON.
fn cell_text(value: &dyn Value) -> String {
    if let View::Str(text) = value.view() {
        return text.to_owned();
    }
    let mut json = Vec::new();
    json::encode_part(value, &mut json);
    match serde_json::from_slice(&json) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::from_utf8_lossy(&json).into_owned(),
    }
}

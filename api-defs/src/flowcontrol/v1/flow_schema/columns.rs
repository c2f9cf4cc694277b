//! Table columns of flow schemas.

use planesmith_machinery::table::Cell;

use super::FlowSchema;

pub(super) fn precedence(schema: &FlowSchema) -> Cell {
    Cell::Integer(schema.spec.matching_precedence.into())
}

pub(super) fn method(schema: &FlowSchema) -> Cell {
    let method = schema.spec.distinguisher_method.as_ref();
    Cell::Text(method.map_or_else(|| "<none>".to_owned(), |method| method.type_.clone()))
}

pub(super) fn missing_level(schema: &FlowSchema) -> Cell {
    let mut conditions = schema.status.conditions.iter();
    let dangling = conditions.find(|condition| condition.type_ == "Dangling");
    Cell::Text(dangling.map_or_else(|| "?".to_owned(), |condition| condition.status.clone()))
}

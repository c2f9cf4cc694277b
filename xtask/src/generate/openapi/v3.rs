//! OpenAPI version 3.

use serde_json::{Map, Value, json};

use super::definitions::Document;
use super::layout::{self, Section};
use super::names;
use super::operation::{Body, Operation, PATCH_TYPES, delete_options, meaning, patch};
use super::parameter::Parameter;
use super::paths::PathItem;
use super::schema::Dialect;

/// Renders the document as JSON.
pub(super) fn render(document: &Document<'_>) -> String {
    let tag = names::tag(document.group, document.version);
    let paths = document
        .paths
        .iter()
        .map(|(path, item)| (path.clone(), path_item(item, &tag)));
    let schemas = Section::lines(document.definitions(Dialect::V3));
    let security = json!({"BearerToken": layout::bearer_token()});
    layout::document(&[
        ("openapi", Section::Value("3.0.0".into())),
        ("info", Section::Value(layout::info())),
        ("paths", Section::lines(paths)),
        (
            "components",
            Section::Nested(vec![
                ("schemas", schemas),
                ("securitySchemes", Section::Value(security)),
            ]),
        ),
    ])
}

fn path_item(item: &PathItem, tag: &str) -> Value {
    let mut members = Map::new();
    for operation in item.operations() {
        let own = item.own_parameters(operation);
        members.insert(
            operation.action.method().to_owned(),
            self::operation(operation, &own, tag),
        );
    }
    let shared = item.shared_parameters();
    if !shared.is_empty() {
        let shared = shared.iter().map(|shared| parameter(shared, &item.doc_of(shared)));
        members.insert("parameters".to_owned(), shared.collect());
    }
    members.into()
}

fn operation(operation: &Operation, parameters: &[Parameter], tag: &str) -> Value {
    let mut members = Map::new();
    members.insert("tags".to_owned(), json!([tag]));
    members.insert("description".to_owned(), operation.doc.as_str().into());
    members.insert("operationId".to_owned(), operation.id.as_str().into());
    if !parameters.is_empty() {
        let own = parameters.iter().map(|own| parameter(own, own.doc));
        members.insert("parameters".to_owned(), own.collect());
    }
    if let Some(body) = body(operation) {
        members.insert("requestBody".to_owned(), body);
    }
    let answer = json!({"schema": operation.answer(Dialect::V3)});
    let content: Map<String, Value> = operation
        .media_types()
        .into_iter()
        .map(|media| (media.to_owned(), answer.clone()))
        .collect();
    let mut responses = Map::new();
    for code in operation.action.codes() {
        responses.insert(
            (*code).to_owned(),
            json!({"description": meaning(code), "content": content}),
        );
    }
    responses.insert("401".to_owned(), json!({"description": meaning("401")}));
    members.insert("responses".to_owned(), responses.into());
    for (name, value) in operation.extensions() {
        members.insert(name.to_owned(), value);
    }
    members.into()
}

fn body(operation: &Operation) -> Option<Value> {
    let (media_types, definition, required): (&[&str], _, _) = match operation.body() {
        Body::None => return None,
        Body::Subject(subject) => (&["*/*"], subject.to_owned(), true),
        Body::DeleteOptions => (&["*/*"], delete_options(), false),
        Body::Patch => (PATCH_TYPES, patch(), true),
    };
    let schema = json!({"schema": Dialect::V3.reference(&definition)});
    let content: Map<String, Value> = media_types
        .iter()
        .map(|media| ((*media).to_owned(), schema.clone()))
        .collect();
    Some(match required {
        true => json!({"content": content, "required": true}),
        false => json!({"content": content}),
    })
}

fn parameter(parameter: &Parameter, doc: &str) -> Value {
    let mut members = json!({
        "name": parameter.name,
        "in": parameter.place,
        "description": doc,
        "schema": {"type": parameter.ty, "uniqueItems": true},
    });
    if parameter.place == "path" {
        members["required"] = true.into();
    }
    members
}

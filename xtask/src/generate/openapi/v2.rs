//! OpenAPI version 2, for clients without support for version 3.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::definitions::Document;
use super::layout::{self, Section};
use super::names;
use super::operation::{Action, Body, Operation, PATCH_TYPES, delete_options, meaning, patch};
use super::parameter::Parameter;
use super::paths::PathItem;
use super::schema::Dialect;

/// Parameters shared by operations, by name.
type Shared = BTreeMap<String, Value>;

/// Renders the document as JSON.
pub(super) fn render(document: &Document<'_>) -> String {
    let tag = names::tag(document.group, document.version);
    let mut shared = Shared::new();
    let paths: Vec<(String, Value)> = document
        .paths
        .iter()
        .map(|(path, item)| (path.clone(), path_item(item, &tag, &mut shared)))
        .collect();
    layout::document(&[
        ("swagger", Section::Value("2.0".into())),
        ("info", Section::Value(layout::info())),
        ("paths", Section::lines(paths)),
        ("definitions", Section::lines(document.definitions(Dialect::V2))),
        ("parameters", Section::lines(shared)),
        (
            "securityDefinitions",
            Section::Value(json!({"BearerToken": layout::bearer_token()})),
        ),
        ("security", Section::Value(json!([{"BearerToken": []}]))),
    ])
}

fn path_item(item: &PathItem, tag: &str, shared: &mut Shared) -> Value {
    let mut members = Map::new();
    for operation in item.operations() {
        let own = item.own_parameters(operation);
        members.insert(
            operation.action.method().to_owned(),
            self::operation(operation, &own, tag, shared),
        );
    }
    let of_all = item.shared_parameters();
    if !of_all.is_empty() {
        members.insert(
            "parameters".to_owned(),
            of_all
                .iter()
                .map(|of_all| parameter(of_all, &item.doc_of(of_all), shared))
                .collect(),
        );
    }
    members.into()
}

fn operation(operation: &Operation, parameters: &[Parameter], tag: &str, shared: &mut Shared) -> Value {
    let mut members = Map::new();
    members.insert("tags".to_owned(), json!([tag]));
    members.insert("description".to_owned(), operation.doc.as_str().into());
    members.insert("operationId".to_owned(), operation.id.as_str().into());
    let media_types = operation.media_types();
    let consumes = match operation.action {
        Action::Discover => media_types.clone(),
        Action::Patch => PATCH_TYPES.to_vec(),
        _ => vec!["*/*"],
    };
    members.insert("consumes".to_owned(), consumes.into());
    members.insert("produces".to_owned(), media_types.into());
    members.insert("schemes".to_owned(), json!(["https"]));
    let mut all: Vec<Value> = body(operation, shared).into_iter().collect();
    all.extend(parameters.iter().map(|own| parameter(own, own.doc, shared)));
    if !all.is_empty() {
        members.insert("parameters".to_owned(), all.into());
    }
    let mut responses = Map::new();
    for code in operation.action.codes() {
        let schema = operation.answer(Dialect::V2);
        responses.insert(
            (*code).to_owned(),
            json!({"description": meaning(code), "schema": schema}),
        );
    }
    responses.insert("401".to_owned(), json!({"description": meaning("401")}));
    members.insert("responses".to_owned(), responses.into());
    for (name, value) in operation.extensions() {
        members.insert(name.to_owned(), value);
    }
    members.into()
}

/// Returns the body as a parameter; bodies common to all kinds are shared.
fn body(operation: &Operation, shared: &mut Shared) -> Option<Value> {
    let (definition, required, ending) = match operation.body() {
        Body::None => return None,
        Body::Subject(subject) => (subject.to_owned(), true, ""),
        Body::DeleteOptions => (delete_options(), false, "2Y1dVQaQ"),
        Body::Patch => (patch(), true, "78PwaGsr"),
    };
    let mut members = json!({"name": "body", "in": "body", "schema": Dialect::V2.reference(&definition)});
    if required {
        members["required"] = true.into();
    }
    Some(share("body", ending, members, shared))
}

fn parameter(parameter: &Parameter, doc: &str, shared: &mut Shared) -> Value {
    let mut members = json!({
        "name": parameter.name,
        "in": parameter.place,
        "description": doc,
        "type": parameter.ty,
        "uniqueItems": true,
    });
    if parameter.place == "path" {
        members["required"] = true.into();
    }
    share(parameter.name, parameter.shared, members, shared)
}

/// Shares a parameter if it has a suffix for shared names; returns a reference to it, or the parameter itself.
fn share(name: &str, ending: &str, members: Value, shared: &mut Shared) -> Value {
    if ending.is_empty() {
        return members;
    }
    let name = format!("{name}-{ending}");
    let reference = json!({"$ref": format!("#/parameters/{name}")});
    shared.insert(name, members);
    reference
}

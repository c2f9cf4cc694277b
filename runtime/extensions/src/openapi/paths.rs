//! The OpenAPI paths of a kind, modelled on those of definitions.

use planesmith_machinery::resource::{ResourceFacts, Scope};
use serde_json::{Map, Value, json};

use super::SCALE;
use super::model::{Dialect, kind_of, name, reference};

const COLLECTION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

/// Returns the paths of a kind with their operations. `template` is the document about definitions in `dialect`.
pub(super) fn of_kind(facts: &ResourceFacts, template: &Value, dialect: Dialect<'_>) -> Map<String, Value> {
    let root = format!("/apis/{}", facts.api_version);
    let is_namespaced = facts.scope == Scope::Namespaced;
    let base = match is_namespaced {
        true => format!("{root}/namespaces/{{namespace}}/{}", facts.plural),
        false => format!("{root}/{}", facts.plural),
    };
    let mut paths = Map::new();
    let item = |path: &str, below: &str| Item {
        facts,
        dialect,
        template: template.get("paths").and_then(|paths| paths.get(path)),
        below: below.to_owned(),
        is_namespaced,
    };
    let object = format!("{COLLECTION}/{{name}}");
    let collection = item(COLLECTION, "");
    paths.insert(base.clone(), collection.of(&["get", "post", "delete"]));
    paths.insert(
        format!("{base}/{{name}}"),
        item(&object, "").of(&["get", "put", "patch", "delete"]),
    );
    let status = format!("{object}/status");
    for below in ["status", "scale"] {
        if facts.subresource(below).is_some() {
            let operations = item(&status, below).of(&["get", "put", "patch"]);
            paths.insert(format!("{base}/{{name}}/{below}"), operations);
        }
    }
    if is_namespaced {
        let mut everywhere = collection.of(&["get"]);
        if let Some(Value::String(id)) = everywhere.pointer_mut("/get/operationId") {
            *id = format!("{}ForAllNamespaces", id.replace("Namespaced", ""));
        }
        if let Some(Value::Array(parameters)) = everywhere.get_mut("parameters") {
            parameters.retain(|parameter| parameter["name"] != "namespace");
        }
        paths.insert(format!("{root}/{}", facts.plural), everywhere);
    }
    paths
}

/// One path.
struct Item<'a> {
    facts: &'a ResourceFacts,
    dialect: Dialect<'a>,
    /// The corresponding path of definitions.
    template: Option<&'a Value>,
    /// The subresource; empty for the object itself.
    below: String,
    is_namespaced: bool,
}

impl Item<'_> {
    fn of(&self, methods: &[&str]) -> Value {
        let mut item = Map::new();
        for method in methods {
            item.insert((*method).to_owned(), self.operation(method));
        }
        let shared = self.template.and_then(|template| template.get("parameters"));
        let mut parameters = shared.and_then(Value::as_array).cloned().unwrap_or_default();
        if self.is_namespaced {
            let mut namespace = json!({
                "name": "namespace", "in": "path", "required": true,
                "description": "object name and auth scope, such as for teams and projects",
            });
            match self.dialect {
                Dialect::V2 => (namespace["type"], namespace["uniqueItems"]) = (json!("string"), json!(true)),
                Dialect::V3 { .. } => namespace["schema"] = json!({"type": "string", "uniqueItems": true}),
            }
            let place = parameters
                .iter()
                .position(|parameter| is_parameter(parameter, "pretty"));
            parameters.insert(place.unwrap_or(parameters.len()), namespace);
        }
        for parameter in &mut parameters {
            if parameter["name"] == "name" {
                parameter["description"] = json!(format!("name of the {}", self.facts.kind));
            }
        }
        item.insert("parameters".to_owned(), Value::Array(parameters));
        Value::Object(item)
    }

    fn operation(&self, method: &str) -> Value {
        let documented = self.template.and_then(|template| template.get(method));
        let action = documented
            .and_then(|documented| documented.get("x-kubernetes-action"))
            .and_then(Value::as_str)
            .unwrap_or(method);
        let parameters = documented.and_then(|documented| documented.get("parameters")).cloned();
        let group = camel(&self.facts.group);
        let mut tag: String = group.chars().take(1).map(|c| c.to_ascii_lowercase()).collect();
        tag.extend(group.chars().skip(1));
        let mut operation = json!({
            "tags": [format!("{tag}_{}", self.facts.version)],
            "description": self.description(action),
            "operationId": self.id(action, &group),
            "responses": self.responses(action),
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": kind_of(self.facts, &self.facts.kind),
        });
        if let Some(parameters) = parameters {
            operation["parameters"] = parameters;
        }
        match self.dialect {
            Dialect::V2 => self.add_media(action, &mut operation),
            Dialect::V3 { .. } => {
                if let Some(body) = self.request(action) {
                    operation["requestBody"] = body;
                }
            }
        }
        operation
    }

    /// Adds the media types of an operation of version 2, in which the body is a parameter.
    fn add_media(&self, action: &str, operation: &mut Value) {
        operation["consumes"] = if action == "patch" {
            json!(PATCHES)
        } else {
            json!(MEDIA)
        };
        operation["produces"] = json!(MEDIA);
        operation["schemes"] = json!(["https"]);
        let Some(Value::Array(parameters)) = operation.get_mut("parameters") else {
            return;
        };
        if action == "deletecollection" {
            parameters.retain(|parameter| !is_parameter(parameter, "body"));
        }
        // Other bodies are references to shared parameters.
        let body = parameters.iter_mut().find(|parameter| parameter["name"] == "body");
        if let Some(body) = body {
            body["schema"] = reference(&self.model(), self.dialect);
        }
    }

    fn id(&self, action: &str, group: &str) -> String {
        let (verb, what) = match action {
            "deletecollection" => ("delete", "Collection"),
            other => (verb_of(other), ""),
        };
        let namespaced = if self.is_namespaced { "Namespaced" } else { "" };
        let version = camel(&self.facts.version);
        let kind = &self.facts.kind;
        format!("{verb}{group}{version}{what}{namespaced}{kind}{}", camel(&self.below))
    }

    fn description(&self, action: &str) -> String {
        let kind = &self.facts.kind;
        let below = match self.below.as_str() {
            "" => String::new(),
            below => format!(" {below} of"),
        };
        match action {
            "list" => format!("list objects of kind {kind}"),
            "deletecollection" => format!("delete collection of {kind}"),
            "post" | "delete" => {
                let article = if kind.starts_with(['A', 'E', 'I', 'O', 'U']) {
                    "an"
                } else {
                    "a"
                };
                format!("{} {article} {kind}", verb_of(action))
            }
            "patch" => format!("partially update{below} the specified {kind}"),
            other => format!("{}{below} the specified {kind}", verb_of(other)),
        }
    }

    /// Returns the model of the request and response bodies.
    fn model(&self) -> String {
        match self.below.as_str() {
            "scale" => SCALE.to_owned(),
            _ => name(self.facts, &self.facts.kind),
        }
    }

    fn request(&self, action: &str) -> Option<Value> {
        let body = |model: &str, media: &[&str]| json!({"content": content(model, media), "required": true});
        match action {
            "post" | "put" => Some(body(&self.model(), &MEDIA)),
            "patch" => Some(body(PATCH, &PATCHES)),
            "delete" | "deletecollection" => {
                Some(json!({"content": content(DELETE_OPTIONS, &MEDIA)})).filter(|_| action == "delete")
            }
            _ => None,
        }
    }

    fn responses(&self, action: &str) -> Value {
        let model = match action {
            "list" => name(self.facts, &self.facts.list_kind),
            "delete" | "deletecollection" => STATUS.to_owned(),
            _ => self.model(),
        };
        let codes: &[(&str, &str)] = match action {
            "post" => &[("200", "OK"), ("201", "Created"), ("202", "Accepted")],
            "put" => &[("200", "OK"), ("201", "Created")],
            "delete" => &[("200", "OK"), ("202", "Accepted")],
            _ => &[("200", "OK")],
        };
        let mut responses = Map::new();
        for (code, words) in codes {
            let response = match self.dialect {
                Dialect::V2 => json!({"description": words, "schema": reference(&model, self.dialect)}),
                Dialect::V3 { .. } => json!({"description": words, "content": content(&model, &MEDIA)}),
            };
            responses.insert((*code).to_owned(), response);
        }
        responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
        Value::Object(responses)
    }
}

/// The media types of objects.
const MEDIA: [&str; 2] = ["application/json", "application/yaml"];

/// The media types of patches.
const PATCHES: [&str; 3] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
];

/// True if a parameter, or the shared one that it refers to, has this name.
fn is_parameter(parameter: &Value, name: &str) -> bool {
    let shared = parameter.get("$ref").and_then(Value::as_str).unwrap_or_default();
    let shared = shared
        .strip_prefix("#/parameters/")
        .and_then(|shared| shared.strip_prefix(name));
    parameter["name"] == name || shared.is_some_and(|rest| rest.starts_with('-'))
}

fn content(model: &str, media: &[&str]) -> Value {
    let schema = json!({"schema": {"$ref": format!("#/components/schemas/{model}")}});
    media
        .iter()
        .map(|media| ((*media).to_owned(), schema.clone()))
        .collect()
}

fn verb_of(action: &str) -> &str {
    match action {
        "post" => "create",
        "get" => "read",
        "put" => "replace",
        other => other,
    }
}

/// Converts `disco.example.com` to `DiscoExampleCom`.
fn camel(name: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    name.split(['.', '-']).map(capital).collect()
}

//! The OpenAPI paths of a kind, modelled on those of definitions.

use planesmith_machinery::resource::{ResourceFacts, Scope};
use serde_json::{Map, Value, json};

use super::SCALE;
use super::model::{Dialect, kind_of, name, reference};
use super::parameters;

const COLLECTION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub(super) const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
pub(super) const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
pub(super) const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

/// Returns the paths of a kind with their operations. `template` is the document about definitions in `dialect`.
pub(super) fn of_kind(facts: &ResourceFacts, template: &Value, dialect: Dialect<'_>) -> Map<String, Value> {
    let root = format!("/apis/{}", facts.api_version);
    let is_namespaced = facts.scope == Scope::Namespaced;
    let base = match is_namespaced {
        true => format!("{root}/namespaces/{{namespace}}/{}", facts.plural),
        false => format!("{root}/{}", facts.plural),
    };
    let mut paths = Map::new();
    let item = |path: &str, below: &'static str| Item {
        facts,
        dialect,
        template: template.get("paths").and_then(|paths| paths.get(path)),
        below,
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
        let collection = Item {
            is_namespaced: false,
            ..collection
        };
        let mut everywhere = collection.of(&["get"]);
        if let Some(Value::String(id)) = everywhere.pointer_mut("/get/operationId") {
            id.push_str("ForAllNamespaces");
        }
        paths.insert(format!("{root}/{}", facts.plural), everywhere);
    }
    paths
}

/// One path.
#[derive(Clone, Copy)]
struct Item<'a> {
    facts: &'a ResourceFacts,
    dialect: Dialect<'a>,
    /// The corresponding path of definitions.
    template: Option<&'a Value>,
    /// The subresource; empty for the object itself.
    below: &'static str,
    is_namespaced: bool,
}

impl Item<'_> {
    fn of(&self, methods: &[&str]) -> Value {
        let mut lists: Vec<Vec<Value>> = methods.iter().map(|method| self.parameters(method)).collect();
        let shared = parameters::take_common(&mut lists);
        let mut item = Map::new();
        for (method, own) in methods.iter().zip(lists) {
            let mut operation = self.operation(method);
            if !own.is_empty() {
                operation["parameters"] = Value::Array(own);
            }
            item.insert((*method).to_owned(), operation);
        }
        item.insert("parameters".to_owned(), Value::Array(shared));
        Value::Object(item)
    }

    /// Returns all parameters of a method, those of its path among them, in the order of their names.
    fn parameters(&self, method: &str) -> Vec<Value> {
        let of = |place: Option<&Value>| {
            let listed = place.and_then(|place| place.get("parameters"));
            listed.and_then(Value::as_array).cloned().unwrap_or_default()
        };
        // A collection is deleted with the parameters of its list.
        let method = match self.action(method) {
            "deletecollection" => "get",
            _ => method,
        };
        let mut all = of(self.template);
        all.extend(of(self.template.and_then(|template| template.get(method))));
        if self.is_namespaced {
            all.push(parameters::namespace(self.dialect));
        }
        for parameter in &mut all {
            match parameter["name"].as_str() {
                Some("name") => parameter["description"] = json!(format!("name of the {}", self.facts.kind)),
                // Other bodies are references to shared parameters.
                Some("body") => parameter["schema"] = reference(&self.model(), self.dialect),
                _ => {}
            }
        }
        all.sort_by(|one, other| parameters::name(one).cmp(parameters::name(other)));
        all
    }

    /// Returns the action of a method, by which clients know lists from reads.
    fn action<'m>(&'m self, method: &'m str) -> &'m str {
        let documented = self.template.and_then(|template| template.get(method));
        documented
            .and_then(|documented| documented.get("x-kubernetes-action"))
            .and_then(Value::as_str)
            .unwrap_or(method)
    }

    fn operation(&self, method: &str) -> Value {
        let action = self.action(method);
        let (group, version) = (self.group(), &self.facts.version);
        let mut operation = json!({
            "tags": [format!("{}_{}", identifier(group, false), identifier(version, false))],
            "description": self.description(action),
            "operationId": self.id(action),
            "responses": self.responses(action),
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": kind_of(self.facts, &self.facts.kind),
        });
        match self.dialect {
            Dialect::V2 => add_media(action, &mut operation),
            Dialect::V3 { .. } => {
                if let Some(body) = self.request(action) {
                    operation["requestBody"] = body;
                }
            }
        }
        operation
    }

    /// Returns the part of the group's name that identifies it in documents.
    fn group(&self) -> &str {
        self.facts.group.strip_suffix(".k8s.io").unwrap_or(&self.facts.group)
    }

    fn id(&self, action: &str) -> String {
        let (verb, what) = match action {
            "deletecollection" => ("delete", "Collection"),
            other => (verb_of(other), ""),
        };
        let namespaced = if self.is_namespaced { "Namespaced" } else { "" };
        let [group, version, below] =
            [self.group(), &self.facts.version, self.below].map(|part| identifier(part, true));
        let kind = &self.facts.kind;
        format!("{verb}{group}{version}{what}{namespaced}{kind}{below}")
    }

    fn description(&self, action: &str) -> String {
        let kind = &self.facts.kind;
        let below = match self.below {
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
        match self.below {
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

/// Adds the media types of an operation of version 2.
fn add_media(action: &str, operation: &mut Value) {
    operation["consumes"] = match action {
        "patch" => json!(PATCHES),
        _ => json!(MEDIA),
    };
    operation["produces"] = json!(MEDIA);
    operation["schemes"] = json!(["https"]);
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

/// Converts `disco.example.com` to `discoExampleCom`, or to `DiscoExampleCom` if it `continues` an identifier.
fn identifier(name: &str, continues: bool) -> String {
    let mut identifier = String::with_capacity(name.len());
    let mut is_capital = continues;
    for (index, letter) in name.chars().enumerate() {
        match letter {
            letter if letter.is_alphabetic() && is_capital => identifier.extend(letter.to_uppercase()),
            letter if letter.is_alphabetic() || letter == '_' => identifier.push(letter),
            // No identifier starts with a digit.
            digit if index > 0 && digit.is_numeric() => identifier.push(digit),
            _ => {
                is_capital = true;
                continue;
            }
        }
        is_capital = false;
    }
    identifier
}

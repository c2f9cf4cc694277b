//! The models of metadata, which documents of all kinds share.

use std::collections::HashMap;

use planesmith_server::openapi::references;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::model::OBJECT_META;
use super::paths::{DELETE_OPTIONS, PATCH, STATUS};

/// The prefix of a reference to a model in version 3.
const REFERENCE: &str = "#/components/schemas/";

/// The kinds that a model describes.
const KINDS: &str = "x-kubernetes-group-version-kind";

/// Groups that only servers know: clients' models of metadata do not name them.
const OF_SERVERS: [&str; 4] = [
    "admission.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "imagepolicy.k8s.io",
];

/// Returns the models of a version 3 document to which the paths and the metadata of custom kinds refer.
pub(super) fn needed(document: &Value) -> Map<String, Value> {
    let models = document.pointer("/components/schemas").and_then(Value::as_object);
    let mut needed = Map::new();
    let mut open = [DELETE_OPTIONS, PATCH, STATUS, OBJECT_META].map(str::to_owned).to_vec();
    while let Some(name) = open.pop() {
        let Some(model) = models.and_then(|models| models.get(&name)) else {
            continue;
        };
        if needed.insert(name, model.clone()).is_none() {
            let names = references(model)
                .into_iter()
                .filter_map(|to| to.strip_prefix(REFERENCE));
            open.extend(names.map(str::to_owned));
        }
    }
    needed
}

/// Sets the kinds of the models that belong to every group version to those of the version 2 `document`.
pub(super) fn name_group_versions(models: &mut Map<String, Value>, document: &[u8]) {
    let Ok(Document { mut definitions }) = serde_json::from_slice(document) else {
        return;
    };
    let named = definitions.remove(DELETE_OPTIONS).map(|model| model.kinds);
    if let (Some(mut kinds), Some(model)) = (named, models.get_mut(DELETE_OPTIONS)) {
        kinds.retain(|kind| kind["group"].as_str().is_none_or(|group| !OF_SERVERS.contains(&group)));
        model[KINDS] = Value::Array(kinds);
    }
}

/// The part of a document that names group versions. The document is large, and the rest of it is skipped.
#[derive(Deserialize)]
struct Document {
    definitions: HashMap<String, Kinds>,
}

#[derive(Deserialize)]
struct Kinds {
    #[serde(default, rename = "x-kubernetes-group-version-kind")]
    kinds: Vec<Value>,
}

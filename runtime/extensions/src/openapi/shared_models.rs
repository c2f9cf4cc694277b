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

/// Returns the kinds of the model of delete options in a version 2 document, as clients see them; `None` if it has no such model.
pub(super) fn kinds_of_delete_options(document: &[u8]) -> Option<Vec<Value>> {
    let Document { mut definitions } = serde_json::from_slice(document).ok()?;
    let mut kinds = definitions.remove(DELETE_OPTIONS)?.kinds;
    kinds.retain(|kind| kind["group"].as_str().is_none_or(|group| !OF_SERVERS.contains(&group)));
    Some(kinds)
}

/// Sets the kinds of the model that belongs to every group version.
pub(super) fn name_group_versions(models: &mut Map<String, Value>, kinds: &[Value]) {
    if let Some(model) = models.get_mut(DELETE_OPTIONS) {
        model[KINDS] = kinds.into();
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

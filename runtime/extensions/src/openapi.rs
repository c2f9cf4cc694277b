//! OpenAPI documents of custom resources.
//!
//! Documents are generated on demand, from the stored definitions and from the document of the definitions' own group version,
//! which provides the parts that are common to the paths and metadata of all kinds.

mod model;
mod parameters;
mod paths;
mod shared_models;

use std::sync::OnceLock;

use bytes::Bytes;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_server::openapi::OpenApi;
use planesmith_server::stores::ResourceStore;
use serde_json::{Map, Value, json};

use crate::definition::Definition;
use model::Dialect;

/// The documents of the chain that serve as templates for those of custom kinds.
#[derive(Clone, Copy, Debug)]
pub struct Templates {
    /// The path of the document about definitions, the template of paths and models.
    pub definitions: &'static str,
    /// The path of the document in which the models of metadata name all group versions.
    pub metadata: &'static str,
    /// The paths of documents that may contain the model of scales.
    pub scales: &'static [&'static str],
}

const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";

/// The documents of the chain as sources of documents about custom kinds.
#[derive(Debug)]
pub(crate) struct SharedDocuments {
    openapi: OpenApi,
    templates: Templates,
    /// The kinds of the model of delete options, from the large document of metadata, which is read once.
    delete_options: OnceLock<Vec<Value>>,
}

impl SharedDocuments {
    pub(crate) fn new(openapi: &OpenApi, templates: Templates) -> Self {
        Self {
            openapi: openapi.clone(),
            templates,
            delete_options: OnceLock::new(),
        }
    }

    pub(crate) fn openapi(&self) -> &OpenApi {
        &self.openapi
    }

    /// The kinds of the model of delete options; `None` if the chain has no document about it.
    fn delete_options(&self) -> Option<&[Value]> {
        if let Some(kinds) = self.delete_options.get() {
            return Some(kinds);
        }
        let document = self.openapi.v2_part(self.templates.metadata)?;
        let kinds = shared_models::kinds_of_delete_options(&document)?;
        Some(self.delete_options.get_or_init(|| kinds))
    }

    fn v3(&self, path: &str) -> Value {
        let document = self.openapi.v3(path).unwrap_or_default();
        serde_json::from_slice(&document).unwrap_or_default()
    }
}

/// A function that makes a document about some kinds: [`v2`] or [`v3`].
pub(crate) type Make = fn(&[ResourceFacts], &ResourceStore, &SharedDocuments) -> Bytes;

/// Returns the version 3 document of one group version with these kinds.
pub(crate) fn v3(kinds: &[ResourceFacts], definitions: &ResourceStore, shared: &SharedDocuments) -> Bytes {
    let template = shared.v3(shared.templates.definitions);
    let mut schemas = shared_models::needed(&template);
    if let Some(kinds) = shared.delete_options() {
        shared_models::name_group_versions(&mut schemas, kinds);
    }
    let mut all_paths = Map::new();
    let mut has_scales = false;
    for facts in kinds {
        let Some(schema) = schema_of(facts, definitions) else {
            continue;
        };
        let dialect = Dialect::V3 { template: &template };
        schemas.insert(model::name(facts, &facts.kind), model::of_kind(facts, &schema, dialect));
        schemas.insert(model::name(facts, &facts.list_kind), model::of_list(facts, dialect));
        has_scales |= facts.subresource("scale").is_some();
        all_paths.extend(paths::of_kind(facts, &template, dialect));
    }
    if has_scales {
        schemas.extend(scale_models(shared).unwrap_or_else(any_scale));
    }
    let document = json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
        "paths": all_paths,
        "components": {"schemas": schemas},
    });
    document.to_string().into()
}

/// Returns the part of the version 2 document for these kinds.
pub(crate) fn v2(kinds: &[ResourceFacts], definitions: &ResourceStore, shared: &SharedDocuments) -> Bytes {
    let template = shared.openapi.v2_part(shared.templates.definitions).unwrap_or_default();
    let template: Value = serde_json::from_slice(&template).unwrap_or_default();
    let mut models = Map::new();
    let mut all_paths = Map::new();
    let mut has_scales = false;
    for facts in kinds {
        let Some(schema) = schema_of(facts, definitions) else {
            continue;
        };
        models.insert(
            model::name(facts, &facts.kind),
            model::of_kind(facts, &schema, Dialect::V2),
        );
        models.insert(model::name(facts, &facts.list_kind), model::of_list(facts, Dialect::V2));
        has_scales |= facts.subresource("scale").is_some();
        all_paths.extend(paths::of_kind(facts, &template, Dialect::V2));
    }
    if has_scales && scale_models(shared).is_none() {
        models.extend(any_scale());
    }
    let document = json!({"definitions": models, "parameters": parameters::shared(), "paths": all_paths});
    document.to_string().into()
}

/// Returns the schema of a version as its definition has it; `None` if the definition no longer exists.
fn schema_of(facts: &ResourceFacts, definitions: &ResourceStore) -> Option<Value> {
    let key = definitions.key("", &format!("{}.{}", facts.plural, facts.group)).ok()?;
    let entry = definitions.collection().get(&key)?;
    let document: Value = serde_json::from_slice(&entry.bytes()).ok()?;
    let version = Definition::new(&document)
        .versions()
        .find(|version| version.name() == facts.version)?;
    Some(version.schema().clone())
}

/// Returns the model of scales of a chain without a document about them.
fn any_scale() -> Map<String, Value> {
    Map::from_iter([(SCALE.to_owned(), json!({"type": "object"}))])
}

/// Returns the models of scales in the documents of the chain.
fn scale_models(shared: &SharedDocuments) -> Option<Map<String, Value>> {
    shared.templates.scales.iter().find_map(|path| {
        let document = shared.v3(path);
        let schemas = document.pointer("/components/schemas")?.as_object()?;
        schemas.contains_key(SCALE).then(|| {
            let models = schemas.iter().filter(|(name, _)| name.starts_with(SCALE));
            models.map(|(name, schema)| (name.clone(), schema.clone())).collect()
        })
    })
}

#[cfg(test)]
mod tests;

//! OpenAPI documents of custom resources.
//!
//! Documents are generated on demand, from the stored definitions and from the document of the definitions' own group version,
//! which provides the parts that are common to the paths and metadata of all kinds.

mod model;
mod parameters;
mod paths;
mod shared_models;

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

/// A function that makes a document about some kinds: [`v2`] or [`v3`].
pub(crate) type Make = fn(&[ResourceFacts], &ResourceStore, (&OpenApi, Templates)) -> Bytes;

/// Returns the version 3 document of one group version with these kinds.
pub(crate) fn v3(
    kinds: &[ResourceFacts],
    definitions: &ResourceStore,
    (shared, templates): (&OpenApi, Templates),
) -> Bytes {
    let template = parsed(shared, templates.definitions);
    let mut schemas = shared_models::needed(&template);
    shared_models::name_group_versions(&mut schemas, &shared.v2_part(templates.metadata).unwrap_or_default());
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
        schemas.extend(scale_models(shared, templates.scales).unwrap_or_else(any_scale));
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
pub(crate) fn v2(
    kinds: &[ResourceFacts],
    definitions: &ResourceStore,
    (shared, templates): (&OpenApi, Templates),
) -> Bytes {
    let template = shared.v2_part(templates.definitions).unwrap_or_default();
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
    if has_scales && scale_models(shared, templates.scales).is_none() {
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
fn scale_models(shared: &OpenApi, paths: &[&str]) -> Option<Map<String, Value>> {
    paths.iter().find_map(|path| {
        let document = parsed(shared, path);
        let schemas = document.pointer("/components/schemas")?.as_object()?;
        schemas.contains_key(SCALE).then(|| {
            let models = schemas.iter().filter(|(name, _)| name.starts_with(SCALE));
            models.map(|(name, schema)| (name.clone(), schema.clone())).collect()
        })
    })
}

fn parsed(shared: &OpenApi, path: &str) -> Value {
    let document = shared.v3(path).unwrap_or_default();
    serde_json::from_slice(&document).unwrap_or_default()
}

#[cfg(test)]
mod tests;

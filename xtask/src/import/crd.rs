//! Custom resource definitions.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::draft::{Draft, listed, literal};
use super::schema::{Schemas, texts};

/// A draft for each version.
pub(super) fn drafts(definition: &Value) -> Result<Vec<Draft>> {
    let spec = &definition["spec"];
    let group = spec["group"].as_str().context("spec.group is missing")?;
    let kind = spec["names"]["kind"].as_str().context("spec.names.kind is missing")?;
    let versions = spec["versions"].as_array().context("spec.versions is missing")?;
    let stored = versions.iter().find(|version| version["storage"] == true);
    let stored = stored.and_then(|version| version["name"].as_str()).unwrap_or_default();
    let draft = |(index, version): (usize, &Value)| {
        let place = || format!("spec.versions[{index}]");
        let name = version["name"]
            .as_str()
            .with_context(|| format!("{}.name is missing", place()))?;
        let schema = &version["schema"]["openAPIV3Schema"];
        if !schema["properties"].is_object() {
            bail!("{}.schema.openAPIV3Schema says nothing about fields", place());
        }
        let mut schemas = Schemas::default();
        schemas.structure(kind, schema, Some(resource(spec, version, kind, stored)));
        Ok(Draft {
            group: group.to_owned(),
            version: name.to_owned(),
            structs: schemas.structs,
        })
    };
    versions.iter().enumerate().map(draft).collect()
}

/// The keys of `#[resource(...)]`.
fn resource(spec: &Value, version: &Value, kind: &str, stored: &str) -> Vec<String> {
    let name = version["name"].as_str().unwrap_or("v1");
    let names = &spec["names"];
    let mut keys = vec![
        format!("group = {}", literal(spec["group"].as_str().unwrap_or_default())),
        format!("version = {}", literal(name)),
    ];
    for (word, key) in [("plural", "plural"), ("singular", "singular"), ("listKind", "list")] {
        if let Some(value) = names[word].as_str() {
            keys.push(format!("{key} = {}", literal(value)));
        }
    }
    for (word, key) in [("shortNames", "short"), ("categories", "categories")] {
        let listed_names: Vec<String> = texts(&names[word]).map(str::to_owned).collect();
        if !listed_names.is_empty() {
            keys.push(listed(key, &listed_names));
        }
    }
    if spec["scope"] == "Cluster" {
        keys.push("cluster".to_owned());
    }
    if name != stored {
        keys.push(format!("storage_version = super::super::{stored}::{kind}"));
    }
    if version["served"] == false {
        keys.push("unserved".to_owned());
    }
    if version["deprecated"] == true {
        let group = spec["group"].as_str().unwrap_or_default();
        let usual = format!("{group}/{name} {kind} is deprecated");
        let warning = version["deprecationWarning"].as_str().unwrap_or(&usual);
        keys.push(format!("deprecated = {}", literal(warning)));
    }
    let has_status = version["schema"]["openAPIV3Schema"]["properties"]["status"].is_object();
    if version["subresources"]["status"].is_object() && has_status {
        keys.push("status".to_owned());
    }
    if let Some(scale) = version["subresources"]["scale"].as_object() {
        let path = |key: &str| {
            scale
                .get(key)
                .and_then(Value::as_str)
                .map(|path| path.trim_start_matches('.'))
        };
        let mut paths = Vec::new();
        for (word, key) in [
            ("specReplicasPath", "spec"),
            ("statusReplicasPath", "status"),
            ("labelSelectorPath", "selector"),
        ] {
            paths.extend(path(word).map(|path| format!("{key} = {}", literal(path))));
        }
        keys.push(format!("scale({})", paths.join(", ")));
    }
    keys.push("generation".to_owned());
    keys.extend(columns(version));
    keys
}

/// Columns whose paths go through fields only; others need a function.
fn columns(version: &Value) -> Vec<String> {
    let declared: Vec<&Value> = version["additionalPrinterColumns"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    if declared.is_empty() {
        return Vec::new();
    }
    let mut keys = vec!["column(name)".to_owned()];
    for column in declared {
        let path = column["jsonPath"].as_str().unwrap_or_default().trim_start_matches('.');
        if path == "metadata.creationTimestamp" {
            keys.push("column(age)".to_owned());
            continue;
        }
        if path.contains(['[', '"', '\\', '@']) {
            continue;
        }
        let text = |key: &str| column[key].as_str().unwrap_or_default();
        let mut parts = vec![
            format!("name = {}", literal(text("name"))),
            format!("type = {}", literal(text("type"))),
        ];
        if !text("description").is_empty() {
            parts.push(format!("doc = {}", literal(text("description"))));
        }
        if let Some(priority) = column["priority"].as_i64().filter(|priority| *priority != 0) {
            parts.push(format!("priority = {priority}"));
        }
        parts.push(format!("path = {}", literal(path)));
        keys.push(format!("column({})", parts.join(", ")));
    }
    keys
}

//! Drops what a schema does not know.

use serde_json::Value;

use super::{Additional, Structural};

/// What every object of the API has, whatever its schema says.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// How many dropped fields are named.
const MAX_PATHS: usize = 100;

/// Where fields were dropped, e.g. `spec.parts[0].size`; at most 100.
#[derive(Debug, Default)]
pub struct PrunedPaths {
    paths: Vec<String>,
    here: Vec<String>,
}

impl PrunedPaths {
    /// The paths, in the order of the document.
    #[must_use]
    pub fn into_paths(self) -> Vec<String> {
        self.paths
    }

    fn dropped(&mut self, name: &str) {
        if self.paths.len() < MAX_PATHS {
            let here = self.here.concat();
            let dot = if here.is_empty() { "" } else { "." };
            self.paths.push(format!("{here}{dot}{name}"));
        }
    }

    fn below<T>(&mut self, name: &str, walk: impl FnOnce(&mut Self) -> T) -> T {
        let dot = if self.here.is_empty() { "" } else { "." };
        self.here.push(format!("{dot}{name}"));
        let done = walk(self);
        self.here.pop();
        done
    }

    fn element<T>(&mut self, index: usize, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.here.push(format!("[{index}]"));
        let done = walk(self);
        self.here.pop();
        done
    }
}

impl Structural {
    /// Drops from a document what the schema does not know; the root is an object of the API.
    #[must_use]
    pub fn prune(&self, document: &mut Value) -> PrunedPaths {
        let mut paths = PrunedPaths::default();
        prune(document, Some(self), true, &mut paths);
        paths
    }
}

fn prune(value: &mut Value, schema: Option<&Structural>, is_object_of_api: bool, paths: &mut PrunedPaths) {
    match value {
        Value::Object(entries) => {
            let keeps_unknown = schema.is_some_and(|schema| schema.preserve_unknown);
            let is_object_of_api = is_object_of_api || schema.is_some_and(|schema| schema.embedded);
            entries.retain(|name, value| {
                if is_object_of_api && META.contains(&name.as_str()) {
                    return true;
                }
                let known = match schema.map(|schema| (schema.properties.get(name.as_str()), &schema.additional)) {
                    Some((Some(property), _)) => Some(Some(property)),
                    Some((None, Additional::Typed(additional))) => Some(Some(&**additional)),
                    Some((None, Additional::Any)) => Some(None),
                    Some((None, Additional::None)) | None => None,
                };
                match known {
                    Some(schema) => {
                        paths.below(name, |paths| prune(value, schema, false, paths));
                        true
                    }
                    None if keeps_unknown => true,
                    None => {
                        paths.dropped(name);
                        false
                    }
                }
            });
        }
        Value::Array(elements) => {
            let items = schema.and_then(|schema| schema.items.as_deref());
            if items.is_none() && schema.is_some_and(|schema| schema.preserve_unknown) {
                return;
            }
            for (index, element) in elements.iter_mut().enumerate() {
                paths.element(index, |paths| prune(element, items, false, paths));
            }
        }
        _ => {}
    }
}

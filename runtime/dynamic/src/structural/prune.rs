//! Drops what a schema does not know.

use serde_json::Value;

use super::bounded::Bounded;
use super::value_path::ValuePath;
use super::{Additional, Structural};

/// The members of every object of the API, whatever its schema says.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The places of dropped fields, e.g. `spec.parts[0].size`; at most 100 are listed.
#[derive(Debug, Default)]
pub struct PrunedPaths {
    listed: Bounded,
    /// True if a field in the status was dropped.
    in_status: bool,
    /// True if a field outside of the status was dropped.
    outside_status: bool,
}

impl PrunedPaths {
    /// The paths, sorted.
    #[must_use]
    pub fn into_paths(self) -> Vec<String> {
        self.listed.sorted()
    }

    /// True if no field was dropped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.in_status && !self.outside_status
    }

    /// True if a field was dropped that is not in `status`. Holds for any number of fields.
    #[must_use]
    pub fn has_any_outside_status(&self) -> bool {
        self.outside_status
    }

    fn dropped(&mut self, location: &ValuePath<'_>) {
        match location.top_field() {
            Some("status") => self.in_status = true,
            _ => self.outside_status = true,
        }
        self.listed.push(|| location.to_string());
    }
}

/// Fields that are preserved though no schema names them.
#[derive(Clone, Copy, PartialEq)]
enum Preserved {
    /// Nothing.
    Nothing,
    /// Those of every object of the API.
    Meta,
    /// Anything, because a list says so of its elements.
    Unknown,
}

impl Structural {
    /// Drops from a document what the schema does not know; the root is an object of the API.
    #[must_use]
    pub fn prune(&self, document: &mut Value) -> PrunedPaths {
        let mut paths = PrunedPaths::default();
        prune(document, Some(self), Preserved::Meta, &ValuePath::Root, &mut paths);
        paths
    }

    /// Drops from a value in a document what the schema does not know.
    pub(super) fn prune_part(&self, value: &mut Value) {
        prune(
            value,
            Some(self),
            Preserved::Nothing,
            &ValuePath::Root,
            &mut PrunedPaths::default(),
        );
    }
}

fn prune(
    value: &mut Value,
    schema: Option<&Structural>,
    preserved: Preserved,
    location: &ValuePath<'_>,
    paths: &mut PrunedPaths,
) {
    let keeps_unknown = preserved == Preserved::Unknown || schema.is_some_and(|schema| schema.preserve_unknown);
    match value {
        Value::Object(entries) => {
            let is_object_of_api = preserved == Preserved::Meta || schema.is_some_and(|schema| schema.embedded);
            entries.retain(|name, value| {
                if is_object_of_api && META.contains(&name.as_str()) {
                    return true;
                }
                let known = match schema.map(|schema| (schema.properties.get(name.as_str()), &schema.additional)) {
                    Some((Some(property), _)) => Some(Some(property)),
                    Some((None, Additional::Typed(additional))) => Some(Some(&**additional)),
                    Some((None, Additional::Any | Additional::Refused)) => Some(None),
                    Some((None, Additional::None)) | None => None,
                };
                let location = ValuePath::Field(location, name);
                match known {
                    Some(schema) => prune(value, schema, Preserved::Nothing, &location, paths),
                    None if keeps_unknown => {}
                    None => paths.dropped(&location),
                }
                known.is_some() || keeps_unknown
            });
        }
        Value::Array(elements) => {
            let items = schema.and_then(|schema| schema.items.as_deref());
            let preserved = match (keeps_unknown, items) {
                (true, None) => return,
                (true, Some(_)) => Preserved::Unknown,
                (false, _) => Preserved::Nothing,
            };
            for (index, element) in elements.iter_mut().enumerate() {
                prune(element, items, preserved, &ValuePath::Element(location, index), paths);
            }
        }
        _ => {}
    }
}

//! Nested schemas of a schema.

use std::collections::BTreeMap;

use planesmith_machinery::schema_or::{SchemaOrArray, SchemaOrBool, SchemaOrStrings};

use super::JSONSchemaProps;

impl JSONSchemaProps {
    /// Returns the schema of all list elements, if there is one for all.
    #[must_use]
    pub fn item(&self) -> Option<&JSONSchemaProps> {
        match &self.items {
            Some(SchemaOrArray::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// Returns the schemas of the individual list elements, if there is one for each.
    #[must_use]
    pub fn item_list(&self) -> &[JSONSchemaProps] {
        match &self.items {
            Some(SchemaOrArray::Array(schemas)) => schemas,
            _ => &[],
        }
    }

    /// Returns the schema of additional properties.
    #[must_use]
    pub fn additional(&self) -> Option<&JSONSchemaProps> {
        of_bool(self.additional_properties.as_ref())
    }

    /// Returns the schemas that the value must all match.
    #[must_use]
    pub fn all_of(&self) -> &[JSONSchemaProps] {
        self.all_of.as_deref().unwrap_or_default()
    }

    /// Returns the schemas of which the value must match at least one.
    #[must_use]
    pub fn any_of(&self) -> &[JSONSchemaProps] {
        self.any_of.as_deref().unwrap_or_default()
    }

    /// Returns the schemas of which the value must match exactly one.
    #[must_use]
    pub fn one_of(&self) -> &[JSONSchemaProps] {
        self.one_of.as_deref().unwrap_or_default()
    }

    /// Returns the fields that identify an element of the list.
    #[must_use]
    pub fn list_map_keys(&self) -> &[String] {
        self.x_kubernetes_list_map_keys.as_deref().unwrap_or_default()
    }

    /// True if `holds` returns true for this schema or for a nested one. Stops at the first match.
    pub fn any(&self, holds: &mut dyn FnMut(&JSONSchemaProps) -> bool) -> bool {
        if holds(self) {
            return true;
        }
        let dependencies = self.dependencies.iter().flat_map(BTreeMap::values);
        let dependencies = dependencies.filter_map(|dependency| match dependency {
            SchemaOrStrings::Schema(schema) => Some(&**schema),
            _ => None,
        });
        self.item()
            .into_iter()
            .chain(self.item_list())
            .chain(self.all_of())
            .chain(self.any_of())
            .chain(self.one_of())
            .chain(self.not.as_deref())
            .chain(self.properties.values().map(|schema| &**schema))
            .chain(self.additional())
            .chain(self.pattern_properties.iter().flat_map(BTreeMap::values))
            .chain(of_bool(self.additional_items.as_ref()))
            .chain(self.definitions.iter().flat_map(BTreeMap::values))
            .chain(dependencies)
            .any(|schema| schema.any(holds))
    }
}

fn of_bool(choice: Option<&SchemaOrBool<JSONSchemaProps>>) -> Option<&JSONSchemaProps> {
    match choice {
        Some(SchemaOrBool::Schema(schema)) => Some(schema),
        _ => None,
    }
}

//! Deduplication of equal schemas.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Additional, Limits, Structural};

/// Parts of schemas that were compiled before.
///
/// A definition says the same things many times: in each of its versions, in each place that takes a Pod, and `type: string`
/// everywhere. Schemas that are compiled with the same `SharedSchemas` share all of that.
#[derive(Debug, Default)]
pub struct SharedSchemas(HashSet<Arc<Structural>>);

impl SharedSchemas {
    /// Returns the shared schema that is equal to `schema`.
    pub(super) fn share(&mut self, schema: Structural) -> Arc<Structural> {
        if let Some(known) = self.0.get(&schema) {
            return Arc::clone(known);
        }
        let schema = Arc::new(schema);
        self.0.insert(Arc::clone(&schema));
        schema
    }

    /// Frees the schemas that nothing but other unused schemas refers to.
    pub fn free_unused(&mut self) {
        // The parts of a schema are unused only when it is gone.
        let mut before = usize::MAX;
        while self.0.len() < before {
            before = self.0.len();
            self.0.retain(|schema| Arc::strong_count(schema) > 1);
        }
        self.0.shrink_to_fit();
    }
}

/// Hashes only cheap parts: names distinguish most schemas, and equality compares the rest.
impl Hash for Structural {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (
            self.schema_type,
            self.nullable,
            self.preserve_unknown,
            self.rules.is_some(),
        )
            .hash(state);
        for (name, property) in self.properties.iter() {
            (name, property.schema_type).hash(state);
        }
        self.items.hash(state);
        if let Additional::Typed(additional) = &self.additional {
            additional.hash(state);
        }
        self.default.hash(state);
        self.limits.hash(state);
    }
}

impl Hash for Limits {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pattern.as_ref().map(super::Pattern::text).hash(state);
        (&self.required, &self.allowed).hash(state);
        (self.max_length, self.min_length, self.max_items).hash(state);
        (self.min_items, self.max_properties, self.min_properties).hash(state);
        (&self.any_of, &self.one_of, &self.all_of, &self.not).hash(state);
        (self.minimum.map(f64::to_bits), self.maximum.map(f64::to_bits)).hash(state);
    }
}

/// Numbers in schemas come from JSON, so that none differs from itself.
impl Eq for Limits {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_schemas_are_shared() {
        let mut shared = SharedSchemas::default();
        let part = json!({"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}});
        let first = Structural::compile_shared(
            &json!({"type": "object", "properties": {"a": part, "b": part}}),
            &mut shared,
        );
        let second = Structural::compile_shared(&json!({"type": "object", "properties": {"c": part}}), &mut shared);
        let part_of = |schema: &Structural, name: &str| std::ptr::from_ref(schema.field(name).expect("declared"));
        assert_eq!(part_of(&first, "a"), part_of(&first, "b"));
        assert_eq!(part_of(&first, "a"), part_of(&second, "c"));
        // The two, the part, and what its two fields are.
        assert_eq!(shared.0.len(), 5);
    }

    #[test]
    fn an_unreferenced_schema_is_freed_with_all_its_parts() {
        let mut shared = SharedSchemas::default();
        let deep = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {
            "b": {"type": "string"}, "c": {"type": "integer"}}}}}});
        let other = json!({"type": "object", "properties": {"b": {"type": "string"}}});
        let deep = Structural::compile_shared(&deep, &mut shared);
        let other = Structural::compile_shared(&other, &mut shared);
        assert_eq!(shared.0.len(), 6);
        shared.free_unused();
        assert_eq!(shared.0.len(), 6, "all are in use");
        drop(deep);
        shared.free_unused();
        assert_eq!(shared.0.len(), 2, "the other, and its part that both had");
        drop(other);
        shared.free_unused();
        assert_eq!(shared.0.len(), 0);
    }

    #[test]
    fn different_schemas_are_not_shared() {
        let mut shared = SharedSchemas::default();
        let schemas = [
            json!({"type": "string"}),
            json!({"type": "string", "nullable": true}),
            json!({"type": "string", "maxLength": 3}),
            json!({"type": "string", "format": "date"}),
            json!({"type": "string", "default": "a"}),
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "true"}]}),
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "false"}]}),
            json!({"type": "string", "not": {"enum": ["a"]}}),
            json!({"type": "string", "anyOf": [{"enum": ["a"]}]}),
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
            json!({"type": "object", "additionalProperties": true}),
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "x-kubernetes-embedded-resource": true}),
            json!({"type": "object", "x-kubernetes-map-type": "atomic"}),
        ];
        let compiled: Vec<_> = schemas
            .iter()
            .map(|schema| Structural::compile_shared(schema, &mut shared))
            .collect();
        let different: HashSet<_> = compiled.iter().map(Arc::as_ptr).collect();
        assert_eq!(different.len(), schemas.len());
    }

    #[test]
    fn different_schemas_have_different_hashes() {
        let digest = |schema: &serde_json::Value| {
            let mut state = std::hash::DefaultHasher::new();
            Structural::compile(schema).hash(&mut state);
            state.finish()
        };
        let schemas: Vec<_> = (0..10)
            .flat_map(|number| {
                [
                    json!({"type": "object", "additionalProperties": {"type": "string", "maxLength": number}}),
                    json!({"type": "object", "maxProperties": number}),
                    json!({"type": "object", "not": {"required": [number.to_string()]}}),
                    json!({"type": "object", "anyOf": [{"required": [number.to_string()]}]}),
                ]
            })
            .collect();
        let different: HashSet<_> = schemas.iter().map(digest).collect();
        assert_eq!(different.len(), schemas.len());
    }
}

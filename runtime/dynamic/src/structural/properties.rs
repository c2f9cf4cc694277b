//! The fields of an object that a schema names.

use std::sync::Arc;

use planesmith_wire::sorting::sort_by;

use super::Structural;

/// Schemas of fields by name.
///
/// Kept sorted in one piece: there are thousands of these in a definition, most of a few fields only. The description of a field
/// may be shared with other fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(Box<[(Box<str>, Arc<Structural>)]>);

impl Properties {
    /// The schema of the field `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Structural> {
        let found = self.0.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        self.0.get(found).map(|(_, schema)| &**schema)
    }

    /// True if there is a field `name`.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// True if no field is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fields in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Structural)> {
        self.0.iter().map(|(name, schema)| (&**name, &**schema))
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// The schemas of the fields, in the order of their names.
    pub fn schemas(&self) -> impl Iterator<Item = &Structural> {
        self.iter().map(|(_, schema)| schema)
    }

    /// These fields, and others in place of those of the same name.
    #[must_use]
    pub fn with(&self, others: impl IntoIterator<Item = (Box<str>, Arc<Structural>)>) -> Self {
        self.0.iter().cloned().chain(others).collect()
    }
}

/// Of several fields of one name the last one counts.
impl FromIterator<(Box<str>, Arc<Structural>)> for Properties {
    fn from_iter<I: IntoIterator<Item = (Box<str>, Arc<Structural>)>>(fields: I) -> Self {
        let mut fields: Vec<_> = fields.into_iter().collect();
        fields.reverse();
        // Equal names stay in their (reversed) order.
        sort_by(&mut fields, |(left, _), (right, _)| left.cmp(right));
        fields.dedup_by(|(later, _), (kept, _)| later == kept);
        Self(fields.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structural::SchemaType;

    fn schema(schema_type: SchemaType) -> Arc<Structural> {
        Arc::new(Structural {
            schema_type,
            ..Structural::default()
        })
    }

    #[test]
    fn the_last_field_of_a_name_counts() {
        let fields: Properties = [
            ("b", SchemaType::Object),
            ("a", SchemaType::String),
            ("b", SchemaType::Array),
        ]
        .map(|(name, schema_type)| (name.into(), schema(schema_type)))
        .into_iter()
        .collect();
        let fields = fields.with([
            ("a".into(), schema(SchemaType::Integer)),
            ("c".into(), schema(SchemaType::Any)),
        ]);
        let types: Vec<(&str, SchemaType)> = fields.iter().map(|(name, schema)| (name, schema.schema_type)).collect();
        assert_eq!(
            types,
            [
                ("a", SchemaType::Integer),
                ("b", SchemaType::Array),
                ("c", SchemaType::Any)
            ]
        );
        assert!(fields.get("d").is_none());
    }
}

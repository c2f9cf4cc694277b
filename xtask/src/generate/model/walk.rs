//! Access to fields by JSON name and by dotted path.

use planesmith_codegen_core::names;

use super::{Definition, Field, Model, Type};

impl Model {
    /// Returns the fields of a struct as in JSON, with inlined structs flattened.
    pub(crate) fn json_fields<'a>(&'a self, definition: &'a Definition) -> Vec<&'a Field> {
        let mut fields = Vec::new();
        for field in &definition.fields {
            match field.ty.present() {
                Type::Struct(inner) if field.facts.inline => fields.extend(self.json_fields(self.structure(inner))),
                _ => fields.push(field),
            }
        }
        fields
    }

    /// Returns the type at a dotted path from a struct.
    ///
    /// # Errors
    ///
    /// The reason why the path is invalid, worded as a continuation of the path.
    pub(crate) fn at<'a>(&'a self, definition: &'a Definition, path: &str) -> Result<&'a Type, String> {
        let (first, rest) = path
            .split_once('.')
            .map_or((path, None), |(first, rest)| (first, Some(rest)));
        let fields = self.json_fields(definition);
        let Some(field) = fields.iter().find(|field| field.facts.name == first) else {
            let near = names::nearest(first, fields.iter().map(|field| field.facts.name.as_str()));
            let near = near
                .map(|near| format!("; did you mean \"{near}\"?"))
                .unwrap_or_default();
            return Err(format!("`{}` has no field \"{first}\"{near}", definition.name));
        };
        match (rest, field.ty.present()) {
            (None, _) => Ok(&field.ty),
            (Some(rest), Type::Struct(path)) => self.at(self.structure(path), rest),
            // The rest is a map key.
            (Some(_), Type::Map(value)) => Ok(value),
            (Some(_), _) => Err(format!("\"{first}\" in `{}` has no fields", definition.name)),
        }
    }
}

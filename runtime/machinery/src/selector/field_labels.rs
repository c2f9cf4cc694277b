//! The selectable fields of a kind, and the location of their values.

use planesmith_wire::go_format::quote;

use crate::facts::{StructFacts, TypeFacts};
use crate::resource::{FieldAlias, FieldRefusal, ResourceFacts, Scope};

impl ResourceFacts {
    /// Returns the paths of the object in this version that selectors read, in the order of rows. Stored objects are of
    /// the storage version.
    pub fn selected_paths(&self) -> impl Iterator<Item = &str> {
        let aliases = self.extensions.field_labels.aliases.iter();
        let aliases = aliases.flat_map(|alias| alias.paths).copied();
        self.selectable.iter().map(|path| &**path).chain(aliases)
    }

    /// Returns the text that a selector compares with if `path` has no value: the zero value of the type. A document has no
    /// zero values.
    #[must_use]
    pub fn zero_text(&self, path: &str) -> &'static str {
        let mut level = Some(self.fields());
        let mut text = "";
        for name in path.split('.') {
            let found = level.and_then(|level| type_of(level, name));
            (level, text) = match found {
                Some(TypeFacts::Struct(inner)) => (Some(inner()), ""),
                Some(TypeFacts::Bool) => (None, "false"),
                Some(TypeFacts::Int32 | TypeFacts::Int64) => (None, "0"),
                _ => (None, ""),
            };
        }
        text
    }

    /// Returns the alias `name` in selectors on this version.
    #[must_use]
    pub fn field_alias(&self, name: &str) -> Option<&'static FieldAlias> {
        self.extensions
            .field_labels
            .aliases
            .iter()
            .find(|alias| alias.name == name)
    }

    /// Returns the reason for which a selector on this version cannot contain `field`; `None` if it can.
    ///
    /// A kind that declares selectable fields has its own wording for rejections, and accepts the namespace only if it
    /// is namespaced.
    pub(super) fn field_refusal(&self, field: &str) -> Option<String> {
        let labels = self.extensions.field_labels;
        let declares = labels.declared || !self.selectable.is_empty() || !labels.aliases.is_empty();
        let known = match field {
            "metadata.name" => true,
            "metadata.namespace" => !declares || (self.scope == Scope::Namespaced && labels.namespace),
            field => self.selectable.iter().any(|path| path == field) || self.field_alias(field).is_some(),
        };
        if known {
            return None;
        }
        if !declares {
            let field = quote(field);
            return Some(format!(
                "{field} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            ));
        }
        Some(match self.hub().extensions.field_labels.refusal {
            FieldRefusal::Field => format!("field label not supported: {field}"),
            FieldRefusal::KindAndField => format!(
                "field label not supported for {}, Kind={}: {field}",
                self.api_version, self.kind
            ),
            FieldRefusal::Quoted(kind) => format!("field label {} not supported for {kind}", quote(field)),
        })
    }
}

/// Returns the type of the field `name`, through inlined structs.
fn type_of(level: &'static StructFacts, name: &str) -> Option<&'static TypeFacts> {
    level.field_named(name).map(|field| field.ty.present())
}

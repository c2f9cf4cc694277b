//! Types that are defined at run time: the structural schemas of custom resource definitions.
//!
//! Reading order: [`Structural`] (one node of a schema), `compile` (out of its JSON form), then what walks it, as an
//! object comes in: [`Structural::prune`], [`Structural::complete_embedded`], [`Structural::fill_defaults`],
//! [`Structural::validate`], [`Structural::check_embedded`] and [`Structural::check_lists`].

mod bounded;
mod compile;
mod defaults;
mod embedded;
mod format;
mod limits;
mod lists;
mod metadata_defaults;
mod pattern;
mod properties;
mod prune;
mod shared;
mod validate;
mod value_path;

use std::sync::Arc;

use serde_json::Value;

pub use embedded::Malformed;
pub(crate) use embedded::readable_part;
pub use format::Format;
pub use limits::Limits;
pub use pattern::Pattern;
pub use properties::Properties;
pub use prune::PrunedPaths;
pub use shared::SharedSchemas;
pub use validate::OldElements;

/// The schema of one value. Created by [`Structural::compile`]; schemas below it can be shared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structural {
    /// The declared type.
    pub schema_type: SchemaType,
    /// True if `null` is a value.
    pub nullable: bool,
    /// Fields that the schema does not name are kept (`x-kubernetes-preserve-unknown-fields`).
    pub preserve_unknown: bool,
    /// The value is an object of the API with metadata of its own (`x-kubernetes-embedded-resource`).
    pub embedded: bool,
    /// Fields of an object by name.
    pub properties: Properties,
    /// Fields that `properties` does not name.
    pub additional: Additional,
    /// Elements of a list.
    pub items: Option<Arc<Structural>>,
    /// The identity of list elements.
    pub list: ListKind,
    /// An object is owned and replaced as a whole.
    pub atomic: bool,
    /// Default for an absent value.
    pub default: Option<Box<Value>>,
    /// Further rules for the value.
    pub limits: Option<Box<Limits>>,
    /// Expressions that must hold (`x-kubernetes-validations`), as they were written.
    pub rules: Option<Box<Value>>,
    /// True if expressions must hold of this value or of anything in it.
    pub has_rules: bool,
    /// True if this value or anything in it has metadata of its own.
    pub has_embedded: bool,
    /// True if this value or anything in it is a list whose elements have an identity.
    pub has_keyed_lists: bool,
}

/// The declared type of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SchemaType {
    /// Not declared.
    #[default]
    Any,
    /// `object`.
    Object,
    /// `array`.
    Array,
    /// `string`.
    String,
    /// `integer`.
    Integer,
    /// `number`.
    Number,
    /// `boolean`.
    Boolean,
    /// An integer or text (`x-kubernetes-int-or-string`).
    IntOrString,
}

/// The schema of fields that it does not name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Additional {
    /// There are none.
    #[default]
    None,
    /// They can be anything.
    Any,
    /// They are refused, not dropped as unknown ones (`additionalProperties: false`).
    Refused,
    /// They are of this type.
    Typed(Arc<Structural>),
}

/// The identity of list elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListKind {
    /// None: the list is replaced as a whole.
    #[default]
    Atomic,
    /// By value.
    Set,
    /// By these fields.
    Map(Box<[Box<str>]>),
}

impl Structural {
    /// The schemas of what is in the value.
    pub fn children(&self) -> impl Iterator<Item = &Structural> {
        let additional = match &self.additional {
            Additional::Typed(additional) => Some(&**additional),
            Additional::None | Additional::Any | Additional::Refused => None,
        };
        self.properties.schemas().chain(additional).chain(self.items.as_deref())
    }

    /// The schema of the field called `name`, and whether the field is one of a map.
    fn entry(&self, name: &str) -> Option<(&Structural, bool)> {
        match self.properties.get(name) {
            Some(property) => Some((property, false)),
            None => self.field(name).map(|additional| (additional, true)),
        }
    }

    /// The schema of the field called `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Structural> {
        match (self.properties.get(name), &self.additional) {
            (Some(property), _) => Some(property),
            (None, Additional::Typed(additional)) => Some(additional),
            (None, Additional::None | Additional::Any | Additional::Refused) => None,
        }
    }
}

#[cfg(test)]
mod tests;

//! Types that are known only while serving: the structural schemas of custom resource definitions.
//!
//! Reading order: [`Structural`] (one node of a schema), `compile` (out of its JSON form), then what walks it:
//! [`Structural::prune`] and [`Structural::fill_defaults`].

mod compile;
mod defaults;
mod limits;
mod prune;

use std::collections::BTreeMap;

use serde_json::Value;

pub use limits::Limits;
pub use prune::PrunedPaths;

/// What a schema says about one value. Made by [`Structural::compile`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structural {
    /// The declared type.
    pub form: Form,
    /// Whether `null` is a value.
    pub nullable: bool,
    /// What the schema does not know is kept (`x-kubernetes-preserve-unknown-fields`).
    pub preserve_unknown: bool,
    /// The value is an object of the API with metadata of its own (`x-kubernetes-embedded-resource`).
    pub embedded: bool,
    /// Fields of an object by name.
    pub properties: BTreeMap<Box<str>, Structural>,
    /// Fields that `properties` does not name.
    pub additional: Additional,
    /// Elements of a list.
    pub items: Option<Box<Structural>>,
    /// How elements of a list are told apart.
    pub list: ListKind,
    /// An object is owned and replaced as a whole.
    pub atomic: bool,
    /// Taken when the value is absent.
    pub default: Option<Box<Value>>,
    /// What else must hold of the value.
    pub limits: Option<Box<Limits>>,
    /// Expressions that must hold (`x-kubernetes-validations`), as they were written.
    pub rules: Option<Box<Value>>,
}

/// The declared type of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
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

/// What a schema says about fields that it does not name.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Additional {
    /// There are none.
    #[default]
    None,
    /// They can be anything.
    Any,
    /// They are of this type.
    Typed(Box<Structural>),
}

/// How elements of a list are told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListKind {
    /// Not at all.
    #[default]
    Atomic,
    /// By value.
    Set,
    /// By these fields.
    Map(Vec<Box<str>>),
}

impl Structural {
    /// The schema of the field called `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Structural> {
        match (self.properties.get(name), &self.additional) {
            (Some(property), _) => Some(property),
            (None, Additional::Typed(additional)) => Some(additional),
            (None, Additional::None | Additional::Any) => None,
        }
    }
}

#[cfg(test)]
mod tests;

//! The schema of a value in a document, as apply needs it: the way in which its parts are identified.

use std::borrow::Cow;
use std::sync::Arc;

use planesmith_dynamic::custom::CustomKind;
use planesmith_dynamic::structural::Structural;
use planesmith_machinery::facts::{FieldFacts, ListType, Omit, StructFacts, TypeFacts};
use planesmith_machinery::object::Object;
use planesmith_wire::sorting::sort_by;
use serde_json::Value;

use super::custom::CustomSchema;
use crate::fields::{KeyValue, PathElement};

/// The type of a value in a document.
#[derive(Clone, Copy, Debug)]
pub enum Schema<'s> {
    /// A kind: its fields, preceded by `apiVersion` and `kind`.
    Kind(&'static StructFacts),
    /// A type from the tables, with the facts of the field that holds it.
    Typed(&'static TypeFacts, Option<&'static FieldFacts>),
    /// A custom kind: the fields of its schema, preceded by `apiVersion`, `kind` and `metadata`.
    CustomKind(&'s Structural),
    /// A value of a custom kind.
    Custom(CustomSchema<'s>),
    /// Text, such as the name of a kind.
    Text,
    /// No type is known: objects are granular, and any other value is atomic.
    Unknown,
}

/// The schema of a kind, which this keeps alive.
#[derive(Clone, Debug)]
pub(crate) enum KindSchema {
    Declared(&'static StructFacts),
    Custom(Arc<Structural>),
}

impl KindSchema {
    /// The schema of the kind of an object.
    pub(crate) fn from_object(object: &dyn Object) -> Self {
        match CustomKind::of(object.resource()) {
            Some(custom) => KindSchema::Custom(Arc::clone(custom.schema())),
            None => KindSchema::Declared(object.facts()),
        }
    }

    pub(crate) fn get(&self) -> Schema<'_> {
        match self {
            KindSchema::Declared(facts) => Schema::Kind(facts),
            KindSchema::Custom(schema) => Schema::CustomKind(schema),
        }
    }
}

/// The granularity of a value in sets of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts<'s> {
    /// Atomic: the value has no parts.
    None,
    /// The entries of a struct or a map.
    Entries,
    /// The elements of a set, identified by their values.
    Values,
    /// The elements of an associative list, identified by these fields.
    Keyed(Keys<'s>),
}

/// The fields that identify elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys<'s> {
    Declared(&'static [&'static str]),
    Custom(&'s [Box<str>]),
}

impl<'s> Keys<'s> {
    fn names(self) -> Vec<&'s str> {
        match self {
            Keys::Declared(names) => names.to_vec(),
            Keys::Custom(names) => names.iter().map(|name| &**name).collect(),
        }
    }
}

/// The values that a document may hold in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Text,
    Number,
    Truth,
    /// Text, a number or a truth value.
    Scalar,
    Object,
    List,
    Any,
}

impl ValueKind {
    /// True if `value` itself, apart from its parts, may stand in a place of this kind. A null may stand anywhere.
    pub(crate) fn admits(self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::String(_) => matches!(self, ValueKind::Text | ValueKind::Scalar | ValueKind::Any),
            Value::Bool(_) => matches!(self, ValueKind::Truth | ValueKind::Scalar | ValueKind::Any),
            Value::Number(_) => matches!(self, ValueKind::Number | ValueKind::Scalar | ValueKind::Any),
            Value::Object(_) => matches!(self, ValueKind::Object | ValueKind::Any),
            Value::Array(_) => matches!(self, ValueKind::List | ValueKind::Any),
        }
    }
}

/// The schema of a name in an object.
pub(crate) enum Entry<'s> {
    /// A declared field.
    Field(Schema<'s>),
    /// An entry of a map.
    Element(Schema<'s>),
    /// Nothing that the type knows.
    Undeclared,
}

impl<'s> Entry<'s> {
    /// The type of the value; nothing is known of one that is not declared.
    pub(crate) fn schema(&self) -> Schema<'s> {
        match self {
            Entry::Field(schema) | Entry::Element(schema) => *schema,
            Entry::Undeclared => Schema::Unknown,
        }
    }

    pub(crate) fn is_field(&self) -> bool {
        matches!(self, Entry::Field(_))
    }
}

impl<'s> Schema<'s> {
    /// The type of an object.
    #[must_use]
    pub fn from_object(object: &'s dyn Object) -> Self {
        match CustomKind::of(object.resource()) {
            Some(custom) => Schema::CustomKind(custom.schema()),
            None => Schema::Kind(object.facts()),
        }
    }

    /// The part that `value` has in sets of fields. A value that is absent or null is treated as its type says.
    pub(crate) fn parts(self, value: &Value) -> Parts<'s> {
        match self {
            Schema::Kind(_) | Schema::CustomKind(_) => Parts::Entries,
            Schema::Custom(schema) => schema.parts(value),
            Schema::Text => Parts::None,
            Schema::Unknown if value.is_object() => Parts::Entries,
            Schema::Unknown => Parts::None,
            Schema::Typed(ty, field) => {
                let is_atomic = field.is_some_and(|field| field.atomic);
                let is_granular = field.is_some_and(|field| field.granular);
                match ty.present() {
                    TypeFacts::Struct(facts) if is_atomic || (facts().atomic && !is_granular) => Parts::None,
                    TypeFacts::Map(_) if is_atomic => Parts::None,
                    TypeFacts::Struct(_) | TypeFacts::Map(_) => Parts::Entries,
                    TypeFacts::List(_) => field.map_or(Parts::None, list_parts),
                    _ => Parts::None,
                }
            }
        }
    }

    /// True if objects and lists of this type stand as a whole, because their type says so.
    pub(crate) fn is_whole(self) -> bool {
        match self {
            Schema::Kind(_) | Schema::CustomKind(_) | Schema::Text | Schema::Unknown => false,
            Schema::Custom(schema) => schema.is_whole(),
            Schema::Typed(ty, _) => match ty.present() {
                TypeFacts::Struct(_) | TypeFacts::Map(_) | TypeFacts::List(_) => {
                    self.parts(&Value::Null) == Parts::None
                }
                _ => false,
            },
        }
    }

    /// The values that may stand here.
    pub(crate) fn value_kind(self) -> ValueKind {
        match self {
            Schema::Kind(_) | Schema::CustomKind(_) => ValueKind::Object,
            Schema::Custom(schema) => schema.value_kind(),
            Schema::Text => ValueKind::Text,
            Schema::Unknown => ValueKind::Any,
            Schema::Typed(ty, _) => match ty.present() {
                TypeFacts::Bool => ValueKind::Truth,
                TypeFacts::Int32 | TypeFacts::Int64 | TypeFacts::Double => ValueKind::Number,
                TypeFacts::String | TypeFacts::Bytes => ValueKind::Text,
                TypeFacts::Scalar(facts) if matches!(facts.openapi_type, "" | "object") => ValueKind::Any,
                // OpenAPI v3 lists the types of such values, and declares none.
                TypeFacts::Scalar(facts) if facts.format == "int-or-string" => ValueKind::Any,
                TypeFacts::Scalar(_) => ValueKind::Scalar,
                TypeFacts::Struct(_) | TypeFacts::Map(_) => ValueKind::Object,
                TypeFacts::List(_) | TypeFacts::Optional(_) => ValueKind::List,
            },
        }
    }

    /// The schema of `name`, if the value is an object.
    pub(crate) fn entry(self, name: &str) -> Entry<'s> {
        match self {
            Schema::Kind(_) if matches!(name, "apiVersion" | "kind") => Entry::Field(Schema::Text),
            Schema::Kind(facts) => field_of(facts, name),
            Schema::CustomKind(schema) => CustomSchema::of_kind(schema).entry(name),
            Schema::Custom(schema) => schema.entry(name),
            Schema::Text => Entry::Undeclared,
            Schema::Unknown => Entry::Element(Schema::Unknown),
            Schema::Typed(ty, _) => match ty.present() {
                TypeFacts::Struct(facts) => field_of(facts(), name),
                TypeFacts::Map(element) => Entry::Element(Schema::Typed(element, None)),
                TypeFacts::Scalar(_) => Entry::Element(Schema::Unknown),
                _ => Entry::Undeclared,
            },
        }
    }

    /// The type of the elements, if the value is a list.
    pub(crate) fn element(self) -> Schema<'s> {
        match self {
            Schema::Typed(ty, _) => match ty.present() {
                TypeFacts::List(element) => Schema::Typed(element, None),
                _ => Schema::Unknown,
            },
            Schema::Custom(schema) => schema.element(),
            _ => Schema::Unknown,
        }
    }

    /// The step to an element of a list of this type.
    ///
    /// # Errors
    ///
    /// When the element has nothing to tell it by, in the words that appliers see.
    pub(crate) fn step<'a>(self, parts: Parts<'a>, element: &'a Value) -> Result<PathElement<'a>, String> {
        match parts {
            Parts::Keyed(keys) => self.keyed_step(keys, element),
            _ => value_step(element).map_err(str::to_owned),
        }
    }

    fn keyed_step<'a>(self, keys: Keys<'a>, element: &'a Value) -> Result<PathElement<'a>, String> {
        let Value::Object(entries) = element else {
            let what = if element.is_null() {
                "a null element"
            } else {
                "non-map elements"
            };
            return Err(format!("associative list with keys may not have {what}"));
        };
        let (schema, keys) = (self.element(), keys.names());
        let mut pairs: Vec<(Cow<'a, str>, KeyValue<'a>)> = Vec::with_capacity(keys.len());
        for key in &keys {
            let value = match entries.get(*key) {
                Some(value) => Some(plain(value)),
                None => schema.default_of(key),
            };
            pairs.extend(value.map(|value| (Cow::Borrowed(*key), value)));
        }
        if pairs.is_empty() {
            let quoted: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
                quoted.join(" ")
            ));
        }
        sort_by(&mut pairs, |left, right| left.0.cmp(&right.0));
        Ok(PathElement::Key(pairs))
    }

    fn default_of(self, field: &str) -> Option<KeyValue<'static>> {
        let default = match self.entry(field) {
            Entry::Field(Schema::Typed(ty, Some(facts))) => match facts.default {
                Some(default) => serde_json::from_str(default).ok()?,
                None if facts.omit == Omit::Never => zero(ty)?,
                None => return None,
            },
            Entry::Field(Schema::Custom(schema)) => schema.default()?.clone(),
            _ => return None,
        };
        Some(KeyValue::from_json(default))
    }
}

/// The value of an absent field that Go writes in any case.
fn zero(ty: &TypeFacts) -> Option<Value> {
    match ty {
        TypeFacts::String => Some(Value::from("")),
        TypeFacts::Int32 | TypeFacts::Int64 => Some(Value::from(0)),
        TypeFacts::Bool => Some(Value::from(false)),
        _ => None,
    }
}

fn list_parts(field: &'static FieldFacts) -> Parts<'static> {
    match field.element_identity() {
        ListType::Atomic | ListType::Unspecified => Parts::None,
        ListType::Set => Parts::Values,
        ListType::Map(keys) => Parts::Keyed(Keys::Declared(keys)),
    }
}

fn field_of(facts: &'static StructFacts, name: &str) -> Entry<'static> {
    match facts.field_named(name) {
        Some(field) => Entry::Field(Schema::Typed(&field.ty, Some(field))),
        None => Entry::Undeclared,
    }
}

fn plain(value: &Value) -> KeyValue<'_> {
    match value {
        Value::String(text) => KeyValue::Str(Cow::Borrowed(text)),
        other => KeyValue::from_json(other.clone()),
    }
}

fn value_step(element: &Value) -> Result<PathElement<'_>, &'static str> {
    match element {
        Value::Object(_) => Err("associative list without keys has an element that's a map type"),
        Value::Array(_) => Err("not supported: associative list with lists as elements"),
        Value::Null => Err("associative list without keys has an element that's an explicit null"),
        plain_value => Ok(PathElement::Value(plain(plain_value))),
    }
}

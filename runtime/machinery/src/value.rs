//! The uniform view of typed values that codecs and other generic walks use.
//!
//! [`Value::view`] reads, [`Value::slot`] writes. Both are one virtual call, so that a walk over a struct costs a few
//! nanoseconds per field and no code per type.

mod collections;
mod debug;
mod equality;
mod path;
mod primitives;
mod tree;

use std::any::Any;

use crate::facts::{FieldFacts, Omit, StructFacts, StructTable, TypeFacts, TypeMetaFacts};
use crate::scalar::Scalar;

pub use equality::{equal, equal_except, equal_structs};
pub use path::{change_at, get_at, number_at};

/// A type whose shape is known at compile time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no shape that the API can describe",
    label = "not a type of the API",
    note = "derive `Struct` for a nested struct, or use a supported type: bool, i32, i64, f64, String, ByteString, Time, Quantity, Vec<T>, BTreeMap<String, T>, Option<T>, Box<T>"
)]
pub trait Shape {
    /// Shape of the type.
    const TYPE: TypeFacts;

    /// Table of a struct or optional struct; for checks at compile time, which cannot call the function in
    /// [`TypeFacts::Struct`].
    const FACTS: StructTable = None;
}

/// A field, an element or an entry.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a Kubernetes type",
    label = "not a type that the codecs support",
    note = "derive `Struct` for a nested struct, or use a supported type: bool, i32, i64, f64, String, ByteString, Time, Quantity, Vec<T>, BTreeMap<String, T>, Option<T>, Box<T>"
)]
pub trait Value: Send + Sync {
    /// Returns the content of the value for reading.
    fn view(&self) -> View<'_>;
    /// Returns the content of the value for writing.
    fn slot(&mut self) -> Slot<'_>;
    /// Resets to the zero value: absent, empty, false or 0.
    fn reset(&mut self);
}

/// The content of a value, for reading.
#[derive(Debug)]
pub enum View<'a> {
    /// An optional value that is absent.
    Absent,
    /// A boolean.
    Bool(bool),
    /// An integer of 32 or 64 bits.
    Int(i64),
    /// A floating point number.
    Double(f64),
    /// Text.
    Str(&'a str),
    /// Raw bytes.
    Bytes(&'a [u8]),
    /// A leaf with its own text form.
    Scalar(&'a dyn Scalar),
    /// A struct.
    Struct(&'a dyn Struct),
    /// A list.
    List(&'a dyn List),
    /// A map.
    Map(&'a dyn Map),
}

/// The content of a value, for writing.
#[derive(Debug)]
pub enum Slot<'a> {
    /// A boolean.
    Bool(&'a mut bool),
    /// A 32-bit integer.
    Int32(&'a mut i32),
    /// A 64-bit integer.
    Int64(&'a mut i64),
    /// A floating point number.
    Double(&'a mut f64),
    /// Text.
    Str(&'a mut String),
    /// Raw bytes.
    Bytes(&'a mut Vec<u8>),
    /// A leaf with its own text form.
    Scalar(&'a mut dyn Scalar),
    /// A struct.
    Struct(&'a mut dyn Struct),
    /// A list.
    List(&'a mut dyn List),
    /// A map.
    Map(&'a mut dyn Map),
    /// A value that may be absent.
    Optional(&'a mut dyn Optional),
}

/// A struct with a table of facts; implemented by the derives.
pub trait Struct: Any + Send + Sync {
    /// Returns the table; `field(i)` belongs to `facts().fields[i]`.
    fn facts(&self) -> &'static StructFacts;
    /// Returns the field at `index`.
    ///
    /// # Panics
    ///
    /// If `index` is not below the number of fields in the table.
    fn field(&self, index: usize) -> &dyn Value;
    /// Returns the field at `index` for modification.
    ///
    /// # Panics
    ///
    /// If `index` is not below the number of fields in the table.
    fn field_mut(&mut self, index: usize) -> &mut dyn Value;
    /// Returns the kind and apiVersion to write in front of the fields; `None` for a struct without them.
    fn type_meta(&self) -> Option<TypeMetaFacts<'_>> {
        self.facts().type_meta
    }
    /// True if kube-apiserver represents the struct as an unstructured tree and therefore writes its members sorted by
    /// name.
    fn is_tree(&self) -> bool {
        false
    }
}

/// Zero or more values in order.
pub trait List: Send + Sync {
    /// Returns the number of elements or entries.
    fn len(&self) -> usize;
    /// True if there are no elements or entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the element at `index`; `None` past the end.
    fn get(&self, index: usize) -> Option<&dyn Value>;
    /// Returns the element at `index` for modification; `None` past the end.
    fn get_mut(&mut self, index: usize) -> Option<&mut dyn Value>;
    /// Appends a zero value and returns it.
    fn push(&mut self) -> &mut dyn Value;
    /// Truncates the list to the first `len` elements; no effect on shorter lists.
    fn truncate(&mut self, len: usize);
    /// Removes all elements.
    fn clear(&mut self);
}

/// Values by text key, visited in the order of their keys.
pub trait Map: Send + Sync {
    /// Returns the number of elements or entries.
    fn len(&self) -> usize;
    /// True if there are no elements or entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the value under `key`.
    fn get(&self, key: &str) -> Option<&dyn Value>;
    /// Calls `visit` for each entry, sorted by key.
    fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a str, &'a dyn Value));
    /// Calls `visit` for each entry, sorted by key, for modification.
    fn each_mut(&mut self, visit: &mut dyn FnMut(&str, &mut dyn Value));
    /// Returns the value under `key`; inserts a zero value if there is none.
    fn entry(&mut self, key: &str) -> &mut dyn Value;
    /// Removes the value under `key`; returns true if there was one.
    fn remove(&mut self, key: &str) -> bool;
    /// Removes all entries.
    fn clear(&mut self);
}

/// A value that may be absent.
pub trait Optional: Send + Sync {
    /// True if the value is present.
    fn is_some(&self) -> bool;
    /// Returns the value; inserts a zero value if it is absent.
    fn insert(&mut self) -> &mut dyn Value;
    /// Returns the value if it is present.
    fn get_mut(&mut self) -> Option<&mut dyn Value>;
    /// Removes the value.
    fn clear(&mut self);
    /// Handles a `null`, which makes most values absent.
    fn set_null(&mut self) {
        self.clear();
    }
}

impl View<'_> {
    /// True if a field with [`crate::facts::Omit::Empty`] is omitted: false, zero, empty or absent. Structs never are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            View::Absent => true,
            View::Bool(value) => !value,
            View::Int(value) => *value == 0,
            View::Double(value) => *value == 0.0,
            View::Str(value) => value.is_empty(),
            View::Bytes(value) => value.is_empty(),
            View::List(value) => value.is_empty(),
            View::Map(value) => value.is_empty(),
            View::Scalar(_) | View::Struct(_) => false,
        }
    }

    /// True if a field with [`Omit::Zero`] is omitted: as `is_empty`, and zero structs and scalars.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        match self {
            View::Scalar(value) => value.is_zero(),
            View::Struct(value) => value.facts().fields.iter().enumerate().all(|(index, field)| {
                let view = value.field(index).view();
                if field.is_optional() {
                    matches!(view, View::Absent)
                } else {
                    view.is_zero()
                }
            }),
            other => other.is_empty(),
        }
    }

    /// True if a field with these facts and this value is omitted from JSON.
    ///
    /// An optional field is omitted only if it is absent: `Some(0)` is written.
    #[must_use]
    pub fn is_omitted(&self, field: &FieldFacts) -> bool {
        match field.omit {
            Omit::Never => false,
            Omit::Empty | Omit::Zero if field.is_optional() => matches!(self, View::Absent),
            Omit::Empty => self.is_empty(),
            Omit::Zero => self.is_zero(),
        }
    }
}

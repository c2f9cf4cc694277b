//! A uniform look at any typed value: what codecs and other generic walks see of a field.
//!
//! [`Value::view`] reads, [`Value::slot`] writes. Both are one virtual call, so that a walk over a struct costs a few
//! nanoseconds per field and no code per type.

mod collections;
mod equality;
mod path;
mod primitives;
mod tree;

use std::any::Any;
use std::fmt::Debug;

use crate::facts::{FieldFacts, Omit, StructFacts, StructTable, TypeFacts};
use crate::scalar::Scalar;

pub use equality::{equal, equal_structs};
pub use path::{change_at, get_at, number_at};

/// A type whose shape is known at compile time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no shape that the API can describe",
    label = "not a type of the API",
    note = "derive `Struct` for a nested struct, or use a supported type: bool, i32, i64, f64, String, ByteString, Time, Quantity, Vec<T>, BTreeMap<String, T>, Option<T>, Box<T>"
)]
pub trait Shape {
    /// The shape.
    const TYPE: TypeFacts;

    /// The table of a struct, also of one that may be absent; for checks at compile time, which cannot call the function in
    /// [`TypeFacts::Struct`].
    const FACTS: StructTable = None;
}

/// A field, an element or an entry.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a Kubernetes type",
    label = "not a value the codecs know",
    note = "derive `Struct` for a nested struct, or use a supported type: bool, i32, i64, f64, String, ByteString, Time, Quantity, Vec<T>, BTreeMap<String, T>, Option<T>, Box<T>"
)]
pub trait Value: Debug + Send + Sync {
    /// A view of the value, to be read.
    fn view(&self) -> View<'_>;
    /// The same, to be written.
    fn slot(&mut self) -> Slot<'_>;
    /// Back to the zero value: absent, empty, false or 0.
    fn reset(&mut self);
}

/// The content of a value, to be read.
#[derive(Debug)]
pub enum View<'a> {
    /// An optional value that is not there.
    Absent,
    /// A truth value.
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

/// The content of a value, to be written.
#[derive(Debug)]
pub enum Slot<'a> {
    /// A truth value.
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
pub trait Struct: Any + Debug + Send + Sync {
    /// The table; `field(i)` belongs to `facts().fields[i]`.
    fn facts(&self) -> &'static StructFacts;
    /// The field at `index`.
    ///
    /// # Panics
    ///
    /// When `index` is not below the number of fields in the table.
    fn field(&self, index: usize) -> &dyn Value;
    /// The field at `index`, to be written.
    ///
    /// # Panics
    ///
    /// When `index` is not below the number of fields in the table.
    fn field_mut(&mut self, index: usize) -> &mut dyn Value;
    /// True if kube-apiserver holds it as a tree, and so writes all that is in it by name.
    fn is_tree(&self) -> bool {
        false
    }
}

/// Zero or more values in order.
pub trait List: Debug + Send + Sync {
    /// The number of elements.
    fn len(&self) -> usize;
    /// True if there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The element at `index`; `None` past the end.
    fn get(&self, index: usize) -> Option<&dyn Value>;
    /// The element at `index`, to be written; `None` past the end.
    fn get_mut(&mut self, index: usize) -> Option<&mut dyn Value>;
    /// Appends a zero value and returns it.
    fn push(&mut self) -> &mut dyn Value;
    /// Keeps the first `len` elements; nothing changes when there are no more than that.
    fn truncate(&mut self, len: usize);
    /// Removes all elements.
    fn clear(&mut self);
}

/// Values by text key, visited in the order of their keys.
pub trait Map: Debug + Send + Sync {
    /// The number of entries.
    fn len(&self) -> usize;
    /// True if there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The value under `key`.
    fn get(&self, key: &str) -> Option<&dyn Value>;
    /// Calls `visit` for each entry, sorted by key.
    fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a str, &'a dyn Value));
    /// Calls `visit` for each entry, sorted by key, to be written.
    fn each_mut(&mut self, visit: &mut dyn FnMut(&str, &mut dyn Value));
    /// The value under `key`, made as a zero value when there is none.
    fn entry(&mut self, key: &str) -> &mut dyn Value;
    /// Removes the value under `key`; whether there was one.
    fn remove(&mut self, key: &str) -> bool;
    /// Removes all entries.
    fn clear(&mut self);
}

/// A value that may be absent.
pub trait Optional: Debug + Send + Sync {
    /// True if it is there.
    fn is_some(&self) -> bool;
    /// The value, made as a zero value when absent.
    fn insert(&mut self) -> &mut dyn Value;
    /// The value, when it is there.
    fn get_mut(&mut self) -> Option<&mut dyn Value>;
    /// Makes it absent.
    fn clear(&mut self);
    /// Takes a `null`, which most values are absent for.
    fn set_null(&mut self) {
        self.clear();
    }
}

impl View<'_> {
    /// True if a field with [`crate::facts::Omit::Empty`] is left out: false, zero, empty or absent. Structs never are.
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

    /// True if a field with [`Omit::Zero`] is left out: as `is_empty`, and a struct or scalar that holds nothing.
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

    /// True if a field with these facts is left out of JSON when this is what it holds.
    ///
    /// An optional field is left out only when it is absent: `Some(0)` is written.
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

//! Sets of fields: the ground under `metadata.managedFields` and server-side apply.
//!
//! Reading order: [`PathElement`] (one step into an object), [`Set`] (a tree of steps), [`compare`]
//! (sets out of typed objects), then [`emptied`] (fields that a request sends empty).

mod compare;
mod element;
mod emptied;
mod json;
mod key_value;
mod relation;
mod set;

pub use compare::{Comparison, Ignored, compare};
pub use element::PathElement;
pub use emptied::emptied;
pub use json::FieldsError;
pub use key_value::KeyValue;
pub use set::Set;

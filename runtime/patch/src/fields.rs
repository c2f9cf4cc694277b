//! Sets of fields: the ground under `metadata.managedFields` and server-side apply.
//!
//! Reading order: [`PathElement`] (one step into an object), [`Set`] (a tree of steps), [`compare`]
//! (sets out of typed objects), then [`sent_empty`] (fields that a request sends empty).

mod compare;
mod element;
mod field_search;
mod json;
mod key_value;
mod relation;
mod repeated;
mod sent_empty;
mod set;
mod unidentified;

pub use compare::{Comparison, Ignored, compare};
pub use element::PathElement;
pub use json::FieldsError;
pub use key_value::KeyValue;
pub(crate) use repeated::has_repeated;
pub use sent_empty::sent_empty;
pub use set::Set;
pub(crate) use unidentified::has_unidentified;

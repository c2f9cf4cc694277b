//! Sets of fields and who manages them: the ground under `metadata.managedFields` and server-side apply.
//!
//! Reading order: [`PathElement`] (one step into an object), [`Set`] (a tree of steps), [`compare`]
//! (sets out of typed objects), then what keeps `managedFields` up to date.

mod compare;
mod element;
mod emptied;
mod equality;
mod json;
mod key_value;
mod managed;
mod relation;
mod set;

pub use compare::{Comparison, Ignored, compare};
pub use element::PathElement;
pub use emptied::emptied;
pub use equality::{equal, equal_structs};
pub use json::FieldsError;
pub use key_value::KeyValue;
pub(crate) use managed::{Entries, Operation, SCALE, SYSTEM_FIELDS, reset_fields};
pub use managed::{
    ScaleManagers, ScaleWrite, Tracking, Versions, forgets_managers, keep_times, manager_name, track_write,
};
pub use set::Set;

//! Selectors: which objects a request is about, by labels and by fields.

mod field;
mod label;

pub use field::{FieldQuery, FieldSelectorError, FieldTerm};
pub use label::{LabelQuery, LabelSelectorError, Operator, Requirement};

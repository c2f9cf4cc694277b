//! Selectors: which objects a request is about, by labels and by fields.

mod field;
mod field_labels;
mod label;

pub use field::{FieldQuery, FieldSelectorError, FieldTerm};
pub use field_labels::{FieldAlias, FieldLabels, FieldRefusal};
pub use label::{LabelQuery, LabelSelectorError, Operator, Requirement};

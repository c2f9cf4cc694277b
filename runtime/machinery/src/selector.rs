//! Selectors of objects by labels and by fields.

pub use crate::resource::{FieldAlias, FieldLabels, FieldRefusal};

mod field;
mod field_labels;
mod label;

pub use field::{FieldQuery, FieldSelectorError, FieldTerm};
pub use label::{LabelQuery, LabelSelectorError, Operator, Requirement};

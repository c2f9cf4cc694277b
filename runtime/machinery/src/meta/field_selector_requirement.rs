//! A requirement of a field selector in an object.

use crate::Struct;

/// A requirement on one field.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FieldSelectorRequirement {
    /// Path of the field.
    #[field(keep, required, proto = 1)]
    pub key: String,
    /// Operator between the field and the values: `In`, `NotIn`, `Exists` or `DoesNotExist`. Later versions may add
    /// operators.
    #[field(keep, required, proto = 2, go_type = "FieldSelectorOperator")]
    pub operator: String,
    /// The values: at least one for `In` and `NotIn`, none for `Exists` and `DoesNotExist`.
    #[field(proto = 3, list_type = atomic)]
    pub values: Vec<String>,
}

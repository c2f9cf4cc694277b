//! The ownership of fields by managers.

use crate::raw::FieldsV1;
use crate::time::Time;

use crate::Struct;

/// The fields that one manager owns through one operation.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ManagedFieldsEntry {
    /// The manager's name.
    #[field(proto = 1)]
    pub manager: String,
    /// The operation: `Apply` or `Update`.
    #[field(proto = 2, go_type = "ManagedFieldsOperationType")]
    pub operation: String,
    /// API version of the field paths.
    #[field(proto = 3)]
    pub api_version: String,
    /// Time of the last change of the entry: a field was added, a value changed, or ownership of a field given up.
    #[field(proto = 4)]
    pub time: Option<Time>,
    /// Format of the set of fields; always `FieldsV1`.
    #[field(proto = 6)]
    pub fields_type: String,
    /// The set of fields, in the format `FieldsV1`.
    #[field(proto = 7)]
    pub fields_v1: Option<FieldsV1>,
    /// Subresource that the fields were written through; empty for the main resource.
    #[field(proto = 8)]
    pub subresource: String,
}

//! Which fields a manager set.

use crate::raw::FieldsV1;
use crate::time::Time;

use crate::Struct;

/// The fields that one manager set in one way, and when.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ManagedFieldsEntry {
    /// The manager's name.
    #[field(proto = 1)]
    pub manager: String,
    /// The way: `Apply` or `Update`.
    #[field(proto = 2, go_type = "ManagedFieldsOperationType")]
    pub operation: String,
    /// The version in which the fields are named.
    #[field(proto = 3)]
    pub api_version: String,
    /// When the entry was last changed: when a field was added, a value changed or a field given up.
    #[field(proto = 4)]
    pub time: Option<Time>,
    /// Format of the fields; the only one is `FieldsV1`.
    #[field(proto = 6)]
    pub fields_type: String,
    /// The fields, in the format of that name.
    #[field(proto = 7)]
    pub fields_v1: Option<FieldsV1>,
    /// Subresource through which the fields were set; empty for the object itself.
    #[field(proto = 8)]
    pub subresource: String,
}

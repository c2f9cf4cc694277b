//! Metadata of an object.

/// Metadata of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectMeta {}

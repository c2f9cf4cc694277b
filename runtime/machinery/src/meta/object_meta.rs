//! Metadata of an object.

use crate::Struct;

/// Metadata of an object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ObjectMeta {}

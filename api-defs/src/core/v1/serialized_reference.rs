//! References as documents of their own.

use planesmith_machinery::Struct;

use super::ObjectReference;

/// A reference to the object that created another one.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "SerializedReference"))]
pub struct SerializedReference {
    /// Reference to the creator.
    #[field(proto = 1)]
    pub reference: ObjectReference,
}

//! A reference as a document of its own.

use planesmith_machinery::Struct;

use super::ObjectReference;

/// A reference to the object that made another one.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "SerializedReference"))]
pub struct SerializedReference {
    /// The object.
    #[field(proto = 1)]
    pub reference: ObjectReference,
}

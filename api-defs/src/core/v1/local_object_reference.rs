//! References to an object of a known kind in the same namespace.

use planesmith_machinery::Struct;

/// Names an object of a kind that the context tells, in the namespace of the object that holds the reference.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct LocalObjectReference {
    /// Name of the object. Objects written long ago may have it empty.
    #[field(proto = 1, default = "")]
    pub name: String,
}

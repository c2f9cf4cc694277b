//! References to an object of a known kind in the same namespace.

use planesmith_machinery::Struct;

/// Reference to an object in the same namespace whose kind is known from the context.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct LocalObjectReference {
    /// Name of the object. May be empty in objects that were stored by old versions.
    #[field(proto = 1, default = "")]
    pub name: String,
}

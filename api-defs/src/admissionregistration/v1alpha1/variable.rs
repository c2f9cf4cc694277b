//! Variables that expressions of a policy share.

use planesmith_machinery::Struct;

/// A value that later expressions of the policy access as a field of `variables`.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Variable {
    /// Name of the variable, a CEL identifier.
    #[field(proto = 1, keep)]
    pub name: String,
    /// CEL expression of the value.
    #[field(proto = 2, keep)]
    pub expression: String,
}

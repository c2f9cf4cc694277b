//! Values that expressions of a policy share.

use planesmith_machinery::Struct;

/// A value that later expressions of the policy know as `variables` and its name.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Variable {
    /// The name, as identifiers of CEL are.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The value, in CEL.
    #[field(proto = 2, keep)]
    pub expression: String,
}

//! Conditions on requests.

use planesmith_machinery::Struct;

/// A condition on requests, beyond what rules can say.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MatchCondition {
    /// The name of the condition, unique in its list.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The condition, in CEL: true or false.
    #[field(proto = 2, keep)]
    pub expression: String,
}

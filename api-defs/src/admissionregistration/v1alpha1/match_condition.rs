//! Match conditions of policies and webhooks.

use planesmith_machinery::Struct;

/// A condition on requests, in addition to the rules.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MatchCondition {
    /// The name of the condition, unique in its list.
    #[field(proto = 1, keep)]
    pub name: String,
    /// CEL expression that evaluates to true or false.
    #[field(proto = 2, keep)]
    pub expression: String,
}

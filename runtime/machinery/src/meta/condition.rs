//! One aspect of an object's state.

use crate::Struct;
use crate::time::Time;

/// One aspect of an object's state, observed by a controller; see
/// [`check_conditions`](crate::validation::check_conditions) for the rules.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Condition {
    /// The aspect, in CamelCase, with a prefix of the form `domain/` when it is not common knowledge.
    #[field(keep, proto = 1)]
    pub r#type: String,
    /// Whether it holds: `True`, `False` or `Unknown`.
    #[field(keep, proto = 2)]
    pub status: String,
    /// The generation that the controller looked at; older than that of the object, the condition is out of date.
    #[field(proto = 3)]
    pub observed_generation: i64,
    /// When the status last changed, or when the field changed that it was derived from.
    #[field(keep, proto = 4)]
    pub last_transition_time: Time,
    /// Why the status is what it is, as one word in CamelCase for programs.
    #[field(keep, proto = 5)]
    pub reason: String,
    /// The details, for people. May be empty.
    #[field(keep, proto = 6)]
    pub message: String,
}

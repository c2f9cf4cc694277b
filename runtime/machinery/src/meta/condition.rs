//! One aspect of an object's state.

use crate::Struct;
use crate::time::Time;

/// One aspect of an object's state, observed by a controller.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Condition {
    /// The aspect, in CamelCase, with a prefix of the form `domain/` when it is not common knowledge.
    #[field(
        keep,
        required,
        proto = 1,
        max_length = 316,
        pattern = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
    )]
    pub r#type: String,
    /// Whether it holds: `True`, `False` or `Unknown`.
    #[field(keep, required, proto = 2, one_of("True", "False", "Unknown"))]
    pub status: String,
    /// The generation that the controller looked at; older than that of the object, the condition is out of date.
    #[field(proto = 3, minimum = 0)]
    pub observed_generation: i64,
    /// When the status last changed, or when the field changed that it was derived from.
    #[field(keep, required, proto = 4)]
    pub last_transition_time: Time,
    /// Why the status is what it is, as one word in CamelCase for programs.
    #[field(
        keep,
        required,
        proto = 5,
        min_length = 1,
        max_length = 1024,
        pattern = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
    )]
    pub reason: String,
    /// The details, for people. May be empty.
    #[field(keep, required, proto = 6, max_length = 32768)]
    pub message: String,
}

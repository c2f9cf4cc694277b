//! One aspect of an object's state.

use crate::time::Time;

use crate::Struct;

/// One aspect of an object's state, observed by a controller; see
/// [`check_conditions`](crate::validation::check_conditions) for the rules.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Condition {
    /// The aspect, in CamelCase, with a prefix of the form `domain/` if it is not a standard one.
    #[field(keep, proto = 1)]
    pub r#type: String,
    /// Status of the condition: `True`, `False` or `Unknown`.
    #[field(keep, proto = 2, go_type = "ConditionStatus")]
    pub status: String,
    /// The generation that the controller observed. If the generation of the object is higher, the condition is out of
    /// date.
    #[field(proto = 3)]
    pub observed_generation: i64,
    /// Time of the last change of the status, or of the field that it is derived from.
    #[field(keep, proto = 4)]
    pub last_transition_time: Time,
    /// Machine-readable reason for the status: one word in CamelCase.
    #[field(keep, proto = 5)]
    pub reason: String,
    /// Human-readable details; may be empty.
    #[field(keep, proto = 6)]
    pub message: String,
}

impl Condition {
    /// Replaces the condition of the same type, or appends the condition. The time of the last change is retained if
    /// the status is unchanged.
    pub fn set_in(mut self, conditions: &mut Vec<Self>) {
        match conditions.iter_mut().find(|known| known.r#type == self.r#type) {
            None => conditions.push(self),
            Some(known) => {
                if known.status == self.status {
                    self.last_transition_time = known.last_transition_time;
                }
                *known = self;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_keeps_its_time_while_its_status_stays() {
        let condition = |kind: &str, status: &str, second| Condition {
            r#type: kind.to_owned(),
            status: status.to_owned(),
            last_transition_time: Time::from_second(second),
            ..Condition::default()
        };
        let mut conditions = vec![condition("Ready", "True", 1)];
        condition("Ready", "True", 2).set_in(&mut conditions);
        condition("Fine", "True", 3).set_in(&mut conditions);
        assert_eq!(
            conditions,
            [condition("Ready", "True", 1), condition("Fine", "True", 3)]
        );
        condition("Ready", "False", 4).set_in(&mut conditions);
        assert_eq!(conditions[0], condition("Ready", "False", 4));
    }
}

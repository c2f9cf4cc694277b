//! One aspect of an object's state.

use crate::time::Time;

use crate::Struct;

/// One aspect of an object's state, observed by a controller; see
/// [`check_conditions`](crate::validation::check_conditions) for the rules.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Condition {
    /// The aspect, in CamelCase, with a prefix of the form `domain/` when it is not common knowledge.
    #[field(keep, proto = 1)]
    pub r#type: String,
    /// Whether it holds: `True`, `False` or `Unknown`.
    #[field(keep, proto = 2, go_type = "ConditionStatus")]
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

impl Condition {
    /// Takes the place of the condition of its type, or the last place. The time of the last change stays when the status
    /// does.
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

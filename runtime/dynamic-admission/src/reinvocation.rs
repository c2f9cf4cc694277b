//! The second round of a mutating plugin that others configure, and its participants.

use std::collections::HashSet;

use planesmith_machinery::json;
use planesmith_machinery::object::Object;

/// The webhooks, or the evaluations of policies, of one request over both rounds.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// Those that have had their turn, and have another one if the object changes afterwards.
    done: HashSet<String>,
    /// Those that have another turn in the second round.
    again: HashSet<String>,
    /// The object after the first round; empty if no plugin waits for a change.
    output: Vec<u8>,
}

impl Rounds {
    /// Begins the second round: `object` differs from the end of the first one if another plugin has changed it.
    pub(crate) fn begin_second(&mut self, object: Option<&dyn Object>) {
        if !self.done.is_empty() && self.output != encoded(object) {
            self.repeat();
        }
    }

    /// True if `key` has a turn in the second round.
    pub(crate) fn is_repeated(&self, key: &str) -> bool {
        self.again.contains(key)
    }

    /// Notes that `key` has had its turn, and has another one if the object changes from now on.
    pub(crate) fn wait_for_changes(&mut self, key: String) {
        self.done.insert(key);
    }

    /// Notes that the object has changed: all that wait for this have another turn.
    pub(crate) fn repeat(&mut self) {
        self.again.extend(self.done.drain());
    }

    /// Ends a round with `object`.
    pub(crate) fn finish(&mut self, object: Option<&dyn Object>) {
        self.output = match self.done.is_empty() {
            true => Vec::new(),
            false => encoded(object),
        };
    }
}

/// The object as text, to compare it with a later state.
fn encoded(object: Option<&dyn Object>) -> Vec<u8> {
    object.map(|object| json::to_vec(object)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use planesmith_api_defs::core::v1::Namespace;

    use super::*;

    fn namespace(label: &str) -> Namespace {
        let mut namespace = Namespace::default();
        namespace.metadata.labels.insert("a".to_owned(), label.to_owned());
        namespace
    }

    /// The keys that are repeated if the object ends the first round with the label 1 and begins the second one with `label`.
    fn repeated(label: &str) -> [bool; 2] {
        let mut rounds = Rounds::default();
        rounds.wait_for_changes("before".to_owned());
        rounds.repeat();
        rounds.wait_for_changes("after".to_owned());
        rounds.finish(Some(&namespace("1")));
        rounds.begin_second(Some(&namespace(label)));
        ["before", "after"].map(|key| rounds.is_repeated(key))
    }

    #[test]
    fn a_change_repeats_those_that_came_before_it() {
        assert_eq!(repeated("1"), [true, false]);
        assert_eq!(repeated("2"), [true, true]);
    }
}

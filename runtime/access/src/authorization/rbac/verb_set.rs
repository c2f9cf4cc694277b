//! Sets of verbs that are compared in one step.

use super::rule::ALL;

/// The usual verbs, each with a bit of its own. All others share the last bit.
const USUAL: [&str; 8] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
];
const OTHERS: u16 = 1 << USUAL.len();

/// A set of verbs. It may contain more unusual ones than it was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VerbSet(u16);

impl VerbSet {
    /// The set of `verbs`; `*` is each of them.
    pub(super) fn of<'v>(verbs: impl Iterator<Item = &'v str>) -> Self {
        Self(verbs.fold(0, |bits, verb| bits | bits_of(verb)))
    }

    /// The set of one verb.
    pub(super) fn one(verb: &str) -> Self {
        Self(bits_of(verb))
    }

    /// False if no verb of `other` is in this set.
    pub(super) fn may_contain(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

fn bits_of(verb: &str) -> u16 {
    if verb == ALL {
        return u16::MAX;
    }
    match USUAL.iter().position(|usual| *usual == verb) {
        Some(index) => 1 << index,
        None => OTHERS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_sure_only_about_verbs_that_they_lack() {
        let set = VerbSet::of(["get", "escalate"].into_iter());
        for (verb, expected) in [
            ("get", true),
            ("list", false),
            ("escalate", true),
            ("bind", true),
            ("*", true),
        ] {
            assert_eq!(set.may_contain(VerbSet::one(verb)), expected, "{verb}");
        }
        assert!(VerbSet::of(["*"].into_iter()).may_contain(VerbSet::one("bind")));
        assert!(!VerbSet::default().may_contain(VerbSet::one("get")));
    }
}

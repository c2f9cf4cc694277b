//! Permissions under a name.

use std::sync::OnceLock;

use super::action::{Action, ActionObject};
use super::permissions::Permissions;
use super::rule::Rule;
use super::sharded::{Key, Keyed};
use super::verb_set::VerbSet;

/// The number of texts in a role up to which a scan is faster than an index.
const SCANNED_TEXTS: usize = 1024;

/// A Role, or a ClusterRole if it has no namespace.
#[derive(Debug, Default)]
pub struct Role {
    namespace: String,
    name: String,
    rules: Vec<Rule>,
    /// True if the rules are few enough to be scanned.
    is_small: bool,
    /// The verbs of the rules for resources, and of those for paths: most roles of a user are about other actions.
    verbs: [VerbSet; 2],
    /// The index of the rules of a large role, made for the first decision.
    index: OnceLock<Permissions>,
}

impl Role {
    /// A role with `rules`; a ClusterRole if `namespace` is empty.
    #[must_use]
    pub fn new(namespace: &str, name: &str, rules: Vec<Rule>) -> Self {
        let texts: usize = rules.iter().map(Rule::texts).sum();
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            verbs: [
                verbs(rules.iter().filter(|rule| !rule.groups.is_empty())),
                verbs(rules.iter().filter(|rule| !rule.paths.is_empty())),
            ],
            rules,
            is_small: texts <= SCANNED_TEXTS,
            index: OnceLock::new(),
        }
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// True if a rule permits the action.
    pub(super) fn permits(&self, action: &Action<'_>) -> bool {
        let [of_resources, of_paths] = self.verbs;
        let verbs = match action.object {
            ActionObject::Resource { .. } => of_resources,
            ActionObject::Path(_) => of_paths,
        };
        if !verbs.may_contain(action.verb_set) {
            return false;
        }
        if self.is_small {
            return self.rules.iter().any(|rule| rule.permits(action));
        }
        let index = self
            .index
            .get_or_init(|| Permissions::of(self.rules.iter().map(|rule| (0, rule))));
        index.find(action).is_some()
    }
}

fn verbs<'r>(rules: impl Iterator<Item = &'r Rule>) -> VerbSet {
    VerbSet::of(rules.flat_map(|rule| &rule.verbs).map(String::as_str))
}

impl Keyed for Role {
    fn key(&self) -> Key<'_> {
        Key::new(&self.namespace, &self.name)
    }
}

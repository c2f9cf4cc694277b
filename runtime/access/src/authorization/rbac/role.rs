//! Permissions under a name.

use std::sync::OnceLock;

use super::action::Action;
use super::permissions::Permissions;
use super::rule::Rule;
use super::sharded::{Key, Keyed};

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
        if self.is_small {
            return self.rules.iter().any(|rule| rule.permits(action));
        }
        let index = self
            .index
            .get_or_init(|| Permissions::of(self.rules.iter().map(|rule| (0, rule))));
        index.find(action).is_some()
    }
}

impl Keyed for Role {
    fn key(&self) -> Key<'_> {
        Key::new(&self.namespace, &self.name)
    }
}

//! The bindings, roles and rules that decide about an action.

use std::fmt;
use std::sync::Arc;

use planesmith_machinery::go_format::quote;

use super::action::{Action, ActionObject};
use super::binding::{Binding, Grant, Subject};
use super::policy::Policy;
use super::rule::Rule;
use super::verb_set::VerbSet;
use crate::user::UserInfo;

/// The decision about one action of one user, with everything that it depends on.
#[derive(Debug)]
pub struct Explanation<'p> {
    /// The grants of the user that count for the action, in the order in which they are consulted.
    pub candidates: Vec<Candidate<'p>>,
}

/// A grant of the user.
#[derive(Debug)]
pub struct Candidate<'p> {
    /// The binding and the subject in it.
    pub grant: &'p Grant,
    /// The rule that permits the action; `None` if the role has no such rule. An error if the role does not exist.
    pub rule: Result<Option<&'p Rule>, String>,
    /// The rules of the role that are about the same resource or path, but do not permit the action.
    pub near: Vec<&'p Rule>,
}

/// A binding that permits an action to its subjects.
#[derive(Debug)]
pub struct Permitted<'p> {
    /// The binding.
    pub binding: &'p Binding,
    /// The rule of its role.
    pub rule: &'p Rule,
}

impl Policy {
    /// Explains the decision about an action of `user`.
    #[must_use]
    pub fn explain(&self, user: &UserInfo, action: &Action<'_>) -> Explanation<'_> {
        let grants = self.grants(user, action.namespace);
        let candidates = grants.into_iter().map(|grant| {
            let role = self.role_of(&grant.binding);
            let rules = role.as_ref().map(|role| role.rules()).unwrap_or_default();
            let rule = rules.iter().find(|rule| rule.permits(action));
            let near = rules.iter().filter(|rule| is_near(rule, action)).collect();
            Candidate {
                grant,
                rule: role.map(|_| rule),
                near,
            }
        });
        Explanation {
            candidates: candidates.collect(),
        }
    }

    /// Returns the bindings that permit an action: of the whole cluster, and then by namespace and name. Without a namespace in
    /// the action, those of all namespaces if `everywhere`.
    #[must_use]
    pub fn who_can(&self, action: &Action<'_>, everywhere: bool) -> Vec<Permitted<'_>> {
        let counts = |binding: &Binding| {
            binding.namespace.is_empty()
                || binding.namespace == action.namespace
                || everywhere && matches!(action.object, ActionObject::Resource { .. })
        };
        let bindings = self.all_bindings().into_iter().map(|binding: &Arc<Binding>| &**binding);
        let permitted = bindings.filter(|binding| counts(binding)).filter_map(|binding| {
            let role = self.role_of(binding).ok()?;
            let rule = role.rules().iter().find(|rule| rule.permits(action))?;
            Some(Permitted { binding, rule })
        });
        permitted.collect()
    }
}

/// True if a rule is about the resource or the path of an action, though not about its verb or its name.
fn is_near(rule: &Rule, action: &Action<'_>) -> bool {
    let mut verbs = rule.verbs.iter();
    let with_any_verb = verbs.any(|verb| {
        let action = Action {
            verb,
            verb_set: VerbSet::one(verb),
            object: action.object.clone(),
            namespace: action.namespace,
        };
        let unnamed = Rule {
            names: Vec::new(),
            ..rule.clone()
        };
        unnamed.permits(&action)
    });
    with_any_verb && !rule.permits(action)
}

impl Explanation<'_> {
    /// The grant and the rule that permit the action; `None` if it is not permitted.
    #[must_use]
    pub fn deciding(&self) -> Option<(&Grant, &Rule)> {
        self.candidates
            .iter()
            .find_map(|candidate| Some((candidate.grant, (*candidate.rule.as_ref().ok()?)?)))
    }
}

/// One line about a refused action, for the log: the examined bindings, and rules that nearly match.
impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The most bindings that the line names.
        const LISTED: usize = 4;
        if let Some((grant, rule)) = self.deciding() {
            return write!(f, "permitted by {grant}, rule {rule}");
        }
        let missing = self
            .candidates
            .iter()
            .filter_map(|candidate| candidate.rule.as_ref().err());
        let near = self
            .candidates
            .iter()
            .flat_map(|candidate| candidate.near.iter().map(move |rule| (candidate.grant, rule)));
        write!(
            f,
            "none of {} bindings of the user and their groups permits it",
            self.candidates.len()
        )?;
        for (grant, rule) in near.take(LISTED) {
            write!(f, "; {grant} has only {rule}")?;
        }
        for problem in missing.take(LISTED) {
            write!(f, "; {problem}")?;
        }
        Ok(())
    }
}

impl Permitted<'_> {
    /// The subjects, as kube-apiserver describes them.
    pub fn subjects(&self) -> impl Iterator<Item = String> {
        let namespace = &self.binding.namespace;
        self.binding
            .subjects
            .iter()
            .map(move |subject: &Subject| subject.description(namespace))
    }
}

impl fmt::Display for Action<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.object {
            ActionObject::Path(path) => write!(f, "{} path {}", self.verb, quote(path)),
            ActionObject::Resource {
                group, resource, name, ..
            } => {
                write!(f, "{} {resource}", self.verb)?;
                if !group.is_empty() {
                    write!(f, ".{group}")?;
                }
                if !name.is_empty() {
                    write!(f, " {}", quote(name))?;
                }
                match self.namespace {
                    "" => Ok(()),
                    namespace => write!(f, " in the namespace {}", quote(namespace)),
                }
            }
        }
    }
}

//! No user grants permissions that it does not have.

use std::collections::{BTreeSet, HashMap};

use planesmith_machinery::go_format::{self, quote};

use super::rule::{Rule, quoted};
use crate::user::UserInfo;

/// The most missing permissions that a refusal lists.
const LISTED_PARTS: usize = 1024;

/// The most combinations of groups, resources, verbs and names that are compared one by one. A few kilobytes of rules can have
/// billions of them.
const COMPARED_PARTS: usize = 100_000;

/// Returns the parts of `wanted` that no single rule of `have` covers.
#[must_use]
pub fn uncovered(have: &[Rule], wanted: &[Rule]) -> Vec<Rule> {
    let parts = wanted.iter().flat_map(Rule::parts);
    parts
        .filter(|part| !have.iter().any(|rule| rule.covers(part)))
        .collect()
}

/// Checks that a user who has the rules `have` may give away the rules `wanted`.
///
/// # Errors
///
/// The reason for the client, which lists what the user lacks, and `problems` with the user's own roles.
pub fn escalation(user: &UserInfo, have: &[Rule], wanted: &[Rule], problems: &[String]) -> Result<(), String> {
    // A rule that one of the user's rules covers whole needs no comparison of its parts.
    let rest = wanted.iter().filter(|rule| !have.iter().any(|own| own.covers(rule)));
    let mut missing = Vec::new();
    for (index, part) in rest.flat_map(Rule::parts).enumerate() {
        if index == COMPARED_PARTS {
            return Err(format!(
                "user {} (groups={}) is attempting to grant rules with more than {COMPARED_PARTS} combinations of groups, resources, \
                 verbs and names; use fewer in a rule, or *",
                quote(&user.name),
                quoted(&user.groups)
            ));
        }
        if !have.iter().any(|rule| rule.covers(&part)) {
            missing.push(part);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let listed: BTreeSet<String> = compact(missing).iter().map(Rule::to_string).collect();
    let listed: Vec<String> = listed.into_iter().take(LISTED_PARTS).collect();
    let mut reason = format!(
        "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        quote(&user.name),
        quoted(&user.groups),
        listed.join("\n")
    );
    if !problems.is_empty() {
        let problems: Vec<String> = problems.iter().map(|problem| as_from_store(problem)).collect();
        reason.push_str(&format!("; resolution errors: [{}]", go_format::aggregate(&problems)));
    }
    Err(reason)
}

/// Returns a problem in the words of the store, from which kube-apiserver reads roles for this check: the store names resources,
/// and the cache that authorizers read names kinds.
fn as_from_store(problem: &str) -> String {
    for kind in ["role", "clusterrole"] {
        if let Some(rest) = problem.strip_prefix(kind).filter(|rest| rest.starts_with('.')) {
            return format!("{kind}s{rest}");
        }
    }
    problem.to_owned()
}

/// Joins rules about the same resource, and the same name if any, that differ in their verbs only.
fn compact(rules: Vec<Rule>) -> Vec<Rule> {
    let mut joined: Vec<Rule> = Vec::new();
    let mut known: HashMap<Rule, usize> = HashMap::new();
    for rule in rules {
        if !rule.paths.is_empty() {
            joined.push(rule);
            continue;
        }
        let subject = Rule {
            verbs: Vec::new(),
            ..rule.clone()
        };
        match known.get(&subject) {
            Some(&index) => {
                let verbs: &mut Vec<String> = &mut joined[index].verbs;
                for verb in rule.verbs {
                    if !verbs.contains(&verb) {
                        verbs.push(verb);
                    }
                }
            }
            None => {
                known.insert(subject, joined.len());
                joined.push(rule);
            }
        }
    }
    joined
}

//! An index of many rules: a decision takes a few lookups, however many there are.

use std::collections::HashMap;

use super::action::{Action, ActionObject};
use super::rule::{ALL, Rule, path_matches};

/// The permissions of rules, each with the number of its owner. Of several owners the first one counts.
#[derive(Debug, Default)]
pub(super) struct Permissions {
    by_group: HashMap<Box<str>, ByResource>,
    /// Paths without a `*` at the end.
    paths: HashMap<Box<str>, ByVerb>,
    /// Paths that end in `*`. There are few: a role for each prefix is unusual.
    prefixes: HashMap<Box<str>, ByVerb>,
}

type ByResource = HashMap<Box<str>, ByVerb>;
type ByVerb = HashMap<Box<str>, Owners>;

/// The owners of a permission for one verb on one resource.
#[derive(Debug, Default)]
struct Owners {
    /// The owner of a permission for all objects.
    of_all: Option<u32>,
    /// The owners of permissions for single objects.
    by_name: HashMap<Box<str>, u32>,
}

impl Permissions {
    /// Indexes rules, each with its owner, in ascending order of owners.
    pub(super) fn of<'r>(rules: impl Iterator<Item = (u32, &'r Rule)>) -> Self {
        let mut index = Self::default();
        for (owner, rule) in rules {
            for group in &rule.groups {
                let by_resource = entry(&mut index.by_group, group);
                for resource in &rule.resources {
                    let by_verb = entry(by_resource, resource);
                    add(by_verb, rule, owner);
                }
            }
            for path in &rule.paths {
                let paths = if path.ends_with('*') {
                    &mut index.prefixes
                } else {
                    &mut index.paths
                };
                add(entry(paths, path), rule, owner);
            }
        }
        index
    }

    /// Returns the owner of a permission for the action.
    pub(super) fn find(&self, action: &Action<'_>) -> Option<u32> {
        match &action.object {
            ActionObject::Path(path) => {
                let exact = self.paths.get(*path).and_then(|verbs| find(verbs, action.verb, ""));
                exact.or_else(|| {
                    let mut matching = self.prefixes.iter().filter(|(pattern, _)| path_matches(pattern, path));
                    matching.find_map(|(_, verbs)| find(verbs, action.verb, ""))
                })
            }
            ActionObject::Resource {
                group,
                resource,
                any_parent,
                name,
            } => {
                let groups = [self.by_group.get(*group), self.by_group.get(ALL)];
                groups.into_iter().flatten().find_map(|resources| {
                    let exact = resources.get(&**resource);
                    let of_any = any_parent.as_deref().and_then(|part| resources.get(part));
                    let verbs = [exact, of_any, resources.get(ALL)];
                    verbs
                        .into_iter()
                        .flatten()
                        .find_map(|verbs| find(verbs, action.verb, name))
                })
            }
        }
    }
}

fn entry<'m, T: Default>(map: &'m mut HashMap<Box<str>, T>, key: &str) -> &'m mut T {
    if !map.contains_key(key) {
        map.insert(key.into(), T::default());
    }
    map.entry(key.into()).or_default()
}

fn add(by_verb: &mut ByVerb, rule: &Rule, owner: u32) {
    for verb in &rule.verbs {
        let owners = entry(by_verb, verb);
        if rule.names.is_empty() {
            owners.of_all.get_or_insert(owner);
        }
        for name in &rule.names {
            owners.by_name.entry(name.as_str().into()).or_insert(owner);
        }
    }
}

fn find(by_verb: &ByVerb, verb: &str, name: &str) -> Option<u32> {
    let owners = [by_verb.get(verb), by_verb.get(ALL)];
    let mut owners = owners.into_iter().flatten();
    owners.find_map(|owners| owners.of_all.or_else(|| owners.by_name.get(name).copied()))
}

//! A permission.

use std::fmt;

use planesmith_machinery::go_format::quote;

use super::action::{Action, ActionObject};

/// Stands for all verbs, groups, resources or paths.
pub(super) const ALL: &str = "*";

/// A permission for verbs on resources or on non-resource paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Verbs.
    pub verbs: Vec<String>,
    /// API groups.
    pub groups: Vec<String>,
    /// Resources, with subresources after a slash; `*/scale` is a subresource of any resource.
    pub resources: Vec<String>,
    /// Object names; empty for all objects, and for collections.
    pub names: Vec<String>,
    /// Non-resource paths; a trailing `*` matches any suffix.
    pub paths: Vec<String>,
}

impl Rule {
    /// True if the rule permits the action.
    #[must_use]
    pub fn permits(&self, action: &Action<'_>) -> bool {
        match &action.object {
            ActionObject::Path(path) => {
                contains_or_all(&self.verbs, action.verb)
                    && self.paths.iter().any(|pattern| path_matches(pattern, path))
            }
            ActionObject::Resource {
                group,
                resource,
                any_parent,
                name,
            } => {
                contains_or_all(&self.groups, group)
                    && contains_or_all(&self.verbs, action.verb)
                    && (contains_or_all(&self.resources, resource)
                        || any_parent.as_ref().is_some_and(|part| contains(&self.resources, part)))
                    && (self.names.is_empty() || contains(&self.names, name))
            }
        }
    }

    /// Splits the rule into rules about one verb, one resource or path, and at most one name each.
    pub fn parts(&self) -> impl Iterator<Item = Rule> {
        let of_resources = self.groups.iter().flat_map(move |group| {
            self.resources.iter().flat_map(move |resource| {
                self.verbs.iter().flat_map(move |verb| {
                    let part = move |names: Vec<String>| Rule {
                        verbs: vec![verb.clone()],
                        groups: vec![group.clone()],
                        resources: vec![resource.clone()],
                        names,
                        paths: Vec::new(),
                    };
                    let unnamed = self.names.is_empty().then(Vec::new);
                    let named = self.names.iter().map(|name| vec![name.clone()]);
                    unnamed.into_iter().chain(named).map(part)
                })
            })
        });
        let of_paths = self.paths.iter().flat_map(move |path| {
            self.verbs.iter().map(move |verb| Rule {
                verbs: vec![verb.clone()],
                paths: vec![path.clone()],
                ..Rule::default()
            })
        });
        of_resources.chain(of_paths)
    }

    /// True if the rule alone gives all that `part` gives: one of [`Rule::parts`], or a rule with several.
    #[must_use]
    pub fn covers(&self, part: &Rule) -> bool {
        let all_of = |have: &[String], wanted: &[String]| wanted.iter().all(|wanted| contains_or_all(have, wanted));
        let resource = |wanted: &String| {
            let any_parent = wanted.split_once('/').map(|(_, part)| format!("*/{part}"));
            contains_or_all(&self.resources, wanted)
                || any_parent.is_some_and(|any_parent| contains(&self.resources, &any_parent))
        };
        let path = |wanted: &String| {
            self.paths
                .iter()
                .any(|have| have == wanted || path_starts(have, wanted))
        };
        let names = match part.names.is_empty() {
            true => self.names.is_empty(),
            false => self.names.is_empty() || part.names.iter().all(|name| contains(&self.names, name)),
        };
        names
            && all_of(&self.verbs, &part.verbs)
            && all_of(&self.groups, &part.groups)
            && part.resources.iter().all(resource)
            && part.paths.iter().all(path)
    }

    /// The number of texts in the rule, the most that a scan compares.
    pub(super) fn texts(&self) -> usize {
        let lists = [&self.verbs, &self.groups, &self.resources, &self.names, &self.paths];
        lists.into_iter().map(Vec::len).sum()
    }
}

/// As kube-apiserver prints rules in errors; members without values are left out.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        let mut separator = "";
        for (name, list) in [
            ("APIGroups", &self.groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.paths),
            ("ResourceNames", &self.names),
            ("Verbs", &self.verbs),
        ] {
            if !list.is_empty() {
                write!(f, "{separator}{name}:{}", quoted(list))?;
                separator = ", ";
            }
        }
        f.write_str("}")
    }
}

/// A list of texts as Go's `%q` prints it.
pub(super) fn quoted(list: &[String]) -> String {
    let each: Vec<String> = list.iter().map(|text| quote(text).to_string()).collect();
    format!("[{}]", each.join(" "))
}

pub(super) fn contains(list: &[String], text: &str) -> bool {
    list.iter().any(|have| have == text)
}

fn contains_or_all(list: &[String], text: &str) -> bool {
    list.iter().any(|have| have == text || have == ALL)
}

/// True if a path matches the path of a rule.
pub(super) fn path_matches(pattern: &str, path: &str) -> bool {
    pattern == path || path_starts(pattern, path)
}

/// True if a pattern ends in `*`, and `path` starts with what precedes it.
fn path_starts(pattern: &str, path: &str) -> bool {
    pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*'))
}

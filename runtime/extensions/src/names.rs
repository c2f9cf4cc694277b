//! Which names a definition may have: no two definitions of a group share one.

use std::collections::BTreeSet;

use planesmith_machinery::go_format::quote;
use serde_json::{Map, Value, json};

use crate::conditions::Verdict;
use crate::definition::Definition;

/// The names that definitions of a group have been given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenNames {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl TakenNames {
    /// Adds the names that a definition has been given.
    pub fn add(&mut self, definition: Definition<'_>) {
        let short = definition.accepted_list("shortNames");
        let resources = ["plural", "singular"].map(|name| definition.accepted(name));
        self.resources
            .extend(resources.into_iter().chain(short).map(str::to_owned));
        self.kinds
            .extend(["kind", "listKind"].map(|name| definition.accepted(name).to_owned()));
    }

    /// Adds the names in `other`.
    pub fn add_all(&mut self, other: &TakenNames) {
        self.resources.extend(other.resources.iter().cloned());
        self.kinds.extend(other.kinds.iter().cloned());
    }
}

/// What a definition is given of the names that it wants.
#[derive(Clone, Debug, PartialEq)]
pub struct NamesVerdict {
    /// `status.acceptedNames`.
    pub accepted: Value,
    /// The condition `NamesAccepted`.
    pub condition: Verdict,
}

/// Judges the names of a definition; `taken` are those of the others in its group.
///
/// A name that somebody else has stays what it was before; the others are given. Of several problems the last one is
/// told.
#[must_use]
pub fn judge(definition: Definition<'_>, taken: &TakenNames) -> NamesVerdict {
    let mut accepted = Map::new();
    let mut problem = None;
    let fields = [
        ("plural", "PluralConflict", &taken.resources),
        ("singular", "SingularConflict", &taken.resources),
        ("shortNames", "ShortNamesConflict", &taken.resources),
        ("kind", "KindConflict", &taken.kinds),
        ("listKind", "ListKindConflict", &taken.kinds),
    ];
    for (name, reason, taken) in fields {
        if name == "shortNames" {
            let (given, conflict) = short_names(definition, taken);
            if !given.is_empty() {
                accepted.insert(name.to_owned(), json!(given));
            }
            problem = conflict.map(|why| (reason, why)).or(problem);
            continue;
        }
        let (wanted, before) = (definition.wanted(name), definition.accepted(name));
        let is_free = wanted == before || !taken.contains(wanted);
        if !is_free {
            problem = Some((reason, format!("{} is already in use", quote(wanted))));
        }
        let given = if is_free { wanted } else { before };
        if !given.is_empty() || matches!(name, "plural" | "kind") {
            accepted.insert(name.to_owned(), json!(given));
        }
    }
    if let Some(categories) = definition.spec().pointer("/names/categories") {
        accepted.insert("categories".to_owned(), categories.clone());
    }
    let condition = match problem {
        Some((reason, message)) => Verdict::no(reason, message),
        None => Verdict::yes("NoConflicts", "no conflicts found"),
    };
    NamesVerdict {
        accepted: Value::Object(accepted),
        condition,
    }
}

fn short_names<'d>(definition: Definition<'d>, taken: &BTreeSet<String>) -> (Vec<&'d str>, Option<String>) {
    let wanted: Vec<&str> = definition
        .spec()
        .pointer("/names/shortNames")
        .map_or(Vec::new(), |names| {
            names
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect()
        });
    let before = definition.accepted_list("shortNames");
    if wanted == before {
        return (wanted, None);
    }
    let conflicts: BTreeSet<String> = wanted
        .iter()
        .filter(|name| !before.contains(name) && taken.contains(**name))
        .map(|name| format!("{} is already in use", quote(name)))
        .collect();
    if conflicts.is_empty() {
        return (wanted, None);
    }
    let conflicts: Vec<String> = conflicts.into_iter().collect();
    let message = match &conflicts[..] {
        [only] => only.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    (before, Some(message))
}

#[cfg(test)]
mod tests;

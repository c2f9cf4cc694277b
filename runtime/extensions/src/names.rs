//! Which names a definition may have: no two definitions of a group share one.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::go_format::quote;
use serde_json::{Map, Value, json};

use crate::conditions::Verdict;
use crate::definition::Definition;

/// The names that the definitions of a group have been given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenNames {
    resources: Owners,
    kinds: Owners,
    /// By definition: the names of its resource and of its kind.
    given: BTreeMap<String, [Vec<String>; 2]>,
}

/// The definitions that have a name. These are several when they were accepted before anybody compared names.
type Owners = BTreeMap<String, BTreeSet<String>>;

impl TakenNames {
    /// Takes the names that a definition has been given, in place of those that it had before.
    pub fn take(&mut self, definition: Definition<'_>) {
        self.give_back(definition.name());
        let short = definition.accepted_list("shortNames");
        let resources = ["plural", "singular"].map(|name| definition.accepted(name));
        let resources: Vec<String> = resources.into_iter().chain(short).map(str::to_owned).collect();
        let kinds: Vec<String> = ["kind", "listKind"]
            .map(|name| definition.accepted(name).to_owned())
            .into();
        let owner = definition.name();
        for (owners, names) in [(&mut self.resources, &resources), (&mut self.kinds, &kinds)] {
            for name in names {
                owners.entry(name.clone()).or_default().insert(owner.to_owned());
            }
        }
        self.given.insert(owner.to_owned(), [resources, kinds]);
    }

    /// Frees the names of the definition `owner`.
    pub fn give_back(&mut self, owner: &str) {
        let [resources, kinds] = self.given.remove(owner).unwrap_or_default();
        for (owners, names) in [(&mut self.resources, resources), (&mut self.kinds, kinds)] {
            for name in names {
                if let Some(known) = owners.get_mut(&name) {
                    known.remove(owner);
                    if known.is_empty() {
                        owners.remove(&name);
                    }
                }
            }
        }
    }
}

/// Whether anybody but `definition` has a name.
fn is_taken(owners: &Owners, name: &str, definition: Definition<'_>) -> bool {
    let others = owners.get(name).into_iter().flatten();
    others.into_iter().any(|owner| owner != definition.name())
}

/// What a definition is given of the names that it wants.
#[derive(Clone, Debug, PartialEq)]
pub struct NamesVerdict {
    /// `status.acceptedNames`.
    pub accepted: Value,
    /// The condition `NamesAccepted`.
    pub condition: Verdict,
}

/// Judges the names of a definition; `taken` are those of its group.
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
        let is_free = wanted == before || !is_taken(taken, wanted, definition);
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

fn short_names<'d>(definition: Definition<'d>, taken: &Owners) -> (Vec<&'d str>, Option<String>) {
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
        .filter(|name| !before.contains(name) && is_taken(taken, name, definition))
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

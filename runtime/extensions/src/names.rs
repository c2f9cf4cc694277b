//! Name conflicts: definitions of a group cannot share names.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::go_format::quote;
use serde_json::{Map, Value, json};

use crate::definition::Definition;
use planesmith_control_plane::conditions::ConditionState;

/// The accepted names of a group's definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenNames {
    resources: Owners,
    kinds: Owners,
    /// Plurals under which declared kinds of the group store their objects.
    stored: BTreeSet<String>,
    /// The names of the resource and of the kind, by definition.
    given: BTreeMap<String, [Vec<String>; 2]>,
}

/// The owners of each name. Definitions accepted before names were compared can share one.
type Owners = BTreeMap<String, BTreeSet<String>>;

impl TakenNames {
    /// Records the accepted names of a definition, replacing its previous names. True if these were others.
    pub fn take(&mut self, definition: Definition<'_>) -> bool {
        let before = self.give_back(definition.name());
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
        let now = [resources, kinds];
        let is_changed = before.is_some_and(|before| before != now);
        self.given.insert(owner.to_owned(), now);
        is_changed
    }

    /// Records that the objects of a declared kind are stored under the name `plural` of the group, so that no definition
    /// can have this plural.
    pub fn reserve(&mut self, plural: &str) {
        self.stored.insert(plural.to_owned());
    }

    /// True if no definition has names.
    #[must_use]
    pub fn has_none_given(&self) -> bool {
        self.given.is_empty()
    }

    /// Releases the names of the definition `owner`, and returns them.
    pub fn give_back(&mut self, owner: &str) -> Option<[Vec<String>; 2]> {
        let given = self.given.remove(owner)?;
        let [resources, kinds] = &given;
        for (owners, names) in [(&mut self.resources, resources), (&mut self.kinds, kinds)] {
            for name in names {
                if let Some(known) = owners.get_mut(name) {
                    known.remove(owner);
                    if known.is_empty() {
                        owners.remove(name);
                    }
                }
            }
        }
        Some(given)
    }
}

/// The names of a group that a definition cannot have, unless it has the same name already: those of other definitions, and
/// its own accepted names of any kind.
#[derive(Clone, Copy)]
struct UsedNames<'n> {
    owners: &'n Owners,
    own: &'n [&'n str],
    definition: Definition<'n>,
}

impl UsedNames<'_> {
    fn contains(self, name: &str) -> bool {
        let mut owners = self.owners.get(name).into_iter().flatten();
        self.own.contains(&name) || owners.any(|owner| owner != self.definition.name())
    }
}

/// The result of accepting a definition's names.
#[derive(Clone, Debug, PartialEq)]
pub struct AcceptedNames {
    /// `status.acceptedNames`.
    pub accepted: Value,
    /// The condition `NamesAccepted`.
    pub condition: ConditionState,
}

/// Decides about the names that a definition requests; `names` are those of its group.
///
/// Free names are accepted. A name that is used already is not, and the previously accepted name stays. As in
/// kube-apiserver, that includes the definition's own names: a singular name does not become a short name. Of several
/// conflicts, the condition reports the last one.
#[must_use]
pub fn accept_names(definition: Definition<'_>, names: &TakenNames) -> AcceptedNames {
    let mut accepted = Map::new();
    let mut problem = None;
    let resources = definition.accepted_list("shortNames").into_iter();
    let resources = resources.chain(["plural", "singular"].map(|name| definition.accepted(name)));
    let resources: Vec<&str> = resources.collect();
    let kinds = ["kind", "listKind"].map(|name| definition.accepted(name));
    let used = |owners, own| UsedNames {
        owners,
        own,
        definition,
    };
    let (resources, kinds) = (used(&names.resources, &resources), used(&names.kinds, &kinds));
    let fields = [
        ("plural", "PluralConflict", resources),
        ("singular", "SingularConflict", resources),
        ("shortNames", "ShortNamesConflict", resources),
        ("kind", "KindConflict", kinds),
        ("listKind", "ListKindConflict", kinds),
    ];
    for (name, reason, used) in fields {
        if name == "shortNames" {
            let (given, conflict) = short_names(definition, used);
            if !given.is_empty() {
                accepted.insert(name.to_owned(), json!(given));
            }
            problem = conflict.map(|why| (reason, why)).or(problem);
            continue;
        }
        let (wanted, before) = (definition.wanted(name), definition.accepted(name));
        let is_reserved = name == "plural" && names.stored.contains(wanted);
        let is_free = wanted == before || !(is_reserved || used.contains(wanted));
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
        Some((reason, message)) => ConditionState::no(reason, message),
        None => ConditionState::yes("NoConflicts", "no conflicts found"),
    };
    AcceptedNames {
        accepted: Value::Object(accepted),
        condition,
    }
}

fn short_names<'d>(definition: Definition<'d>, used: UsedNames<'_>) -> (Vec<&'d str>, Option<String>) {
    let wanted = definition.wanted_list("shortNames");
    let before = definition.accepted_list("shortNames");
    if wanted == before {
        return (wanted, None);
    }
    let conflicts: BTreeSet<String> = wanted
        .iter()
        .filter(|name| !before.contains(name) && used.contains(name))
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

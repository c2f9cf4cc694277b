//! Names that the glossary refuses.

use std::collections::{BTreeMap, BTreeSet};

use super::debts::Debts;
use super::finding::Finding;
use super::policy::{Policy, RefusedName};
use super::tally;
use crate::sources::{Name, Sources};

/// A declaration with a refused name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused<'a> {
    /// The crate.
    pub(super) owner: &'a str,
    /// The file, relative to the workspace.
    pub(super) file: &'a str,
    /// The declaration.
    pub(super) name: &'a Name,
    /// The rule against it.
    pub(super) rule: &'a RefusedName,
}

/// By crate and name: the number of declarations of a refused name.
pub(super) type Counts = BTreeMap<String, BTreeMap<String, usize>>;

/// The declarations of a crate that have refused names.
pub(super) fn of<'a>(owner: &'a str, sources: &'a Sources, policy: &'a Policy) -> Vec<Refused<'a>> {
    let names = sources
        .iter()
        .flat_map(|(file, source)| source.names.iter().map(move |name| (file, name)));
    let refused = names.filter_map(|(file, name)| {
        let by_name = policy.names.iter().filter(|rule| rule.names(name));
        let by_word = policy.words.iter().filter(|rule| rule.is_word_of(name));
        let rule = by_name.chain(by_word).find(|rule| rule.refuses(owner, name))?;
        Some(Refused {
            owner,
            file,
            name,
            rule,
        })
    });
    refused.collect()
}

/// Counts `refused` by crate and name.
pub(super) fn counts(refused: &[Refused<'_>]) -> Counts {
    let mut counts = Counts::new();
    for one in refused {
        let names = counts.entry(one.owner.to_owned()).or_default();
        *names.entry(one.rule.name.clone()).or_default() += 1;
    }
    counts
}

/// The findings about names that are declared more or less often than tolerated.
pub(super) fn check(refused: &[Refused<'_>], debts: &Debts) -> Vec<Finding> {
    let (now, none) = (counts(refused), BTreeMap::new());
    let owners: BTreeSet<_> = now.keys().chain(debts.names.keys()).collect();
    let of_owner = |owner| {
        let (now, tolerated) = (now.get(owner).unwrap_or(&none), debts.names.get(owner).unwrap_or(&none));
        tally::check(now, tolerated, "names", move |name| {
            format!("{owner}: declarations of the name {name}")
        })
    };
    owners.into_iter().flat_map(of_owner).collect()
}

/// Lists the declarations with refused names.
pub(super) fn list(refused: &[Refused<'_>]) -> Vec<String> {
    let lines = refused.iter().map(|one| {
        let Refused { file, name, rule, .. } = one;
        format!("{file}:{}: {}; say {}", name.line, name.ident, rule.say)
    });
    lines.collect()
}

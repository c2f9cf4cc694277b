//! Faults that are counted, against the numbers that are tolerated.

use std::collections::{BTreeMap, BTreeSet};

use super::debts::FILE;
use super::finding::Finding;

/// Findings for counts that are not the tolerated ones.
///
/// `describe` names the fault of a key; `list` is the argument that lists the places.
pub(super) fn check(
    now: &BTreeMap<String, usize>,
    tolerated: &BTreeMap<String, usize>,
    list: &str,
    describe: impl Fn(&str) -> String,
) -> Vec<Finding> {
    let keys: BTreeSet<_> = now.keys().chain(tolerated.keys()).collect();
    let findings = keys.into_iter().filter_map(|key| {
        let (now, tolerated) = (count(now, key), count(tolerated, key));
        let fault = format!("{}: {now}, and {tolerated} tolerated", describe(key));
        let help = match now.cmp(&tolerated) {
            std::cmp::Ordering::Equal => return None,
            std::cmp::Ordering::Greater => format!("`cargo xtask tidy --list {list}` shows where"),
            std::cmp::Ordering::Less => "type `cargo xtask tidy --shrink`".to_owned(),
        };
        Some(Finding::new((FILE, 0), fault, help))
    });
    findings.collect()
}

fn count(counts: &BTreeMap<String, usize>, key: &str) -> usize {
    counts.get(key).copied().unwrap_or(0)
}

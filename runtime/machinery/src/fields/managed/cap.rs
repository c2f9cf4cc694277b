//! Keeps the number of managers within bounds.

use std::collections::{HashMap, HashSet};

use super::entries::{Entries, Operation, order};
use crate::fields::set::Set;

/// How many entries of updates an object keeps.
const MAX_UPDATES: usize = 10;

/// The manager that the oldest updates are merged under, one for each version.
const ANCIENT: &str = "ancient-changes";

/// Merges the oldest updates of one version until at most [`MAX_UPDATES`] are left. The first of a version stays as
/// it is until there is another to merge it with; the merged entry takes the time of the last one merged.
pub(super) fn limit_updates(entries: &mut Entries<'_>) {
    let all = entries.as_mut();
    let mut updates: Vec<usize> = (0..all.len())
        .filter(|index| all[*index].operation == Operation::Update)
        .collect();
    let mut excess = updates.len().saturating_sub(MAX_UPDATES);
    if excess == 0 {
        return;
    }
    updates.sort_by(|left, right| order(&all[*left], &all[*right]));
    let mut buckets: Vec<(usize, Vec<Set<'_>>)> = Vec::new();
    let mut by_version: HashMap<String, usize> = HashMap::new();
    let mut merged: HashSet<usize> = HashSet::new();
    for index in updates {
        if excess == 0 {
            break;
        }
        let bucket = by_version.get(all[index].api_version.as_ref());
        let Some((bucket, sets)) = bucket.and_then(|bucket| buckets.get_mut(*bucket)) else {
            by_version.insert(all[index].api_version.to_string(), buckets.len());
            buckets.push((index, Vec::new()));
            continue;
        };
        let (bucket, time) = (*bucket, all[index].time);
        sets.push(std::mem::take(&mut all[index].set));
        all[bucket].time = time;
        all[bucket].manager = ANCIENT.into();
        all[bucket].subresource = "".into();
        merged.insert(index);
        excess -= 1;
    }
    for (bucket, sets) in buckets {
        all[bucket].take(Set::union_of(sets));
    }
    let mut index = 0;
    all.retain(|_| {
        index += 1;
        !merged.contains(&(index - 1))
    });
}

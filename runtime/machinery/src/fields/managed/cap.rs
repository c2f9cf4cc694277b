//! Keeps the number of managers within bounds.

use super::entries::{Entries, Operation, seconds};
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
    updates.sort_by_key(|index| {
        let entry = &all[*index];
        (
            seconds(entry.time),
            entry.manager.clone(),
            entry.api_version.clone(),
            entry.subresource.clone(),
        )
    });
    let mut buckets: Vec<(usize, Vec<Set<'_>>)> = Vec::new();
    let mut merged: Vec<usize> = Vec::new();
    for index in updates {
        if excess == 0 {
            break;
        }
        let bucket = buckets
            .iter_mut()
            .find(|(bucket, _)| all[*bucket].api_version == all[index].api_version);
        let Some((bucket, sets)) = bucket else {
            buckets.push((index, Vec::new()));
            continue;
        };
        let (bucket, time) = (*bucket, all[index].time);
        sets.push(std::mem::take(&mut all[index].set));
        all[bucket].time = time;
        all[bucket].manager = ANCIENT.into();
        all[bucket].subresource = "".into();
        merged.push(index);
        excess -= 1;
    }
    for (bucket, sets) in buckets {
        all[bucket].take(union_of(sets));
    }
    merged.sort_unstable();
    for index in merged.into_iter().rev() {
        all.remove(index);
    }
}

/// The members of all sets. Neighbours are put together first: one big set that takes one small set after the other
/// would be copied each time, and a client can send thousands.
fn union_of(mut sets: Vec<Set<'_>>) -> Set<'_> {
    while sets.len() > 1 {
        let mut pairs = sets.into_iter();
        let mut halved = Vec::with_capacity(pairs.len().div_ceil(2));
        while let Some(left) = pairs.next() {
            halved.push(left.union(pairs.next().unwrap_or_default()));
        }
        sets = halved;
    }
    sets.pop().unwrap_or_default()
}

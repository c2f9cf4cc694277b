//! The limit on the number of managers.

use std::collections::HashMap;

use super::entries::{Entries, Entry, Operation, seconds};
use super::manager::identifier;
use crate::fields::Set;

/// Maximum number of update entries of an object.
const MAX_UPDATES: usize = 10;

/// The manager of the merged oldest updates; one entry per version.
const ANCIENT: &str = "ancient-changes";

/// The merged updates of one version.
struct Bucket<'a> {
    /// The first of them. It is unchanged until another one is merged with it.
    first: usize,
    /// The entry that others are merged into: the first one, or one from an earlier write.
    into: Option<usize>,
    merged: Vec<Set<'a>>,
}

/// Merges the oldest updates of one version until at most [`MAX_UPDATES`] are left. The merged entry takes the time of the
/// last one merged.
///
/// A merged entry of an earlier write is an update like others. If it is not the oldest, because a client sent it or
/// because all entries have the same time, it is eventually removed with everything that was merged into it, as in
/// kube-apiserver.
pub(super) fn limit_updates(entries: &mut Entries<'_>) {
    let all = entries.as_mut();
    let mut updates: Vec<usize> = (0..all.len())
        .filter(|index| all[*index].operation == Operation::Update)
        .collect();
    let mut excess = updates.len().saturating_sub(MAX_UPDATES);
    if excess == 0 {
        return;
    }
    updates.sort_by_cached_key(|index| (seconds(all[*index].time), identifier_of(&all[*index])));
    let mut buckets: HashMap<String, Bucket<'_>> = HashMap::new();
    let mut gone = vec![false; all.len()];
    for index in updates {
        if excess == 0 {
            break;
        }
        let Some(bucket) = buckets.get_mut(all[index].api_version.as_ref()) else {
            let bucket = Bucket {
                first: index,
                into: made_before(all, &all[index].api_version),
                merged: Vec::new(),
            };
            buckets.insert(all[index].api_version.to_string(), bucket);
            continue;
        };
        let into = *bucket.into.get_or_insert(bucket.first);
        let merged = &mut all[into];
        merged.manager = ANCIENT.into();
        merged.subresource = "".into();
        gone[index] = true;
        excess -= 1;
        if into == index {
            bucket.into = None;
            bucket.merged.clear();
            continue;
        }
        all[into].time = all[index].time;
        bucket.merged.push(std::mem::take(&mut all[index].set));
    }
    for bucket in buckets.into_values() {
        if let Some(into) = bucket.into
            && !bucket.merged.is_empty()
        {
            all[into].take(Set::union_of(bucket.merged));
        }
    }
    let mut gone = gone.into_iter();
    all.retain(|_| !gone.next().unwrap_or_default());
}

/// Returns the merged entry of an earlier write.
fn made_before(all: &[Entry<'_>], version: &str) -> Option<usize> {
    all.iter().position(|entry| {
        entry.operation == Operation::Update
            && entry.manager == ANCIENT
            && entry.api_version == version
            && entry.subresource.is_empty()
    })
}

/// Returns the sort key of an update among others with the same time.
fn identifier_of(entry: &Entry<'_>) -> Vec<u8> {
    identifier(&entry.manager, entry.operation, &entry.api_version, &entry.subresource)
}

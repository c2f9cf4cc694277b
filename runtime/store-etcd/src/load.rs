//! The content of a prefix, read in pages at one revision.

use planesmith_store::Revision;
use planesmith_store::backend::State;

use crate::client::{Client, PAGE};
use crate::failure::Failure;
use crate::keys::{Keys, range_end};
use crate::protocol::kv::{KeyValue, RANGE, Range, RangeAnswer};

/// Bounds of the keys of a page; between them, pages have about `PAGE_BYTES`.
const MIN_KEYS: usize = 500;
const MAX_KEYS: usize = 10_000;
const PAGE_BYTES: usize = 4 << 20;

/// Passes the states of all keys under `prefix` to `page`, and returns their revision.
pub(crate) async fn load(
    client: &Client,
    keys: &Keys,
    prefix: &str,
    page: &mut (dyn FnMut(Vec<State>) + Send),
) -> Result<Revision, Failure> {
    read_pages(client, keys, prefix, &mut |answer| page(states(keys, answer))).await
}

/// Passes all keys under `prefix` to `page`, as they are at the revision that is returned.
pub(crate) async fn read_pages(
    client: &Client,
    keys: &Keys,
    prefix: &str,
    page: &mut (dyn FnMut(RangeAnswer) + Send),
) -> Result<Revision, Failure> {
    let start = keys.to_etcd(prefix);
    let mut range = Range {
        range_end: range_end(&start),
        key: start,
        limit: MIN_KEYS as i64,
        revision: 0,
        keys_only: false,
    };
    loop {
        let answer = client.repeat(&RANGE, range.clone(), PAGE).await?;
        if range.revision == 0 {
            range.revision = answer.header.unwrap_or_default().revision;
        }
        range.limit = next_limit(&answer);
        if let Some(last) = answer.kvs.last() {
            range.key.clone_from(&last.key);
            // The key that follows it.
            range.key.push(0);
        }
        let is_last = !answer.more || answer.kvs.is_empty();
        page(answer);
        if is_last {
            return Ok(revision(range.revision));
        }
    }
}

fn states(keys: &Keys, answer: RangeAnswer) -> Vec<State> {
    answer.kvs.into_iter().filter_map(|kv| state(keys, kv)).collect()
}

/// Returns the state of a key; `None` if the key is not text.
pub(crate) fn state(keys: &Keys, kv: KeyValue) -> Option<State> {
    let Some(key) = keys.to_store(&kv.key) else {
        tracing::warn!(key = ?kv.key, "a key in etcd is not text and is left out");
        return None;
    };
    Some(State {
        key,
        revision: revision(kv.mod_revision),
        value: kv.value.into(),
    })
}

/// Returns the keys of the page after `answer`.
fn next_limit(answer: &RangeAnswer) -> i64 {
    let bytes: usize = answer.kvs.iter().map(|kv| kv.key.len() + kv.value.len()).sum();
    let mean = bytes / answer.kvs.len().max(1);
    (PAGE_BYTES / mean.max(1)).clamp(MIN_KEYS, MAX_KEYS) as i64
}

/// Returns a revision of etcd; they are never negative.
pub(crate) fn revision(number: i64) -> Revision {
    Revision(number.max(0).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::{KeyValue, MAX_KEYS, MIN_KEYS, RangeAnswer, next_limit};

    #[test]
    fn pages_of_small_objects_have_more() {
        let page = |size| RangeAnswer {
            kvs: vec![
                KeyValue {
                    value: vec![0; size],
                    ..KeyValue::default()
                };
                3
            ],
            ..RangeAnswer::default()
        };
        assert_eq!(next_limit(&page(1)), MAX_KEYS as i64);
        assert_eq!(next_limit(&page(1 << 10)), 4096);
        assert_eq!(next_limit(&page(1 << 20)), MIN_KEYS as i64);
        assert_eq!(next_limit(&RangeAnswer::default()), MAX_KEYS as i64);
    }
}

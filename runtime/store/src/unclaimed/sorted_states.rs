//! Loaded states in the order of their keys.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::Revision;
use crate::log::Record;

/// States by key. Millions of them cost less than in a map: they come in runs that are in order, which are merged once.
#[derive(Debug, Default)]
pub(super) struct SortedStates {
    /// In the order of their keys. A state that was taken has the revision zero and no bytes.
    records: Vec<Record>,
    /// Runs, each in order, that are not among the records yet.
    runs: Vec<Vec<Record>>,
}

/// The rest of a run. The greatest one has the least key.
#[derive(Debug)]
struct Rest {
    first: Record,
    others: std::vec::IntoIter<Record>,
}

impl Ord for Rest {
    fn cmp(&self, other: &Self) -> Ordering {
        other.first.key.cmp(&self.first.key)
    }
}

impl PartialOrd for Rest {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rest {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rest {}

impl SortedStates {
    pub(super) fn push(&mut self, record: Record) {
        match self.runs.last_mut() {
            Some(run) if run.last().is_some_and(|last| last.key < record.key) => run.push(record),
            Some(_) | None => self.runs.push(vec![record]),
        }
    }

    pub(super) fn push_all(&mut self, records: Vec<Record>) {
        match records.is_sorted_by(|one, next| one.key < next.key) {
            true => self.runs.push(records),
            false => records.into_iter().for_each(|record| self.push(record)),
        }
    }

    /// Puts all states in order.
    pub(super) fn merge(&mut self) {
        if self.runs.is_empty() {
            return;
        }
        let earlier = std::mem::take(&mut self.records);
        let mut runs = std::mem::take(&mut self.runs);
        runs.push(earlier);
        let mut records = Vec::with_capacity(runs.iter().map(Vec::len).sum());
        let rests = runs.into_iter().filter_map(|run| {
            let mut others = run.into_iter();
            let first = others.next()?;
            Some(Box::new(Rest { first, others }))
        });
        let mut rests: BinaryHeap<_> = rests.collect();
        while let Some(mut rest) = rests.peek_mut() {
            match rest.others.next() {
                Some(next) => records.push(std::mem::replace(&mut rest.first, next)),
                None => {
                    let rest = std::collections::binary_heap::PeekMut::pop(rest);
                    records.push(rest.first);
                }
            }
        }
        self.records = records;
    }

    /// Removes the state of `key`.
    pub(super) fn take(&mut self, key: &str) -> Option<Record> {
        let place = self.records.binary_search_by(|record| (*record.key).cmp(key)).ok()?;
        Some(take(&mut self.records[place])).filter(is_there)
    }

    /// Removes the states of all keys that start with `prefix`. They are in order.
    pub(super) fn take_all(&mut self, prefix: &str) -> Vec<Record> {
        let range = self.range(prefix);
        if 2 * range.len() < self.records.len() {
            return self.records[range].iter_mut().map(take).filter(is_there).collect();
        }
        // Moving the others costs less than leaving so many gaps.
        let taken = self.records.drain(range).filter(is_there).collect();
        // The memory of a million records would be kept for a few.
        self.records.shrink_to_fit();
        taken
    }

    fn range(&self, prefix: &str) -> Range<usize> {
        let start = self.records.partition_point(|record| *record.key < *prefix);
        let count = self.records[start..].partition_point(|record| record.key.starts_with(prefix));
        start..start + count
    }

    /// The states of the keys that start with `prefix`.
    pub(super) fn under(&self, prefix: &str) -> impl Iterator<Item = &Record> {
        self.records[self.range(prefix)]
            .iter()
            .filter(|record| is_there(record))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| is_there(record))
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

fn is_there(record: &Record) -> bool {
    record.revision > Revision::ZERO
}

/// Moves the state out of `record`, and leaves its key.
fn take(record: &mut Record) -> Record {
    Record {
        revision: std::mem::take(&mut record.revision),
        key: Arc::clone(&record.key),
        change: record.change,
        bytes: std::mem::replace(&mut record.bytes, Bytes::new()),
        gap: record.gap,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Change;

    fn record(key: &str) -> Record {
        Record {
            revision: Revision(7),
            key: key.into(),
            change: Change::Put { expires: 0 },
            bytes: Bytes::from_static(b"object"),
            gap: None,
        }
    }

    fn keys<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<&'a str> {
        records.into_iter().map(|record| &*record.key).collect()
    }

    #[test]
    fn runs_in_any_order_are_merged_and_taken_once() {
        let mut states = SortedStates::default();
        states.push_all(["/b/1", "/b/4", "/c/1"].map(record).into());
        states.push_all(["/b/3", "/a/2", "/b/2"].map(record).into());
        states.push(record("/a/1"));
        states.push_all(Vec::new());
        states.merge();
        let all = ["/a/1", "/a/2", "/b/1", "/b/2", "/b/3", "/b/4", "/c/1"];
        assert_eq!(keys(states.iter()), all);
        assert_eq!(states.take("/b/2"), Some(record("/b/2")));
        assert_eq!((states.take("/b/2"), states.take("/b")), (None, None));
        states.push(record("/b/0"));
        states.merge();
        assert_eq!(keys(&states.take_all("/a/")), ["/a/1", "/a/2"]);
        assert_eq!(keys(&states.take_all("/b/")), ["/b/0", "/b/1", "/b/3", "/b/4"]);
        assert_eq!(states.take_all("/b/"), []);
        assert_eq!(keys(states.iter()), ["/c/1"]);
        assert_eq!(
            states.records.capacity(),
            states.records.len(),
            "the memory of those that were taken is free"
        );
        assert_eq!(keys(&states.take_all("")), ["/c/1"]);
        assert_eq!(states.iter().count(), 0);
    }
}

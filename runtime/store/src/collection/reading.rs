//! Reading the history of a collection: changes in memory, and those that are read back from the backend.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::list::Undone;
use super::{At, Collection, Compacted, HistoryRead, ListQuery, STEP};
use crate::draft::Encoded;
use crate::history::{Change, SpilledEvent};
use crate::log::{self, Record, WriteId};
use crate::subscribers::Subscription;
use crate::{Entry, Event, EventKind, Revision};

/// Maximum bytes of objects that are read back at once, unless one is larger.
const MAX_BATCH: usize = 1 << 20;

impl Collection {
    /// True if a list of the state `at` may read from the backend, which takes longer than reading from memory and blocks its
    /// thread.
    #[must_use]
    pub fn reads_back(&self, at: At) -> bool {
        match at {
            At::Latest => false,
            At::Exact(revision) => {
                let state = self.read();
                state.history.after(revision) < state.history.numbers().start + state.history.spilled() as u64
            }
        }
    }

    /// The former states of the keys that `query` selects and that the changes with these sequence numbers have changed.
    pub(super) fn undone(
        &self,
        numbers: Range<u64>,
        query: &ListQuery<'_>,
    ) -> Result<BTreeMap<Arc<str>, Undone>, Compacted> {
        let mut undone: BTreeMap<Arc<str>, Undone> = BTreeMap::new();
        let is_selected = |key: &str| key.starts_with(query.prefix) && query.start.is_none_or(|start| key >= start);
        for from in numbers.clone().step_by(STEP) {
            let state = self.read();
            let Some(changes) = state.history.since(from) else {
                let oldest = self.oldest();
                return Err(Compacted { oldest });
            };
            let left = usize::try_from(numbers.end - from).unwrap_or(usize::MAX);
            for change in changes.take(left.min(STEP)).filter(|change| is_selected(change.key())) {
                // The first change has the key's state before all of them, the last one tells if it has one now.
                match undone.get_mut(change.key()) {
                    Some(known) => known.is_there = !change.is_deletion(),
                    None => {
                        let known = Undone {
                            former: change.former(),
                            is_there: !change.is_deletion(),
                        };
                        undone.insert(change.key().into(), known);
                    }
                }
            }
        }
        Ok(undone)
    }

    /// The next events that `wants` selects for `subscription`, from the sequence number `cursor` on: at most `limit`, and
    /// none after those whose objects together reach `bytes` bytes. Events up to the revision `done` are not needed.
    pub(crate) fn read_history(
        &self,
        subscription: &Subscription,
        (cursor, done): (u64, Revision),
        (limit, bytes): (usize, usize),
        wants: impl Fn(Change<'_>) -> bool,
    ) -> Result<HistoryRead, Compacted> {
        let state = self.read();
        let mut read = HistoryRead {
            events: Vec::new(),
            spilled: Vec::new(),
            cursor,
            complete: Revision::ZERO,
            at_end: false,
        };
        if subscription.has_events(read.cursor) {
            let oldest = self.oldest();
            if subscription.has_forgotten(read.cursor) && done < oldest {
                return Err(Compacted { oldest });
            }
            // Forgotten changes of other keys, or up to `done`, are skipped.
            read.cursor = read.cursor.max(state.history.numbers().start);
            let changes = state.history.since(read.cursor).into_iter().flatten();
            let mut taken = 0;
            for (count, change) in changes.enumerate() {
                let is_cached = matches!(change, Change::Cached(_));
                let is_full = count >= STEP || read.events.len() + read.spilled.len() >= limit || taken >= bytes;
                let is_full = is_full || (!read.spilled.is_empty() && (is_cached || taken >= MAX_BATCH));
                // Changes with one revision are read together.
                if is_full && change.revision() != read.complete {
                    break;
                }
                read.cursor += 1;
                read.complete = change.revision();
                if wants(change) {
                    taken = taken.saturating_add(change.length());
                    match change {
                        Change::Cached(event) => read.events.push(Arc::clone(event)),
                        Change::Spilled(event) => read.spilled.push(event.clone()),
                    }
                }
            }
        } else {
            // All events up to here, including forgotten ones, are about other keys.
            read.cursor = state.history.end().max(read.cursor);
        }
        read.at_end = read.cursor == state.history.end();
        if read.at_end {
            read.complete = state.newest(&self.revisions);
        }
        Ok(read)
    }

    /// The events of `spilled` changes, read back from the backend; those of updates and deletions with the state before only if
    /// it `needs_previous`. Blocks.
    pub(crate) fn read_back(
        &self,
        spilled: &[SpilledEvent],
        needs_previous: bool,
    ) -> Result<Vec<Arc<Event>>, Compacted> {
        let write = |event: &SpilledEvent, revision| WriteId {
            key: event.keyed_row.key().into(),
            revision,
        };
        let mut writes: Vec<_> = spilled.iter().map(|event| write(event, event.revision)).collect();
        if needs_previous {
            let known: Vec<Revision> = spilled.iter().map(|event| event.revision).collect();
            let former = spilled.iter().filter(|event| {
                // Others are among the events themselves.
                event.previous > Revision::ZERO && known.binary_search(&event.previous).is_err()
            });
            writes.extend(former.map(|event| write(event, event.previous)));
        }
        let entries = self.read_entries(&writes)?;
        let by_revision: HashMap<Revision, &Arc<Entry>> =
            entries.iter().map(|entry| (entry.revision(), entry)).collect();
        let event = |(event, entry): (&SpilledEvent, &Arc<Entry>)| {
            let kind = match event.is_deletion {
                true => EventKind::Delete,
                false => EventKind::Put {
                    created: event.previous == Revision::ZERO,
                },
            };
            let previous = by_revision.get(&event.previous).map(|entry| Arc::clone(entry));
            Arc::new(Event::new(kind, Arc::clone(entry), previous.filter(|_| needs_previous)))
        };
        Ok(spilled.iter().zip(&entries).map(event).collect())
    }

    /// The states that `writes` led to, read back from the backend. Blocks.
    pub(super) fn read_entries(&self, writes: &[WriteId]) -> Result<Vec<Arc<Entry>>, Compacted> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let records = match &self.backend {
            Some(backend) => backend.read_back(writes),
            None => Ok(Vec::new()),
        };
        let records = records.unwrap_or_else(|error| {
            let source = std::error::Error::source(&error);
            tracing::warn!(%error, ?source, "history cannot be read back; its readers begin again");
            Vec::new()
        });
        let records: Option<Vec<Record>> = records.into_iter().collect();
        // History that was dropped meanwhile. The floor rises first.
        let records = records.filter(|records| records.len() == writes.len()).ok_or_else(|| {
            let oldest = self.oldest();
            tracing::debug!(%oldest, "history was forgotten while it was read back");
            Compacted { oldest }
        })?;
        self.values().prepare(&mut records.iter().map(|record| &*record.bytes));
        let indexer = self.indexer();
        let entry = |record: Record| {
            let expires = match record.change {
                log::Change::Put { expires } => expires,
                log::Change::Delete => 0,
            };
            let stored = Encoded {
                bytes: record.bytes.into(),
                gap: record.gap,
            };
            let read = (&*indexer, self.values());
            let entry = Entry::loaded(&record.key, record.revision, stored, expires, read, false);
            Arc::new(entry.compressed(self.compressor()))
        };
        Ok(records.into_iter().map(entry).collect())
    }
}

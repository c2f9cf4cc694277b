//! One batch while it is planned: its checked, numbered and encoded writes, and their consequences.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::queue::Expiry;
use crate::draft::Draft;
use crate::log::{Change, Record};
use crate::transformer::Reason;
use crate::write::{Expect, Op, WriteError, WriteResult, Written};
use crate::{Collection, Entry, Event, EventKind, Revision, Row, Submission};

/// Maximum size of a key in bytes; the record formats store the length in two bytes.
pub(crate) const KEY_LIMIT: usize = u16::MAX as usize;

/// Number of bytes by which an object may grow and still count as not larger: digits of its revision.
const SAME: usize = 32;

/// Limits on accepted writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Maximum bytes of one key and object.
    pub(super) write: usize,
    /// False when the disk is full: then only writes that do not make the state larger are accepted.
    pub(super) may_grow: bool,
}

/// Writes that are appended to the log together.
pub(super) struct Plan {
    last: Revision,
    now: u64,
    limits: Limits,
    records: Vec<Record>,
    /// The states of keys that earlier writes of the same batch changed.
    overlay: HashMap<Arc<str>, Planned>,
    outcome: Outcome,
}

/// The state of a key after the writes of a batch so far.
#[derive(Clone)]
struct Planned {
    entry: Option<Arc<Entry>>,
    /// True if one of these writes makes the state larger: without it, the others do not happen either.
    needs_growth: bool,
}

/// An answer, to be sent when the batch is durable.
struct Answer {
    reply: oneshot::Sender<WriteResult>,
    result: WriteResult,
    /// True if the answer is only valid if a write happens that makes the state larger.
    needs_growth: bool,
}

/// The consequences of a batch, once the log has it.
#[derive(Default)]
pub(super) struct Outcome {
    /// By collection.
    published: Vec<Published>,
    answers: Vec<Answer>,
    expired: Vec<Expiry>,
    /// Expiries that a write of the batch has replaced.
    superseded: Vec<Expiry>,
    /// The revisions of writes that make their object larger, and of those that depend on them; in order.
    growth: Vec<Revision>,
    refused_growth: bool,
}

/// The events of one collection.
struct Published {
    collection: Arc<Collection>,
    /// In revision order.
    events: Vec<Arc<Event>>,
    /// [`Collection::writer`] before the first of them was transformed.
    writer: u64,
}

impl Plan {
    pub(super) fn new(last: Revision, now: u64, limits: Limits) -> Self {
        Self {
            last,
            now,
            limits,
            records: Vec::new(),
            overlay: HashMap::new(),
            outcome: Outcome::default(),
        }
    }

    /// The last revision that was assigned.
    pub(super) fn last(&self) -> Revision {
        self.last
    }

    /// Adds a write, or its refusal.
    pub(super) fn add(&mut self, submission: Submission) {
        let Submission { collection, op, reply } = submission;
        let key = Arc::clone(op.key());
        let result = self.apply(&collection, op);
        let needs_growth = self.overlay.get(&key).is_some_and(|planned| planned.needs_growth);
        self.outcome.answers.push(Answer {
            reply,
            result,
            needs_growth,
        });
    }

    /// Deletes the state of `expiry`, if it is still the key's state.
    pub(super) fn expire(&mut self, collection: &Arc<Collection>, expiry: &Expiry) {
        let key: Arc<str> = expiry.keyed_row.key().into();
        let current = self.current(collection, &key);
        let Some(current) = current.filter(|entry| entry.revision() == expiry.revision) else {
            if self.overlay.contains_key(&key) {
                self.outcome.superseded.push(expiry.clone());
            }
            return;
        };
        self.delete(collection, (key, current), None);
        self.outcome.expired.push(expiry.clone());
    }

    /// The records to write, and their consequences once they are durable.
    pub(super) fn finish(self) -> (Vec<Record>, Outcome) {
        (self.records, self.outcome)
    }

    fn apply(&mut self, collection: &Arc<Collection>, op: Op) -> WriteResult {
        let size = op.size();
        if size > self.limits.write || op.key().len() > KEY_LIMIT {
            return Err(WriteError::TooLarge {
                size,
                limit: self.limits.write,
            });
        }
        let current = self.current(collection, op.key());
        match op {
            Op::Put {
                key,
                draft,
                row,
                expect,
                ttl,
            } => {
                check(expect, current.as_ref())?;
                let millis = |ttl: std::time::Duration| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
                let expires = ttl.map_or(0, |ttl| self.now.saturating_add(millis(ttl)).max(1));
                self.put(collection, (key, current), (draft, &row), expires)
            }
            Op::Rewrite {
                key,
                draft,
                row,
                revision,
            } => {
                check(Expect::Revision(revision), current.as_ref())?;
                let expires = current.as_ref().map_or(0, |entry| entry.expires_millis());
                self.put(collection, (key, current), (draft, &row), expires)
            }
            Op::Delete { key, expect, last } => {
                check(expect, current.as_ref())?;
                let Some(current) = current else {
                    return Err(WriteError::Conflict { current: None });
                };
                Ok(self.delete(collection, (key, current), last))
            }
        }
    }

    /// Gives a key a new state, which `expires` then; 0 is never.
    fn put(
        &mut self,
        collection: &Arc<Collection>,
        (key, current): (Arc<str>, Option<Arc<Entry>>),
        (draft, row): (Draft, &Row),
        expires: u64,
    ) -> WriteResult {
        let before = current.as_ref().map_or(0, |entry| entry.stored_size() + SAME);
        let grows = draft.len() > before;
        if grows && !self.limits.may_grow {
            self.outcome.refused_growth = true;
            return Err(WriteError::Full);
        }
        // Read before the value is sealed: a change of the key in between makes the entry stale.
        let writer = collection.writer();
        let sealed = collection.values().seal_draft(&key, &draft);
        let sealed = sealed.map_err(WriteError::Transform)?;
        let entry = Entry::written(&key, (draft, row), self.last.next(), expires, current.as_deref());
        let kind = EventKind::Put {
            created: current.is_none(),
        };
        Ok(self.record((collection, writer), kind, (key, entry, sealed), current, grows))
    }

    fn delete(
        &mut self,
        collection: &Arc<Collection>,
        (key, current): (Arc<str>, Arc<Entry>),
        last: Option<(Draft, Row)>,
    ) -> Written {
        let revision = self.last.next();
        let entry = match last {
            Some((draft, row)) => Entry::written(&key, (draft, &row), revision, 0, Some(&*current)),
            None => current.deleted_at(revision),
        };
        let writer = collection.writer();
        let sealed = entry
            .sealed_by(collection.values(), Reason::Deletion)
            .unwrap_or_else(|error| {
                // A key can be deleted in any case; readers of its history begin again.
                tracing::warn!(key = entry.key(), %error, "the final state of a deleted object is not stored");
                Some(Bytes::new())
            });
        self.record(
            (collection, writer),
            EventKind::Delete,
            (key, entry, sealed),
            Some(current),
            false,
        )
    }

    fn record(
        &mut self,
        (collection, writer): (&Arc<Collection>, u64),
        kind: EventKind,
        (key, mut entry, sealed): (Arc<str>, Entry, Option<Bytes>),
        previous: Option<Arc<Entry>>,
        grows: bool,
    ) -> Written {
        self.last = entry.revision();
        let change = match kind {
            EventKind::Put { .. } => Change::Put {
                expires: entry.expires_millis(),
            },
            EventKind::Delete => Change::Delete,
        };
        let plain = entry.compress(collection.compressor());
        let entry = Arc::new(entry);
        self.records.push(Record {
            revision: entry.revision(),
            key: Arc::clone(&key),
            change,
            // Of the stored bytes: those for readers lack what the definition of the kind removes.
            gap: entry
                .stored_gap()
                .filter(|_| !sealed.as_ref().is_some_and(Bytes::is_empty)),
            bytes: sealed.or(plain).unwrap_or_else(|| entry.to_stored_bytes()),
        });
        let now = (kind != EventKind::Delete).then(|| Arc::clone(&entry));
        let planned = self.overlay.entry(key).or_insert(Planned {
            entry: None,
            needs_growth: false,
        });
        planned.entry = now;
        planned.needs_growth |= grows;
        if planned.needs_growth {
            self.outcome.growth.push(entry.revision());
        }
        let event = Arc::new(Event::new(kind, Arc::clone(&entry), previous.clone()));
        self.outcome.push(collection, event, writer);
        Written {
            entry,
            previous,
            synced: Duration::ZERO,
        }
    }

    fn current(&self, collection: &Collection, key: &str) -> Option<Arc<Entry>> {
        match self.overlay.get(key) {
            Some(earlier) => earlier.entry.clone(),
            None => collection.get(key),
        }
    }
}

impl Outcome {
    fn push(&mut self, collection: &Arc<Collection>, event: Arc<Event>, writer: u64) {
        // A batch concerns few collections.
        let mut known = self.published.iter_mut();
        match known.find(|known| Arc::ptr_eq(&known.collection, collection)) {
            Some(known) => known.events.push(event),
            None => self.published.push(Published {
                collection: Arc::clone(collection),
                events: vec![event],
                writer,
            }),
        }
    }

    /// True if a write makes its object larger, or creates one.
    pub(super) fn has_growth(&self) -> bool {
        !self.growth.is_empty()
    }

    /// True if a write was refused because it makes the state larger.
    pub(super) fn has_refused_growth(&self) -> bool {
        self.refused_growth
    }

    /// Removes the writes that make the state larger from the batch and from `records`, with those that depend on them;
    /// they are answered with [`WriteError::Full`].
    pub(super) fn separate_growth(&mut self, records: &mut Vec<Record>) {
        let growth = std::mem::take(&mut self.growth);
        let remains = |revision: Revision| growth.binary_search(&revision).is_err();
        records.retain(|record| remains(record.revision));
        for published in &mut self.published {
            published.events.retain(|event| remains(event.revision()));
        }
        self.published.retain(|published| !published.events.is_empty());
        for answer in self.answers.iter_mut().filter(|answer| answer.needs_growth) {
            answer.result = Err(WriteError::Full);
        }
        self.refused_growth = true;
    }

    /// The bytes of all states after the batch; `before` are those before it.
    pub(super) fn live(&self, before: u64) -> u64 {
        let size = |entry: &Entry| Record::stored_size(entry.key(), entry.stored_size());
        let (mut grown, mut shrunk) = (0, 0);
        for event in self.published.iter().flat_map(|published| &published.events) {
            shrunk += event.previous().map_or(0, |previous| size(previous));
            if event.kind() != EventKind::Delete {
                grown += size(event.entry());
            }
        }
        (before + grown).saturating_sub(shrunk)
    }

    /// Makes the batch visible to readers. Returns the bytes of memory that its history costs.
    pub(super) fn publish(&self) -> usize {
        let mut memory = 0;
        for Published {
            collection,
            events,
            writer,
        } in &self.published
        {
            memory += events.iter().map(|event| event.heap_size()).sum::<usize>();
            collection.publish(events.iter().cloned());
            collection.compare_with(*writer, events);
        }
        memory
    }

    /// The new states that expire.
    pub(super) fn expiring(&self) -> Vec<Expiry> {
        let events = self.published.iter().flat_map(|published| &published.events);
        events.filter_map(|event| Expiry::of(event.entry())).collect()
    }

    /// The states that this batch was to expire, for when it is refused.
    pub(super) fn expired(&self) -> Vec<Expiry> {
        self.expired.iter().chain(&self.superseded).cloned().collect()
    }

    /// The states that would have expired without a write of the batch.
    pub(super) fn superseded(&self) -> Vec<Expiry> {
        self.superseded.clone()
    }

    /// The collections that the batch changed.
    pub(super) fn into_published(self) -> Vec<Arc<Collection>> {
        self.published
            .into_iter()
            .map(|published| published.collection)
            .collect()
    }

    /// Answers every write; the batch was durable after `synced`.
    pub(super) fn answer(&mut self, synced: Duration) {
        for Answer { reply, mut result, .. } in self.answers.drain(..) {
            if let Ok(written) = &mut result {
                written.synced = synced;
            }
            // The caller may have been dropped.
            let _ = reply.send(result);
        }
    }

    /// Answers every write with `error`, refused ones too: the reason of their refusal may have been an earlier write
    /// of this batch.
    pub(super) fn refuse(self, error: &WriteError) {
        for Answer { reply, .. } in self.answers {
            let _ = reply.send(Err(error.clone()));
        }
    }
}

fn check(expect: Expect, current: Option<&Arc<Entry>>) -> Result<(), WriteError> {
    let holds = match expect {
        Expect::Absent => current.is_none(),
        Expect::Revision(revision) => current.is_some_and(|entry| entry.revision() == revision),
        Expect::Present => current.is_some(),
        Expect::Any => true,
    };
    if holds {
        Ok(())
    } else {
        Err(WriteError::Conflict {
            current: current.cloned(),
        })
    }
}

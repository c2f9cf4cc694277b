//! The entries under one prefix: the wire-first cache of one kind.

mod entries;
mod list;
mod sequencer;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::oneshot;

use self::entries::Entries;
use self::list::Snapshot;
pub use self::list::{At, Compacted, ListQuery, Page};
pub use self::sequencer::{Sequencer, Submission};
use crate::history::{History, Position};
use crate::revision_window::RevisionWindow;
use crate::subscribers::{Subscribers, Subscription};
use crate::write::{Op, WriteError, WriteResult};
use crate::{Entry, Event, EventKind, Indexer, NoIndex, Revision, SchemaEpoch};

/// Maximum number of events that a reader skips while it has the lock.
const STEP: usize = 1024;

/// All entries whose keys start with one prefix, and their recent changes.
///
/// Reads never wait for the disk. They see durable writes, in the order of the revisions. No reader has the lock for
/// longer than a lookup or a step through the history takes: lists read from snapshots.
pub struct Collection {
    prefix: Box<str>,
    /// Replaced when the kind changes.
    indexer: RwLock<Arc<dyn Indexer>>,
    revisions: Arc<RevisionWindow>,
    sequencer: Arc<dyn Sequencer>,
    /// Guards entries and history together, so that a reader sees both at one revision. Only
    /// the sequencer writes.
    state: RwLock<State>,
    /// Bytes of all superseded states.
    superseded: AtomicU64,
    /// States before this revision are unknown, even if the store knows those of other collections.
    floor: AtomicU64,
    subscribers: Subscribers,
}

#[derive(Debug, Default)]
struct State {
    entries: Entries,
    /// Bytes of all entries.
    bytes: usize,
    history: History,
}

/// Counts about a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionStats {
    /// Number of entries.
    pub entries: usize,
    /// Bytes of the newest states of all entries, in their stored form.
    pub bytes: usize,
    /// Number of changes in the history.
    pub events: usize,
    /// Number of changes that were published since the start, including restored ones and those that the history has
    /// forgotten.
    pub published: u64,
    /// The revision of the newest change, even if the history has forgotten it; zero before the first.
    pub newest: Revision,
    /// Number of open watchers.
    pub watchers: usize,
}

/// The start of a reader of the history.
pub(crate) struct Subscribed {
    pub(crate) subscription: Subscription,
    /// The sequence number of the first event to read.
    pub(crate) cursor: u64,
    /// The revision after which it starts.
    pub(crate) progress: Revision,
}

/// Changes read from the history.
pub(crate) struct HistoryRead {
    pub(crate) events: Vec<Arc<Event>>,
    /// The sequence number of the next event to read.
    pub(crate) cursor: u64,
    /// The revision up to which all changes were read.
    pub(crate) complete: Revision,
    pub(crate) at_end: bool,
}

impl Collection {
    /// Returns an empty collection, to which the backend of `sequencer` publishes.
    #[must_use]
    pub fn new(
        prefix: &str,
        indexer: Arc<dyn Indexer>,
        revisions: Arc<RevisionWindow>,
        sequencer: Arc<dyn Sequencer>,
    ) -> Self {
        Self {
            prefix: prefix.into(),
            indexer: RwLock::new(indexer),
            revisions,
            sequencer,
            state: RwLock::default(),
            superseded: AtomicU64::default(),
            floor: AtomicU64::default(),
            subscribers: Subscribers::default(),
        }
    }

    /// The common prefix of all keys.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The indexer, which computes the rows of loaded entries.
    #[must_use]
    pub fn indexer(&self) -> Arc<dyn Indexer> {
        Arc::clone(&self.indexer.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets go of `indexer`, if it still is the indexer: its kind has no definition any more. Later entries get no rows.
    pub fn release(&self, indexer: &Arc<dyn Indexer>) {
        let mut current = self.indexer.write().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current, indexer) {
            *current = Arc::new(NoIndex);
        }
    }

    /// True if there are neither entries nor changes, and readers can begin wherever the store has history.
    pub(crate) fn has_nothing(&self) -> bool {
        let floor = Revision(self.floor.load(Ordering::Acquire));
        let state = self.read();
        state.entries.len() == 0 && state.history.len() == 0 && floor <= self.revisions.oldest()
    }

    /// The oldest revision at which lists and after which watches are possible.
    fn oldest(&self) -> Revision {
        let floor = Revision(self.floor.load(Ordering::Acquire));
        self.revisions.oldest().max(floor)
    }

    /// Refuses lists at revisions before `revision`, and watches from there, as if history were forgotten: the history of
    /// entries that came from other keys does not tell their former states. Lasts until the store closes.
    pub fn raise_floor(&self, revision: Revision) {
        self.floor.fetch_max(revision.0, Ordering::AcqRel);
    }

    /// Computes the rows of all entries anew, and their bytes where the kind's encoding has changed. Revisions stay, so
    /// watchers notice nothing; the bytes in the backend stay until the next write. The result identifies the entries
    /// that were adapted to the kind's current definition.
    pub fn reindex(&self, indexer: &Arc<dyn Indexer>) -> SchemaEpoch {
        let epoch = SchemaEpoch::next();
        *self.indexer.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(indexer);
        let all: Vec<Arc<Entry>> = self.snapshot().entries.iter().map(Arc::clone).collect();
        // Readers continue meanwhile; entries that are written in between are reindexed below.
        let reindexed = |entry: &Arc<Entry>| entry.reindexed(&**indexer, epoch).map(Arc::new);
        let all: Vec<_> = all.into_iter().map(|entry| (reindexed(&entry), entry)).collect();
        let mut all = all.into_iter().peekable();
        let mut state = self.write_lock();
        let State { entries, bytes, .. } = &mut *state;
        entries.replace_each(|current| {
            while all.next_if(|(_, entry)| entry.key() < current.key()).is_some() {}
            let new = match all.next_if(|(_, entry)| Arc::ptr_eq(entry, current)) {
                Some((new, _)) => new,
                None => reindexed(current),
            }?;
            *bytes = *bytes + new.bytes().len() - current.bytes().len();
            Some(new)
        });
        epoch
    }

    /// The current state of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Arc<Entry>> {
        self.read().entries.get(key).cloned()
    }

    /// True if no key starts with `prefix`.
    #[must_use]
    pub fn is_empty(&self, prefix: &str) -> bool {
        self.read().entries.range(prefix, None).peek().is_none()
    }

    /// One page of the entries that `query` selects, in the state at one revision.
    ///
    /// A list of the newest state costs one clone of a pointer per entry; an older state also costs one step per change
    /// since. Entries after the page cost nothing.
    ///
    /// # Errors
    ///
    /// [`Compacted`] when the history does not reach back to the requested revision. A future revision is answered with
    /// the newest state: wait for it first, with `Storage::wait_for`.
    pub fn list(&self, query: &ListQuery<'_>) -> Result<Page, Compacted> {
        let At::Exact(revision) = query.at else {
            return Ok(self.snapshot().page(query));
        };
        let (snapshot, changes) = {
            let state = self.read();
            // The floor rises before history is trimmed, which waits for this lock: changes that are found here are
            // complete.
            let oldest = self.oldest();
            if revision < oldest {
                return Err(Compacted { oldest });
            }
            (
                state.snapshot(&self.revisions),
                state.history.after(revision)..state.history.end(),
            )
        };
        let changes = self.changes(changes, query.prefix)?;
        Ok(snapshot.former_page(query, revision, &changes))
    }

    /// The events with these sequence numbers whose keys start with `prefix`.
    fn changes(&self, numbers: std::ops::Range<u64>, prefix: &str) -> Result<Vec<Arc<Event>>, Compacted> {
        let mut changes = Vec::new();
        for from in numbers.clone().step_by(STEP) {
            let state = self.read();
            let Some(events) = state.history.since(from) else {
                let oldest = self.oldest();
                return Err(Compacted { oldest });
            };
            let left = usize::try_from(numbers.end - from).unwrap_or(usize::MAX);
            let events = events.take(left.min(STEP));
            let wanted = events.filter(|event| event.entry().key().starts_with(prefix));
            changes.extend(wanted.cloned());
        }
        Ok(changes)
    }

    fn snapshot(&self) -> Snapshot {
        self.read().snapshot(&self.revisions)
    }

    /// Subscribes to the changes of keys that start with `prefix`: those after `revision`, or those that follow.
    ///
    /// # Errors
    ///
    /// [`Compacted`] when changes after `revision` are forgotten.
    pub(crate) fn subscribe(&self, prefix: &str, revision: Option<Revision>) -> Result<Subscribed, Compacted> {
        let state = self.read();
        let (cursor, progress) = match revision {
            None => (state.history.end(), state.newest(&self.revisions)),
            Some(revision) => {
                let oldest = self.oldest();
                if revision < oldest {
                    return Err(Compacted { oldest });
                }
                (state.history.after(revision), revision)
            }
        };
        Ok(Subscribed {
            subscription: self.subscribers.subscribe(prefix, state.history.numbers()),
            cursor,
            progress,
        })
    }

    /// The newest entries that `query` selects, and a subscription to every later change under the same prefix.
    pub(crate) fn list_and_subscribe(&self, query: &ListQuery<'_>) -> (Page, Subscribed) {
        let state = self.read();
        let snapshot = state.snapshot(&self.revisions);
        let history = state.history.numbers();
        let subscription = self.subscribers.subscribe(query.prefix, history.clone());
        drop(state);
        let subscribed = Subscribed {
            subscription,
            cursor: history.end,
            progress: snapshot.revision,
        };
        (snapshot.page(query), subscribed)
    }

    /// The position after all changes so far, for [`Self::has_changed`].
    #[must_use]
    pub fn position(&self) -> Position {
        Position(self.read().history.end())
    }

    /// True if there was a change up to `until` that a watcher at `position` had not seen. Forgotten changes count,
    /// because they are unknown.
    #[must_use]
    pub fn has_changed(&self, position: Position, until: Revision) -> bool {
        match self.read().history.since(position.0) {
            Some(mut unseen) => unseen.next().is_some_and(|event| event.revision() <= until),
            None => true,
        }
    }

    /// Performs `op` if its expectation is met, and returns when it is durable and visible.
    ///
    /// Dropping the future does not cancel the write.
    ///
    /// # Errors
    ///
    /// See [`WriteError`]; nothing was written unless it is [`WriteError::Io`].
    pub async fn write(self: &Arc<Self>, op: Op) -> WriteResult {
        debug_assert!(op.key().starts_with(&*self.prefix));
        let (reply, answer) = oneshot::channel();
        let collection = Arc::clone(self);
        self.sequencer.submit(Submission { collection, op, reply });
        answer.await.unwrap_or(Err(WriteError::Closed))
    }

    /// Counts about the collection.
    #[must_use]
    pub fn stats(&self) -> CollectionStats {
        let state = self.read();
        CollectionStats {
            entries: state.entries.len(),
            bytes: state.bytes,
            events: state.history.len(),
            published: state.history.end(),
            newest: state.history.newest(),
            watchers: self.subscribers.len(),
        }
    }

    /// Bytes of the states that were replaced or deleted since the start. The difference of two calls bounds the bytes
    /// that all readers that began in between keep in memory, beside the newest states.
    #[must_use]
    pub fn superseded_bytes(&self) -> u64 {
        self.superseded.load(Ordering::Relaxed)
    }

    /// Makes `events` visible to readers, all at once; [`Collection::wake`] then wakes their watchers.
    ///
    /// For the sequencer: events are durable, in revision order, and newer than all before.
    pub fn publish(&self, events: impl IntoIterator<Item = Arc<Event>>) {
        let events: Vec<_> = events.into_iter().collect();
        let mut replaced = Vec::with_capacity(events.len());
        let mut superseded = 0;
        let mut state = self.write_lock();
        let ends = state.history.end() + 1..;
        // Marked first and under the lock: a watcher that reads knows of every event before it.
        self.subscribers.mark(keys(&events).zip(ends));
        for event in events {
            let entry = event.entry();
            let old = match event.kind() {
                EventKind::Put { .. } => {
                    state.bytes += entry.bytes().len();
                    state.entries.insert(Arc::clone(entry))
                }
                EventKind::Delete => state.entries.remove(entry.key()),
            };
            let old_bytes = old.as_ref().map_or(0, |old| old.bytes().len());
            state.bytes -= old_bytes;
            superseded += old_bytes as u64;
            replaced.push(old);
            state.history.push(event);
        }
        drop(state);
        self.superseded.fetch_add(superseded, Ordering::Relaxed);
        // Dropping old states can free much memory; readers do not wait for it.
        drop(replaced);
    }

    /// Adds the loaded content: the `states` before all `events`, then the events.
    pub fn restore(&self, states: Vec<Arc<Entry>>, events: Vec<Arc<Event>>) {
        let bytes = states.iter().map(|entry| entry.bytes().len()).sum();
        let newest = states.iter().map(|entry| entry.revision()).max();
        let entries = Entries::new(states);
        let mut state = self.write_lock();
        state.bytes = bytes;
        state.history.begin_behind(newest.unwrap_or_default());
        state.entries = entries;
        drop(state);
        self.publish(events);
        self.wake();
    }

    /// Wakes the watchers of everything that was published since the last call.
    pub fn wake(&self) {
        self.subscribers.wake();
    }

    /// The number of calls that the next [`Collection::wake`] makes: one per connection with watchers of what was published.
    pub(crate) fn wake_calls(&self) -> usize {
        self.subscribers.wake_calls()
    }

    /// Ends all watches once they have delivered the remaining events.
    pub fn close(&self) {
        self.subscribers.close();
    }

    pub(crate) fn subscribers(&self) -> &Subscribers {
        &self.subscribers
    }

    /// Forgets changes up to and including `floor`, at most `limit` of them. Returns their number.
    pub fn trim(&self, floor: Revision, limit: usize) -> usize {
        let mut state = self.write_lock();
        let ends = state.history.numbers().start + 1..;
        let trimmed = state.history.trim(floor, limit);
        self.subscribers.forget(keys(&trimmed).zip(ends));
        drop(state);
        trimmed.len()
    }

    /// The next events that `wants` selects for `subscription`, from the sequence number `cursor` on: at most `limit`, and
    /// none after those whose objects together reach `bytes` bytes.
    pub(crate) fn read_history(
        &self,
        subscription: &Subscription,
        cursor: u64,
        (limit, bytes): (usize, usize),
        wants: impl Fn(&Event) -> bool,
    ) -> Result<HistoryRead, Compacted> {
        let state = self.read();
        let mut read = HistoryRead {
            events: Vec::new(),
            cursor,
            complete: Revision::ZERO,
            at_end: false,
        };
        if subscription.has_events(read.cursor) {
            if subscription.has_forgotten(read.cursor) {
                return Err(Compacted { oldest: self.oldest() });
            }
            // Forgotten changes of other keys are skipped.
            read.cursor = read.cursor.max(state.history.numbers().start);
            let changes = state.history.since(read.cursor).into_iter().flatten();
            let mut taken = 0;
            for (count, event) in changes.enumerate() {
                let is_full = count >= STEP || read.events.len() >= limit || taken >= bytes;
                // Changes with one revision are read together.
                if is_full && event.revision() != read.complete {
                    break;
                }
                read.cursor += 1;
                read.complete = event.revision();
                if wants(event) {
                    taken = taken.saturating_add(event.entry().bytes().len());
                    read.events.push(Arc::clone(event));
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

    /// The change of `key` at `revision`; `None` if the history does not have it.
    pub(crate) fn change_at(&self, key: &str, revision: Revision) -> Option<Arc<Event>> {
        let state = self.read();
        let from = state.history.after(Revision(revision.0.saturating_sub(1)));
        let mut changes = state
            .history
            .since(from)?
            .take_while(|event| event.revision() == revision);
        changes.find(|event| &**event.entry().key() == key).cloned()
    }

    /// Forgets all changes, and others that nobody has told: every watcher gets an error. [`Collection::wake`] then wakes
    /// them.
    pub(crate) fn forget_history(&self) {
        let mut state = self.write_lock();
        let forgotten = state.history.forget_all();
        self.subscribers.forget_all(state.history.end());
        drop(state);
        drop(forgotten);
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        // A panic cannot interrupt a change half way.
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_lock(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keys(events: &[Arc<Event>]) -> impl Iterator<Item = &str> {
    events.iter().map(|event| &**event.entry().key())
}

impl State {
    /// The revision whose state is the newest one.
    ///
    /// A batch becomes visible in one collection at once but in several collections one after the other, so a
    /// collection may be ahead of the visible revision, never behind it.
    fn newest(&self, revisions: &RevisionWindow) -> Revision {
        revisions.visible().max(self.history.newest())
    }

    fn snapshot(&self, revisions: &RevisionWindow) -> Snapshot {
        Snapshot {
            entries: self.entries.clone(),
            revision: self.newest(revisions),
        }
    }
}

impl fmt::Debug for Collection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Collection")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

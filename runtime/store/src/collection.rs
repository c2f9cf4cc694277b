//! The entries under one prefix: the wire-first cache of one kind.

mod entries;
mod list;
mod reading;
mod sequencer;
mod transformation;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::oneshot;

use self::entries::Entries;
use self::list::Snapshot;
pub use self::list::{At, Compacted, ListQuery, Page};
pub use self::sequencer::{Sequencer, Submission};
use crate::compression::Compressor;
use crate::history::{Change, Forgotten, History, Position, SpilledEvent};
use crate::log::Log;
use crate::options::HistoryLimits;
use crate::revision_window::RevisionWindow;
use crate::subscribers::{Subscribers, Subscription};
use crate::values::Values;
use crate::write::{Op, WriteError, WriteResult};
use crate::{Entry, Event, EventKind, Indexer, NoIndex, Revision, SchemaEpoch, StoredForm};

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
    /// The number of times that entries were changed.
    generation: AtomicU64,
    /// States before this revision are unknown, even if the store knows those of other collections.
    floor: AtomicU64,
    /// Watches do not begin before this revision.
    watch_floor: AtomicU64,
    subscribers: Subscribers,
    /// Its values in the backend.
    values: Values,
    /// Of its entries.
    compressor: Compressor,
    /// [`Values::writer`], as the entries were compared with it.
    writer: AtomicU64,
    /// Older changes are read back from it.
    backend: Option<Arc<dyn Log>>,
    history_limits: HistoryLimits,
}

#[derive(Debug, Default)]
struct State {
    entries: Entries,
    /// Bytes of all entries.
    bytes: usize,
    /// Bytes of their keys.
    key_bytes: usize,
    history: History,
}

/// Counts about a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionStats {
    /// Number of entries.
    pub entries: usize,
    /// Bytes of the newest states of all entries, in their stored form.
    pub bytes: usize,
    /// Bytes of the keys of all entries.
    pub key_bytes: usize,
    /// Number of changes in the history.
    pub events: usize,
    /// Number of these whose states are not in memory, but read back from the backend when they are needed.
    pub spilled: usize,
    /// Number of changes that were published since the start, including restored ones and those that the history has
    /// forgotten.
    pub published: u64,
    /// The revision of the newest change, even if the history has forgotten it; zero before the first.
    pub newest: Revision,
    /// Number of open watchers.
    pub watchers: usize,
}

/// The number and the size of the entries of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionSize {
    /// Number of entries.
    pub entries: usize,
    /// Bytes of their newest states, in their stored form.
    pub bytes: usize,
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
    /// Changes to be read back, if there are no events.
    pub(crate) spilled: Vec<SpilledEvent>,
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
            generation: AtomicU64::default(),
            floor: AtomicU64::default(),
            watch_floor: AtomicU64::default(),
            subscribers: Subscribers::default(),
            values: Values::default(),
            compressor: Compressor::default(),
            writer: AtomicU64::default(),
            backend: None,
            history_limits: HistoryLimits::default(),
        }
    }

    /// The same collection, whose older changes may be left to `backend`, and whose history has `limits` of its own.
    pub(crate) fn with_history(self, backend: Arc<dyn Log>, limits: HistoryLimits) -> Self {
        Self {
            backend: Some(backend),
            history_limits: limits,
            ..self
        }
    }

    /// The same collection, with a compressor that has compressed its first states.
    pub(crate) fn with_compressor(self, compressor: Compressor) -> Self {
        Self { compressor, ..self }
    }

    /// Compresses its entries.
    pub(crate) fn compressor(&self) -> &Compressor {
        &self.compressor
    }

    pub(crate) fn history_limits(&self) -> HistoryLimits {
        self.history_limits
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

    /// Refuses watches from revisions before `revision`, as if history were forgotten: objects have changed without a write, because
    /// the definition of their kind has, so that a reader of changes alone would keep what they were. Running watches go on. Lasts
    /// until the store closes.
    pub fn raise_watch_floor(&self, revision: Revision) {
        self.watch_floor.fetch_max(revision.0, Ordering::AcqRel);
    }

    /// Computes the rows of all entries anew, and their bytes from the stored ones, whatever an earlier definition of the kind made of
    /// these. Revisions stay, so watchers notice nothing; the bytes in the backend stay until the next write, and in memory beside
    /// those of the entry if they encode another object. The result identifies the entries that were adapted to the kind's current
    /// definition.
    pub fn reindex(&self, indexer: &Arc<dyn Indexer>) -> SchemaEpoch {
        let epoch = SchemaEpoch::next();
        *self.indexer.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(indexer);
        let all: Vec<Arc<Entry>> = self.snapshot().entries.iter().map(Arc::clone).collect();
        // Readers continue meanwhile; entries that are written in between are reindexed below.
        let reindexed = |entry: &Arc<Entry>| {
            let new = entry.reindexed(&**indexer, epoch)?;
            Some(Arc::new(new.compressed(&self.compressor)))
        };
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
            if current.backend_form() == StoredForm::Earlier {
                new.mark_stale();
            }
            *bytes = *bytes + new.size() - current.size();
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
    /// since, and states that are not in memory any more are read back from the backend: see [`Self::reads_back`]. Entries after
    /// the page cost nothing. If there are more, the history of an older state is kept for the next page: up to six times as
    /// long as usual while pages are requested, within the limits in bytes.
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
        let undone = self.undone(changes, query)?;
        let page = snapshot.former_page(query, revision, &undone, &|writes| self.read_entries(writes))?;
        if page.more {
            self.revisions.hold(revision);
        }
        Ok(page)
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
                let watch_floor = Revision(self.watch_floor.load(Ordering::Acquire));
                let oldest = self.oldest().max(watch_floor);
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
            key_bytes: state.key_bytes,
            events: state.history.len(),
            spilled: state.history.spilled(),
            published: state.history.end(),
            newest: state.history.newest(),
            watchers: self.subscribers.len(),
        }
    }

    /// The number and the size of the entries.
    #[must_use]
    pub fn size(&self) -> CollectionSize {
        let state = self.read();
        CollectionSize {
            entries: state.entries.len(),
            bytes: state.bytes,
        }
    }

    /// The number of watches of clients ([`Watcher::of_client`](crate::Watcher::of_client)) that receive a change of `key`.
    #[must_use]
    pub fn watches_of(&self, key: &str) -> usize {
        self.subscribers.clients_of(key)
    }

    /// Bytes of the states that were replaced or deleted since the start. The difference of two calls bounds the bytes
    /// that all readers that began in between keep in memory, beside the newest states.
    #[must_use]
    pub fn superseded_bytes(&self) -> u64 {
        self.superseded.load(Ordering::Relaxed)
    }

    /// A number that grows with each change of the entries, before its writer is answered. Reading it takes no lock: results that
    /// were computed from the entries stay valid while it stays the same.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Makes `events` visible to readers, all at once; [`Collection::wake`] then wakes their watchers.
    ///
    /// For the sequencer: events are durable, in revision order, and newer than all before.
    pub fn publish(&self, events: impl IntoIterator<Item = Arc<Event>>) {
        let events: Vec<_> = events.into_iter().collect();
        let mut state = self.write_lock();
        let replaced = self.add(&mut state, events);
        drop(state);
        // Dropping old states can free much memory; readers do not wait for it.
        drop(replaced);
    }

    /// Like [`Self::publish`], for changes among which others are unknown: makes their states visible, and at the same time
    /// forgets all changes, these included. So no watcher takes them for all that happened: each gets an error.
    pub(crate) fn publish_gap(&self, events: Vec<Arc<Event>>) {
        let mut state = self.write_lock();
        let replaced = self.add(&mut state, events);
        let forgotten: Forgotten = state.history.forget_all();
        self.subscribers.forget_all(state.history.end());
        drop(state);
        drop((replaced, forgotten));
    }

    /// Adds `events` to `state`. Returns the states that they replace.
    fn add(&self, state: &mut State, events: Vec<Arc<Event>>) -> Vec<Option<Arc<Entry>>> {
        let mut replaced = Vec::with_capacity(events.len());
        let mut superseded = 0;
        let ends = state.history.end() + 1..;
        // Marked first and under the lock: a watcher that reads knows of every event before it.
        self.subscribers.mark(keys(&events).zip(ends));
        for event in events {
            let entry = event.entry();
            let old = match event.kind() {
                EventKind::Put { .. } => {
                    state.bytes += entry.size();
                    state.key_bytes += entry.key().len();
                    state.entries.insert(Arc::clone(entry))
                }
                EventKind::Delete => state.entries.remove(entry.key()),
            };
            state.key_bytes -= old.as_ref().map_or(0, |old| old.key().len());
            let old_bytes = old.as_ref().map_or(0, |old| old.size());
            state.bytes -= old_bytes;
            superseded += old_bytes as u64;
            replaced.push(old);
            state.history.push(event);
        }
        self.generation.fetch_add(1, Ordering::Release);
        self.superseded.fetch_add(superseded, Ordering::Relaxed);
        replaced
    }

    /// Adds the loaded content to the empty collection: the newest `states`, and the `spilled` changes and the `events` after them
    /// that led to them. The states before all of these are not newer than `before`.
    pub(crate) fn restore(
        &self,
        states: Vec<Arc<Entry>>,
        before: Revision,
        spilled: Vec<SpilledEvent>,
        events: Vec<Arc<Event>>,
    ) {
        let bytes = states.iter().map(|entry| entry.size()).sum();
        let key_bytes = states.iter().map(|entry| entry.key().len()).sum();
        let entries = Entries::new(states);
        let mut state = self.write_lock();
        (state.bytes, state.key_bytes) = (bytes, key_bytes);
        state.history.begin_behind(before);
        spilled.into_iter().for_each(|event| state.history.push_spilled(event));
        events.into_iter().for_each(|event| state.history.push(event));
        state.entries = entries;
        self.generation.fetch_add(1, Ordering::Release);
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
        self.subscribers.forget(trimmed.keys().zip(ends));
        drop(state);
        trimmed.len()
    }

    /// Leaves the states of changes up to and including `revision` to the backend, at most `limit` of them. Returns their
    /// number.
    pub(crate) fn spill(&self, revision: Revision, limit: usize) -> usize {
        let spilled = self.write_lock().history.spill(revision, limit);
        spilled.len()
    }

    /// The revision up to which changes are to be forgotten so that the objects of the others have `bytes` bytes at most.
    pub(crate) fn floor_for(&self, bytes: u64) -> Revision {
        let state = self.read();
        match state.history.bytes() > bytes {
            true => state.history.floor_for(bytes),
            false => Revision::ZERO,
        }
    }

    /// The change of `key` at `revision`; `None` if the history does not have it.
    pub(crate) fn change_at(&self, key: &str, revision: Revision) -> Option<Arc<Event>> {
        let state = self.read();
        let from = state.history.after(Revision(revision.0.saturating_sub(1)));
        let changes = state.history.since(from)?;
        let mut changes = changes.take_while(|change| change.revision() == revision);
        match changes.find(|change| change.key() == key)? {
            Change::Cached(event) => Some(Arc::clone(event)),
            Change::Spilled(_) => None,
        }
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
    events.iter().map(|event| event.entry().key())
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

//! The entries under one prefix: the wire-first cache of one kind.

mod list;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::{oneshot, watch};

pub use self::list::{At, Compacted, ListQuery, Page};
use crate::history::History;
use crate::horizon::Horizon;
use crate::watcher::{HistoryRead, Position, Signal};
use crate::write::{Op, Sequencer, Submission, WriteError, WriteResult};
use crate::{Entry, Event, EventKind, Fit, Indexer, Revision, WatchError, WatchFrom, Watcher};

/// All entries whose keys start with one prefix, and their recent changes.
///
/// Reads never wait for the disk. They see what is durable, in the order of the revisions.
pub struct Collection {
    prefix: Box<str>,
    /// Replaced when the kind changes.
    indexer: RwLock<Arc<dyn Indexer>>,
    horizon: Arc<Horizon>,
    sequencer: Arc<dyn Sequencer>,
    /// Guards entries and history together, so that a reader sees both at one revision. Only
    /// the sequencer writes.
    state: RwLock<State>,
    wake: watch::Sender<Signal>,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<Arc<str>, Arc<Entry>>,
    /// Of all entries together.
    bytes: usize,
    history: History,
}

/// How much a collection holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionStats {
    /// Entries.
    pub entries: usize,
    /// Bytes of the newest states of all entries, as they are stored.
    pub bytes: usize,
    /// Changes in the history.
    pub events: usize,
    /// Changes that were shown to readers since the start, with those that were restored; also those that the history has
    /// forgotten.
    pub published: u64,
    /// The newest change, also when the history has forgotten it; zero before the first.
    pub newest: Revision,
    /// Open watchers.
    pub watchers: usize,
}

impl Collection {
    /// An empty collection. What is behind `sequencer` publishes to it.
    #[must_use]
    pub fn new(prefix: &str, indexer: Arc<dyn Indexer>, horizon: Arc<Horizon>, sequencer: Arc<dyn Sequencer>) -> Self {
        Self {
            prefix: prefix.into(),
            indexer: RwLock::new(indexer),
            horizon,
            sequencer,
            state: RwLock::default(),
            wake: watch::Sender::default(),
        }
    }

    /// What all keys start with.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// What makes the rows of loaded entries.
    #[must_use]
    pub fn indexer(&self) -> Arc<dyn Indexer> {
        Arc::clone(&self.indexer.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes the rows of all entries anew, and their bytes where the kind makes others of them today. Revisions stay, so
    /// that watchers notice nothing; what the backend holds stays as it is until the next write. Entries tell by the result
    /// whether they are known to be as the kind is now.
    pub fn refit(&self, indexer: &Arc<dyn Indexer>) -> Fit {
        let fit = Fit::next();
        *self.indexer.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(indexer);
        let all: Vec<Arc<Entry>> = self.read().entries.values().map(Arc::clone).collect();
        // Readers go on meanwhile; what is written in between is looked at below.
        let refitted = |entry: &Arc<Entry>| entry.refitted(&**indexer, fit).map(Arc::new);
        let all: Vec<_> = all.into_iter().map(|entry| (refitted(&entry), entry)).collect();
        let mut all = all.into_iter().peekable();
        let mut state = self.write_lock();
        let State { entries, bytes, .. } = &mut *state;
        for (key, current) in entries {
            while all.next_if(|(_, entry)| entry.key() < key).is_some() {}
            let new = match all.next_if(|(_, entry)| Arc::ptr_eq(entry, current)) {
                Some((new, _)) => new,
                None => refitted(current),
            };
            if let Some(new) = new {
                *bytes = *bytes + new.bytes().len() - current.bytes().len();
                *current = new;
            }
        }
        fit
    }

    /// The current state of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Arc<Entry>> {
        self.read().entries.get(key).cloned()
    }

    /// Whether no key starts with `prefix`.
    #[must_use]
    pub fn is_empty(&self, prefix: &str) -> bool {
        self.read().range(prefix, None).next().is_none()
    }

    /// One page of the entries that `query` selects, all of them as they were at one revision.
    ///
    /// A list of the newest state costs one clone of a pointer per entry; an older state costs
    /// one step per change since.
    ///
    /// # Errors
    ///
    /// [`Compacted`] when the history does not reach back to the revision asked for. A revision
    /// that is still to come is answered with the newest state: wait for it first, with
    /// `Storage::wait_for`.
    pub fn list(&self, query: &ListQuery<'_>) -> Result<Page, Compacted> {
        list::list(&self.read(), &self.horizon, query)
    }

    /// The changes of keys that start with `prefix`.
    ///
    /// After a revision that is still to come, the watch starts behind it.
    ///
    /// # Errors
    ///
    /// [`WatchError::Compacted`] when changes after the revision asked for are gone.
    pub fn watch(self: &Arc<Self>, prefix: &str, from: WatchFrom) -> Result<Watcher, WatchError> {
        let state = self.read();
        let newest = list::newest(&state, &self.horizon);
        let (cursor, progress) = match from {
            WatchFrom::Now => (state.history.end(), newest),
            WatchFrom::After(revision) => {
                let oldest = self.horizon.oldest();
                if revision < oldest {
                    return Err(WatchError::Compacted { oldest });
                }
                (state.history.after(revision), revision)
            }
        };
        Ok(Watcher::new(
            Arc::clone(self),
            prefix,
            cursor,
            progress,
            self.wake.subscribe(),
        ))
    }

    /// Behind everything that changed so far, for [`Self::has_changed`].
    #[must_use]
    pub fn position(&self) -> Position {
        Position(self.read().history.end())
    }

    /// Whether anything changed up to `until` that a watcher at `position` had not seen. Changes that are gone count: nobody
    /// knows any more.
    #[must_use]
    pub fn has_changed(&self, position: Position, until: Revision) -> bool {
        match self.read().history.since(position.0) {
            Some(mut unseen) => unseen.next().is_some_and(|event| event.revision() <= until),
            None => true,
        }
    }

    /// The newest entries that `query` selects, and a watcher of every change after them under
    /// the same prefix: nothing is missed or repeated in between.
    ///
    /// The query's `at`, `start` and `limit` do not count: the list is of the newest state, and whole.
    #[must_use]
    pub fn list_and_watch(self: &Arc<Self>, query: &ListQuery<'_>) -> (Page, Watcher) {
        let query = ListQuery {
            at: At::Latest,
            start: None,
            limit: None,
            ..*query
        };
        let state = self.read();
        let page = list::list_newest(&state, &self.horizon, &query);
        let end = state.history.end();
        let watcher = Watcher::new(
            Arc::clone(self),
            query.prefix,
            end,
            page.revision,
            self.wake.subscribe(),
        );
        (page, watcher)
    }

    /// Does `op` if its expectation holds, and returns when it is durable and visible.
    ///
    /// Dropping the future does not take the write back.
    ///
    /// # Errors
    ///
    /// See [`WriteError`]; nothing happened unless it is [`WriteError::Io`].
    pub async fn write(self: &Arc<Self>, op: Op) -> WriteResult {
        debug_assert!(op.key().starts_with(&*self.prefix));
        let (reply, answer) = oneshot::channel();
        let collection = Arc::clone(self);
        self.sequencer.submit(Submission { collection, op, reply });
        answer.await.unwrap_or(Err(WriteError::Closed))
    }

    /// How much there is.
    #[must_use]
    pub fn stats(&self) -> CollectionStats {
        let state = self.read();
        CollectionStats {
            entries: state.entries.len(),
            bytes: state.bytes,
            events: state.history.len(),
            published: state.history.end(),
            newest: state.history.newest(),
            watchers: self.wake.receiver_count(),
        }
    }

    /// Shows `events` to readers, all at once; [`Collection::wake`] then tells watchers.
    ///
    /// For the sequencer: events are durable, in revision order, and newer than all before.
    pub fn publish(&self, events: impl IntoIterator<Item = Arc<Event>>) {
        let mut replaced = Vec::new();
        let mut state = self.write_lock();
        for event in events {
            let entry = event.entry();
            let old = match event.kind() {
                EventKind::Put { .. } => {
                    state.bytes += entry.bytes().len();
                    state.entries.insert(Arc::clone(entry.key()), Arc::clone(entry))
                }
                EventKind::Delete => state.entries.remove(entry.key()),
            };
            state.bytes -= old.as_ref().map_or(0, |old| old.bytes().len());
            replaced.push(old);
            state.history.push(event);
        }
        drop(state);
        // Dropping old states can free much; readers do not wait for it.
        drop(replaced);
    }

    /// Takes over what was loaded: the `states` before all `events`, then those.
    pub fn restore(&self, states: Vec<Arc<Entry>>, events: Vec<Arc<Event>>) {
        let mut state = self.write_lock();
        state.bytes = states.iter().map(|entry| entry.bytes().len()).sum();
        let newest = states.iter().map(|entry| entry.revision()).max();
        state.history.begin_behind(newest.unwrap_or_default());
        state.entries = states
            .into_iter()
            .map(|entry| (Arc::clone(entry.key()), entry))
            .collect();
        drop(state);
        self.publish(events);
    }

    /// Wakes all watchers.
    pub fn wake(&self) {
        let end = self.read().history.end();
        self.wake.send_modify(|signal| signal.end = end);
    }

    /// Ends all watches once they have delivered what is there.
    pub fn close(&self) {
        self.wake.send_modify(|signal| signal.closed = true);
    }

    /// Forgets changes up to and including `floor`, at most `limit` of them. Returns how many.
    pub fn trim(&self, floor: Revision, limit: usize) -> usize {
        let trimmed = self.write_lock().history.trim(floor, limit);
        trimmed.len()
    }

    pub(crate) fn read_history(&self, watcher: &Watcher, limit: usize) -> Result<HistoryRead, WatchError> {
        /// Changes that one look passes over at most, so that the lock is held shortly.
        const LOOK: usize = 4096;
        let state = self.read();
        let newest = list::newest(&state, &self.horizon);
        let Some(changes) = state.history.since(watcher.cursor()) else {
            return Err(WatchError::Compacted {
                oldest: self.horizon.oldest(),
            });
        };
        let mut read = HistoryRead {
            events: Vec::new(),
            cursor: watcher.cursor(),
            complete: Revision::ZERO,
            at_end: false,
        };
        for event in changes.take(LOOK) {
            if read.events.len() == limit {
                break;
            }
            read.cursor += 1;
            read.complete = event.revision();
            if watcher.wants(event) {
                read.events.push(Arc::clone(event));
            }
        }
        read.at_end = read.cursor == state.history.end();
        if read.at_end {
            read.complete = newest;
        }
        Ok(read)
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        // Nothing panics while it holds the lock half way through a change.
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_lock(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Entries under `prefix`, from the key `start` on if there is one.
    fn range<'a>(&'a self, prefix: &'a str, start: Option<&'a str>) -> impl Iterator<Item = &'a Arc<Entry>> {
        let end = end_of(prefix);
        let start = start.map_or(prefix, |start| start.max(prefix));
        let bounds = match end.as_deref() {
            // Nothing; the map refuses a range that ends before it starts.
            Some(end) if start >= end => (Bound::Included(prefix), Bound::Excluded(prefix)),
            end => (Bound::Included(start), below(end)),
        };
        self.entries.range::<str, _>(bounds).map(|(_, entry)| entry)
    }
}

fn below(end: Option<&str>) -> Bound<&str> {
    end.map_or(Bound::Unbounded, Bound::Excluded)
}

/// The least key behind all that start with `prefix`, unless there is none. Comparing with it once spares looking at every
/// key of the range.
fn end_of(prefix: &str) -> Option<String> {
    let last = prefix.trim_end_matches(char::MAX).chars().next_back()?;
    // Surrogates, between U+D7FF and U+E000, are no characters.
    let next = char::from_u32(u32::from(last) + 1).unwrap_or('\u{e000}');
    let mut end = prefix.trim_end_matches(char::MAX).to_owned();
    end.pop();
    end.push(next);
    Some(end)
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
mod tests {
    use super::end_of;

    #[test]
    fn a_range_ends_behind_every_key_of_its_prefix() {
        assert_eq!(end_of("/pods/default/").as_deref(), Some("/pods/default0"));
        assert_eq!(end_of("a\u{d7ff}").as_deref(), Some("a\u{e000}"));
        assert_eq!(end_of("a\u{10ffff}\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(end_of("\u{10ffff}"), None);
        assert_eq!(end_of(""), None);
    }
}

//! How the graph keeps up with the objects of one kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use planesmith_store::{
    At, Collection, Entry, Event, EventKind, ListQuery, Page, Revision, WatchError, WatchFrom, Watcher,
};

use super::Shared;
use super::graph::ObjectId;
use crate::controllers::metadata::Metadata;

/// Objects that are read before others get a turn.
const BATCH: usize = 512;

/// Follows the objects of one kind.
#[derive(Debug)]
pub(super) struct Follower {
    prefix: Arc<str>,
    collection: Arc<Collection>,
    /// The revision up to which the graph knows everything of the kind.
    known: AtomicU64,
}

impl Follower {
    /// Follows `collection`, whose keys all start with `prefix`.
    pub(super) fn new(prefix: Arc<str>, collection: Arc<Collection>) -> Self {
        Self {
            prefix,
            collection,
            known: AtomicU64::new(0),
        }
    }

    /// Keeps the graph up to date until the store is closed.
    pub(super) async fn run(self: Arc<Self>, shared: Arc<Shared>) {
        loop {
            let (page, mut watcher) = self.look();
            if self.known.load(Ordering::Acquire) > 0 {
                // Changes were missed: whoever was an owner may be gone.
                let others = shared.graph().forget(&self.prefix);
                shared.queue.add(others);
            }
            for entries in page.entries.chunks(BATCH) {
                for entry in entries {
                    self.put(&shared, entry);
                }
                tokio::task::yield_now().await;
            }
            drop(page);
            loop {
                self.known.store(watcher.progress().0, Ordering::Release);
                shared.progress.notify_waiters();
                match watcher.next().await {
                    Ok(events) => events.iter().for_each(|event| self.apply(&shared, event)),
                    Err(WatchError::Closed) => return,
                    Err(WatchError::Compacted { .. }) => break,
                }
            }
        }
    }

    fn look(&self) -> (Page, Watcher) {
        let all = ListQuery {
            prefix: self.collection.prefix(),
            after: None,
            limit: None,
            at: At::Latest,
            filter: None,
        };
        self.collection.list_and_watch(&all)
    }

    /// Whether something happened up to `revision` that the graph does not know.
    pub(super) fn is_behind(&self, revision: Revision) -> bool {
        let known = Revision(self.known.load(Ordering::Acquire));
        if known >= revision {
            return false;
        }
        let watcher = self.collection.watch(self.collection.prefix(), WatchFrom::After(known));
        let events = watcher.and_then(|mut watcher| watcher.try_next());
        events.map_or(true, |events| {
            events.first().is_some_and(|event| event.revision() <= revision)
        })
    }

    fn apply(&self, shared: &Shared, event: &Event) {
        match event.kind() {
            EventKind::Put { .. } => self.put(shared, event.entry()),
            EventKind::Delete => {
                let uid = Metadata::read(event.entry().bytes()).uid;
                let attention = shared.graph().remove(&self.id(event.entry()), &uid);
                shared.queue.add(attention);
            }
        }
    }

    fn put(&self, shared: &Shared, entry: &Entry) {
        let metadata = Metadata::read(entry.bytes());
        let attention = shared.graph().put(&self.id(entry), &metadata);
        shared.queue.add(attention);
    }

    fn id(&self, entry: &Entry) -> ObjectId {
        ObjectId {
            key: Arc::clone(entry.key()),
            prefix: Arc::clone(&self.prefix),
        }
    }
}

impl Shared {
    /// Waits until the graph knows everything up to `revision`.
    pub(super) async fn catch_up(&self, revision: Revision) {
        loop {
            let mut progress = std::pin::pin!(self.progress.notified());
            // From here on nothing is missed.
            progress.as_mut().enable();
            if !self.is_behind(revision) {
                return;
            }
            progress.await;
        }
    }

    fn is_behind(&self, revision: Revision) -> bool {
        let followers = super::lock(&self.followers);
        followers.values().any(|follower| follower.is_behind(revision))
    }
}

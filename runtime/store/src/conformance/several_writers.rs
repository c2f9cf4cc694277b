//! A backend in memory in which several writers write, and that fails on request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;

use super::SharedBackend;
use crate::backend::{
    Backend, BackendError, BackendFuture, Change, Delivery, Feed, FeedError, Refusal, State, StateWrite,
};
use crate::{Expect, Revision};

/// A backend in memory; clones share its content.
///
/// Methods of its own write as others do, and make feeds and answers fail.
#[derive(Clone, Debug, Default)]
pub struct SeveralWriters {
    content: Arc<Mutex<Content>>,
    changed: Arc<watch::Sender<()>>,
}

#[derive(Debug, Default)]
struct Content {
    last: Revision,
    compacted: Revision,
    states: BTreeMap<Arc<str>, State>,
    changes: Vec<Change>,
    /// Feeds of earlier generations are lost.
    generation: u64,
    /// True while feeds deliver nothing, and no request is answered.
    is_blocked: bool,
    progress: u64,
    lose_answer: bool,
    newest_reads: u64,
}

impl SeveralWriters {
    /// Writes several keys with one revision, as another writer; `None` deletes. Returns the revision.
    pub fn write_all(&self, changes: &[(Arc<str>, Option<&str>)]) -> Revision {
        let mut content = self.content();
        content.last = content.last.next();
        let revision = content.last;
        for (key, word) in changes {
            let value = word.map(|word| Bytes::copy_from_slice(super::draft(word).bytes()));
            content.record(Arc::clone(key), value);
        }
        drop(content);
        self.changed.send_replace(());
        revision
    }

    /// Stops or continues all deliveries and the answers to requests for the newest revision.
    pub fn hold(&self, is_blocked: bool) {
        self.content().is_blocked = is_blocked;
        self.changed.send_replace(());
    }

    /// Loses all feeds.
    pub fn lose_feeds(&self) {
        self.content().generation += 1;
        self.changed.send_replace(());
    }

    /// Loses the answer of the next write, which is performed.
    pub fn lose_next_answer(&self) {
        self.content().lose_answer = true;
    }

    /// Forgets all history, as another user of the backend.
    pub fn compact_all(&self) {
        let mut content = self.content();
        content.compacted = content.last;
        content.changes.clear();
    }

    /// The number of times that the newest revision was requested.
    #[must_use]
    pub fn newest_reads(&self) -> u64 {
        self.content().newest_reads
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Content {
    fn record(&mut self, key: Arc<str>, value: Option<Bytes>) {
        let revision = self.last;
        match &value {
            Some(value) => {
                let state = State {
                    key: Arc::clone(&key),
                    revision,
                    value: value.clone(),
                };
                self.states.insert(Arc::clone(&key), state);
            }
            None => drop(self.states.remove(&key)),
        }
        self.changes.push(Change { key, revision, value });
    }

    fn perform(&mut self, write: StateWrite) -> Result<Revision, Refusal> {
        let current = self.states.get(&write.key).map(|state| state.revision);
        let holds = match write.expect {
            Expect::Absent => current.is_none(),
            Expect::Revision(revision) => current == Some(revision),
            Expect::Present => current.is_some(),
            Expect::Any => true,
        };
        if !holds {
            return Err(Refusal::Conflict { at: self.last });
        }
        self.last = self.last.next();
        self.record(write.key, write.value);
        match std::mem::take(&mut self.lose_answer) {
            true => Err(Refusal::OutcomeUnknown("the answer was lost".into())),
            false => Ok(self.last),
        }
    }
}

impl SharedBackend for SeveralWriters {
    fn connect(&self) -> Arc<dyn Backend> {
        Arc::new(self.clone())
    }

    fn write_all(&self, changes: &[(Arc<str>, Option<&str>)]) -> Revision {
        self.write_all(changes)
    }

    fn hold(&self, is_blocked: bool) {
        self.hold(is_blocked);
    }

    fn lose_feeds(&self) {
        self.lose_feeds();
    }

    fn lose_next_answer(&self) {
        self.lose_next_answer();
    }

    fn compact_all(&self) {
        self.compact_all();
    }

    fn newest_reads(&self) -> u64 {
        self.newest_reads()
    }
}

impl Backend for SeveralWriters {
    fn load<'a>(
        &'a self,
        prefix: &'a str,
        page: &'a mut (dyn FnMut(Vec<State>) + Send),
    ) -> BackendFuture<'a, Result<Revision, BackendError>> {
        let content = self.content();
        let states = content.states.values().filter(|state| state.key.starts_with(prefix));
        for states in states.cloned().collect::<Vec<_>>().chunks(2) {
            page(states.to_vec());
        }
        Box::pin(std::future::ready(Ok(content.last)))
    }

    fn follow<'a>(&'a self, prefix: &'a str, after: Revision) -> BackendFuture<'a, Result<Box<dyn Feed>, FeedError>> {
        let content = self.content();
        let feed = MemoryFeed {
            backend: self.clone(),
            changed: self.changed.subscribe(),
            prefix: prefix.into(),
            after,
            generation: content.generation,
            progress: content.progress,
        };
        Box::pin(std::future::ready(Ok(Box::new(feed) as Box<dyn Feed>)))
    }

    fn write(&self, write: StateWrite) -> BackendFuture<'_, Result<Revision, Refusal>> {
        let written = self.content().perform(write);
        self.changed.send_replace(());
        Box::pin(std::future::ready(written))
    }

    fn newest(&self) -> BackendFuture<'_, Result<Revision, BackendError>> {
        Box::pin(async {
            let mut changed = self.changed.subscribe();
            loop {
                changed.mark_unchanged();
                {
                    let mut content = self.content();
                    if !content.is_blocked {
                        content.newest_reads += 1;
                        return Ok(content.last);
                    }
                }
                // The sender lives in `self`, so waiting cannot fail.
                let _ = changed.changed().await;
            }
        })
    }

    fn request_progress(&self) -> BackendFuture<'_, Result<(), BackendError>> {
        self.content().progress += 1;
        self.changed.send_replace(());
        Box::pin(std::future::ready(Ok(())))
    }

    fn compact(&self, revision: Revision) -> BackendFuture<'_, Result<(), BackendError>> {
        let mut content = self.content();
        content.compacted = content.compacted.max(revision);
        content.changes.retain(|change| change.revision > revision);
        Box::pin(std::future::ready(Ok(())))
    }

    fn health(&self) -> BackendFuture<'_, Result<(), BackendError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn size(&self) -> u64 {
        let content = self.content();
        let states = content.states.values().map(|state| state.value.len());
        let changes = content.changes.iter().filter_map(|change| change.value.as_ref());
        (states.sum::<usize>() + changes.map(Bytes::len).sum::<usize>()) as u64
    }
}

/// Follows the changes of a prefix.
struct MemoryFeed {
    backend: SeveralWriters,
    changed: watch::Receiver<()>,
    prefix: Box<str>,
    after: Revision,
    generation: u64,
    /// The requests for progress that are answered.
    progress: u64,
}

impl MemoryFeed {
    fn poll(&mut self) -> Result<Option<Delivery>, FeedError> {
        let content = self.backend.content();
        if content.generation > self.generation {
            return Err(FeedError::Lost("the connection ended".into()));
        }
        if content.is_blocked {
            return Ok(None);
        }
        if self.after < content.compacted {
            return Err(FeedError::Compacted);
        }
        let is_new = |change: &&Change| change.revision > self.after && change.key.starts_with(&*self.prefix);
        let changes: Vec<_> = content.changes.iter().filter(is_new).cloned().collect();
        if changes.is_empty() && self.progress == content.progress {
            return Ok(None);
        }
        self.progress = content.progress;
        self.after = content.last;
        Ok(Some(Delivery {
            changes,
            complete: content.last,
        }))
    }
}

impl Feed for MemoryFeed {
    fn next(&mut self) -> BackendFuture<'_, Result<Delivery, FeedError>> {
        Box::pin(async {
            loop {
                self.changed.mark_unchanged();
                if let Some(delivery) = self.poll()? {
                    return Ok(delivery);
                }
                if self.changed.changed().await.is_err() {
                    return Err(FeedError::Lost("the backend is gone".into()));
                }
            }
        })
    }
}

//! A real backend that fails on request, as the suite needs it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::backend::{Backend, BackendError, BackendFuture, Delivery, Feed, FeedError, Refusal, State, StateWrite};
use crate::{Expect, Revision};

/// A backend under test. The suite writes to it as others do, and makes feeds and answers fail.
pub trait SharedBackend: Send + Sync {
    /// Returns a new connection.
    fn connect(&self) -> Arc<dyn Backend>;

    /// Writes several keys with one revision, as another writer; `None` deletes. Returns the revision.
    fn write_all(&self, changes: &[(Arc<str>, Option<&str>)]) -> Revision;

    /// Stops or continues all deliveries and the answers to requests for the newest revision.
    fn hold(&self, is_blocked: bool);

    /// Loses all feeds.
    fn lose_feeds(&self);

    /// Loses the answer of the next write, which is performed.
    fn lose_next_answer(&self);

    /// Forgets all history, as another user of the backend.
    fn compact_all(&self);

    /// The number of times that the newest revision was requested.
    fn newest_reads(&self) -> u64;
}

/// A server of which the suite tests the backend.
pub trait Server: Send + Sync {
    /// Connects to the server.
    fn connect(&self) -> BackendFuture<'_, Arc<dyn Backend>>;

    /// Writes several keys with one revision, as another client; `None` deletes. Returns the revision.
    fn write_all(&self, changes: Vec<(Arc<str>, Option<Bytes>)>) -> BackendFuture<'_, Revision>;
}

/// A server whose backends fail on request; clones share it.
///
/// Scenarios begin with revision 0, so the first revision of the server is subtracted from all.
#[derive(Clone)]
pub struct Disturbed {
    server: Arc<dyn Server>,
    base: u64,
    state: Arc<Mutex<Disturbance>>,
    changed: Arc<watch::Sender<()>>,
}

#[derive(Debug, Default)]
struct Disturbance {
    /// Feeds of earlier generations are lost.
    generation: u64,
    /// True while feeds deliver nothing, and no request is answered.
    is_blocked: bool,
    lose_answer: bool,
    newest_reads: u64,
}

impl Disturbed {
    /// Returns the backend of `server`, whose newest revision is `base`. Use it on a runtime with several threads.
    pub fn new(server: impl Server + 'static, base: Revision) -> Self {
        Self {
            server: Arc::new(server),
            base: base.0,
            state: Arc::default(),
            changed: Arc::default(),
        }
    }

    fn exposed(&self, revision: Revision) -> Revision {
        Revision(revision.0.saturating_sub(self.base))
    }

    fn stored(&self, revision: Revision) -> Revision {
        Revision(revision.0 + self.base)
    }

    fn change(&self, change: impl FnOnce(&mut Disturbance)) {
        change(&mut self.state());
        self.changed.send_replace(());
    }

    fn state(&self) -> MutexGuard<'_, Disturbance> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| Handle::current().block_on(future))
}

impl SharedBackend for Disturbed {
    fn connect(&self) -> Arc<dyn Backend> {
        Arc::new(Connection {
            disturbed: self.clone(),
            backend: wait(self.server.connect()),
        })
    }

    fn write_all(&self, changes: &[(Arc<str>, Option<&str>)]) -> Revision {
        let bytes = |word: &str| Bytes::copy_from_slice(super::draft(word).bytes());
        let changes = changes.iter().map(|(key, word)| (Arc::clone(key), word.map(bytes)));
        self.exposed(wait(self.server.write_all(changes.collect())))
    }

    fn hold(&self, is_blocked: bool) {
        self.change(|state| state.is_blocked = is_blocked);
    }

    fn lose_feeds(&self) {
        self.change(|state| state.generation += 1);
    }

    fn lose_next_answer(&self) {
        self.change(|state| state.lose_answer = true);
    }

    fn compact_all(&self) {
        wait(async {
            let backend = self.server.connect().await;
            let newest = backend.newest().await.expect("the server answers");
            backend.compact(newest).await.expect("the server compacts");
        });
    }

    fn newest_reads(&self) -> u64 {
        self.state().newest_reads
    }
}

/// A connection of a store to a disturbed server.
struct Connection {
    disturbed: Disturbed,
    backend: Arc<dyn Backend>,
}

impl Backend for Connection {
    fn load<'a>(
        &'a self,
        prefix: &'a str,
        page: &'a mut (dyn FnMut(Vec<State>) + Send),
    ) -> BackendFuture<'a, Result<Revision, BackendError>> {
        Box::pin(async move {
            let mut shown = |mut states: Vec<State>| {
                states
                    .iter_mut()
                    .for_each(|state| state.revision = self.disturbed.exposed(state.revision));
                page(states);
            };
            let revision = self.backend.load(prefix, &mut shown).await?;
            Ok(self.disturbed.exposed(revision))
        })
    }

    fn follow<'a>(&'a self, prefix: &'a str, after: Revision) -> BackendFuture<'a, Result<Box<dyn Feed>, FeedError>> {
        let generation = self.disturbed.state().generation;
        let feed = DisturbedFeed {
            disturbed: self.disturbed.clone(),
            changed: self.disturbed.changed.subscribe(),
            backend: Arc::clone(&self.backend),
            prefix: prefix.into(),
            after,
            generation,
            feed: None,
        };
        Box::pin(std::future::ready(Ok(Box::new(feed) as Box<dyn Feed>)))
    }

    fn write(&self, mut write: StateWrite) -> BackendFuture<'_, Result<Revision, Refusal>> {
        if let Expect::Revision(revision) = &mut write.expect {
            *revision = self.disturbed.stored(*revision);
        }
        Box::pin(async {
            let written = self.backend.write(write).await;
            let written = written.map_err(|refusal| match refusal {
                Refusal::Conflict { at } => Refusal::Conflict {
                    at: self.disturbed.exposed(at),
                },
                other => other,
            });
            match std::mem::take(&mut self.disturbed.state().lose_answer) {
                true => Err(Refusal::OutcomeUnknown("the answer was lost".into())),
                false => Ok(self.disturbed.exposed(written?)),
            }
        })
    }

    fn newest(&self) -> BackendFuture<'_, Result<Revision, BackendError>> {
        Box::pin(async {
            let mut changed = self.disturbed.changed.subscribe();
            loop {
                changed.mark_unchanged();
                if !self.disturbed.state().is_blocked {
                    break;
                }
                // The sender lives in `self`, so waiting cannot fail.
                let _ = changed.changed().await;
            }
            self.disturbed.state().newest_reads += 1;
            Ok(self.disturbed.exposed(self.backend.newest().await?))
        })
    }

    fn request_progress(&self) -> BackendFuture<'_, Result<(), BackendError>> {
        self.backend.request_progress()
    }

    fn compact(&self, revision: Revision) -> BackendFuture<'_, Result<(), BackendError>> {
        self.backend.compact(self.disturbed.stored(revision))
    }

    fn health(&self) -> BackendFuture<'_, Result<(), BackendError>> {
        self.backend.health()
    }

    fn size(&self) -> u64 {
        self.backend.size()
    }

    fn close(&self) {
        self.backend.close();
    }
}

/// A feed that stops and ends on request; it begins again at the place of the stop.
struct DisturbedFeed {
    disturbed: Disturbed,
    changed: watch::Receiver<()>,
    backend: Arc<dyn Backend>,
    prefix: Box<str>,
    after: Revision,
    generation: u64,
    feed: Option<Box<dyn Feed>>,
}

impl DisturbedFeed {
    async fn deliver(&mut self) -> Result<Delivery, FeedError> {
        loop {
            self.changed.mark_unchanged();
            let (generation, is_blocked) = {
                let state = self.disturbed.state();
                (state.generation, state.is_blocked)
            };
            if generation > self.generation {
                return Err(FeedError::Lost("the connection ended".into()));
            }
            if is_blocked {
                self.feed = None;
                let _ = self.changed.changed().await;
                continue;
            }
            let after = self.disturbed.stored(self.after);
            let feed = match &mut self.feed {
                Some(feed) => feed,
                none => none.insert(self.backend.follow(&self.prefix, after).await?),
            };
            tokio::select! {
                biased;
                _ = self.changed.changed() => self.feed = None,
                delivery = feed.next() => {
                    let Delivery { mut changes, complete } = delivery?;
                    changes.iter_mut().for_each(|change| change.revision = self.disturbed.exposed(change.revision));
                    self.after = self.disturbed.exposed(complete);
                    return Ok(Delivery { changes, complete: self.after });
                }
            }
        }
    }
}

impl Feed for DisturbedFeed {
    fn next(&mut self) -> BackendFuture<'_, Result<Delivery, FeedError>> {
        Box::pin(self.deliver())
    }
}

impl std::fmt::Debug for Disturbed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Disturbed")
            .field("base", &self.base)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

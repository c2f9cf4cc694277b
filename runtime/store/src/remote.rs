//! The engine for a [`Backend`]: one feed keeps all collections up to date, and writes are the backend's transactions.

mod content;
mod freshness;
mod writes;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use self::content::Content;
pub(crate) use self::content::Parts;
use self::freshness::Flight;
pub use self::freshness::Stale;
use crate::backend::{Backend, BackendError, Feed, FeedError, State};
use crate::log::{Batch, Loader, Log, LogError, Opened};
use crate::write::WriteError;
use crate::{Alarm, AlarmKind, Alarms, Revision, Sequencer, Submission};

/// Delay of the first attempt to follow a lost feed again; it doubles with each further one, up to the bound.
const RETRY: Duration = Duration::from_millis(20);
const MAX_RETRY: Duration = Duration::from_secs(1);

/// Time without a feed after which an alarm is raised.
const DISCONNECTED: Duration = Duration::from_secs(1);

/// The engine of a store on a backend.
pub(crate) struct Remote {
    backend: Arc<dyn Backend>,
    prefix: Arc<str>,
    content: Content,
    flight: Mutex<Flight>,
    /// Maximum bytes of one key and object.
    write_limit: usize,
    runtime: Handle,
    /// The reason that there is no feed now, and the time since when.
    lost: Mutex<Option<(Arc<str>, Instant)>>,
    alarms: Alarms,
    feed: Mutex<Option<JoinHandle<()>>>,
    closed: tokio::sync::watch::Sender<bool>,
}

/// Reads all states under `prefix`, and the revision whose state they are.
pub(crate) async fn load(backend: &dyn Backend, prefix: &str) -> Result<(Vec<State>, Revision), BackendError> {
    let mut states = Vec::new();
    let mut page = |mut page: Vec<State>| states.append(&mut page);
    let revision = backend.load(prefix, &mut page).await?;
    Ok((states, revision))
}

impl Remote {
    /// Returns the engine of collections with the content of `backend` under `prefix` at `revision`, and follows it from
    /// there.
    pub(crate) fn start(
        backend: Arc<dyn Backend>,
        prefix: &str,
        parts: Parts,
        alarms: Alarms,
        write_limit: usize,
        revision: Revision,
    ) -> Arc<Self> {
        let remote = Arc::new(Self {
            backend,
            prefix: prefix.into(),
            content: Content::new(parts),
            flight: Mutex::default(),
            write_limit,
            runtime: Handle::current(),
            lost: Mutex::default(),
            alarms,
            feed: Mutex::default(),
            closed: tokio::sync::watch::Sender::new(false),
        });
        let task = Arc::clone(&remote).follow(revision);
        *remote.lock(&remote.feed) = Some(remote.runtime.spawn(task));
        remote
    }

    /// Follows the changes after `after`, and begins again whenever the feed is lost.
    async fn follow(self: Arc<Self>, mut after: Revision) {
        // A feed that was lost begins again at once, e.g. on another server.
        let mut pause = Duration::ZERO;
        loop {
            let error = match self.backend.follow(&self.prefix, after).await {
                Ok(feed) => {
                    self.note_feed(None);
                    let before = after;
                    let error = self.drain(feed, &mut after).await;
                    if after > before {
                        pause = Duration::ZERO;
                    }
                    error
                }
                Err(error) => error,
            };
            if error == FeedError::Compacted {
                match load(&*self.backend, &self.prefix).await {
                    Ok((states, revision)) if revision >= after => {
                        let preparing = self.content.prepare(&mut states.iter().map(|state| &*state.value));
                        preparing.await;
                        tracing::warn!(%after, %revision, "changes of the store were compacted before they were read; watches before this revision end");
                        self.content.replace(states, revision);
                        after = revision;
                        continue;
                    }
                    Ok((_, revision)) => {
                        tracing::error!(%after, %revision, "the store is older than what it delivered before");
                    }
                    Err(error) => tracing::warn!(%error, "the content of the store cannot be loaded again"),
                }
            }
            tracing::warn!(%error, "the feed of changes ended and begins again");
            if pause.is_zero() {
                pause = RETRY;
                continue;
            }
            self.note_feed(Some(error.to_string().into()));
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(MAX_RETRY);
        }
    }

    /// Publishes what `feed` delivers until it ends.
    async fn drain(&self, mut feed: Box<dyn Feed>, after: &mut Revision) -> FeedError {
        loop {
            match feed.next().await {
                Ok(delivery) => {
                    let mut values = delivery.changes.iter().filter_map(|change| change.value.as_deref());
                    let preparing = self.content.prepare(&mut values);
                    preparing.await;
                    *after = (*after).max(delivery.complete);
                    self.content.apply(delivery);
                }
                Err(error) => return error,
            }
        }
    }

    fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    fn note_feed(&self, lost: Option<Arc<str>>) {
        let mut known = self.lock(&self.lost);
        let Some(reason) = lost else {
            *known = None;
            self.alarms.clear(AlarmKind::Disconnected);
            return;
        };
        let since = known.as_ref().map_or_else(Instant::now, |(_, since)| *since);
        if since.elapsed() >= DISCONNECTED {
            let shown = "the store does not answer, or its changes cannot be read";
            self.alarms.raise(AlarmKind::Disconnected, shown, &reason);
        }
        *known = Some((reason, since));
    }

    /// The error to be expected by a write that is submitted now.
    pub(crate) fn health(&self) -> Result<(), WriteError> {
        if self.is_closed() {
            return Err(WriteError::Closed);
        }
        match &*self.lock(&self.lost) {
            Some((reason, _)) => Err(WriteError::Unavailable(Arc::clone(reason))),
            None => Ok(()),
        }
    }

    /// Succeeds if the backend answers.
    pub(crate) async fn probe(&self) -> Result<(), BackendError> {
        self.backend.health().await
    }

    /// Lets the backend forget history up to `revision`, in the background.
    pub(crate) fn compact(self: &Arc<Self>, revision: Revision) {
        let remote = Arc::clone(self);
        if self.is_closed() {
            return;
        }
        self.runtime.spawn(async move {
            if let Err(error) = remote.backend.compact(revision).await {
                tracing::warn!(%error, %revision, "the store cannot be compacted");
            }
        });
    }

    /// Ends the feed, and refuses writes from now on.
    pub(crate) fn close(&self) {
        if self.closed.send_replace(true) {
            return;
        }
        if let Some(feed) = self.lock(&self.feed).take() {
            feed.abort();
        }
        self.backend.close();
    }

    fn lock<'a, T>(&self, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
        // A panic cannot interrupt a change half way.
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sequencer of collections: each write is a task, which goes on when its caller does not wait any more.
pub(crate) struct Writer(Weak<Remote>);

impl Writer {
    pub(crate) fn new(remote: &Arc<Remote>) -> Self {
        Self(Arc::downgrade(remote))
    }
}

impl Sequencer for Writer {
    fn submit(&self, submission: Submission) {
        let Some(remote) = self.0.upgrade() else {
            // Dropping a submission answers it with `Closed`.
            return;
        };
        let runtime = remote.runtime.clone();
        runtime.spawn(async move { remote.perform(submission).await });
    }
}

/// A backend as the parts of the engine see it that forget history in memory.
pub(crate) struct BackendLog(pub(crate) Arc<dyn Backend>);

impl Log for BackendLog {
    fn load(&self, _loader: &mut dyn Loader) -> Result<Opened, LogError> {
        Ok(Opened::default())
    }

    fn append(&self, _batch: &Batch) -> Result<(), LogError> {
        Err(LogError::ReadOnly("writes are the backend's".to_owned()))
    }

    fn compact(&self, _floor: Revision) -> Result<bool, LogError> {
        Ok(false)
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    fn alarms(&self) -> Vec<Alarm> {
        self.0.alarms()
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Remote")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

//! Reads as of now: they wait until the cache has everything that was written before.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::Remote;
use crate::Revision;
use crate::backend::BackendError;

/// Time until feeds are requested to report their progress, because a reader waits for it. Until then changes mostly arrive by
/// themselves: progress alone is needed after writes elsewhere.
const FIRST_PROGRESS: Duration = Duration::from_millis(10);

/// The interval at which that is requested again.
const PROGRESS: Duration = Duration::from_millis(100);

/// The cache could not be brought up to date.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stale {
    /// The backend does not tell its newest revision.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The changes did not arrive in time.
    #[error("the newest state did not arrive in time, revision {0} is the newest here")]
    Late(Revision),
    /// The store is closed.
    #[error("the store is closed")]
    Closed,
}

/// The request for the newest revision: one for all readers that wait for it.
#[derive(Debug, Default)]
pub(super) struct Flight {
    running: bool,
    /// Readers that came after the running request was sent, which it may not answer.
    waiting: Vec<oneshot::Sender<Result<Revision, BackendError>>>,
}

impl Remote {
    /// Waits until everything that was written before the call is visible, for `deadline` at most.
    pub(crate) async fn fresh(self: &Arc<Self>, deadline: Duration) -> Result<(), Stale> {
        let mut closed = self.closed.subscribe();
        let catch_up = async {
            tokio::select! {
                biased;
                fresh = self.catch_up() => fresh,
                _ = closed.wait_for(|closed| *closed) => Err(Stale::Closed),
            }
        };
        let fresh = tokio::time::timeout(deadline, catch_up).await;
        fresh.unwrap_or_else(|_| Err(Stale::Late(self.content.revisions().visible())))
    }

    async fn catch_up(self: &Arc<Self>) -> Result<(), Stale> {
        let newest = self.newest().await?;
        match self.reach(newest).await {
            true => Ok(()),
            false => Err(Stale::Closed),
        }
    }

    /// Waits until everything up to `revision` is visible; false if the store is closed before.
    pub(super) async fn reach(&self, revision: Revision) -> bool {
        let revisions = self.content.revisions();
        let mut pause = FIRST_PROGRESS;
        while revisions.visible() < revision {
            if self.is_closed() {
                return false;
            }
            if tokio::time::timeout(pause, revisions.reached(revision)).await.is_err() {
                // Without an answer the changes may still arrive.
                let _ = self.backend.request_progress().await;
                pause = PROGRESS;
            }
        }
        true
    }

    async fn newest(self: &Arc<Self>) -> Result<Revision, Stale> {
        if self.is_closed() {
            return Err(Stale::Closed);
        }
        let (reply, answer) = oneshot::channel();
        {
            let mut flight = self.lock(&self.flight);
            flight.waiting.push(reply);
            if !std::mem::replace(&mut flight.running, true) {
                self.runtime.spawn(Arc::clone(self).answer_readers());
            }
        }
        match answer.await {
            Ok(Ok(newest)) => Ok(newest),
            // A backend whose connections are closed does not answer either.
            Ok(Err(error)) if !self.is_closed() => Err(error.into()),
            _ => Err(Stale::Closed),
        }
    }

    /// Reads the newest revision until no reader waits for it.
    async fn answer_readers(self: Arc<Self>) {
        loop {
            let waiting = {
                let mut flight = self.lock(&self.flight);
                let waiting = std::mem::take(&mut flight.waiting);
                flight.running = !waiting.is_empty();
                waiting
            };
            if waiting.is_empty() {
                return;
            }
            let newest = self.backend.newest().await;
            for reply in waiting {
                let _ = reply.send(newest.clone());
            }
        }
    }
}

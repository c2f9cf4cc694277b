//! Work that follows objects, and brings changed ones to the desired state.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, select_all};
use futures_util::stream;
use planesmith_server::shutdown::Shutdown;
use planesmith_store::{Event, WatchError, Watcher};
use std::sync::Arc;

use crate::delaying_queue::{DelayingQueue, Delays};
use crate::loopback::LoopbackError;
use crate::resource_client::{self, ResourceClient};
use planesmith_server::task;

/// The number of objects that are reconciled at once; writes that wait for the disk together are one write.
const CONCURRENCY: usize = 64;

/// The delays after which a key is retried whose work failed.
pub const RETRY: Delays = Delays {
    first: Duration::from_secs(1),
    longest: Duration::from_secs(60),
};

/// Work by keys.
pub trait Reconcile: Send + Sync + 'static {
    /// The name of the work in the log.
    const NAME: &'static str;

    /// Returns the kinds to follow.
    fn watched(&self) -> Vec<&ResourceClient>;

    /// Returns all keys; by default those of the objects of the first kind in [`Reconcile::watched`].
    fn all(&self) -> Vec<String> {
        self.watched().first().map(|objects| objects.keys()).unwrap_or_default()
    }

    /// Returns the keys to reconcile when an object of the kind at `kind` in [`Reconcile::watched`] has changed; by
    /// default the key of that object.
    fn touched(&self, kind: usize, namespace: &str, name: &str) -> Vec<String> {
        let _ = kind;
        vec![resource_client::key(namespace, name)]
    }

    /// As [`Reconcile::touched`], with the event.
    fn touched_by(&self, kind: usize, event: &Event) -> Vec<String> {
        let (namespace, name) = self.watched()[kind].names_of(event.entry());
        self.touched(kind, namespace, name)
    }

    /// Brings the objects of a key to the desired state.
    fn reconcile(&self, key: &str) -> impl Future<Output = Result<(), LoopbackError>> + Send;

    /// Returns the time after which to reconcile the key again although nothing changed; `None` for never.
    fn again_in(&self, _key: &str) -> Option<Duration> {
        None
    }
}

/// [`Reconcile`] without its types, so that what follows is compiled once, not once per controller.
trait Work: Send + Sync {
    fn name(&self) -> &'static str;
    fn watched(&self) -> Vec<&ResourceClient>;
    fn all(&self) -> Vec<String>;
    fn touched_by(&self, kind: usize, event: &Event) -> Vec<String>;
    fn reconcile<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), LoopbackError>>;
    fn again_in(&self, key: &str) -> Option<Duration>;
}

impl<R: Reconcile> Work for R {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn watched(&self) -> Vec<&ResourceClient> {
        Reconcile::watched(self)
    }

    fn all(&self) -> Vec<String> {
        Reconcile::all(self)
    }

    fn touched_by(&self, kind: usize, event: &Event) -> Vec<String> {
        Reconcile::touched_by(self, kind, event)
    }

    fn reconcile<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), LoopbackError>> {
        Box::pin(Reconcile::reconcile(self, key))
    }

    fn again_in(&self, key: &str) -> Option<Duration> {
        Reconcile::again_in(self, key)
    }
}

/// Reconciles all keys once, and then follows the changes in the background.
pub fn start<R: Reconcile>(work: R, shutdown: Shutdown) -> BoxFuture<'static, ()> {
    Box::pin(run(Box::new(work), shutdown))
}

async fn run(work: Box<dyn Work>, mut shutdown: Shutdown) {
    let watchers: Vec<Watcher> = work.watched().into_iter().map(ResourceClient::watch).collect();
    let mut queue = DelayingQueue::new(RETRY);
    let all = work.all().into_iter().collect();
    tokio::select! {
        biased;
        () = shutdown.requested() => return,
        () = reconcile_due(&*work, all, &mut queue) => {}
    }
    task::spawn(follow(work, watchers, queue, shutdown));
}

async fn follow(
    work: Box<dyn Work>,
    mut watchers: Vec<Watcher>,
    mut queue: DelayingQueue<String>,
    mut shutdown: Shutdown,
) {
    loop {
        let next_time = queue.next_time();
        let delay = async {
            match next_time {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        let mut due = BTreeSet::new();
        tokio::select! {
            () = shutdown.requested() => return,
            () = delay => due.extend(queue.take(Instant::now())),
            (kind, events) = next_of(&mut watchers) => match events {
                Ok(events) => due.extend(events.iter().flat_map(|event| work.touched_by(kind, event))),
                Err(WatchError::Closed) => return,
                Err(_) => {
                    // Changes were missed.
                    watchers[kind] = work.watched()[kind].watch();
                    due.extend(work.all());
                }
            },
        }
        // The store closes while work is under way; its writes would fail, and the next start does the work anyway.
        tokio::select! {
            biased;
            () = shutdown.requested() => return,
            () = reconcile_due(&*work, due, &mut queue) => {}
        }
    }
}

/// Waits for the next events of any of the kinds. Returns the index of the kind, and its events.
pub async fn next_of(watchers: &mut [Watcher]) -> (usize, Result<Vec<Arc<Event>>, WatchError>) {
    let next = watchers.iter_mut().map(|watcher| Box::pin(watcher.next()));
    let (events, kind, _) = select_all(next).await;
    (kind, events)
}

/// Reconciles all of `due`. Failed keys are retried later.
async fn reconcile_due(work: &dyn Work, due: BTreeSet<String>, queue: &mut DelayingQueue<String>) {
    let each = stream::iter(due).map(|key| async move {
        let outcome = work.reconcile(&key).await;
        match &outcome {
            // A server that has stopped retries nothing; its next start reconciles everything.
            Ok(()) | Err(LoopbackError::NotReady) => {}
            Err(error) => tracing::warn!(what = work.name(), key, %error, "a reconciliation failed and is retried"),
        }
        (key, outcome.is_ok())
    });
    let done: Vec<(String, bool)> = each.buffer_unordered(CONCURRENCY).collect().await;
    let now = Instant::now();
    for (key, is_done) in done {
        if !is_done {
            queue.retry(key, now);
            continue;
        }
        queue.forget(&key);
        if let Some(delay) = work.again_in(&key) {
            queue.put(key, now + delay);
        }
    }
}

#[cfg(test)]
mod tests {
    use planesmith_server::shutdown::Stop;

    use super::*;

    /// Work on one key that never ends.
    struct Endless;

    impl Reconcile for Endless {
        const NAME: &'static str = "endless";

        fn watched(&self) -> Vec<&ResourceClient> {
            Vec::new()
        }

        fn all(&self) -> Vec<String> {
            vec!["key".to_owned()]
        }

        async fn reconcile(&self, _key: &str) -> Result<(), LoopbackError> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn work_under_way_ends_with_the_server() {
        let (stop, shutdown) = Stop::new();
        let started = tokio::spawn(start(Endless, shutdown));
        tokio::task::yield_now().await;
        assert!(!started.is_finished());
        stop.now();
        started.await.unwrap();
    }
}

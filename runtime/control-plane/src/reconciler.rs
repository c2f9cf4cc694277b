//! Work that follows objects: what changed is looked at, and brought to what it should be.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::select_all;
use futures_util::stream;
use planesmith_server::shutdown::Shutdown;
use planesmith_store::{Event, WatchError, Watcher};
use std::sync::Arc;

use crate::loopback::LoopbackError;
use crate::objects::Objects;

/// How long after a failure the same is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// How many objects are worked on at once; writes that wait for the disk together are one write.
const AT_ONCE: usize = 64;

/// One kind of work, told by key what to look at.
pub(crate) trait Reconcile: Send + Sync + 'static {
    /// What the log calls the work.
    const NAME: &'static str;

    /// The kinds whose changes matter.
    fn watched(&self) -> Vec<&Objects>;

    /// Everything that there is to look at.
    fn all(&self) -> Vec<String>;

    /// What to look at when an object of the kind at `kind` in [`Reconcile::watched`] has changed.
    fn touched(&self, kind: usize, namespace: &str, name: &str) -> Vec<String>;

    /// Brings what the key stands for to what it should be.
    fn reconcile(&self, key: &str) -> impl Future<Output = Result<(), LoopbackError>> + Send;
}

/// Looks at everything once, and then follows the changes in the background.
pub(crate) async fn start<R: Reconcile>(work: R, shutdown: Shutdown) {
    let watchers: Vec<Watcher> = work.watched().into_iter().map(Objects::watch).collect();
    let unfinished = look(&work, work.all().into_iter().collect()).await;
    tokio::spawn(follow(work, watchers, unfinished, shutdown));
}

async fn follow<R: Reconcile>(
    work: R,
    mut watchers: Vec<Watcher>,
    mut unfinished: BTreeSet<String>,
    mut shutdown: Shutdown,
) {
    loop {
        let retry = async {
            if unfinished.is_empty() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(RETRY).await;
        };
        let mut due = BTreeSet::new();
        tokio::select! {
            () = shutdown.requested() => return,
            () = retry => due.append(&mut unfinished),
            (kind, events) = next_of(&mut watchers) => match events {
                Ok(events) => {
                    let objects = work.watched();
                    for event in events {
                        let (namespace, name) = objects[kind].names_of(event.entry());
                        due.extend(work.touched(kind, namespace, name));
                    }
                }
                Err(WatchError::Closed) => return,
                Err(_) => {
                    // Changes were missed.
                    watchers[kind] = work.watched()[kind].watch();
                    due.extend(work.all());
                }
            },
        }
        unfinished.append(&mut look(&work, due).await);
    }
}

/// What happened next to any of the kinds.
async fn next_of(watchers: &mut [Watcher]) -> (usize, Result<Vec<Arc<Event>>, WatchError>) {
    let next = watchers.iter_mut().map(|watcher| Box::pin(watcher.next()));
    let (events, kind, _) = select_all(next).await;
    (kind, events)
}

/// Works on all of `due`; those that failed.
async fn look<R: Reconcile>(work: &R, due: BTreeSet<String>) -> BTreeSet<String> {
    let each = stream::iter(due).map(|key| async move {
        let outcome = work.reconcile(&key).await;
        outcome.err().map(|error| {
            tracing::warn!(what = R::NAME, key, %error, "work of the server itself failed and is tried again");
            key
        })
    });
    each.buffer_unordered(AT_ONCE)
        .filter_map(std::future::ready)
        .collect()
        .await
}

//! Deletes what belongs to nobody any more.
//!
//! Reading order: [`metadata`](super::metadata) (what counts of an object), [`graph`] (who belongs to whom), `follow` (how the graph keeps
//! up), [`queue`] (what is to be looked at) and `look` (what a look at an object decides).
//!
//! The graph holds identities of objects that have owners and nothing else: whatever else a decision needs is read from
//! the caches when it is made, so it is never made on an old state.

mod follow;
mod graph;
mod look;
mod queue;
mod request;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use planesmith_server::chain::ApiServer;
use planesmith_server::request::Verb;
use planesmith_server::shutdown::Shutdown;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use self::follow::Follower;
use self::graph::{Graph, ObjectId};
use self::queue::{Outcome, Queue};
use super::served_kinds::{Kinds, ServedKind, ServedKinds};
use crate::loopback::{Loopback, LoopbackError};

/// Objects that are looked at at the same time.
const AT_ONCE: usize = 20;

/// What must be possible with objects for them to be collected.
const NEEDED: &[Verb] = &[Verb::Delete, Verb::List, Verb::Watch];

/// Deletes objects whose owners are gone, and carries out how the deletion of an owner is to go on.
pub(super) struct GarbageCollector {
    served: ServedKinds,
    shared: Arc<Shared>,
}

/// What all parts work with.
struct Shared {
    loopback: Loopback,
    kinds: Mutex<Arc<Kinds>>,
    graph: Mutex<Graph>,
    queue: Queue,
    /// By what the keys of their kind start with.
    followers: Mutex<HashMap<Arc<str>, Arc<Follower>>>,
    /// Says that a follower got further.
    progress: Notify,
    /// Objects with an owner of a kind that is not served.
    unresolved: Mutex<HashSet<ObjectId>>,
}

impl GarbageCollector {
    /// Collects what `server`, and those that it delegates to, store.
    pub(super) fn new(server: &ApiServer, loopback: &Loopback) -> Self {
        Self {
            served: ServedKinds::of(server),
            shared: Arc::new(Shared {
                loopback: loopback.clone(),
                kinds: Mutex::default(),
                graph: Mutex::default(),
                queue: Queue::default(),
                followers: Mutex::default(),
                progress: Notify::new(),
                unresolved: Mutex::default(),
            }),
        }
    }

    /// Works until the server stops.
    pub(super) async fn run(mut self, mut shutdown: Shutdown) {
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&self.shared).work());
        loop {
            for follower in self.shared.learn(self.served.now()) {
                tasks.spawn(follower.run(Arc::clone(&self.shared)));
            }
            tokio::select! {
                () = shutdown.requested() => return,
                () = self.served.changed() => {}
            }
        }
    }
}

impl Shared {
    /// Takes in which kinds are served now. Returns followers for those that are new.
    fn learn(&self, now: Kinds) -> Vec<Arc<Follower>> {
        let mut new = Vec::new();
        let mut followers = lock(&self.followers);
        for kind in now.iter().filter(|kind| is_collected(kind)) {
            let prefix: Arc<str> = kind.prefix().into();
            followers.entry(Arc::clone(&prefix)).or_insert_with(|| {
                let follower = Arc::new(Follower::new(prefix, Arc::clone(kind.store.collection())));
                new.push(Arc::clone(&follower));
                follower
            });
        }
        drop(followers);
        let mut known = lock(&self.kinds);
        Arc::make_mut(&mut known).learn(now);
        drop(known);
        self.queue.add(lock(&self.unresolved).drain());
        new
    }

    /// Looks at what is in the queue, for ever.
    async fn work(self: Arc<Self>) {
        let mut under_way = FuturesUnordered::new();
        loop {
            while under_way.len() < AT_ONCE
                && let Some(object) = self.queue.take(Instant::now())
            {
                let shared = Arc::clone(&self);
                under_way.push(async move {
                    let result = shared.look_at(&object).await;
                    (object, result)
                });
            }
            let next_time = self.queue.next_time();
            let delayed = async {
                match next_time {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Some((object, result)) = under_way.next() => {
                    let outcome = outcome_of(&object, result);
                    self.queue.finish(object, outcome, Instant::now());
                }
                () = self.queue.woken() => {}
                () = delayed => {}
            }
        }
    }

    fn kinds(&self) -> Arc<Kinds> {
        Arc::clone(&lock(&self.kinds))
    }

    fn graph(&self) -> MutexGuard<'_, Graph> {
        lock(&self.graph)
    }
}

fn outcome_of(object: &ObjectId, result: Result<Outcome, LoopbackError>) -> Outcome {
    match result {
        Ok(outcome) => outcome,
        Err(error) => {
            tracing::warn!(key = %object.key, %error, "an object cannot be collected yet");
            Outcome::Again
        }
    }
}

/// Events end by themselves, and are too many to follow.
fn is_collected(kind: &ServedKind) -> bool {
    let group = kind.store.facts().group;
    let is_event = kind.resource.plural == "events" && matches!(group, "" | "events.k8s.io");
    !is_event && kind.allows(NEEDED)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds a lock half way through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

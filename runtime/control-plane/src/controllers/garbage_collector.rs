//! Deletes objects whose owners are deleted.
//!
//! Reading order: [`metadata`](super::metadata) (the fields that matter), [`graph`] (owners and dependents), `follow`
//! (updates of the graph; `follow_remote` for objects of other servers), the [`work_queue`](crate::work_queue) (the
//! objects to process) and `decision` (what happens to an object).
//!
//! The graph has the identities of objects with owners and nothing else: all other facts are read from the caches
//! when a decision is made, so it is never made on an old state. Objects of other servers are requested when they are
//! processed; the graph may be late on them, as it always is in Kubernetes.

mod all_kinds;
mod decision;
mod follow;
mod follow_remote;
mod graph;
mod request;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planesmith_server::chain::SharedTable;
use planesmith_server::discovery::{GroupDirectory, RemoteVersion};
use planesmith_server::request::Verb;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::Stores;
use planesmith_store::Storage;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use self::all_kinds::AllKinds;
use self::decision::AbsentOwnerCache;
use self::follow::Follower;
use self::follow_remote::RemoteFollower;
use self::graph::{Graph, ObjectId};
use super::remote_kinds::RemoteKinds;
use super::served_kinds::{KindChanges, ServedKind, ServedKinds};
use crate::delaying_queue::Delays;
use crate::loopback::{Loopback, LoopbackError};
use crate::work_queue::{Outcome, WorkQueue};
use futures_util::FutureExt as _;

/// The number of objects that are processed at the same time.
const WORKERS: usize = 20;

/// The delays after which objects are processed again that cannot be decided yet.
const DELAYS: Delays = Delays {
    first: Duration::from_millis(5),
    longest: Duration::from_secs(60),
};

/// The name of the queue in metrics: that of kube-controller-manager.
const QUEUE: &str = "garbage_collector_attempt_to_delete";

/// The verbs that a kind must support for its objects to be collected.
const NEEDED: &[Verb] = &[Verb::Delete, Verb::List, Verb::Watch];

/// Deletes objects whose owners are deleted, and carries out foreground deletion and orphaning.
pub(super) struct GarbageCollector {
    served: ServedKinds,
    directory: GroupDirectory,
    shared: Arc<Shared>,
}

/// The state that all parts of the collector share.
struct Shared {
    loopback: Loopback,
    storage: Storage,
    kinds: Mutex<AllKinds>,
    graph: Mutex<Graph>,
    queue: WorkQueue<ObjectId>,
    /// The followers of stored kinds, by the prefix of the kind's keys.
    followers: Mutex<HashMap<Arc<str>, Arc<Follower>>>,
    /// The followers of remote kinds, by the path of the kind.
    remote_followers: Mutex<HashMap<Arc<str>, Arc<RemoteFollower>>>,
    /// Notified when a follower has progressed.
    progress: Notify,
    /// Objects with an owner of a kind that is not served.
    unresolved: Mutex<HashSet<ObjectId>>,
    /// Owners that are in no namespace; many dependents may name them.
    absent_owners: Mutex<AbsentOwnerCache>,
}

impl GarbageCollector {
    /// Collects the objects stored by `server` and by those that it delegates to, and those of the servers in
    /// `directory`.
    pub(super) fn new(
        tables: &[SharedTable],
        stores: &Stores,
        loopback: &Loopback,
        directory: &GroupDirectory,
    ) -> Self {
        Self {
            served: ServedKinds::from_tables(tables),
            directory: directory.clone(),
            shared: Arc::new(Shared {
                loopback: loopback.clone(),
                storage: stores.storage().clone(),
                kinds: Mutex::default(),
                graph: Mutex::default(),
                queue: WorkQueue::new(DELAYS, stores.options().metrics.queue(QUEUE)),
                followers: Mutex::default(),
                remote_followers: Mutex::default(),
                progress: Notify::new(),
                unresolved: Mutex::default(),
                absent_owners: Mutex::default(),
            }),
        }
    }

    /// Runs until the server stops.
    pub(super) async fn run(mut self, mut shutdown: Shutdown) {
        let mut tasks = JoinSet::new();
        let mut others = self.directory.changes();
        tasks.spawn(Arc::clone(&self.shared).work().boxed());
        let mut known_remote: Option<Arc<[RemoteVersion]>> = None;
        loop {
            for follower in self.shared.learn(self.served.changes()) {
                tasks.spawn(follower.run(Arc::clone(&self.shared)).boxed());
            }
            let remote = Arc::clone(&self.directory.load().remote);
            if !known_remote.is_some_and(|known| Arc::ptr_eq(&known, &remote)) {
                for follower in self.shared.learn_remote(RemoteKinds::from_versions(&remote)) {
                    tasks.spawn(follower.run(Arc::clone(&self.shared)).boxed());
                }
            }
            known_remote = Some(remote);
            // Followers of kinds that are no longer served.
            while tasks.try_join_next().is_some() {}
            tokio::select! {
                () = shutdown.requested() => return,
                () = self.served.changed() => {}
                // The directory lives as long as its receiver here.
                _ = others.changed() => {}
            }
        }
    }
}

impl Shared {
    /// Updates the served kinds, and stops the followers of removed ones. Returns followers for new ones.
    fn learn(&self, changes: KindChanges) -> Vec<Arc<Follower>> {
        let serves_more = changes.serves_more();
        let mut new = Vec::new();
        let mut followers = lock(&self.followers);
        let (served, forgotten) = Arc::make_mut(&mut lock(&self.kinds).stored).learn(changes);
        for kind in served.iter().filter(|kind| is_collected(kind)) {
            let prefix: Arc<str> = kind.prefix().into();
            followers.entry(Arc::clone(&prefix)).or_insert_with(|| {
                let follower = Arc::new(Follower::new(prefix, Arc::clone(kind.store.collection())));
                new.push(Arc::clone(&follower));
                follower
            });
        }
        for prefix in forgotten {
            if let Some(follower) = followers.remove(&prefix) {
                follower.stop();
            }
        }
        drop(followers);
        if serves_more {
            self.queue.add(lock(&self.unresolved).drain());
        }
        new
    }

    /// Updates the kinds of other servers. Returns followers for new ones.
    fn learn_remote(&self, now: RemoteKinds) -> Vec<Arc<RemoteFollower>> {
        let mut new = Vec::new();
        let mut followers = lock(&self.remote_followers);
        followers.retain(|path, follower| {
            let is_collectable = now.collectable().any(|kind| kind.path == *path);
            match is_collectable {
                true => follower.wake(),
                false => follower.stop(),
            }
            is_collectable
        });
        for kind in now.collectable() {
            followers.entry(Arc::clone(&kind.path)).or_insert_with(|| {
                let follower = Arc::new(RemoteFollower::new(Arc::clone(kind)));
                new.push(Arc::clone(&follower));
                follower
            });
        }
        drop(followers);
        lock(&self.kinds).remote = Arc::new(now);
        self.queue.add(lock(&self.unresolved).drain());
        new
    }

    /// Processes the keys of the queue, for ever.
    async fn work(self: Arc<Self>) {
        let look = |object: ObjectId| {
            let shared = Arc::clone(&self);
            async move { outcome_of(&object, shared.reconcile_object(&object).await) }
        };
        self.queue.work(WORKERS, look).await;
    }

    fn kinds(&self) -> AllKinds {
        lock(&self.kinds).clone()
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
            Outcome::Requeue
        }
    }
}

/// True if objects of the kind are collected. Those that expire by themselves are not, such as events: they are too many to follow.
fn is_collected(kind: &ServedKind) -> bool {
    !kind.store.facts().behavior.expires && kind.allows(NEEDED)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that holds a lock panics in the middle of a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

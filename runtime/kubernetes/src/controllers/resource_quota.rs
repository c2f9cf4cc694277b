//! Keeps the recorded usage of quotas true: writes only add to it, so deletions are counted here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;
use planesmith_access::admission::Lister;
use planesmith_api_defs::core::v1::ResourceQuota;
use planesmith_control_plane::controllers::MANAGER;
use planesmith_control_plane::controllers::served_kinds::{Kinds, ServedKind, ServedKinds};
use planesmith_control_plane::delaying_queue::DelayingQueue;
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::reconciler::{self, next_of};
use planesmith_control_plane::resource_client::ResourceClient;
use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use planesmith_server::chain::SharedTable;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::Stores;
use planesmith_store::{Entry, Event, EventKind, WatchError, Watcher};
use serde_json::Value;

use crate::admission::resource_quota::evaluator::Evaluator;
use crate::admission::resource_quota::recount::Recount;

/// The time during which deletions are collected before the quotas are counted.
const COALESCING_DELAY: Duration = Duration::from_millis(100);
/// The delay until a quota is counted again after a failure, or after its first count.
const RETRY: Duration = Duration::from_secs(1);
/// The time between two counts of a quota if no object is deleted.
const INTERVAL: Duration = Duration::from_secs(5 * 60);

/// The index of the watcher of quotas among the watchers.
const QUOTAS: usize = 0;

/// Recounts the usage of quotas.
pub(super) struct QuotaController {
    served: ServedKinds,
    kinds: Kinds,
    /// The objects that counted objects refer to.
    objects: Arc<dyn Lister>,
    quotas: ResourceClient,
    /// The kinds that some quota bounds; their watchers follow that of the quotas.
    followed: Vec<Arc<ServedKind>>,
    watchers: Vec<Watcher>,
    /// Namespaces and names of quotas, and the times at which to count them.
    due: DelayingQueue<String>,
}

impl QuotaController {
    /// Counts the objects in the stores of `server` and of those that it delegates to. `None` for a server without
    /// quotas.
    pub(super) fn new(
        tables: &[SharedTable],
        stores: &Stores,
        objects: Arc<dyn Lister>,
        loopback: &Loopback,
    ) -> Option<Self> {
        let quotas = ResourceClient::of(stores, loopback, "", "v1", "resourcequotas")?.managed_by(MANAGER);
        Some(Self {
            served: ServedKinds::from_tables(tables),
            kinds: Kinds::default(),
            watchers: vec![quotas.watch()],
            objects,
            quotas,
            followed: Vec::new(),
            due: DelayingQueue::new(reconciler::RETRY),
        })
    }

    /// Runs until the server stops.
    pub(super) async fn run(mut self, mut shutdown: Shutdown) {
        self.kinds.update(self.served.changes());
        self.recount_all();
        loop {
            let next_time = self.due.next_time();
            let delayed = async {
                match next_time {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = shutdown.requested() => return,
                () = self.served.changed() => self.take_in_kinds(),
                () = delayed => tokio::select! {
                    biased;
                    () = shutdown.requested() => return,
                    () = self.count_due() => {}
                },
                (index, events) = next_of(&mut self.watchers) => match events {
                    Ok(events) => events.iter().for_each(|event| self.take_in(index, event)),
                    Err(WatchError::Closed) => return,
                    Err(_) => {
                        // Changes were missed.
                        self.watchers.truncate(1);
                        self.watchers[QUOTAS] = self.quotas.watch();
                        self.followed.clear();
                        self.recount_all();
                    }
                },
            }
        }
    }

    /// Follows the kinds that quotas bound now, and counts all quotas.
    fn recount_all(&mut self) {
        let quotas = self.quotas.all_typed::<ResourceQuota>("");
        self.follow(&quotas);
        for quota in &quotas {
            self.due.add_before(key_of(quota), Instant::now());
        }
    }

    /// Follows the kinds that are served since the last call, and counts the quotas that bound a kind that changed.
    fn take_in_kinds(&mut self) {
        let changed = self.kinds.update(self.served.changes());
        let changed: Vec<_> = changed.into_iter().filter(|kind| is_countable(kind)).collect();
        if changed.is_empty() {
            return;
        }
        let quotas = self.quotas.all_typed::<ResourceQuota>("");
        for kind in &changed {
            let followed = self.followed.iter().position(|own| own.prefix() == kind.prefix());
            // It is followed anew, in its present form.
            if let Some(index) = followed {
                self.followed.swap_remove(index);
                self.watchers.swap_remove(index + 1);
            }
            let evaluator = Evaluator::of_kind(group_of(kind), plural_of(kind), &*self.objects, &**self.quotas.clock());
            let bounding = quotas.iter().filter(|quota| evaluator.bounds(quota));
            let bounding: Vec<String> = bounding.map(key_of).collect();
            if !bounding.is_empty() && self.kinds.serves(kind.prefix()) {
                self.followed.push(Arc::clone(kind));
                self.watchers.push(kind.store.watch());
            }
            for key in bounding {
                self.due.add_before(key, Instant::now());
            }
        }
    }

    /// Follows the kinds that `quotas` bound, too.
    fn follow(&mut self, quotas: &[ResourceQuota]) {
        for kind in self.kinds.iter().filter(|kind| is_countable(kind)) {
            let is_followed = self.followed.iter().any(|own| own.prefix() == kind.prefix());
            let is_bounded = || {
                let evaluator = self.evaluator(kind);
                quotas.iter().any(|quota| evaluator.bounds(quota))
            };
            if !is_followed && is_bounded() {
                self.followed.push(Arc::clone(kind));
                self.watchers.push(kind.store.watch());
            }
        }
    }

    fn take_in(&mut self, index: usize, event: &Event) {
        let Some(kind) = index.checked_sub(1).and_then(|index| self.followed.get(index)) else {
            self.take_in_quota(event);
            return;
        };
        let (namespace, _) = kind.store.names(event.entry().key());
        let quotas = self.quotas.all_typed::<ResourceQuota>(namespace);
        let evaluator = self.evaluator(kind);
        let bounding = quotas.iter().filter(|quota| evaluator.bounds(quota));
        let bounding: Vec<String> = bounding.map(key_of).collect();
        if !bounding.is_empty() && gives_back(kind, event, &evaluator) {
            for key in bounding {
                self.due.add_before(key, Instant::now() + COALESCING_DELAY);
            }
        }
    }

    fn take_in_quota(&mut self, event: &Event) {
        let key = self.quotas.key_of(event.entry());
        if event.kind() == EventKind::Delete {
            self.due.forget(&key);
            return;
        }
        let Some(quota) = self.quotas.typed::<ResourceQuota>(event.entry()) else {
            return;
        };
        if is_uncounted(&quota) {
            self.follow(std::slice::from_ref(&quota));
            self.due.add_before(key, Instant::now());
        }
    }

    async fn count_due(&mut self) {
        for key in self.due.take(Instant::now()) {
            let next = match self.count(&key).await {
                Ok(next) => next,
                // A write was charged meanwhile.
                Err(error) if error.status() == Some(StatusCode::CONFLICT) => COALESCING_DELAY,
                Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => continue,
                Err(error) => {
                    tracing::warn!(key, %error, "the usage of a quota cannot be written and is counted again");
                    RETRY
                }
            };
            self.due.add_before(key, Instant::now() + next);
        }
    }

    /// Counts the usage of a quota. Returns the time until the next count.
    async fn count(&self, key: &str) -> Result<Duration, LoopbackError> {
        let (namespace, name) = key.split_once('/').unwrap_or_default();
        let Some(mut quota) = self.quotas.get_typed::<ResourceQuota>(namespace, name) else {
            return Ok(INTERVAL);
        };
        let next = match is_uncounted(&quota) {
            // A write that began before the bound was set, and ends after this count, is in neither.
            true => RETRY,
            false => INTERVAL,
        };
        let mut recount = Recount::new(&quota);
        for kind in self.kinds.iter().filter(|kind| is_countable(kind)) {
            let evaluator = self.evaluator(kind);
            if evaluator.bounds(&quota) {
                let entries = kind.entries_in(namespace);
                recount.add(&evaluator, &entries, |entry| decode(kind, entry));
            }
        }
        let used = recount.used();
        if quota.status.hard == quota.spec.hard && quota.status.used == used {
            return Ok(next);
        }
        quota.status.hard = quota.spec.hard.clone();
        quota.status.used = used;
        let document: Value = serde_json::from_slice(&json::to_vec(&quota)).unwrap_or_default();
        self.quotas.try_replace_part(&document, "/status").await?;
        Ok(next)
    }

    fn evaluator(&self, kind: &ServedKind) -> Evaluator<'_> {
        Evaluator::of_kind(group_of(kind), plural_of(kind), &*self.objects, &**self.quotas.clock())
    }
}

fn key_of(quota: &ResourceQuota) -> String {
    format!("{}/{}", quota.metadata.namespace, quota.metadata.name)
}

fn group_of(kind: &ServedKind) -> &str {
    &kind.store.facts().group
}

fn plural_of(kind: &ServedKind) -> &str {
    &kind.store.facts().plural
}

/// True if objects of the kind are counted. Events are not: they expire by themselves.
fn is_countable(kind: &ServedKind) -> bool {
    let is_event = plural_of(kind) == "events" && matches!(group_of(kind), "" | "events.k8s.io");
    kind.is_namespaced() && !is_event
}

/// True if the usage of a resource that the quota bounds is unknown.
fn is_uncounted(quota: &ResourceQuota) -> bool {
    let (spec, status) = (&quota.spec, &quota.status);
    spec.hard != status.hard || spec.hard.keys().any(|name| !status.used.contains_key(name))
}

/// True if an event may lower the usage. Growth is charged by the write itself.
fn gives_back(kind: &ServedKind, event: &Event, evaluator: &Evaluator<'_>) -> bool {
    if event.kind() == EventKind::Delete {
        return true;
    }
    let Some(before) = event.previous().filter(|_| evaluator.can_change()) else {
        return false;
    };
    match (decode(kind, before), decode(kind, event.entry())) {
        (Some(before), Some(now)) => evaluator.changed(&*before, &*now),
        _ => false,
    }
}

fn decode(kind: &ServedKind, entry: &Entry) -> Option<Box<dyn Object>> {
    kind.store.decode(entry).ok()
}

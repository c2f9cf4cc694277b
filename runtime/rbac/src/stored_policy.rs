//! The stored roles and bindings as a policy that is never behind an acknowledged write.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::{ArcSwap, Guard};
use planesmith_access::authorization::rbac::Policy;
use planesmith_api_defs::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use planesmith_control_plane::reconciler::next_of;
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::ResourceStore;
use planesmith_store::{ChangeSignal, Entry, Event, EventKind, ListQuery, Position, Storage, WatchError, Watcher};

use crate::policy_kinds;

/// The policy of the stored roles and bindings.
///
/// Readers get an immutable snapshot, without a lock. Four numbers tell if it is behind the stores; the first reader after a write
/// brings it up to date, before its decision. A write is signalled before it is acknowledged, so a request that follows an
/// acknowledged write sees it.
#[derive(Debug)]
pub(crate) struct StoredPolicy {
    kinds: [StoredKind; 4],
    signals: [ChangeSignal; 4],
    current: ArcSwap<Snapshot>,
    /// The readers of changes. Locked while a snapshot is made, by a task that does not wait.
    watchers: Mutex<Vec<Watcher>>,
}

/// A policy, and the positions up to which changes are part of it.
#[derive(Debug)]
pub(crate) struct Snapshot {
    policy: Policy,
    positions: [Position; 4],
}

impl Snapshot {
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }
}

/// The objects of one of the four kinds.
#[derive(Debug)]
struct StoredKind {
    store: ResourceStore,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    ClusterRole,
    Role,
    ClusterRoleBinding,
    RoleBinding,
}

impl StoredPolicy {
    /// Reads all roles and bindings of `storage`.
    pub(crate) fn open(storage: &Storage, scheme: &Scheme) -> Self {
        let kinds = [
            (Kind::ClusterRole, ClusterRole::RESOURCE),
            (Kind::Role, Role::RESOURCE),
            (Kind::ClusterRoleBinding, ClusterRoleBinding::RESOURCE),
            (Kind::RoleBinding, RoleBinding::RESOURCE),
        ];
        let kinds = kinds.map(|(kind, facts)| StoredKind {
            store: ResourceStore::with_versions(storage, facts, scheme),
            kind,
        });
        let watchers = kinds.each_ref().map(|kind| kind.store.watch());
        let signals = watchers.each_ref().map(Watcher::signal);
        let positions = watchers.each_ref().map(Watcher::position);
        let policy = read(&kinds);
        let snapshot = Snapshot { policy, positions };
        Self {
            kinds,
            signals,
            current: ArcSwap::from_pointee(snapshot),
            watchers: Mutex::new(watchers.into()),
        }
    }

    /// Returns the policy with all acknowledged writes.
    pub(crate) fn current(&self) -> Guard<Arc<Snapshot>> {
        let snapshot = self.current.load();
        if !self.is_behind(&snapshot.positions) {
            return snapshot;
        }
        self.catch_up();
        self.current.load()
    }

    /// Follows changes until the server stops, so that the first request after many of them does not wait for all.
    pub(crate) async fn follow(self: Arc<Self>, mut shutdown: Shutdown) {
        let mut watchers: Vec<Watcher> = self.kinds.iter().map(|kind| kind.store.watch()).collect();
        loop {
            drop(self.current());
            tokio::select! {
                () = shutdown.requested() => return,
                (kind, events) = next_of(&mut watchers) => match events {
                    Ok(_) => {}
                    Err(WatchError::Closed) => return,
                    Err(WatchError::Compacted { .. }) => watchers[kind] = self.kinds[kind].store.watch(),
                }
            }
        }
    }

    fn is_behind(&self, positions: &[Position; 4]) -> bool {
        let mut each = self.signals.iter().zip(positions);
        each.any(|(signal, position)| signal.is_behind(*position))
    }

    /// Publishes a policy with all changes that were visible when this was called.
    fn catch_up(&self) {
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = self.current.load();
        let mut positions = snapshot.positions;
        // Another reader may have done it meanwhile.
        if !self.is_behind(&positions) {
            return;
        }
        let mut policy = snapshot.policy.clone();
        // The kinds are read one after another. Only when none has news after all were read are their states of one time: otherwise
        // a role could be seen with rules that it got after a binding to it was removed.
        while self.is_behind(&positions) {
            for (kind, watcher) in self.kinds.iter().zip(&mut *watchers) {
                match watcher.try_next() {
                    Ok(events) => events.iter().for_each(|event| kind.apply(event, &mut policy)),
                    Err(_) => {
                        // Changes were missed: everything is read anew, after all changes that were seen.
                        *watcher = kind.store.watch();
                        policy = read(&self.kinds);
                    }
                }
            }
            for (position, watcher) in positions.iter_mut().zip(&*watchers) {
                *position = watcher.position();
            }
        }
        self.current.store(Arc::new(Snapshot { policy, positions }));
    }
}

/// Reads all objects of the kinds.
fn read(kinds: &[StoredKind]) -> Policy {
    let mut policy = Policy::default();
    for kind in kinds {
        let collection = kind.store.collection();
        // The newest state is never compacted.
        let page = collection.list(&ListQuery::all(collection.prefix()));
        for entry in page.map(|page| page.entries).unwrap_or_default() {
            kind.set(&entry, &mut policy);
        }
    }
    policy
}

impl StoredKind {
    fn apply(&self, event: &Event, policy: &mut Policy) {
        match event.kind() {
            EventKind::Put { .. } => self.set(event.entry(), policy),
            EventKind::Delete => self.remove(event.entry(), policy),
        }
    }

    /// Adds the object of an entry. One that cannot be read grants nothing.
    fn set(&self, entry: &Entry, policy: &mut Policy) {
        let (namespace, name) = self.store.names(entry.key());
        let set = match self.kind {
            Kind::ClusterRole => self.store.typed::<ClusterRole>(entry).map(|role| {
                policy.set_role(policy_kinds::role("", name, &role.rules));
            }),
            Kind::Role => self.store.typed::<Role>(entry).map(|role| {
                policy.set_role(policy_kinds::role(namespace, name, &role.rules));
            }),
            Kind::ClusterRoleBinding => self.store.typed::<ClusterRoleBinding>(entry).map(|binding| {
                policy.set_binding(policy_kinds::binding("", name, &binding.role_ref, &binding.subjects));
            }),
            Kind::RoleBinding => self.store.typed::<RoleBinding>(entry).map(|binding| {
                let binding = policy_kinds::binding(namespace, name, &binding.role_ref, &binding.subjects);
                policy.set_binding(binding);
            }),
        };
        if set.is_none() {
            tracing::warn!(
                key = entry.key(),
                "a role or a binding cannot be read; it gives no permission"
            );
            self.remove(entry, policy);
        }
    }

    fn remove(&self, entry: &Entry, policy: &mut Policy) {
        let (namespace, name) = self.store.names(entry.key());
        match self.kind {
            Kind::ClusterRole | Kind::Role => policy.remove_role(namespace, name),
            Kind::ClusterRoleBinding | Kind::RoleBinding => policy.remove_binding(namespace, name),
        }
    }
}

#[cfg(test)]
mod tests;

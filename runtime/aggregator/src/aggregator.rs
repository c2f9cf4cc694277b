//! All registrations, with their routes, discovery entries and documents.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use planesmith_server::chain::ApiServer;
use planesmith_server::discovery::{GroupRegistry, Groups, ListedGroup, ListedGroups, RemoteVersion};

use crate::backend::Backend;
use crate::claims::Claims;
use crate::config::AggregatorConfig;
use crate::registration::{Registration, Remote, listed};

/// Keeps the routes, the discovery and the OpenAPI documents in line with the registrations. Clones share their state.
#[derive(Clone)]
pub struct Aggregator {
    inner: Arc<Inner>,
}

struct Inner {
    claims: Claims,
    config: AggregatorConfig,
    own: ListedGroup,
    /// By name, which is that of the group version: `v1.apps`.
    registered: Mutex<BTreeMap<String, Registered>>,
    /// True once all registrations that exist at startup are known.
    is_complete: AtomicBool,
}

/// The registrations as the source of the plain list of groups. Does not keep the aggregator, whose directory has it.
struct Registry(Weak<Inner>);

struct Registered {
    registration: Registration,
    backend: Option<Arc<Backend>>,
    /// True if this chain has its own documents for the version, which take precedence.
    is_documented_here: bool,
}

impl Aggregator {
    /// Creates an aggregator for `server` without registrations. The group `own` is listed before all others.
    #[must_use]
    pub fn new(server: &mut ApiServer, own: ListedGroup, config: AggregatorConfig) -> Self {
        Self {
            inner: Arc::new(Inner {
                claims: Claims::of(server),
                config,
                own,
                registered: Mutex::default(),
                is_complete: AtomicBool::new(false),
            }),
        }
    }

    /// Publishes discovery by registration instead of by route from now on, because all registrations are known.
    pub fn complete(&self) {
        self.inner.is_complete.store(true, Ordering::Release);
        self.publish_order(&self.registered());
    }

    /// Adds or updates a registration. Returns the server it refers to, or `None` if it is a server of this chain. For a known
    /// server, the availability last passed to [`Aggregator::set_available`] is retained.
    pub fn set(&self, mut registration: Registration) -> Option<Arc<Backend>> {
        let mut registered = self.registered();
        let known = registered.get(&registration.name);
        if let (Some(remote), Some(known)) = (&mut registration.remote, known)
            && known.is_at(remote)
        {
            // The status in the registration may be older than the last result of the availability check.
            remote.is_available = known.is_available();
        }
        if let Some(known) = known.filter(|known| known.registration == registration) {
            return known.backend.clone();
        }
        let (group, version) = (&registration.priority.group, &registration.priority.version);
        let backend = match (&registration.remote, known) {
            (None, _) => {
                self.inner.claims.release(group, version);
                None
            }
            (Some(remote), Some(known)) if known.is_at(remote) => known.backend.clone(),
            (Some(remote), _) => {
                let place = (group.as_str(), version.as_str());
                let backend = Arc::new(Backend::new(place, remote, &self.inner.config));
                self.inner
                    .claims
                    .claim(group.as_str(), version.as_str(), Arc::clone(&backend) as _);
                Some(backend)
            }
        };
        if backend.is_none() {
            self.forget_documents(known);
        }
        let is_documented_here = match known {
            Some(known) if known.backend.is_some() => known.is_documented_here,
            _ => self.inner.config.openapi.v3(&path_of(&registration)).is_some(),
        };
        let concerns_remote = backend.is_some() || known.is_some_and(|known| known.backend.is_some());
        let name = registration.name.clone();
        let entry = Registered {
            registration,
            backend: backend.clone(),
            is_documented_here,
        };
        registered.insert(name, entry);
        match concerns_remote {
            true => self.publish_all(&registered),
            false => self.publish_order(&registered),
        }
        backend
    }

    /// Sets the availability of a registration's server. On return, both routing and discovery reflect it. Does nothing if
    /// `backend` is no longer the server of this registration.
    pub fn set_available(&self, name: &str, backend: &Arc<Backend>, is_available: bool) {
        let mut registered = self.registered();
        let Some(known) = registered.get_mut(name).filter(|known| known.is_answered_by(backend)) else {
            return;
        };
        backend.set_available(is_available);
        let remote = known.registration.remote.as_mut();
        if let Some(remote) = remote.filter(|remote| remote.is_available != is_available) {
            remote.is_available = is_available;
            self.publish_all(&registered);
        }
    }

    /// Returns the names of all registrations.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.registered().keys().cloned().collect()
    }

    /// Removes a registration.
    pub fn remove(&self, name: &str) {
        let mut registered = self.registered();
        let gone = registered.remove(name);
        self.forget_documents(gone.as_ref());
        if let Some(gone) = gone {
            let place = &gone.registration.priority;
            self.inner.claims.release(&place.group, &place.version);
            match gone.backend {
                Some(_) => self.publish_all(&registered),
                None => self.publish_order(&registered),
            }
        }
    }

    /// Updates the documents of a registration's server. Documents that cannot be read stay as they are. Returns true if all of
    /// them could be read.
    pub async fn refresh(&self, name: &str) -> bool {
        let found = self.registered().get(name).and_then(|registered| {
            let place = registered.registration.priority.clone();
            Some((place, registered.backend.clone()?))
        });
        let Some((place, backend)) = found else { return true };
        let read = backend.read_documents(&place.group, &place.version);
        // Boxed, because the future of three concurrent requests is large.
        let changes = Box::pin(read).await;
        let registered = self.registered();
        let current = registered.get(name).filter(|current| current.is_answered_by(&backend));
        // Otherwise the registration changed in the meantime.
        let Some(current) = current else { return true };
        if !current.is_documented_here {
            let path = path_of(&current.registration);
            if let Some(part) = changes.v2 {
                self.inner.config.openapi.adopt_v2(&path, part);
            }
            if let Some(document) = changes.v3 {
                self.inner.config.openapi.set_v3(&path, document);
            }
        }
        if changes.resources {
            self.publish_all(&registered);
        }
        changes.are_all
    }

    /// Returns the group versions of other servers, with their availability.
    #[must_use]
    pub fn remote(&self) -> Vec<RemoteVersion> {
        remote(&self.registered())
    }

    fn registered(&self) -> MutexGuard<'_, BTreeMap<String, Registered>> {
        self.inner.registered()
    }

    /// Removes the documents of another server.
    fn forget_documents(&self, registered: Option<&Registered>) {
        let Some(registered) = registered.filter(|known| known.backend.is_some() && !known.is_documented_here) else {
            return;
        };
        let path = path_of(&registered.registration);
        self.inner.config.openapi.disown_v2(&path);
        self.inner.config.openapi.remove_v3(&path);
    }

    /// Publishes the order of groups, for a change that concerns no other server. The list itself is computed when it is
    /// read: a burst of changes costs one list.
    fn publish_order(&self, _locked: &BTreeMap<String, Registered>) {
        let remote = Arc::clone(&self.inner.config.directory.load().remote);
        self.publish(remote);
    }

    /// Publishes the order of groups, and the versions of other servers.
    fn publish_all(&self, registered: &BTreeMap<String, Registered>) {
        self.publish(remote(registered).into());
    }

    fn publish(&self, remote: Arc<[RemoteVersion]>) {
        let is_complete = self.inner.is_complete.load(Ordering::Acquire);
        let registry = || ListedGroups::new(Arc::new(Registry(Arc::downgrade(&self.inner))));
        self.inner.config.directory.store(Groups {
            listed: is_complete.then(registry),
            remote,
        });
    }
}

impl GroupRegistry for Registry {
    fn groups(&self) -> Vec<ListedGroup> {
        let Some(inner) = self.0.upgrade() else {
            return Vec::new();
        };
        let registered = inner.registered();
        let mut groups = vec![inner.own.clone()];
        groups.extend(listed(registered.values().map(|registered| &registered.registration)));
        groups
    }

    fn lists(&self, group: &str, version: &str) -> bool {
        self.0.upgrade().is_some_and(|inner| {
            let is_own = inner.own.name == group && inner.own.versions.iter().any(|own| own == version);
            is_own || inner.registered().contains_key(&format!("{version}.{group}"))
        })
    }
}

impl Inner {
    fn registered(&self) -> MutexGuard<'_, BTreeMap<String, Registered>> {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the path of a group version's documents.
fn path_of(registration: &Registration) -> String {
    let place = &registration.priority;
    match place.group.as_str() {
        "" => format!("api/{}", place.version),
        group => format!("apis/{group}/{}", place.version),
    }
}

fn remote(registered: &BTreeMap<String, Registered>) -> Vec<RemoteVersion> {
    let remote = registered.values().filter_map(|registered| {
        let remote = registered.registration.remote.as_ref()?;
        Some(RemoteVersion {
            priority: registered.registration.priority.clone(),
            resources: registered.backend.as_ref()?.resources(),
            is_current: remote.is_available,
        })
    });
    remote.collect()
}

impl Registered {
    /// True if `remote` is the same server.
    fn is_at(&self, remote: &Remote) -> bool {
        let known = self.registration.remote.as_ref();
        known.is_some_and(|known| known.service == remote.service && known.trust == remote.trust)
    }

    /// True if `backend` is the current server of this registration.
    fn is_answered_by(&self, backend: &Arc<Backend>) -> bool {
        let own = self.backend.as_ref();
        own.is_some_and(|own| Arc::ptr_eq(own, backend))
    }

    fn is_available(&self) -> bool {
        let remote = self.registration.remote.as_ref();
        remote.is_some_and(|remote| remote.is_available)
    }
}

impl fmt::Debug for Aggregator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aggregator")
            .field("claims", &self.inner.claims)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

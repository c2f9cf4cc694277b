//! All registrations, and what follows from them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planesmith_server::chain::ApiServer;
use planesmith_server::discovery::{GroupDirectory, Groups, ListedGroup, RemoteVersion};
use planesmith_server::openapi::OpenApi;
use planesmith_server::proxy::ClientIdentity;

use crate::backend::{Backend, Resolver};
use crate::claims::Claims;
use crate::registration::{Registration, Remote, listed};

/// Follows registrations: what they claim is passed on, and listed. Clones are about the same server.
#[derive(Clone)]
pub struct Aggregator {
    inner: Arc<Inner>,
}

struct Inner {
    claims: Claims,
    ways: Ways,
    own: ListedGroup,
    registered: Mutex<BTreeMap<String, Registered>>,
    /// Everything that is registered at start is known.
    is_complete: AtomicBool,
}

/// What an aggregator works with.
#[derive(Clone)]
pub struct Ways {
    /// Where groups are shown.
    pub directory: GroupDirectory,
    /// Where documents are shown.
    pub openapi: OpenApi,
    /// Finds servers.
    pub resolver: Arc<dyn Resolver>,
    /// Who this server is to others; they believe its word on who asks.
    pub identity: Option<ClientIdentity>,
    /// Whether clients get 502 when another server would send them elsewhere.
    pub rejects_redirects: bool,
}

struct Registered {
    registration: Registration,
    backend: Option<Arc<Backend>>,
    /// This chain has documents of the version itself, which stay.
    is_documented_here: bool,
}

impl Aggregator {
    /// The registrations of `server`, none so far. The group `own` is listed before all others.
    #[must_use]
    pub fn new(server: &ApiServer, own: ListedGroup, ways: Ways) -> Self {
        Self {
            inner: Arc::new(Inner {
                claims: Claims::of(server),
                ways,
                own,
                registered: Mutex::default(),
                is_complete: AtomicBool::new(false),
            }),
        }
    }

    /// Lists groups as they are registered from now on, no more as they are served: all registrations are there.
    pub fn complete(&self) {
        self.inner.is_complete.store(true, Ordering::Release);
        self.publish(&self.registered());
    }

    /// Follows a registration that is new, or that has changed. What answers for it, if that is another server. Whether a
    /// server gets requests that is known already stays as [`Aggregator::set_available`] said last.
    pub fn set(&self, mut registration: Registration) -> Option<Arc<Backend>> {
        let mut registered = self.registered();
        let known = registered.get(&registration.name);
        if let (Some(remote), Some(known)) = (&mut registration.remote, known)
            && known.is_at(remote)
        {
            // What is registered says what was found out, and maybe not yet what was found out last.
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
                let backend = Arc::new(Backend::new(place, remote, &self.inner.ways));
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
            _ => self.inner.ways.openapi.v3(&path_of(&registration)).is_some(),
        };
        let name = registration.name.clone();
        let entry = Registered {
            registration,
            backend: backend.clone(),
            is_documented_here,
        };
        registered.insert(name, entry);
        self.publish(&registered);
        backend
    }

    /// Says whether the server that answers for a registration gets requests, and whether what it serves is shown as
    /// current; both hold when this returns. Nothing happens when `backend` is not that server any more.
    pub fn set_available(&self, name: &str, backend: &Arc<Backend>, is_available: bool) {
        let mut registered = self.registered();
        let Some(known) = registered.get_mut(name).filter(|known| known.is_answered_by(backend)) else {
            return;
        };
        backend.set_available(is_available);
        let remote = known.registration.remote.as_mut();
        if let Some(remote) = remote.filter(|remote| remote.is_available != is_available) {
            remote.is_available = is_available;
            self.publish(&registered);
        }
    }

    /// The names of all registrations.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.registered().keys().cloned().collect()
    }

    /// Forgets a registration.
    pub fn remove(&self, name: &str) {
        let mut registered = self.registered();
        let gone = registered.remove(name);
        self.forget_documents(gone.as_ref());
        if let Some(gone) = gone {
            let place = &gone.registration.priority;
            self.inner.claims.release(&place.group, &place.version);
            self.publish(&registered);
        }
    }

    /// Looks for changes in the documents of the server that answers for a registration. What cannot be read stays as it
    /// was; whether everything could.
    pub async fn refresh(&self, name: &str) -> bool {
        let found = self.registered().get(name).and_then(|registered| {
            let place = registered.registration.priority.clone();
            Some((place, registered.backend.clone()?))
        });
        let Some((place, backend)) = found else { return true };
        let read = backend.read_documents(&place.group, &place.version);
        // On the heap: three requests under way are a large future.
        let changes = Box::pin(read).await;
        let registered = self.registered();
        let current = registered.get(name).filter(|current| current.is_answered_by(&backend));
        // Otherwise it was registered anew while it answered.
        let Some(current) = current else { return true };
        if !current.is_documented_here {
            let path = path_of(&current.registration);
            if let Some(part) = changes.v2 {
                self.inner.ways.openapi.adopt_v2(&path, part);
            }
            if let Some(document) = changes.v3 {
                self.inner.ways.openapi.set_v3(&path, document);
            }
        }
        if changes.resources {
            self.publish(&registered);
        }
        changes.are_all
    }

    /// What other servers answer for, and whether they can be reached.
    #[must_use]
    pub fn remote(&self) -> Vec<RemoteVersion> {
        remote(&self.registered())
    }

    fn registered(&self) -> MutexGuard<'_, BTreeMap<String, Registered>> {
        self.inner.registered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back what another server has said.
    fn forget_documents(&self, registered: Option<&Registered>) {
        let Some(registered) = registered.filter(|known| known.backend.is_some() && !known.is_documented_here) else {
            return;
        };
        let path = path_of(&registered.registration);
        self.inner.ways.openapi.disown_v2(&path);
        self.inner.ways.openapi.remove_v3(&path);
    }

    fn publish(&self, registered: &BTreeMap<String, Registered>) {
        let groups = self.inner.is_complete.load(Ordering::Acquire).then(|| {
            let mut groups = vec![self.inner.own.clone()];
            groups.extend(listed(registered.values().map(|registered| &registered.registration)));
            groups
        });
        self.inner.ways.directory.store(Groups {
            listed: groups,
            remote: remote(registered),
        });
    }
}

/// The path of a group version's documents.
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
    /// Whether the same server answers.
    fn is_at(&self, remote: &Remote) -> bool {
        let known = self.registration.remote.as_ref();
        known.is_some_and(|known| known.service == remote.service && known.trust == remote.trust)
    }

    /// Whether it is this server that answers.
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

impl fmt::Debug for Ways {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ways")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

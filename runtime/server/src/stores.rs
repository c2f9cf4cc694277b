//! The state that all endpoints share: the storage, the kinds, admission, the clock and the source of UIDs.

mod attachments;
mod derived;
mod failure;
mod indexer;
mod key;
mod migration;
mod object_lister;
mod open_stores;
mod registry_codec;
mod resource_store;
mod uid;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use planesmith_access::admission::Chain;
use planesmith_access::authorization::{AlwaysDeny, Authorizer};
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_store::Storage;

use crate::large_bodies::LargeBodies;
use crate::metrics::SharedMetrics;
use crate::offload::Offload;
use crate::reservations::Reservations;
use crate::watch_places::WatchPlaces;
use open_stores::OpenStores;

pub use crate::representation::{Decoded, StorageCodec};
pub(crate) use attachments::Attachments;
pub use derived::Derived;
pub use failure::{STORE_CLOSED, STORE_CLOSED_MEANWHILE};
pub(crate) use failure::{stale, store_failure};
pub use indexer::row_of;
pub(crate) use indexer::texts_at;
pub use key::check_name;
pub use migration::StorageMigration;
pub use object_lister::ObjectLister;
pub use planesmith_machinery::scheme::StorageMediaType;
pub use registry_codec::{CanonicalObject, RegistryCodec};
pub use resource_store::ResourceStore;
pub use uid::{RandomUids, Uids};

/// The state that all endpoints of a server share; clones share it too.
///
/// All versions of a kind, in all groups that serve it, share one [`ResourceStore`].
#[derive(Clone)]
pub struct Stores {
    shared: Arc<Shared>,
}

/// By group and kind of the storage version.
type ByKind<T> = HashMap<GroupKind, T>;

struct Shared {
    storage: Storage,
    scheme: Arc<Scheme>,
    admission: Chain,
    options: StoresOptions,
    /// Locked only while endpoints are created.
    resources: Mutex<OpenStores>,
    /// Locked only while endpoints are created.
    reservations: Mutex<ByKind<Arc<dyn Reservations>>>,
    attachments: Attachments,
    large_bodies: LargeBodies,
    offload: Arc<Offload>,
    watches: WatchPlaces,
}

/// Options of endpoints.
#[derive(Clone)]
pub struct StoresOptions {
    /// The source of UIDs.
    pub uids: Arc<dyn Uids>,
    /// Maximum size of a request body, in bytes. Default: 3 MiB.
    pub body_limit: usize,
    /// Minimum duration of a watch whose client requests none; it lasts up to twice as long. Default: 30 minutes.
    pub min_watch: Duration,
    /// Maximum number of deletions of one request for a collection that are performed at once, at least 1. Default: 64, enough to
    /// share the store's group commits.
    pub deletions: usize,
    /// False if the propagation policy of deletions has no effect. Default: true.
    pub collects_garbage: bool,
    /// Interval of bookmarks on a watch that requests them. Default: 1 minute.
    pub bookmark_interval: Duration,
    /// Maximum time that a read waits for a revision that is not visible yet. Default: 3 seconds.
    pub freshness_wait: Duration,
    /// The metrics of requests.
    pub metrics: SharedMetrics,
    /// Authorizes the additional permissions that some requests need beside their verb.
    pub authorizer: Arc<dyn Authorizer>,
}

impl StoresOptions {
    /// Returns the defaults, with `authorizer`.
    #[must_use]
    pub fn new(authorizer: Arc<dyn Authorizer>) -> Self {
        Self {
            uids: Arc::new(RandomUids),
            body_limit: 3 << 20,
            min_watch: Duration::from_secs(30 * 60),
            deletions: 64,
            collects_garbage: true,
            bookmark_interval: Duration::from_secs(60),
            freshness_wait: Duration::from_secs(3),
            metrics: SharedMetrics::default(),
            authorizer,
        }
    }
}

impl Stores {
    /// Returns the stores of the kinds in `scheme` on `storage`, with default options, without admission plugins and
    /// additional permissions.
    #[must_use]
    pub fn new(storage: Storage, scheme: Arc<Scheme>) -> Self {
        Self::with_options(
            storage,
            scheme,
            Chain::default(),
            StoresOptions::new(Arc::new(AlwaysDeny)),
        )
    }

    /// Returns the stores of the kinds in `scheme` on `storage`.
    #[must_use]
    pub fn with_options(storage: Storage, scheme: Arc<Scheme>, admission: Chain, options: StoresOptions) -> Self {
        let plugins: Vec<_> = admission.names().collect();
        let observer = options.metrics.observe_admission(&plugins);
        let admission = admission.observed_by(observer);
        let shared = Shared {
            storage,
            scheme,
            admission,
            options,
            resources: Mutex::default(),
            reservations: Mutex::default(),
            attachments: Attachments::default(),
            large_bodies: LargeBodies::default(),
            offload: Arc::default(),
            watches: WatchPlaces::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Runs expensive work outside of the runtime's workers.
    pub(crate) fn offload(&self) -> &Arc<Offload> {
        &self.shared.offload
    }

    /// The places of watches.
    pub(crate) fn watches(&self) -> &WatchPlaces {
        &self.shared.watches
    }

    /// The memory bounds for large bodies.
    pub(crate) fn large_bodies(&self) -> &LargeBodies {
        &self.shared.large_bodies
    }

    /// The store of a kind, for any of its versions. A kind that was defined anew has a new store, over the same
    /// objects. The store of a custom kind is open while it is used.
    #[must_use]
    pub fn resource(&self, facts: &ResourceFacts) -> Arc<ResourceStore> {
        let hub = facts.hub();
        let mut resources = self.shared.resources.lock().unwrap_or_else(PoisonError::into_inner);
        let Shared { storage, scheme, .. } = &*self.shared;
        resources.of(&hub, || ResourceStore::with_versions(storage, &hub, scheme))
    }

    /// Values that modules above attach to kinds, such as handlers of subresources.
    pub(crate) fn attachments(&self) -> &Attachments {
        &self.shared.attachments
    }

    /// Reserves values for the objects of a kind around each write, with `reservations`. Endpoints that were created
    /// before do not have it.
    pub fn reserve(&self, facts: &ResourceFacts, reservations: Arc<dyn Reservations>) {
        let mut all = self.shared.reservations.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(facts.hub().group_kind(), reservations);
    }

    /// The reservations of a kind; `None` for a kind that reserves nothing.
    #[must_use]
    pub fn reservations(&self, facts: &ResourceFacts) -> Option<Arc<dyn Reservations>> {
        let all = self.shared.reservations.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&facts.hub().group_kind()).cloned()
    }

    /// The storage of all objects.
    #[must_use]
    pub fn storage(&self) -> &Storage {
        &self.shared.storage
    }

    /// The kinds.
    #[must_use]
    pub fn scheme(&self) -> &Arc<Scheme> {
        &self.shared.scheme
    }

    /// The admission chain for writes.
    #[must_use]
    pub fn admission(&self) -> &Chain {
        &self.shared.admission
    }

    /// The options of endpoints.
    #[must_use]
    pub fn options(&self) -> &StoresOptions {
        &self.shared.options
    }
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores")
            .field("storage", &self.shared.storage)
            .field("admission", &self.shared.admission)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for StoresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoresOptions")
            .field("body_limit", &self.body_limit)
            .field("min_watch", &self.min_watch)
            .field("bookmark_interval", &self.bookmark_interval)
            .field("freshness_wait", &self.freshness_wait)
            .finish_non_exhaustive()
    }
}

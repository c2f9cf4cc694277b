//! Objects for admission plugins, from the cache.

mod decoded;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use planesmith_access::admission::Lister;
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::ApiResult;
use planesmith_store::{Entry, ListQuery, Storage};

use self::decoded::DecodedObjects;
use super::ResourceStore;

/// Maximum bytes of cached decoded objects. Plugins read few kinds, of which there are few objects.
const MAX_CACHED: usize = 64 << 20;
/// Maximum stored bytes of a list whose objects are cached. A larger list would evict all other objects, so it is
/// decoded anew each time: typical objects are five times as large when they are decoded.
const MAX_CACHED_LIST: usize = MAX_CACHED / 16;

/// Reads the objects of a server's kinds.
pub struct ObjectLister {
    /// By group and kind of the storage version.
    stores: HashMap<GroupKind, ResourceStore>,
    /// The decoded objects. Locked only for one lookup at a time.
    decoded: Mutex<DecodedObjects>,
}

impl ObjectLister {
    /// Returns a lister of the objects of the kinds in `scheme` on `storage`.
    #[must_use]
    pub fn new(storage: &Storage, scheme: &Scheme) -> Self {
        let hubs = scheme.iter().filter(|facts| facts.is_hub());
        let open = |hub| ResourceStore::with_versions(storage, hub, scheme);
        let stores = hubs.map(|hub| (hub.group_kind(), open(hub)));
        Self {
            stores: stores.collect(),
            decoded: Mutex::new(DecodedObjects::new(MAX_CACHED)),
        }
    }

    fn store(&self, kind: &ResourceFacts) -> Option<&ResourceStore> {
        self.stores.get(&kind.hub().group_kind())
    }

    /// The object of an entry, from the cache of decoded objects if it is there.
    fn object(&self, store: &ResourceStore, entry: &Entry) -> ApiResult<Arc<dyn Object>> {
        let decoded = || self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = decoded().get(entry) {
            return Ok(found);
        }
        // Decoded without the lock, so that other readers do not wait.
        let object: Arc<dyn Object> = store.decode(entry)?.into();
        decoded().put(entry, &object);
        Ok(object)
    }
}

impl Lister for ObjectLister {
    fn get(&self, kind: &ResourceFacts, namespace: &str, name: &str) -> ApiResult<Option<Arc<dyn Object>>> {
        let Some(store) = self.store(kind) else {
            return Ok(None);
        };
        // An invalid path segment names no object.
        let Ok(key) = store.key(namespace, name) else {
            return Ok(None);
        };
        let entry = store.collection().get(&key);
        entry.map(|entry| self.object(store, &entry)).transpose()
    }

    fn list(&self, kind: &ResourceFacts, namespace: &str) -> ApiResult<Vec<Arc<dyn Object>>> {
        let Some(store) = self.store(kind) else {
            return Ok(Vec::new());
        };
        let prefix = store.prefix(namespace);
        // The newest state is never compacted.
        let entries = store
            .collection()
            .list(&ListQuery::all(&prefix))
            .map(|page| page.entries);
        let entries = entries.unwrap_or_default();
        let keep = entries.iter().map(|entry| entry.size()).sum::<usize>() <= MAX_CACHED_LIST;
        let objects = entries.iter().map(|entry| match keep {
            true => self.object(store, entry),
            false => Ok(store.decode(entry)?.into()),
        });
        objects.collect()
    }
}

impl fmt::Debug for ObjectLister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectLister").finish_non_exhaustive()
    }
}

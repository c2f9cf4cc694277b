//! The objects of one kind.

use std::sync::Arc;
use std::time::Duration;

use planesmith_access::admission::{NamespacePhase, Namespaces};
use planesmith_dynamic::custom;
use planesmith_machinery::json;
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::resource::{ResourceFacts, Scope};
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::{
    Collection, Draft, Entry, Expect, Indexer, ListQuery, Op, Revision, Storage, Watcher, WriteError,
};

use super::failure::{stale, store_failure};
use super::indexer::{JsonIndexer, row_of};
use super::key;
use crate::representation::{self, Adapted, StorageCodec, StoredObjects};

/// Maximum time that a change on behalf of the server waits for the newest state.
const FRESHNESS_WAIT: Duration = Duration::from_secs(3);

/// The objects of one kind, as bytes of its storage version.
#[derive(Debug)]
pub struct ResourceStore {
    facts: ResourceFacts,
    collection: Arc<Collection>,
    storage: Storage,
    objects: Arc<dyn StoredObjects>,
    /// The time after which objects expire, counted from their last write; `None` means no limit.
    ttl: Option<Duration>,
    /// The adaptation of the objects of a custom kind to its current definition; `None` for declared kinds.
    adapted: Option<Adapted>,
}

impl ResourceStore {
    /// Returns the store of the kind with the storage version `hub`, which may be stored in the other versions that
    /// `scheme` has of the kind. Opening it again returns the same objects; those of a custom kind follow the kind's
    /// current definition.
    #[must_use]
    pub fn with_versions(storage: &Storage, hub: &ResourceFacts, scheme: &Scheme) -> Self {
        let representation = representation::of(hub);
        let objects = representation.stored_objects(hub, scheme);
        let indexer = JsonIndexer::new(hub, Arc::clone(&objects));
        let indexer: Arc<dyn Indexer> = Arc::new(match storage.is_shared() {
            true => indexer.with_codec(StorageCodec::new(hub, scheme, scheme.storage_media_type())),
            false => indexer,
        });
        let collection = storage.collection(&hub.storage_prefix(), Arc::clone(&indexer));
        let adapted = representation.adapt(&collection, &indexer);
        Self {
            facts: hub.clone(),
            collection,
            storage: storage.clone(),
            objects,
            ttl: scheme.ttl(hub),
            adapted,
        }
    }

    /// Returns a store of the same objects that has the names of the kind, but nothing else of its definition.
    #[must_use]
    pub fn without_definition(&self) -> Self {
        let hub = custom::names_alone(&self.facts);
        Self {
            objects: representation::of(&hub).stored_objects(&hub, &Scheme::new()),
            facts: hub,
            collection: Arc::clone(&self.collection),
            storage: self.storage.clone(),
            ttl: None,
            adapted: None,
        }
    }

    /// True if the bytes of an object are known to match the current definition of its kind, though the object may be
    /// older.
    pub(crate) fn fits(&self, entry: &Entry) -> bool {
        self.adapted.as_ref().is_some_and(|adapted| adapted.fits(entry))
    }

    /// The present revision if objects up to it may have been written for another definition of the kind.
    pub(crate) fn adapted_until(&self) -> Option<Revision> {
        self.adapted.as_ref().map(|_| self.storage.revision())
    }

    /// True if the store is to be dropped with the last of its users, so that it releases what it adapted.
    pub(super) fn is_adapted(&self) -> bool {
        self.adapted.is_some()
    }

    /// The storage version.
    #[must_use]
    pub fn facts(&self) -> &ResourceFacts {
        &self.facts
    }

    /// The time after which objects expire, counted from their last write; `None` means no limit.
    #[must_use]
    pub fn ttl(&self) -> Option<Duration> {
        self.ttl
    }

    /// The stored bytes.
    #[must_use]
    pub fn collection(&self) -> &Arc<Collection> {
        &self.collection
    }

    /// The storage of the bytes.
    #[must_use]
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The key of an object.
    ///
    /// # Errors
    ///
    /// 400 when the name cannot be part of a path.
    pub fn key(&self, namespace: &str, name: &str) -> ApiResult<String> {
        key::check_name(name)?;
        let mut key = self.prefix(namespace);
        key.push_str(name);
        Ok(key)
    }

    /// The prefix of the keys of all objects in `namespace`; of all objects when it is empty.
    #[must_use]
    pub fn prefix(&self, namespace: &str) -> String {
        let all = self.collection.prefix();
        if namespace.is_empty() || self.facts.scope == Scope::Cluster {
            return all.to_owned();
        }
        let mut prefix = String::with_capacity(all.len() + namespace.len() + 64);
        for part in [all, namespace, "/"] {
            prefix.push_str(part);
        }
        prefix
    }

    /// Follows the changes of all objects from now on.
    #[must_use]
    pub fn watch(&self) -> Watcher {
        let nothing = ListQuery {
            limit: Some(1),
            ..ListQuery::all(self.collection.prefix())
        };
        self.collection.list_and_watch(&nothing).1
    }

    /// Namespace and name of the object under `key`.
    #[must_use]
    pub fn names<'k>(&self, key: &'k str) -> (&'k str, &'k str) {
        key::split(self.collection.prefix(), self.facts.scope, key)
    }

    /// Changes an object on behalf of the server itself, without validation and admission; retries on conflicts.
    /// `change` gets the object of the storage version with its resourceVersion. Nothing is stored when `dry_run`.
    ///
    /// # Errors
    ///
    /// 404 when there is no such object, errors of `change`, and errors of the store.
    pub async fn modify(
        &self,
        namespace: &str,
        name: &str,
        dry_run: bool,
        change: impl Fn(&mut dyn Object) -> ApiResult<()>,
    ) -> ApiResult<Box<dyn Object>> {
        let key = self.key(namespace, name)?;
        let mut is_fresh = !self.storage.is_shared();
        loop {
            let entry = self.collection.get(&key);
            let changed = self.changed(entry.as_deref(), name, &change);
            if !is_fresh && (dry_run || changed.is_err()) {
                self.fresh().await?;
                is_fresh = true;
                continue;
            }
            let (entry, object) = changed?;
            if dry_run {
                return Ok(object);
            }
            let encoded = json::encode_for_storage(&*object);
            let op = Op::Put {
                key: key.as_str().into(),
                draft: Draft::new(encoded.bytes, encoded.gap),
                row: row_of(&*object),
                expect: Expect::Revision(entry.revision()),
                ttl: self.ttl,
            };
            match self.collection.write(op).await {
                Ok(written) => return self.decode(&written.entry),
                Err(WriteError::Conflict { .. }) => {}
                Err(error) => return Err(store_failure(&error)),
            }
        }
    }

    /// Waits for a limited time until all earlier writes of all servers are visible.
    ///
    /// # Errors
    ///
    /// 500 with a time to retry after when the newest state is unknown.
    pub async fn fresh(&self) -> ApiResult<()> {
        let fresh = self.storage.fresh(FRESHNESS_WAIT).await;
        fresh.map_err(|why| stale(&why, &self.facts))
    }

    /// Performs `op` on behalf of the server itself; false if the object is not in the expected state.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn write(&self, op: Op) -> ApiResult<bool> {
        match self.collection.write(op).await {
            Ok(_) => Ok(true),
            Err(WriteError::Conflict { .. }) => Ok(false),
            Err(error) => Err(store_failure(&error)),
        }
    }

    /// The object of `entry` as `change` leaves it.
    fn changed<'e>(
        &self,
        entry: Option<&'e Entry>,
        name: &str,
        change: &impl Fn(&mut dyn Object) -> ApiResult<()>,
    ) -> ApiResult<(&'e Entry, Box<dyn Object>)> {
        let entry = entry.ok_or_else(|| ApiError::not_found(&self.facts.group_resource(), name))?;
        let mut object = self.decode(entry)?;
        change(&mut *object)?;
        Ok((entry, object))
    }

    /// The object of an entry, in the storage version.
    ///
    /// # Errors
    ///
    /// 500 when the bytes do not encode such an object.
    pub fn decode(&self, entry: &Entry) -> ApiResult<Box<dyn Object>> {
        self.check_decrypted(entry)?;
        self.decode_bytes(&entry.stored_bytes())
    }

    /// Refuses an entry whose value cannot be decrypted, with kube-apiserver's error.
    ///
    /// # Errors
    ///
    /// 500 with the reason.
    pub(crate) fn check_decrypted(&self, entry: &Entry) -> ApiResult<()> {
        match self.collection.transform_error(entry) {
            None => Ok(()),
            Some(error) => Err(ApiError::internal(format!(
                "unable to transform key {:?}: {error}",
                entry.key()
            ))),
        }
    }

    /// The object of an entry that is to be deleted: in the version in which it was stored if another program would have
    /// to convert it, which may not answer.
    ///
    /// # Errors
    ///
    /// As for [`ResourceStore::decode`].
    pub(crate) fn decode_to_delete(&self, entry: &Entry) -> ApiResult<Box<dyn Object>> {
        self.check_decrypted(entry)?;
        self.objects.read_in_any_version(&entry.stored_bytes())
    }

    /// All objects, as the type of the storage version; objects that cannot be read are skipped. For kinds with few
    /// enough objects to have them all in memory.
    #[must_use]
    pub fn all<R: Resource>(&self) -> Vec<R> {
        // The newest state is never compacted.
        let entries = self.collection.list(&ListQuery::all(self.collection.prefix()));
        let entries = entries.map(|page| page.entries);
        let entries = entries.unwrap_or_default();
        entries.iter().filter_map(|entry| self.typed(entry)).collect()
    }

    /// The object of an entry, as the type of the storage version; `None` if it cannot be read.
    #[must_use]
    pub fn typed<R: Resource>(&self, entry: &Entry) -> Option<R> {
        self.decode(entry).ok()?.downcast_ref::<R>().cloned()
    }

    /// The object that `bytes` encode, in the storage version.
    ///
    /// # Errors
    ///
    /// 500 when the bytes do not encode such an object.
    pub fn decode_bytes(&self, bytes: &[u8]) -> ApiResult<Box<dyn Object>> {
        self.objects.read(bytes)
    }

    /// The object that `bytes` encode, in `version`.
    ///
    /// # Errors
    ///
    /// 500 when the bytes do not encode such an object, or it cannot be converted.
    pub(crate) fn decode_as(&self, bytes: &[u8], version: &ResourceFacts) -> ApiResult<Box<dyn Object>> {
        self.objects.read_as(bytes, version)
    }
}

/// A store of namespaces: kinds that select by `status.phase`.
impl Namespaces for ResourceStore {
    fn phase(&self, name: &str) -> Option<NamespacePhase> {
        let entry = self.collection.get(&self.key("", name).ok()?)?;
        let position = self.facts.selectable.iter().position(|field| *field == "status.phase");
        let phase = position.and_then(|position| entry.row().field(position));
        Some(match phase {
            Some("Terminating") => NamespacePhase::Terminating,
            Some(_) | None => NamespacePhase::Active,
        })
    }
}

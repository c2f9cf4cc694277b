//! Storage migration: rewrites objects that are stored in another version in the storage version.

use std::sync::Arc;

use planesmith_machinery::json;
use planesmith_machinery::status::ApiResult;
use planesmith_store::{Draft, Entry, Expect, ListQuery, Op, Revision, StoredForm, WriteError};

use super::{ResourceStore, row_of, store_failure};

/// The objects of one kind that the backend has in another version than the storage version.
///
/// Readers see them converted, so migration only changes which programs can read them. It is for kinds with few writes,
/// whose objects would otherwise stay in the old version.
#[derive(Debug)]
pub struct StorageMigration {
    store: Arc<ResourceStore>,
    /// The keys of the objects to be written, and their revisions; the next one last. Entries are not stored, because
    /// they would keep objects in memory that are replaced meanwhile.
    left: Vec<(Arc<str>, Revision)>,
    rewritten: usize,
}

impl ResourceStore {
    /// Returns the migration of the objects that are now stored in another version. Objects that expire are left to
    /// expire.
    #[must_use]
    pub fn migration(self: &Arc<Self>) -> StorageMigration {
        let mut left = self.in_form(StoredForm::OtherVersion);
        left.retain(|entry| entry.expires().is_none());
        let left = left.iter().rev();
        let left = left.map(|entry| (entry.key().into(), entry.revision()));
        StorageMigration {
            store: Arc::clone(self),
            left: left.collect(),
            rewritten: 0,
        }
    }

    /// The keys of objects that cannot be read, with the reason for each: their version is unknown, or their bytes do
    /// not match its type. The store keeps their bytes.
    #[must_use]
    pub fn unreadable(&self) -> Vec<(Arc<str>, String)> {
        let entries = self.in_form(StoredForm::Unreadable);
        let reason = |entry: &Arc<Entry>| {
            let read = self.decode(entry);
            (
                entry.key().into(),
                read.err().map(|why| why.message().to_owned()).unwrap_or_default(),
            )
        };
        entries.iter().map(reason).collect()
    }

    fn in_form(&self, form: StoredForm) -> Vec<Arc<Entry>> {
        let is_wanted = |entry: &Entry| entry.stored_form() == form;
        let query = ListQuery {
            filter: Some(&is_wanted),
            ..ListQuery::all(self.collection().prefix())
        };
        // The newest state is never compacted.
        self.collection()
            .list(&query)
            .map(|page| page.entries)
            .unwrap_or_default()
    }
}

impl StorageMigration {
    /// The kind.
    #[must_use]
    pub fn store(&self) -> &ResourceStore {
        &self.store
    }

    /// The number of objects that are not written yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// The number of objects that were written.
    #[must_use]
    pub fn rewritten(&self) -> usize {
        self.rewritten
    }

    /// Writes the next object, unless a client has written or deleted it meanwhile. True while objects are left.
    ///
    /// # Errors
    ///
    /// Errors of the store; the object stays the next one. An object that cannot be read, or is too large in the
    /// storage version, is skipped and stays unchanged.
    pub async fn step(&mut self) -> ApiResult<bool> {
        let Some((key, revision)) = self.left.last() else {
            return Ok(false);
        };
        let current = self.store.collection().get(key);
        let Some(entry) = current.filter(|entry| entry.revision() == *revision) else {
            self.left.pop();
            return Ok(!self.left.is_empty());
        };
        let object = match self.store.decode(&entry) {
            Ok(object) => object,
            Err(error) => {
                self.left.pop();
                return Err(error);
            }
        };
        let encoded = json::encode_for_storage(&*object);
        let op = Op::Put {
            key: entry.key().into(),
            draft: Draft::new(encoded.bytes, encoded.gap),
            row: row_of(&*object),
            expect: Expect::Revision(entry.revision()),
            ttl: self.store.ttl(),
        };
        match self.store.collection().write(op).await {
            Ok(_) => self.rewritten += 1,
            Err(WriteError::Conflict { .. }) => {}
            Err(error) => {
                if matches!(error, WriteError::TooLarge { .. }) {
                    self.left.pop();
                }
                return Err(store_failure(&error));
            }
        }
        self.left.pop();
        Ok(!self.left.is_empty())
    }
}

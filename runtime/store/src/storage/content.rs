//! The whole content of an open store at one revision, beside writers.

use std::sync::Arc;

use bytes::Bytes;

use super::Storage;
use crate::collection::{At, Compacted, ListQuery};
use crate::log::{Change, Record};
use crate::transformer::{Reason, TransformError, is_encrypted};
use crate::{Amount, Entry, Revision};

/// Attempts to read all collections at one revision, which fails while history is forgotten up to the newest one.
const ATTEMPTS: u32 = 100;

/// All objects of a store in the state right after one revision. Writers continue; objects that they replace stay in
/// memory while this exists.
#[derive(Debug)]
pub struct StorageContent {
    revision: Revision,
    /// In the order of the revisions.
    objects: Vec<StoredObject>,
    bytes: u64,
}

#[derive(Debug)]
enum StoredObject {
    Entry(Arc<Entry>),
    /// As the backend has it: of a kind that is not open, or encrypted.
    Record(Record),
}

impl StoredObject {
    fn revision(&self) -> Revision {
        match self {
            Self::Entry(entry) => entry.revision(),
            Self::Record(record) => record.revision,
        }
    }

    fn size(&self) -> u64 {
        match self {
            Self::Entry(entry) => (entry.key().len() + entry.stored_size()) as u64,
            Self::Record(record) => record.size(),
        }
    }
}

impl StorageContent {
    /// The revision whose state this is.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// True if there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Bytes of all objects and their keys.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The keys of objects of open kinds that cannot be decrypted. Their bytes are those of the backend.
    pub fn undecrypted(&self) -> impl Iterator<Item = &str> {
        self.objects.iter().filter_map(|object| match object {
            StoredObject::Entry(entry) if entry.is_encrypted() => Some(entry.key()),
            StoredObject::Entry(_) | StoredObject::Record(_) => None,
        })
    }

    /// True if an object is encrypted.
    #[must_use]
    pub fn has_encrypted(&self) -> bool {
        self.objects.iter().any(|object| match object {
            StoredObject::Entry(entry) => entry.is_encrypted(),
            StoredObject::Record(record) => is_encrypted(&record.bytes),
        })
    }

    /// The same content, in which `translate` has replaced each object of a kind that is not open: in a store in which
    /// others write, too, these are as they are stored.
    #[must_use]
    pub fn with_unopened(mut self, mut translate: impl FnMut(Record) -> Record) -> Self {
        for object in &mut self.objects {
            if let StoredObject::Record(record) = object {
                self.bytes -= record.size();
                *record = translate(record.clone());
                self.bytes += record.size();
            }
        }
        self
    }

    /// The object at `index`, in the order of the revisions.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Record> {
        let record = match self.objects.get(index)? {
            StoredObject::Record(record) => record.clone(),
            StoredObject::Entry(entry) => record(entry),
        };
        Some(record)
    }
}

/// The object as it is stored, whatever the definition of its kind makes of it.
fn record(entry: &Arc<Entry>) -> Record {
    Record {
        revision: entry.revision(),
        key: entry.key().into(),
        change: Change::Put {
            expires: entry.expires_millis(),
        },
        bytes: entry.to_stored_bytes(),
        gap: entry.stored_gap(),
    }
}

impl Storage {
    /// The number of all objects, and their bytes with their keys, about now: objects are not read.
    #[must_use]
    pub fn amount(&self) -> Amount {
        // Locked, so that no collection is opened meanwhile: every key is in one place.
        let unclaimed = self.shared.unclaimed();
        let mut amount = Amount::default();
        unclaimed.newest().for_each(|record| amount.add(record));
        for collection in self.shared.collections.all() {
            let stats = collection.stats();
            amount.objects += stats.entries as u64;
            amount.bytes += (stats.bytes + stats.key_bytes) as u64;
        }
        amount
    }

    /// The same `content` with the objects encrypted that a write now would encrypt. These are in memory twice meanwhile. Encrypted
    /// objects can be read in any store, whatever the backend calls their keys.
    ///
    /// # Errors
    ///
    /// An object cannot be encrypted now.
    pub fn sealed(&self, mut content: StorageContent) -> Result<StorageContent, TransformError> {
        if self.shared.transformers.is_none() {
            return Ok(content);
        }
        let collections = self.shared.collections.all();
        for object in &mut content.objects {
            let StoredObject::Entry(entry) = object else {
                continue;
            };
            let collection = collections
                .iter()
                .find(|collection| entry.key().starts_with(collection.prefix()));
            let Some(collection) = collection.filter(|collection| collection.values().has_transformer()) else {
                continue;
            };
            if let Some(sealed) = entry.sealed_by(&collection.values().portable(), Reason::Update)? {
                let sealed = Record {
                    bytes: sealed,
                    ..record(entry)
                };
                content.bytes = content.bytes + sealed.size() - object.size();
                *object = StoredObject::Record(sealed);
            }
        }
        Ok(content)
    }

    /// The plain bytes of a value that is `stored` under `key`, whose kind is not open. Blocks if a key has to be decrypted.
    ///
    /// # Errors
    ///
    /// The value cannot be decrypted.
    pub fn open_value(&self, key: &str, stored: &[u8]) -> Result<Vec<u8>, TransformError> {
        let values = self.values(key);
        values.prepare(&mut std::iter::once(stored));
        Ok(values.open(key, stored)?.bytes.into_owned())
    }

    /// The value for `plain` bytes without a revision that can be read under `key` in any store; `None` if that is `plain`.
    ///
    /// # Errors
    ///
    /// The value cannot be encrypted now.
    pub fn seal_value(&self, key: &str, plain: &[u8]) -> Result<Option<Bytes>, TransformError> {
        self.values(key).portable().seal(key, plain, Reason::Update)
    }

    /// The content of the whole store at one revision, the newest visible one. Costs a few machine words per object; blocks
    /// neither readers nor writers.
    ///
    /// # Errors
    ///
    /// [`Compacted`] if history is forgotten faster than all collections can be read.
    pub fn content(&self) -> Result<StorageContent, Compacted> {
        let mut attempt = 1;
        loop {
            match self.content_at(self.revision()) {
                Err(_) if attempt < ATTEMPTS => attempt += 1,
                result => return result,
            }
        }
    }

    fn content_at(&self, revision: Revision) -> Result<StorageContent, Compacted> {
        // Locked, so that no collection is opened meanwhile: every key is in one place.
        let unclaimed = self.shared.unclaimed();
        let mut objects: Vec<StoredObject> = unclaimed.newest().cloned().map(StoredObject::Record).collect();
        for collection in self.shared.collections.all() {
            let query = ListQuery {
                at: At::Exact(revision),
                ..ListQuery::all(collection.prefix())
            };
            let entries = collection.list(&query)?.entries;
            objects.extend(entries.into_iter().map(StoredObject::Entry));
        }
        drop(unclaimed);
        // A collection without entries and history goes; at this revision it may have had entries.
        let oldest = self.oldest();
        if oldest > revision {
            return Err(Compacted { oldest });
        }
        objects.sort_unstable_by_key(StoredObject::revision);
        let bytes = objects.iter().map(StoredObject::size).sum();
        Ok(StorageContent {
            revision,
            objects,
            bytes,
        })
    }
}

#[cfg(test)]
mod tests;

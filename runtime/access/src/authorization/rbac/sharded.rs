//! A map whose clones share what did not change.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher};
use std::sync::Arc;

use foldhash::quality::RandomState;

/// The number of shards. A change of a cloned map copies one of them, and a clone costs a pointer for each.
const SHARDS: usize = 128;

/// The key of an item: a namespace, which is empty in the whole cluster, and a name of some sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key<'a> {
    pub(super) namespace: &'a str,
    /// True for the name of a group.
    pub(super) is_group: bool,
    pub(super) name: &'a str,
}

impl<'a> Key<'a> {
    pub(super) fn new(namespace: &'a str, name: &'a str) -> Self {
        Self {
            namespace,
            is_group: false,
            name,
        }
    }
}

/// An item with its key.
pub(super) trait Keyed {
    fn key(&self) -> Key<'_>;
}

/// Items by their keys. A lookup borrows the parts of its key, and hashes them once.
#[derive(Debug)]
pub(super) struct Sharded<T> {
    /// Clients cannot choose names with equal hashes, and equal hashes would only make lookups slower.
    hasher: RandomState,
    shards: Vec<Arc<Shard<T>>>,
}

/// Items by the hashes of their keys.
type Shard<T> = HashMap<u64, Vec<Arc<T>>, BuildHasherDefault<Hashed>>;

impl<T> Default for Sharded<T> {
    fn default() -> Self {
        let empty = Arc::new(Shard::default());
        Self {
            hasher: RandomState::default(),
            shards: vec![empty; SHARDS],
        }
    }
}

impl<T> Clone for Sharded<T> {
    fn clone(&self) -> Self {
        Self {
            hasher: self.hasher.clone(),
            shards: self.shards.clone(),
        }
    }
}

impl<T: Keyed> Sharded<T> {
    /// Returns the item with this key.
    pub(super) fn get(&self, key: Key<'_>) -> Option<&Arc<T>> {
        let (hash, shard) = self.find(key);
        self.shards[shard].get(&hash)?.iter().find(|item| item.key() == key)
    }

    /// Puts an item in place of the one with the same key, which is returned.
    pub(super) fn insert(&mut self, item: Arc<T>) -> Option<Arc<T>> {
        let (hash, shard) = self.find(item.key());
        let items = Arc::make_mut(&mut self.shards[shard]).entry(hash).or_default();
        match items.iter_mut().find(|other| other.key() == item.key()) {
            Some(other) => Some(std::mem::replace(other, item)),
            None => {
                items.push(item);
                None
            }
        }
    }

    /// Removes the item with this key.
    pub(super) fn remove(&mut self, key: Key<'_>) -> Option<Arc<T>> {
        self.get(key)?;
        let (hash, shard) = self.find(key);
        let shard = Arc::make_mut(&mut self.shards[shard]);
        let items = shard.get_mut(&hash)?;
        let index = items.iter().position(|item| item.key() == key)?;
        let removed = items.swap_remove(index);
        if items.is_empty() {
            shard.remove(&hash);
        }
        Some(removed)
    }

    /// Returns all items, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.shards.iter().flat_map(|shard| shard.values().flatten())
    }

    /// Returns the hash of a key, and the index of its shard.
    fn find(&self, key: Key<'_>) -> (u64, usize) {
        let hash = self.hasher.hash_one(key);
        // The map of the shard uses the lowest and the highest bits.
        (hash, (hash >> 32) as usize % SHARDS)
    }
}

/// Passes on what is a hash already.
#[derive(Debug, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

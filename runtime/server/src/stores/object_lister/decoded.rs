//! The cache of recently decoded objects.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use planesmith_machinery::heap_size;
use planesmith_machinery::object::Object;
use planesmith_store::{Entry, Revision};

/// Decoded objects by key, bounded by their memory: first in, first out, with a second chance for objects that were
/// used meanwhile.
pub(super) struct DecodedObjects {
    budget: usize,
    size: usize,
    by_key: HashMap<Arc<str>, Decoded>,
    /// The keys, each once.
    order: VecDeque<Arc<str>>,
}

struct Decoded {
    revision: Revision,
    object: Arc<dyn Object>,
    size: usize,
    /// True if the object was used since the last eviction pass reached it.
    hot: bool,
}

impl DecodedObjects {
    /// Returns a cache of `budget` bytes.
    pub(super) fn new(budget: usize) -> Self {
        Self {
            budget,
            size: 0,
            by_key: HashMap::new(),
            order: VecDeque::new(),
        }
    }

    /// The decoded object of this entry's revision.
    pub(super) fn get(&mut self, entry: &Entry) -> Option<Arc<dyn Object>> {
        let found = self.by_key.get_mut(entry.key())?;
        if found.revision != entry.revision() {
            return None;
        }
        found.hot = true;
        Some(Arc::clone(&found.object))
    }

    /// Caches the object of this entry in place of an older one, and evicts others for it.
    pub(super) fn put(&mut self, entry: &Entry, object: &Arc<dyn Object>) {
        let new = Decoded {
            revision: entry.revision(),
            object: Arc::clone(object),
            size: heap_size::of_object(&**object),
            hot: false,
        };
        self.size += new.size;
        let key: Arc<str> = entry.key().into();
        match self.by_key.insert(Arc::clone(&key), new) {
            Some(old) => self.size -= old.size,
            None => self.order.push_back(key),
        }
        while self.size > self.budget
            && let Some(oldest) = self.order.pop_front()
        {
            match self.by_key.get_mut(&oldest) {
                Some(kept) if kept.hot => {
                    kept.hot = false;
                    self.order.push_back(oldest);
                }
                Some(kept) => {
                    self.size -= kept.size;
                    self.by_key.remove(&oldest);
                }
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use planesmith_dynamic::custom::{CustomKind, CustomObject};
    use planesmith_machinery::resource::{ResourceFacts, ResourceTable};
    use planesmith_store::RowRef;

    use super::*;

    static KIND: ResourceTable = CustomKind::FACTS;

    fn entry(name: usize) -> Entry {
        Entry::unstored(&name.to_string(), Bytes::from(vec![b' '; 10]), RowRef::default())
    }

    #[test]
    fn used_objects_stay_cached_and_a_surplus_evicts_one() {
        let object: Arc<dyn Object> = Arc::new(CustomObject::new(&ResourceFacts::declared(&KIND)));
        let size = heap_size::of_object(&*object);
        let mut kept = DecodedObjects::new(10 * size);
        for name in 0..10 {
            kept.put(&entry(name), &object);
        }
        assert!(kept.get(&entry(0)).is_some());
        kept.put(&entry(10), &object);
        let missing: Vec<usize> = (0..=10).filter(|name| kept.get(&entry(*name)).is_none()).collect();
        assert_eq!(missing, [1]);
        assert_eq!((kept.size, kept.by_key.len(), kept.order.len()), (10 * size, 10, 10));
    }
}

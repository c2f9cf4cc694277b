//! The collections of a store on a backend, as its feed changes them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::backend::{Change, Delivery, State};
use crate::collections::Collections;
use crate::compactor::{Mark, Marks};
use crate::log;
use crate::revision_window::RevisionWindow;
use crate::unclaimed::Unclaimed;
use crate::{At, Collection, Entry, Event, EventKind, ListQuery, Revision, Transformers};
use planesmith_clock::Clock;

/// The parts that the engine shares with the handle of the store.
pub(crate) struct Parts {
    pub(crate) revisions: Arc<RevisionWindow>,
    pub(crate) collections: Collections,
    pub(crate) unclaimed: Arc<Mutex<Unclaimed>>,
    pub(crate) marks: Arc<Marks>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) transformers: Option<Arc<dyn Transformers>>,
}

/// All keys: those of collections, and those that no collection has claimed.
pub(super) struct Content {
    parts: Parts,
}

impl Content {
    pub(super) fn new(parts: Parts) -> Self {
        Self { parts }
    }

    pub(super) fn revisions(&self) -> &RevisionWindow {
        &self.parts.revisions
    }

    /// Fetches what opening `stored` values needs from elsewhere.
    pub(super) fn prepare(&self, stored: &mut dyn Iterator<Item = &[u8]>) -> impl Future<Output = ()> + use<> {
        let transformers = self.parts.transformers.as_ref();
        let preparation = transformers.and_then(|transformers| transformers.prepare(stored));
        async {
            if let Some(preparation) = preparation {
                preparation.done().await;
            }
        }
    }

    /// Publishes the changes of `delivery` that are not published yet.
    pub(super) fn apply(&self, delivery: Delivery) {
        // Locked until all is published, so that no collection is opened in between.
        let mut unclaimed = self.unclaimed();
        let visible = self.revisions().visible();
        let mut events = Events::default();
        for change in delivery.changes {
            if change.revision <= visible {
                continue;
            }
            match self.parts.collections.of(&change.key) {
                Some(collection) => events.add(&collection, change),
                None => unclaimed.change(record(change)),
            }
        }
        let memory = events.publish();
        if delivery.complete > visible {
            self.revisions().advance(delivery.complete);
        }
        if memory > 0 {
            self.parts.marks.push(Mark {
                revision: delivery.complete,
                at: self.parts.clock.unix_millis(),
                memory,
                spilled: 0,
                disk: 0,
            });
        }
        drop(unclaimed);
        events.wake();
    }

    /// Replaces all content by `states`, those at `revision`. The changes in between are unknown: watches before the
    /// revision end, and its state is the oldest.
    pub(super) fn replace(&self, states: Vec<State>, revision: Revision) {
        let mut unclaimed = self.unclaimed();
        let mut left: HashMap<Arc<str>, State> = states
            .into_iter()
            .map(|state| (Arc::clone(&state.key), state))
            .collect();
        let collections = self.parts.collections.all();
        // New readers are refused before history is dropped.
        self.revisions().raise_floor(revision);
        let mut changes = Vec::new();
        for collection in &collections {
            let all = ListQuery {
                at: At::Latest,
                ..ListQuery::all(collection.prefix())
            };
            let entries = collection.list(&all).map(|page| page.entries).unwrap_or_default();
            for entry in entries {
                match left.get(entry.key()) {
                    Some(state) if state.revision == entry.revision() => {
                        left.remove(entry.key());
                    }
                    Some(_) => {}
                    None => changes.push(Change {
                        key: entry.key().into(),
                        revision,
                        value: None,
                    }),
                }
            }
        }
        unclaimed.clear();
        for (key, State { revision, value, .. }) in left {
            let value = Some(value);
            let change = Change { key, revision, value };
            match self.parts.collections.of(&change.key) {
                Some(_) => changes.push(change),
                None => unclaimed.change(record(change)),
            }
        }
        changes.sort_by(|one, other| (one.revision, &one.key).cmp(&(other.revision, &other.key)));
        let mut events = Events::default();
        for change in changes {
            if let Some(collection) = self.parts.collections.of(&change.key) {
                events.add(&collection, change);
            }
        }
        for collection in &collections {
            // Without events, too: there may have been changes that were taken back.
            collection.publish_gap(events.of(collection));
        }
        events.compare();
        self.revisions().advance(revision);
        drop(unclaimed);
        for collection in collections {
            collection.wake();
        }
    }

    fn unclaimed(&self) -> MutexGuard<'_, Unclaimed> {
        self.parts.unclaimed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns `change` as keys without a collection keep it.
fn record(change: Change) -> log::Record {
    let effect = match change.value {
        Some(_) => log::Change::Put { expires: 0 },
        None => log::Change::Delete,
    };
    log::Record {
        revision: change.revision,
        key: change.key,
        change: effect,
        bytes: change.value.unwrap_or_default(),
        gap: None,
    }
}

/// The events of one collection.
struct Changed {
    collection: Arc<Collection>,
    /// In revision order.
    events: Vec<Arc<Event>>,
    /// [`Collection::writer`] before the first of them was opened.
    writer: u64,
}

/// Events by collection.
#[derive(Default)]
struct Events {
    by_collection: Vec<Changed>,
    /// The states of keys that earlier changes led to.
    overlay: HashMap<Arc<str>, Option<Arc<Entry>>>,
}

impl Events {
    fn add(&mut self, collection: &Arc<Collection>, change: Change) {
        let Change { key, revision, value } = change;
        let writer = collection.writer();
        let previous = match self.overlay.get(&key) {
            Some(state) => state.clone(),
            None => collection.get(&key),
        };
        let (kind, entry) = match (value, &previous) {
            (Some(value), _) => {
                let entry = Entry::decoded(&key, revision, &value, (&*collection.indexer(), collection.values()));
                let created = previous.is_none();
                (EventKind::Put { created }, entry.sharing(previous.as_deref()))
            }
            (None, Some(previous)) => (EventKind::Delete, previous.deleted_at(revision)),
            // Created and deleted unobserved.
            (None, None) => return,
        };
        let entry = Arc::new(entry.compressed(collection.compressor()));
        let state = (kind != EventKind::Delete).then(|| Arc::clone(&entry));
        self.overlay.insert(key, state);
        let event = Arc::new(Event::new(kind, entry, previous));
        let known = self.by_collection.iter_mut();
        match known
            .into_iter()
            .find(|known| Arc::ptr_eq(&known.collection, collection))
        {
            Some(known) => known.events.push(event),
            None => self.by_collection.push(Changed {
                collection: Arc::clone(collection),
                events: vec![event],
                writer,
            }),
        }
    }

    /// The events of `collection`.
    fn of(&self, collection: &Arc<Collection>) -> Vec<Arc<Event>> {
        let mut known = self.by_collection.iter();
        let found = known.find(|known| Arc::ptr_eq(&known.collection, collection));
        found.map_or_else(Vec::new, |known| known.events.clone())
    }

    /// Follows changes of keys in between, after the events are published.
    fn compare(&self) {
        for Changed {
            collection,
            events,
            writer,
        } in &self.by_collection
        {
            collection.compare_with(*writer, events);
        }
    }

    /// Makes the events visible to readers. Returns the bytes of memory that their history costs.
    fn publish(&self) -> usize {
        let mut memory = 0;
        for Changed { collection, events, .. } in &self.by_collection {
            memory += events.iter().map(|event| event.heap_size()).sum::<usize>();
            collection.publish(events.iter().cloned());
        }
        self.compare();
        memory
    }

    fn wake(self) {
        for changed in self.by_collection {
            changed.collection.wake();
        }
    }
}

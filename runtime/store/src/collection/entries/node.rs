//! Neighbouring entries or nodes, counted and shared with snapshots.

mod heads;

use std::sync::{Arc, OnceLock};

use self::heads::Heads;
use crate::Entry;

/// An entry, or a node of them.
pub(super) trait Item: Clone {
    /// Maximum number of items of one node. A lookup searches the nodes of each level, and a write beside a snapshot
    /// copies one.
    const SIBLINGS: usize;

    /// A lower bound of its keys, above all keys of the item before.
    fn first(&self) -> &str;

    /// The number of its entries.
    fn len(&self) -> usize;

    /// The number of the entries of all `items`.
    fn count(items: &[Self]) -> usize {
        items.iter().map(Self::len).sum()
    }
}

impl Item for Arc<Entry> {
    const SIBLINGS: usize = 256;

    fn first(&self) -> &str {
        self.key()
    }

    fn len(&self) -> usize {
        1
    }

    fn count(items: &[Self]) -> usize {
        items.len()
    }
}

impl<T: Item> Item for Node<T> {
    const SIBLINGS: usize = 64;

    fn first(&self) -> &str {
        &self.from
    }

    fn len(&self) -> usize {
        self.len
    }
}

/// Neighbouring items; never empty, except during a change.
#[derive(Clone, Debug)]
pub(super) struct Node<T> {
    /// A lower bound of its keys, above all keys of the node before.
    from: Arc<str>,
    items: Arc<Items<T>>,
    /// The number of entries, beside the pointer, so that counting touches no items.
    len: usize,
}

/// The items of a node.
#[derive(Clone, Debug)]
struct Items<T> {
    list: Vec<T>,
    /// Found by the first search after a change; only of entries.
    heads: OnceLock<Heads>,
}

/// Reserves memory for one more item, and not for twice as many as there are.
fn reserve_one<T>(items: &mut Vec<T>) {
    if items.len() == items.capacity() {
        items.reserve_exact((items.len() / 4).max(4));
    }
}

/// The index of the node in `nodes` that has `key` or would get it.
pub(super) fn place_of<T: Item>(nodes: &[Node<T>], key: &str) -> usize {
    nodes.partition_point(|node| &*node.from <= key).saturating_sub(1)
}

/// Removes the node at `at` if it is empty, or merges it with a neighbour if it is sparse and both fit into three quarters of
/// a node.
pub(super) fn tidy<T: Item>(nodes: &mut Vec<Node<T>>, at: usize) {
    let count = nodes[at].items().len();
    if count == 0 {
        nodes.remove(at);
    }
    if count == 0 || count >= Node::<T>::SPARSE {
        return;
    }
    let fits = |left: usize| {
        let pair = nodes.get(left..left + 2);
        pair.is_some_and(|pair| {
            pair[0].items().len() + pair[1].items().len() <= Node::<T>::CAPACITY - Node::<T>::SPARSE
        })
    };
    let before = at.checked_sub(1).filter(|left| fits(*left));
    let Some(left) = before.or_else(|| fits(at).then_some(at)) else {
        return;
    };
    let right = nodes.remove(left + 1);
    nodes[left].change(|items| items.extend(right.items().iter().cloned()));
}

impl<T: Item> Node<T> {
    /// Maximum number of items of a node.
    pub(super) const CAPACITY: usize = T::SIBLINGS;

    /// A node with fewer items is merged with a neighbour when both are small enough together.
    const SPARSE: usize = T::SIBLINGS / 4;

    fn new(items: Vec<T>) -> Option<Self> {
        let from = items.first()?.first().into();
        let len = T::count(&items);
        let heads = OnceLock::new();
        let items = Arc::new(Items { list: items, heads });
        Some(Self { from, items, len })
    }

    /// Full nodes of `items`, which are in order; the last one may have fewer.
    pub(super) fn all_of(items: &[T]) -> Vec<Self> {
        items
            .chunks(T::SIBLINGS)
            .filter_map(|items| Self::new(items.to_vec()))
            .collect()
    }

    pub(super) fn items(&self) -> &[T] {
        &self.items.list
    }

    pub(super) fn get(&self, place: usize) -> Option<&T> {
        self.items.list.get(place)
    }

    /// The item at `place`, to be replaced by one with the same keys. A snapshot keeps its own copy.
    pub(super) fn replace(&mut self, place: usize) -> &mut T {
        &mut Arc::make_mut(&mut self.items).list[place]
    }

    /// Changes the items, of which a snapshot keeps its own copy.
    pub(super) fn change<R>(&mut self, change: impl FnOnce(&mut Vec<T>) -> R) -> R {
        let items = Arc::make_mut(&mut self.items);
        items.heads.take();
        self.change_with(|items| change(&mut items.list))
    }

    /// Like [`Self::change`], for changes that keep the heads right.
    fn change_with<R>(&mut self, change: impl FnOnce(&mut Items<T>) -> R) -> R {
        let items = Arc::make_mut(&mut self.items);
        let result = change(items);
        let items = &items.list;
        self.len = T::count(items);
        // Keys below all others come to the first node.
        if let Some(first) = items.first()
            && first.first() < &*self.from
        {
            self.from = first.first().into();
        }
        result
    }

    /// Inserts `item` at `place`. Returns the new next node when this one was full. `is_last` if no node follows.
    pub(super) fn insert(&mut self, place: usize, item: T, is_last: bool) -> Option<Self> {
        if self.items().len() < T::SIBLINGS {
            self.change_with(|items| {
                let has_head = |heads: &mut Heads| heads.insert(place, item.first());
                if !items.heads.get_mut().is_some_and(has_head) {
                    items.heads.take();
                }
                reserve_one(&mut items.list);
                items.list.insert(place, item);
            });
            return None;
        }
        let next = if is_last && place == self.items().len() {
            // Keys that are inserted in order leave full nodes behind.
            vec![item]
        } else if is_last && place >= Self::CAPACITY - Self::SPARSE {
            // Keys that several writers insert about in order leave almost full ones behind.
            self.change(|items| {
                let later = items.split_off(place);
                std::iter::once(item).chain(later).collect()
            })
        } else {
            self.change(|items| {
                items.insert(place, item);
                items.split_off(T::SIBLINGS / 2)
            })
        };
        Self::new(next)
    }

    /// True if neither node was written since one was a copy of the other.
    #[cfg(test)]
    pub(super) fn shares(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.items, &other.items)
    }

    /// Checks that the node is neither empty nor too large, and that its count is right.
    #[cfg(test)]
    pub(super) fn check(&self) {
        assert!((1..=Self::CAPACITY).contains(&self.items().len()));
        assert_eq!(self.len, T::count(self.items()));
        assert!(&*self.from <= self.items()[0].first());
    }
}

impl Node<Arc<Entry>> {
    /// The index of the entry with `key`, or the index at which it would be inserted.
    pub(super) fn search(&self, key: &str) -> Result<usize, usize> {
        let Items { list, heads } = &*self.items;
        let heads = heads.get_or_init(|| Heads::of(list.iter().map(|entry| entry.key())));
        let candidates = heads.candidates(key);
        let found = list[candidates.clone()].binary_search_by(|entry| entry.key().cmp(key));
        found
            .map(|place| candidates.start + place)
            .map_err(|place| candidates.start + place)
    }

    /// Removes the entry at `place`.
    pub(super) fn remove(&mut self, place: usize) -> Arc<Entry> {
        self.change_with(|items| {
            if let Some(heads) = items.heads.get_mut() {
                heads.remove(place);
            }
            items.list.remove(place)
        })
    }
}

//! The current entries of a collection, ordered by key, counted, and cheap to copy.

mod node;

use std::sync::Arc;

use self::node::{Item, Node, place_of};
use crate::Entry;

/// Entries in the order of their keys: chunks of up to 256, in groups of up to 64 chunks.
///
/// A clone is a snapshot that costs one reference count: both share all groups, and the next write copies the list of
/// groups, and the group and the chunk that it changes: a few hundred pointers, even for a million entries. Readers
/// therefore have the lock of a collection only for a moment, however long their list is. Positions are counted by
/// group and chunk, so that counting a range does not depend on its number of entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    groups: Arc<Vec<Group>>,
    len: usize,
}

type Chunk = Node<Arc<Entry>>;
type Group = Node<Chunk>;

/// A position between two entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    group: usize,
    chunk: usize,
    index: usize,
}

impl Entries {
    /// Returns a set of entries, which may be in any order; keys are distinct.
    pub(super) fn new(mut entries: Vec<Arc<Entry>>) -> Self {
        // Loaded ones come in a few runs that are in order, which a stable sort merges.
        entries.sort_by(|one, other| one.key().cmp(other.key()));
        let len = entries.len();
        let chunks = Node::all_of(&entries);
        Self {
            groups: Arc::new(Node::all_of(&chunks)),
            len,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, key: &str) -> Option<&Arc<Entry>> {
        let group = self.groups.get(place_of(&self.groups, key))?;
        let chunk = group.get(place_of(group.items(), key))?;
        chunk.get(chunk.search(key).ok()?)
    }

    /// Inserts `entry` at the position of its key. Returns the entry that it replaces.
    pub(super) fn insert(&mut self, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        let at = place_of(&self.groups, entry.key());
        let groups = Arc::make_mut(&mut self.groups);
        let is_last_group = at + 1 >= groups.len();
        let Some(group) = groups.get_mut(at) else {
            groups.extend(Node::all_of(&Node::all_of(&[entry])));
            self.len += 1;
            return None;
        };
        let place = place_of(group.items(), entry.key());
        let is_last_chunk = is_last_group && place + 1 == group.items().len();
        let index = match group.items()[place].search(entry.key()) {
            Ok(index) => {
                let chunk = group.replace(place);
                return Some(std::mem::replace(chunk.replace(index), entry));
            }
            Err(index) => index,
        };
        self.len += 1;
        let next = group.change(|chunks| {
            let next = chunks[place].insert(index, entry, is_last_chunk);
            next.map(|next| (place + 1, next))
        });
        if let Some((place, chunk)) = next
            && let Some(next) = group.insert(place, chunk, is_last_group)
        {
            groups.insert(at + 1, next);
        }
        None
    }

    /// Removes the entry with `key`.
    pub(super) fn remove(&mut self, key: &str) -> Option<Arc<Entry>> {
        let at = place_of(&self.groups, key);
        let group = self.groups.get(at)?;
        let place = place_of(group.items(), key);
        let index = group.get(place)?.search(key).ok()?;
        let groups = Arc::make_mut(&mut self.groups);
        let removed = groups[at].change(|chunks| {
            let removed = chunks[place].remove(index);
            node::tidy(chunks, place);
            removed
        });
        node::tidy(groups, at);
        self.len -= 1;
        Some(removed)
    }

    /// Replaces every entry for which `replace` returns another one, which has the same key.
    pub(super) fn replace_each(&mut self, mut replace: impl FnMut(&Arc<Entry>) -> Option<Arc<Entry>>) {
        for group in Arc::make_mut(&mut self.groups) {
            for place in 0..group.items().len() {
                for index in 0..group.items()[place].items().len() {
                    if let Some(new) = replace(&group.items()[place].items()[index]) {
                        *group.replace(place).replace(index) = new;
                    }
                }
            }
        }
    }

    /// All entries.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Entry>> {
        let chunks = self.groups.iter().flat_map(|group| group.items());
        chunks.flat_map(|chunk| chunk.items())
    }

    /// Entries under `prefix`, from the key `start` on if there is one.
    pub(super) fn range(&self, prefix: &str, start: Option<&str>) -> Range<'_> {
        let last = Position {
            group: self.groups.len(),
            ..Position::default()
        };
        let end = end_of(prefix).map_or(last, |end| self.lower_bound(&end));
        let next = self.lower_bound(start.map_or(prefix, |start| start.max(prefix)));
        Range {
            groups: &self.groups,
            // A start after the whole prefix leaves no entries.
            next: next.min(end),
            end,
        }
    }

    /// The position before the first entry whose key is not below `key`.
    fn lower_bound(&self, key: &str) -> Position {
        let group = place_of(&self.groups, key);
        let Some(found) = self.groups.get(group) else {
            return Position::default();
        };
        let chunk = place_of(found.items(), key);
        let (Ok(index) | Err(index)) = found.items()[chunk].search(key);
        Position { group, chunk, index }.normal(&self.groups)
    }
}

impl Position {
    /// The same position as the start of the next chunk, if it is the end of one.
    fn normal(mut self, groups: &[Group]) -> Self {
        let Some(group) = groups.get(self.group) else {
            return self;
        };
        if group
            .get(self.chunk)
            .is_none_or(|chunk| self.index >= chunk.items().len())
        {
            (self.chunk, self.index) = (self.chunk + 1, 0);
        }
        if self.chunk >= group.items().len() {
            (self.group, self.chunk) = (self.group + 1, 0);
        }
        self
    }

    /// The number of entries of its group before it.
    fn within(self, groups: &[Group]) -> usize {
        let chunks = groups
            .get(self.group)
            .map_or(&[][..], |group| &group.items()[..self.chunk]);
        chunks.iter().map(Item::len).sum::<usize>() + self.index
    }
}

/// Entries of a range, in order.
#[derive(Debug)]
pub(super) struct Range<'a> {
    groups: &'a [Group],
    next: Position,
    end: Position,
}

impl<'a> Range<'a> {
    /// The next entry.
    pub(super) fn peek(&self) -> Option<&'a Arc<Entry>> {
        if self.next == self.end {
            return None;
        }
        self.groups
            .get(self.next.group)?
            .get(self.next.chunk)?
            .get(self.next.index)
    }

    /// The number of entries left. Costs one step per group in between, and per chunk of two groups.
    pub(super) fn left(&self) -> usize {
        let between = &self.groups[self.next.group..self.end.group];
        let whole: usize = between.iter().map(Item::len).sum();
        whole + self.end.within(self.groups) - self.next.within(self.groups)
    }

    fn advance(&mut self) {
        self.next.index += 1;
        self.next = self.next.normal(self.groups);
    }
}

impl<'a> Iterator for Range<'a> {
    type Item = &'a Arc<Entry>;

    fn next(&mut self) -> Option<&'a Arc<Entry>> {
        let next = self.peek()?;
        self.advance();
        Some(next)
    }
}

/// The least key after all keys that start with `prefix`; `None` if there is none.
fn end_of(prefix: &str) -> Option<String> {
    let last = prefix.trim_end_matches(char::MAX).chars().next_back()?;
    // Surrogates, between U+D7FF and U+E000, are not characters.
    let next = char::from_u32(u32::from(last) + 1).unwrap_or('\u{e000}');
    let mut end = prefix.trim_end_matches(char::MAX).to_owned();
    end.pop();
    end.push(next);
    Some(end)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bytes::Bytes;

    use super::*;
    use crate::RowRef;

    const CHUNK: usize = Chunk::CAPACITY;

    fn entry(key: &str) -> Arc<Entry> {
        Arc::new(Entry::unstored(key, Bytes::new(), RowRef::default()))
    }

    fn keys<'a>(entries: impl Iterator<Item = &'a Arc<Entry>>) -> Vec<String> {
        entries.map(|entry| entry.key().to_owned()).collect()
    }

    /// Chunks are not empty, not too large and in order; counts are right.
    fn check(entries: &Entries, model: &BTreeMap<String, Arc<Entry>>) {
        assert_eq!(entries.len(), model.len());
        assert_eq!(keys(entries.iter()), model.keys().cloned().collect::<Vec<_>>());
        entries.groups.iter().for_each(Node::check);
        for pair in entries.groups.windows(2) {
            assert!(pair[0].items().last().unwrap().first() < pair[1].first());
        }
        let chunks: Vec<_> = entries.groups.iter().flat_map(|group| group.items()).collect();
        chunks.iter().for_each(|chunk| chunk.check());
        for pair in chunks.windows(2) {
            assert!(pair[0].items().last().unwrap().key() < pair[1].first());
        }
    }

    #[test]
    fn a_range_ends_behind_every_key_of_its_prefix() {
        assert_eq!(end_of("/pods/default/").as_deref(), Some("/pods/default0"));
        assert_eq!(end_of("a\u{d7ff}").as_deref(), Some("a\u{e000}"));
        assert_eq!(end_of("a\u{10ffff}\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(end_of("\u{10ffff}"), None);
        assert_eq!(end_of(""), None);
    }

    #[test]
    fn entries_agree_with_a_map() {
        let (mut entries, mut model) = (Entries::default(), BTreeMap::new());
        let mut random = 1_u64;
        for step in 0..30_000_u64 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let key = format!("/k/{}/{:04}", random >> 62, (random >> 40) % 2_000);
            // The set grows, is changed at random, and shrinks.
            let removes = match step / 10_000 {
                0 => 1,
                1 => 5,
                _ => 9,
            };
            if (random >> 20) % 10 < removes {
                assert_eq!(entries.remove(&key).is_some(), model.remove(&key).is_some());
            } else {
                let new = entry(&key);
                let old = entries.insert(Arc::clone(&new));
                let expected = model.insert(key.clone(), new);
                assert_eq!(old.map(|old| Arc::as_ptr(&old)), expected.map(|old| Arc::as_ptr(&old)));
            }
            assert_eq!(
                entries.get(&key).map(Arc::as_ptr),
                model.get(&key).map(Arc::as_ptr),
                "{key}"
            );
            if step % 1_000 == 0 {
                check(&entries, &model);
                let all: Vec<_> = entries.iter().cloned().collect();
                check(&Entries::new(all), &model);
            }
        }
        let all: Vec<_> = model.keys().cloned().collect();
        for key in all {
            assert!(entries.remove(&key).is_some());
        }
        assert!(entries.groups.is_empty() && entries.len() == 0);
    }

    #[test]
    fn ranges_know_how_many_are_left() {
        for count in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 7, 24 * CHUNK] {
            let names = (0..count).flat_map(|number| {
                let name = move |scope: &str| entry(&format!("/{scope}/{number:05}"));
                ["a", "b", "c"].map(name)
            });
            let entries = Entries::new(names.collect());
            for (prefix, start) in [
                ("/b/", None),
                ("/b/", Some("/b/00003")),
                ("/b/", Some("/a/")),
                ("/b/", Some("/c/")),
                ("/b/0000", None),
                ("/", None),
                ("", None),
                ("/d/", None),
                ("\u{10ffff}", None),
            ] {
                let inside = |entry: &&Arc<Entry>| {
                    entry.key().starts_with(prefix) && start.is_none_or(|start| entry.key() >= start)
                };
                let expected = keys(entries.iter().filter(inside));
                let mut range = entries.range(prefix, start);
                for (taken, key) in expected.iter().enumerate() {
                    assert_eq!(range.left(), expected.len() - taken, "{prefix} {start:?} of {count}");
                    assert_eq!(range.peek().map(|entry| entry.key().to_owned()).as_ref(), Some(key));
                    assert_eq!(range.next().map(|entry| entry.key().to_owned()).as_ref(), Some(key));
                }
                assert_eq!((range.left(), range.next().is_none()), (0, true));
            }
        }
    }

    #[test]
    fn a_snapshot_stays_as_it_is() {
        let mut entries = Entries::new((0..1_000).map(|number| entry(&format!("/{number:04}"))).collect());
        let snapshot = entries.clone();
        let before = keys(snapshot.iter());
        for number in 0..1_000 {
            entries.insert(entry(&format!("/{number:04}-more")));
            entries.remove(&format!("/{:04}", number / 2));
        }
        assert_eq!(keys(snapshot.iter()), before);
        assert_ne!(keys(entries.iter()), before);
    }

    #[test]
    fn a_write_beside_a_snapshot_copies_one_group_and_one_chunk() {
        let count = 3 * CHUNK * Group::CAPACITY;
        let mut entries = Entries::new((0..count).map(|number| entry(&format!("/{number:06}"))).collect());
        let snapshot = entries.clone();
        entries.insert(entry("/030000"));
        entries.remove("/030001");
        assert_eq!((entries.len(), snapshot.len()), (count - 1, count));
        let groups = || entries.groups.iter().zip(&*snapshot.groups);
        assert_eq!(groups().count(), 3);
        assert_eq!(groups().filter(|(new, old)| !new.shares(old)).count(), 1);
        let chunks = groups().flat_map(|(new, old)| new.items().iter().zip(old.items()));
        assert_eq!(chunks.filter(|(new, old)| !new.shares(old)).count(), 1);
    }

    #[test]
    fn keys_in_order_fill_their_chunks_and_groups() {
        let mut entries = Entries::default();
        let count = 2 * CHUNK * Group::CAPACITY;
        (0..count).for_each(|number| drop(entries.insert(entry(&format!("/{number:06}")))));
        let lengths: Vec<_> = entries.groups.iter().map(|group| group.items().len()).collect();
        assert_eq!(lengths, [Group::CAPACITY; 2]);
        check_all(&entries, count);
    }

    #[test]
    fn keys_about_in_order_fill_two_thirds_of_their_chunks() {
        let mut entries = Entries::default();
        let count = 20 * CHUNK;
        // As of several writers: runs of sixteen keys come in the reverse order.
        (0..count).for_each(|number| drop(entries.insert(entry(&format!("/{:06}", number ^ 15)))));
        let chunks = entries.groups.iter().map(|group| group.items().len()).sum::<usize>();
        assert!(chunks <= 30, "{chunks} chunks, of which 20 would have been enough");
        check_all(&entries, count);
    }

    #[test]
    fn groups_split_and_merge_as_keys_come_and_go_at_random() {
        let mut entries = Entries::default();
        let count = 2 * CHUNK * Group::CAPACITY;
        // Each number once, far from those before.
        let numbers = || (0..count).map(|number| number * 7919 % count);
        numbers().for_each(|number| drop(entries.insert(entry(&format!("/{number:06}")))));
        check_all(&entries, count);
        assert!(entries.groups.len() > 2);
        for number in numbers().skip(300) {
            assert!(entries.remove(&format!("/{number:06}")).is_some());
        }
        check_all(&entries, 300);
        assert_eq!(entries.groups.len(), 1);
    }

    fn check_all(entries: &Entries, count: usize) {
        let model = entries.iter().map(|entry| (entry.key().to_owned(), Arc::clone(entry)));
        let model: BTreeMap<_, _> = model.collect();
        assert_eq!(model.len(), count);
        check(entries, &model);
    }
}

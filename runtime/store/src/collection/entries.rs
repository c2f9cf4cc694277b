//! The current entries of a collection, ordered by key, counted, and cheap to copy.

use std::sync::Arc;

use crate::Entry;

/// Entries of one chunk, at most. A lookup searches the chunks and then one chunk, a count adds up the chunks before, and a
/// write beside a snapshot copies one chunk.
const CHUNK: usize = 256;

/// A chunk with fewer entries is merged with its neighbour when both fit into three quarters of a chunk.
const SPARSE: usize = CHUNK / 4;

/// Entries in the order of their keys.
///
/// A clone is a snapshot that costs one reference count: both share all chunks, and the next write copies the list of chunks
/// and the chunk it changes. Readers therefore hold the lock of a collection for a moment, however long their list is.
/// Positions are counted by chunk, so that the size of a range does not depend on how many entries it has.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    chunks: Arc<Vec<Chunk>>,
    len: usize,
}

/// Neighbouring entries; never empty.
#[derive(Clone, Debug)]
struct Chunk {
    /// Not above the first key, and above all keys of the chunk before. The first chunk also has the keys below.
    from: Arc<str>,
    entries: Arc<Vec<Arc<Entry>>>,
    /// The number of entries, beside the pointer, so that counting touches no chunk.
    len: usize,
}

/// A place between two entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    chunk: usize,
    index: usize,
}

impl Chunk {
    fn new(entries: Vec<Arc<Entry>>) -> Option<Self> {
        let from = Arc::clone(entries.first()?.key());
        let len = entries.len();
        let entries = Arc::new(entries);
        Some(Self { from, entries, len })
    }

    /// Changes the entries, of which a snapshot keeps its own copy.
    fn change<T>(&mut self, change: impl FnOnce(&mut Vec<Arc<Entry>>) -> T) -> T {
        let entries = Arc::make_mut(&mut self.entries);
        let result = change(entries);
        self.len = entries.len();
        result
    }

    /// The entry with `key`, or else where it belongs.
    fn search(&self, key: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| (**entry.key()).cmp(key))
    }
}

impl Entries {
    /// Takes entries in any order; keys are distinct.
    pub(super) fn new(mut entries: Vec<Arc<Entry>>) -> Self {
        entries.sort_by(|one, other| one.key().cmp(other.key()));
        let len = entries.len();
        let chunks = entries.chunks(CHUNK).filter_map(|chunk| Chunk::new(chunk.to_vec()));
        Self {
            chunks: Arc::new(chunks.collect()),
            len,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The chunk that has `key` or would get it.
    fn chunk_of(&self, key: &str) -> usize {
        self.chunks
            .partition_point(|chunk| &*chunk.from <= key)
            .saturating_sub(1)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Arc<Entry>> {
        let chunk = self.chunks.get(self.chunk_of(key))?;
        chunk.entries.get(chunk.search(key).ok()?)
    }

    /// Puts `entry` in the place of its key. Returns the entry that was there.
    pub(super) fn insert(&mut self, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        let at = self.chunk_of(entry.key());
        let chunks = Arc::make_mut(&mut self.chunks);
        let is_last = at + 1 >= chunks.len();
        let Some(chunk) = chunks.get_mut(at) else {
            chunks.extend(Chunk::new(vec![entry]));
            self.len += 1;
            return None;
        };
        let index = match chunk.search(entry.key()) {
            Ok(index) => return Some(chunk.change(|entries| std::mem::replace(&mut entries[index], entry))),
            Err(index) => index,
        };
        self.len += 1;
        if chunk.len < CHUNK {
            chunk.change(|entries| entries.insert(index, entry));
            return None;
        }
        let next = if is_last && index == CHUNK {
            // Keys that come in order leave full chunks behind.
            vec![entry]
        } else {
            chunk.change(|entries| {
                entries.insert(index, entry);
                entries.split_off(CHUNK / 2)
            })
        };
        if let Some(next) = Chunk::new(next) {
            chunks.insert(at + 1, next);
        }
        None
    }

    /// Takes out the entry with `key`.
    pub(super) fn remove(&mut self, key: &str) -> Option<Arc<Entry>> {
        let at = self.chunk_of(key);
        let index = self.chunks.get(at)?.search(key).ok()?;
        let chunks = Arc::make_mut(&mut self.chunks);
        let chunk = &mut chunks[at];
        let removed = chunk.change(|entries| entries.remove(index));
        self.len -= 1;
        if chunk.len == 0 {
            chunks.remove(at);
        } else if chunk.len < SPARSE {
            Self::merge(chunks, at);
        }
        Some(removed)
    }

    /// Merges the sparse chunk at `at` with a neighbour if both are sparse enough together.
    fn merge(chunks: &mut Vec<Chunk>, at: usize) {
        let fits = |left: usize| {
            let [left, right] = chunks.get(left..left + 2)? else {
                return None;
            };
            (left.len + right.len <= CHUNK - SPARSE).then_some(())
        };
        let before = at.checked_sub(1).filter(|left| fits(*left).is_some());
        let Some(left) = before.or_else(|| fits(at).map(|()| at)) else {
            return;
        };
        let right = chunks.remove(left + 1);
        chunks[left].change(|entries| entries.extend(right.entries.iter().cloned()));
    }

    /// Replaces every entry for which `replace` returns another one, which has the same key.
    pub(super) fn replace_each(&mut self, mut replace: impl FnMut(&Arc<Entry>) -> Option<Arc<Entry>>) {
        for chunk in Arc::make_mut(&mut self.chunks) {
            for index in 0..chunk.len {
                if let Some(new) = replace(&chunk.entries[index]) {
                    chunk.change(|entries| entries[index] = new);
                }
            }
        }
    }

    /// All entries.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.chunks.iter().flat_map(|chunk| &*chunk.entries)
    }

    /// Entries under `prefix`, from the key `start` on if there is one.
    pub(super) fn range(&self, prefix: &str, start: Option<&str>) -> Range<'_> {
        let last = Position {
            chunk: self.chunks.len(),
            index: 0,
        };
        let end = end_of(prefix).map_or(last, |end| self.lower_bound(&end));
        let next = self.lower_bound(start.map_or(prefix, |start| start.max(prefix)));
        Range {
            chunks: &self.chunks,
            // A start behind the whole prefix leaves nothing.
            next: next.min(end),
            end,
        }
    }

    /// The place in front of the first entry whose key is not below `key`.
    fn lower_bound(&self, key: &str) -> Position {
        let chunk = self.chunk_of(key);
        let Some(found) = self.chunks.get(chunk) else {
            return Position { chunk, index: 0 };
        };
        let (Ok(index) | Err(index)) = found.search(key);
        if index == found.len {
            let chunk = chunk + 1;
            return Position { chunk, index: 0 };
        }
        Position { chunk, index }
    }
}

/// Entries of a range, in order.
#[derive(Debug)]
pub(super) struct Range<'a> {
    chunks: &'a [Chunk],
    next: Position,
    end: Position,
}

impl<'a> Range<'a> {
    /// The entry that comes next.
    pub(super) fn peek(&self) -> Option<&'a Arc<Entry>> {
        if self.next == self.end {
            return None;
        }
        self.chunks.get(self.next.chunk)?.entries.get(self.next.index)
    }

    /// The number of entries left. Costs one step per chunk in between.
    pub(super) fn left(&self) -> usize {
        let between = &self.chunks[self.next.chunk..self.end.chunk];
        let whole: usize = between.iter().map(|chunk| chunk.len).sum();
        whole + self.end.index - self.next.index
    }

    fn advance(&mut self) {
        self.next.index += 1;
        if self
            .chunks
            .get(self.next.chunk)
            .is_none_or(|chunk| self.next.index >= chunk.len)
        {
            self.next = Position {
                chunk: self.next.chunk + 1,
                index: 0,
            };
        }
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

/// The least key behind all that start with `prefix`, unless there is none.
fn end_of(prefix: &str) -> Option<String> {
    let last = prefix.trim_end_matches(char::MAX).chars().next_back()?;
    // Surrogates, between U+D7FF and U+E000, are no characters.
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
    use crate::Row;

    fn entry(key: &str) -> Arc<Entry> {
        Arc::new(Entry::unstored(key, Bytes::new(), Row::default()))
    }

    fn keys<'a>(entries: impl Iterator<Item = &'a Arc<Entry>>) -> Vec<String> {
        entries.map(|entry| entry.key().to_string()).collect()
    }

    /// Chunks are not empty, not too large and in order; counts are right.
    fn check(entries: &Entries, model: &BTreeMap<String, Arc<Entry>>) {
        assert_eq!(entries.len(), model.len());
        assert_eq!(keys(entries.iter()), model.keys().cloned().collect::<Vec<_>>());
        for pair in entries.chunks.windows(2) {
            assert!(pair[0].entries.last().unwrap().key() < &pair[1].from);
            assert!(pair[1].from <= *pair[1].entries[0].key());
        }
        for chunk in &*entries.chunks {
            assert!((1..=CHUNK).contains(&chunk.len) && chunk.len == chunk.entries.len());
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
            // It grows, is changed at random, and shrinks.
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
        assert!(entries.chunks.is_empty() && entries.len() == 0);
    }

    #[test]
    fn ranges_know_how_many_are_left() {
        for count in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 7] {
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
                    entry.key().starts_with(prefix) && start.is_none_or(|start| &**entry.key() >= start)
                };
                let expected = keys(entries.iter().filter(inside));
                let mut range = entries.range(prefix, start);
                for (taken, key) in expected.iter().enumerate() {
                    assert_eq!(range.left(), expected.len() - taken, "{prefix} {start:?} of {count}");
                    assert_eq!(range.peek().map(|entry| entry.key().to_string()).as_ref(), Some(key));
                    assert_eq!(range.next().map(|entry| entry.key().to_string()).as_ref(), Some(key));
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
    fn a_write_beside_a_snapshot_copies_one_chunk() {
        let mut entries = Entries::new((0..10 * CHUNK).map(|number| entry(&format!("/{number:04}"))).collect());
        let snapshot = entries.clone();
        entries.insert(entry("/0300"));
        let pairs = entries.chunks.iter().zip(&*snapshot.chunks);
        let copied = pairs.filter(|(new, old)| !Arc::ptr_eq(&new.entries, &old.entries));
        assert_eq!(copied.count(), 1);
    }

    #[test]
    fn keys_in_order_fill_their_chunks() {
        let mut entries = Entries::default();
        (0..4 * CHUNK).for_each(|number| drop(entries.insert(entry(&format!("/{number:04}")))));
        assert_eq!(entries.chunks.len(), 4);
    }
}

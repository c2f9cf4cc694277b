//! Lists: the newest state, or an older one in which later changes are undone.

use std::collections::{BTreeMap, btree_map};
use std::iter::Peekable;
use std::sync::Arc;

use super::entries::{Entries, Range};
use crate::history::Former;
use crate::log::WriteId;
use crate::{Entry, Revision};

/// The number of entries whose memory is waited for together.
const PREFETCHED: usize = 16;

/// Maximum number of entries that are read back together.
const STEP: usize = 512;

/// The state of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The newest state.
    Latest,
    /// The state right after this revision.
    Exact(Revision),
}

/// The parameters of a list.
#[derive(Clone, Copy)]
pub struct ListQuery<'a> {
    /// The prefix of the keys.
    pub prefix: &'a str,
    /// The first key of the page; `None` means from the start.
    pub start: Option<&'a str>,
    /// Maximum number of entries per page; `None` means all. 0 counts as 1.
    pub limit: Option<usize>,
    /// The state.
    pub at: At,
    /// Selects the entries; `None` means all.
    pub filter: Option<&'a dyn Fn(&Entry) -> bool>,
}

impl<'a> ListQuery<'a> {
    /// All entries under `prefix`, in the newest state.
    #[must_use]
    pub fn all(prefix: &'a str) -> Self {
        Self {
            prefix,
            start: None,
            limit: None,
            at: At::Latest,
            filter: None,
        }
    }

    /// Maximum number of entries of the page.
    fn most(&self) -> usize {
        self.limit.map_or(usize::MAX, |limit| limit.max(1))
    }

    fn selects(&self, entry: &Entry) -> bool {
        self.filter.is_none_or(|filter| filter(entry))
    }
}

impl std::fmt::Debug for ListQuery<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ListQuery")
            .field("prefix", &self.prefix)
            .field("start", &self.start)
            .field("limit", &self.limit)
            .field("at", &self.at)
            .field("filter", &self.filter.is_some())
            .finish()
    }
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// In the order of their keys.
    pub entries: Vec<Arc<Entry>>,
    /// The revision whose state the entries are. The next page requires exactly this revision.
    pub revision: Revision,
    /// True if there may be more: then the next page starts after this page's last key. With a filter the next page may
    /// turn out to be empty.
    pub more: bool,
    /// The number of entries that follow this page; `None` when a filter makes that unknown.
    pub remaining: Option<u64>,
}

impl Page {
    /// The key from which the next page starts, the least one after this page's last; `None` on the last page.
    #[must_use]
    pub fn next(&self) -> Option<String> {
        let last = self.entries.last().filter(|_| self.more)?;
        Some(format!("{}\0", last.key()))
    }
}

/// The requested state is older than the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state at that revision was compacted, the oldest known revision is {oldest}; list the newest state")]
pub struct Compacted {
    /// The oldest revision whose state is known.
    pub oldest: Revision,
}

/// The newest state of a collection at one moment. It costs a reference count, and reading from it needs no lock.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) entries: Entries,
    /// The revision whose state `entries` are.
    pub(super) revision: Revision,
}

impl Snapshot {
    /// The page of this state.
    pub(super) fn page(&self, query: &ListQuery<'_>) -> Page {
        let mut entries = self.entries.range(query.prefix, query.start);
        let selected = match query.filter {
            Some(_) => {
                let selected = entries.by_ref().filter(|entry| query.selects(entry)).take(query.most());
                selected.cloned().collect()
            }
            None => cloned(&mut entries, query.most()),
        };
        let (more, remaining) = match query.filter {
            // Entries after the page are not filtered: the next page does that.
            Some(_) => unfiltered_rest(entries.next().is_some()),
            None => counted_rest(entries.left()),
        };
        Page {
            entries: selected,
            revision: self.revision,
            more,
            remaining,
        }
    }

    /// The page of the state right after `revision`, given what was `undone` since then: the changes of the keys that `query`
    /// selects. `read` returns the states that are not in memory.
    pub(super) fn former_page(
        &self,
        query: &ListQuery<'_>,
        revision: Revision,
        undone: &BTreeMap<Arc<str>, Undone>,
        read: &Read<'_>,
    ) -> Result<Page, Compacted> {
        if undone.is_empty() {
            let page = self.page(query);
            return Ok(Page {
                revision: revision.min(page.revision),
                ..page
            });
        }
        paginate(Merge::new(&self.entries, query, undone), revision, query, read)
    }
}

/// The next entries, `most` at most.
fn cloned(entries: &mut Range<'_>, most: usize) -> Vec<Arc<Entry>> {
    let count = entries.left().min(most);
    let mut cloned = Vec::with_capacity(count);
    let mut next = Vec::with_capacity(PREFETCHED);
    while cloned.len() < count {
        next.extend(entries.take((count - cloned.len()).min(PREFETCHED)));
        // Counting references waits for the memory of one entry after the other; reading them waits for all at once.
        let counts = next.iter().map(|entry: &&Arc<Entry>| Arc::strong_count(entry));
        std::hint::black_box(counts.fold(0, |all, count| all ^ count));
        cloned.extend(next.drain(..).map(Arc::clone));
    }
    cloned
}

/// The changes of a key that an older list does not show.
#[derive(Clone, Debug)]
pub(super) struct Undone {
    /// The state before them.
    pub(super) former: Former,
    /// True if the key has a state after them.
    pub(super) is_there: bool,
}

/// Returns the states that writes led to.
pub(super) type Read<'a> = dyn Fn(&[WriteId]) -> Result<Vec<Arc<Entry>>, Compacted> + 'a;

/// A state of a key.
enum State<'a> {
    Cached(&'a Arc<Entry>),
    /// It has to be read.
    Spilled(WriteId),
}

/// The current entries of a range, in which former states replace those of some keys.
struct Merge<'a> {
    current: Range<'a>,
    undone: Peekable<btree_map::Iter<'a, Arc<str>, Undone>>,
}

impl<'a> Merge<'a> {
    fn new(entries: &'a Entries, query: &ListQuery<'_>, undone: &'a BTreeMap<Arc<str>, Undone>) -> Self {
        Self {
            current: entries.range(query.prefix, query.start),
            undone: undone.iter().peekable(),
        }
    }

    /// The number of entries left. Costs a step per key that is not undone yet, and nothing per entry.
    fn left(self) -> usize {
        let (mut appear, mut vanish) = (0, 0);
        for (_, undone) in self.undone {
            appear += usize::from(!matches!(undone.former, Former::Absent));
            vanish += usize::from(undone.is_there);
        }
        self.current.left() + appear - vanish
    }
}

impl<'a> Iterator for Merge<'a> {
    type Item = State<'a>;

    fn next(&mut self) -> Option<State<'a>> {
        loop {
            let Some((key, _)) = self.undone.peek() else {
                return self.current.next().map(State::Cached);
            };
            match self.current.peek() {
                Some(entry) if entry.key() < &***key => return self.current.next().map(State::Cached),
                Some(entry) if entry.key() == &***key => drop(self.current.next()),
                Some(_) | None => {}
            }
            let (key, undone) = self.undone.next()?;
            match &undone.former {
                Former::Absent => {}
                Former::Cached(entry) => return Some(State::Cached(entry)),
                Former::Spilled(revision) => {
                    return Some(State::Spilled(WriteId {
                        key: Arc::clone(key),
                        revision: *revision,
                    }));
                }
            }
        }
    }
}

fn paginate(
    mut states: Merge<'_>,
    revision: Revision,
    query: &ListQuery<'_>,
    read: &Read<'_>,
) -> Result<Page, Compacted> {
    let mut selected = Vec::new();
    let (more, remaining) = loop {
        let wanted = query.most() - selected.len();
        let step = match query.filter {
            Some(_) => STEP,
            None => wanted.min(STEP),
        };
        let entries = known(states.by_ref().take(step), read)?;
        let is_last = entries.len() < step;
        let mut entries = entries.into_iter();
        selected.extend(entries.by_ref().filter(|entry| query.selects(entry)).take(wanted));
        if is_last || selected.len() == query.most() {
            break match query.filter {
                Some(_) => unfiltered_rest(entries.next().is_some() || states.next().is_some()),
                None => counted_rest(states.left()),
            };
        }
    };
    Ok(Page {
        entries: selected,
        revision,
        more,
        remaining,
    })
}

/// The entries of `states`, of which those that are not in memory are read.
fn known<'a>(states: impl Iterator<Item = State<'a>>, read: &Read<'_>) -> Result<Vec<Arc<Entry>>, Compacted> {
    let states: Vec<_> = states.collect();
    let spilled = states.iter().filter_map(|state| match state {
        State::Cached(_) => None,
        State::Spilled(write) => Some(write.clone()),
    });
    let mut spilled = read(&spilled.collect::<Vec<_>>())?.into_iter();
    let entries = states.into_iter().filter_map(|state| match state {
        State::Cached(entry) => Some(Arc::clone(entry)),
        State::Spilled(_) => spilled.next(),
    });
    Ok(entries.collect())
}

fn counted_rest(left: usize) -> (bool, Option<u64>) {
    (left > 0, Some(left as u64))
}

fn unfiltered_rest(more: bool) -> (bool, Option<u64>) {
    (more, (!more).then_some(0))
}

//! Lists: the newest state, or an older one in which later changes are undone.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::Arc;

use super::entries::{Entries, Range};
use crate::{Entry, Event, Revision};

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
        paginate(Merge::new(&self.entries, query, BTreeMap::new()), self.revision, query)
    }

    /// The page of the state right after `revision`, given the `changes` since then: those of the keys that `query`
    /// selects, in revision order.
    pub(super) fn former_page(&self, query: &ListQuery<'_>, revision: Revision, changes: &[Arc<Event>]) -> Page {
        if changes.is_empty() {
            let page = self.page(query);
            return Page {
                revision: revision.min(page.revision),
                ..page
            };
        }
        // The first change after the revision has the key's state at the revision.
        let mut undone: BTreeMap<&str, Option<&Arc<Entry>>> = BTreeMap::new();
        for event in changes {
            undone.entry(event.entry().key()).or_insert(event.previous());
        }
        if let Some(start) = query.start {
            undone.retain(|key, _| *key >= start);
        }
        paginate(Merge::new(&self.entries, query, undone), revision, query)
    }
}

type Undone<'a> = std::collections::btree_map::IntoIter<&'a str, Option<&'a Arc<Entry>>>;

/// The current entries of a range, in which former states replace those of some keys.
struct Merge<'a> {
    entries: &'a Entries,
    current: Range<'a>,
    undone: Peekable<Undone<'a>>,
}

impl<'a> Merge<'a> {
    fn new(entries: &'a Entries, query: &ListQuery<'_>, undone: BTreeMap<&'a str, Option<&'a Arc<Entry>>>) -> Self {
        Self {
            entries,
            current: entries.range(query.prefix, query.start),
            undone: undone.into_iter().peekable(),
        }
    }

    /// The number of entries left. Costs a lookup per change that is not undone yet, and nothing per entry.
    fn left(self) -> usize {
        let (mut appear, mut vanish) = (0, 0);
        for (key, former) in self.undone {
            appear += usize::from(former.is_some());
            vanish += usize::from(self.entries.get(key).is_some());
        }
        self.current.left() + appear - vanish
    }
}

impl<'a> Iterator for Merge<'a> {
    type Item = &'a Arc<Entry>;

    fn next(&mut self) -> Option<&'a Arc<Entry>> {
        loop {
            let Some((key, _)) = self.undone.peek() else {
                return self.current.next();
            };
            match self.current.peek() {
                Some(entry) if &**entry.key() < *key => return self.current.next(),
                Some(entry) if &**entry.key() == *key => drop(self.current.next()),
                Some(_) | None => {}
            }
            if let Some((_, Some(former))) = self.undone.next() {
                return Some(former);
            }
        }
    }
}

fn paginate(mut entries: Merge<'_>, revision: Revision, query: &ListQuery<'_>) -> Page {
    let limit = query.limit.map_or(usize::MAX, |limit| limit.max(1));
    let selects = |entry: &&Arc<Entry>| query.filter.is_none_or(|filter| filter(entry));
    let selected: Vec<_> = entries.by_ref().filter(selects).take(limit).cloned().collect();
    let (more, remaining) = match query.filter {
        // Entries after the page are not filtered: the next page does that.
        Some(_) => {
            let more = entries.next().is_some();
            (more, (!more).then_some(0))
        }
        None => {
            let left = entries.left() as u64;
            (left > 0, Some(left))
        }
    };
    Page {
        entries: selected,
        revision,
        more,
        remaining,
    }
}

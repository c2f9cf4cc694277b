//! Lists: the newest state, or an older one with the changes since then undone.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::State;
use crate::horizon::Horizon;
use crate::{Entry, Revision};

/// Which state a list is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The newest one.
    Latest,
    /// The one right after this revision.
    Exact(Revision),
}

/// What a list asks for.
#[derive(Clone, Copy)]
pub struct ListQuery<'a> {
    /// What the keys start with.
    pub prefix: &'a str,
    /// Only this key and those behind it; `None` means from the first.
    pub start: Option<&'a str>,
    /// Entries per page; `None` means all. 0 counts as 1.
    pub limit: Option<usize>,
    /// Which state.
    pub at: At,
    /// Which entries; `None` means all. Called while the collection is locked: it should only
    /// read rows.
    pub filter: Option<&'a dyn Fn(&Entry) -> bool>,
}

impl<'a> ListQuery<'a> {
    /// All entries under `prefix`, as they are now.
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

/// A part of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// In the order of their keys.
    pub entries: Vec<Arc<Entry>>,
    /// What the entries are the state of. The next page asks for exactly this revision.
    pub revision: Revision,
    /// Whether there may be more: then the next page starts behind this page's last key. With a filter the next page may
    /// turn out to be empty.
    pub more: bool,
    /// How many entries follow this page; `None` when a filter makes that unknown.
    pub remaining: Option<u64>,
}

impl Page {
    /// The key from which the next page starts, the least one behind this page's last; `None` on the last page.
    #[must_use]
    pub fn next(&self) -> Option<String> {
        let last = self.entries.last().filter(|_| self.more)?;
        Some(format!("{}\0", last.key()))
    }
}

/// The state asked for is older than the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state at that revision is gone, the oldest known revision is {oldest}; list the newest state")]
pub struct Compacted {
    /// The oldest revision whose state is known.
    pub oldest: Revision,
}

/// The revision of which `state` is the newest state.
///
/// A batch is shown to one collection at once but to several collections one after the other,
/// so a collection may be ahead of the horizon, never behind it.
pub(super) fn newest(state: &State, horizon: &Horizon) -> Revision {
    horizon.visible().max(state.history.newest())
}

pub(super) fn list(state: &State, horizon: &Horizon, query: &ListQuery<'_>) -> Result<Page, Compacted> {
    let At::Exact(revision) = query.at else {
        return Ok(list_newest(state, horizon, query));
    };
    let oldest = horizon.oldest();
    if revision < oldest {
        return Err(Compacted { oldest });
    }
    let changes = state
        .history
        .since(state.history.after(revision))
        .into_iter()
        .flatten()
        .filter(|event| event.entry().key().starts_with(query.prefix));
    // The first change after the revision knows what the key was at the revision.
    let mut undone: BTreeMap<&str, Option<&Arc<Entry>>> = BTreeMap::new();
    for event in changes {
        undone.entry(event.entry().key()).or_insert(event.previous());
    }
    if undone.is_empty() {
        let page = list_newest(state, horizon, query);
        return Ok(Page {
            revision: revision.min(page.revision),
            ..page
        });
    }
    if let Some(start) = query.start {
        undone.retain(|key, _| *key >= start);
    }
    let current = state.range(query.prefix, query.start);
    Ok(paginate(merge(current, undone), revision, query))
}

pub(super) fn list_newest(state: &State, horizon: &Horizon, query: &ListQuery<'_>) -> Page {
    paginate(state.range(query.prefix, query.start), newest(state, horizon), query)
}

/// The current entries, with those of `undone` in the place of theirs.
fn merge<'a>(
    current: impl Iterator<Item = &'a Arc<Entry>>,
    undone: BTreeMap<&'a str, Option<&'a Arc<Entry>>>,
) -> impl Iterator<Item = &'a Arc<Entry>> {
    let mut current = current.peekable();
    let mut undone = undone.into_iter().peekable();
    std::iter::from_fn(move || {
        loop {
            let Some((old_key, _)) = undone.peek() else {
                return current.next();
            };
            if let Some(entry) = current.next_if(|entry| &**entry.key() < *old_key) {
                return Some(entry);
            }
            current.next_if(|entry| &**entry.key() == *old_key);
            if let Some((_, Some(old))) = undone.next() {
                return Some(old);
            }
        }
    })
}

fn paginate<'a>(mut entries: impl Iterator<Item = &'a Arc<Entry>>, revision: Revision, query: &ListQuery<'_>) -> Page {
    let limit = query.limit.map_or(usize::MAX, |limit| limit.max(1));
    let selects = |entry: &&Arc<Entry>| query.filter.is_none_or(|filter| filter(entry));
    let selected: Vec<_> = entries.by_ref().filter(selects).take(limit).cloned().collect();
    let (more, remaining) = match query.filter {
        // Whether what is left matches is not looked at: that is the next page's work.
        Some(_) => {
            let more = entries.next().is_some();
            (more, (!more).then_some(0))
        }
        None => {
            let left = entries.count() as u64;
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

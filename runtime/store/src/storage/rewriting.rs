//! Writing objects anew that the backend has in an earlier form, e.g. encrypted with an earlier key.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::Storage;
use crate::write::{Op, WriteError};
use crate::{Collection, Draft, ListQuery, Revision, StoredForm};

/// Number of objects that are written at the same time.
const AT_ONCE: usize = 64;

/// The objects that a write would store in another way, even one that changes nothing.
#[derive(Debug)]
pub struct StaleObjects {
    /// The next one last. Entries are not kept, because they would keep objects in memory that are replaced meanwhile.
    left: Vec<(Arc<Collection>, Arc<str>, Revision)>,
    unreadable: usize,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// Number of objects that were written.
    pub objects: usize,
    /// Bytes of these.
    pub bytes: u64,
}

impl Storage {
    /// Returns the objects that the backend has in an earlier form now. Takes time in proportion to the number of all objects.
    #[must_use]
    pub fn stale_objects(&self) -> StaleObjects {
        let mut stale = StaleObjects {
            left: Vec::new(),
            unreadable: 0,
        };
        for collection in self.shared.collections.all() {
            // The newest state is never compacted.
            let entries = collection
                .list(&ListQuery::all(collection.prefix()))
                .map(|page| page.entries);
            for entry in entries.unwrap_or_default() {
                // What the definition of a kind makes of the stored bytes is no reason to write them.
                match entry.backend_form() {
                    StoredForm::Current => {}
                    StoredForm::Unreadable => stale.unreadable += 1,
                    StoredForm::Earlier | StoredForm::OtherVersion => {
                        let key = entry.key().into();
                        stale.left.push((Arc::clone(&collection), key, entry.revision()));
                    }
                }
            }
        }
        stale.left.reverse();
        stale
    }
}

impl Storage {
    /// The prefixes of keys without a collection, none within another: `/registry/GROUP/RESOURCE/`, or `/registry/RESOURCE/` for keys
    /// without a group. A key beside kinds that have a collection is a prefix of its own.
    #[must_use]
    pub fn unopened_prefixes(&self) -> BTreeSet<String> {
        let unclaimed = self.shared.unclaimed();
        let collections = self.shared.collections.all();
        let prefix = |key: &str| {
            let end = key.match_indices('/').nth(3).map(|(end, _)| end);
            let prefix = end.or_else(|| key.rfind('/')).map_or(key, |end| &key[..=end]);
            let has_kinds = collections
                .iter()
                .any(|collection| collection.prefix().starts_with(prefix));
            if has_kinds { key } else { prefix }.to_owned()
        };
        let all: BTreeSet<String> = unclaimed.newest().map(|record| prefix(&record.key)).collect();
        let mut outermost = BTreeSet::<String>::new();
        // A prefix sorts before those within it.
        for prefix in all {
            if outermost.last().is_none_or(|last| !prefix.starts_with(&**last)) {
                outermost.insert(prefix);
            }
        }
        outermost
    }
}

impl StaleObjects {
    /// The number of objects that are not written yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// The number of objects that cannot be read, and stay as they are.
    #[must_use]
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// Writes the next objects, unless others have written them meanwhile; they expire as before. `None` if no objects are left.
    ///
    /// # Errors
    ///
    /// The first error of a write; its object is left out from now on.
    pub async fn step(&mut self) -> Result<Option<Rewritten>, WriteError> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let next = self.left.split_off(self.left.len().saturating_sub(AT_ONCE));
        let mut writes = JoinSet::new();
        for (collection, key, revision) in next.into_iter().rev() {
            let Some(entry) = collection.get(&key).filter(|entry| entry.revision() == revision) else {
                continue;
            };
            // Not the bytes for readers: what the definition of the kind removes may come back.
            let bytes = entry.stored_without_revision().into_owned();
            let op = Op::Rewrite {
                key,
                draft: match entry.stored_gap() {
                    Some(gap) => Draft::new(bytes, gap as usize),
                    None => Draft::gapless(bytes),
                },
                row: entry.row().to_row(),
                revision,
            };
            writes.spawn(async move { collection.write(op).await });
        }
        let mut rewritten = Rewritten::default();
        let mut failure = None;
        while let Some(result) = writes.join_next().await {
            // A write that panicked is one that the store did not answer.
            match result.unwrap_or(Err(WriteError::Closed)) {
                Ok(written) => {
                    rewritten.objects += 1;
                    rewritten.bytes += written.entry.stored_size() as u64;
                }
                // Others have written it.
                Err(WriteError::Conflict { .. }) => {}
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(Some(rewritten)),
        }
    }
}

//! The checks of a history.
//!
//! Everything that any client observed is put together in one ledger: the state of each key after each revision. The
//! other checks compare each observation with it. Linearizability is checked without the help of revisions.

mod answers;
mod ledger;
mod linearizability;
mod lists;
mod order;
mod search;
mod watches;

use std::collections::BTreeSet;
use std::fmt;

use self::ledger::Ledger;
use crate::history::History;
use crate::record::Record;

/// A violation of a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The promise.
    pub promise: Promise,
    /// The violation.
    pub text: String,
    /// The positions of the observations that show it, with their number as small as possible.
    pub positions: BTreeSet<usize>,
}

/// A promise of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Promise {
    /// Each key behaves as if its reads and writes happened one after the other, each between its call and its answer.
    Linearizable,
    /// Revisions have the order of the writes, are never assigned twice, and reads are not older than finished writes.
    OrderedRevisions,
    /// A refused write has no effect, and objects have the bytes that were written.
    Intact,
    /// An answer shows the state before the write.
    Previous,
    /// A list is the state at its revision, in order, complete, page by page.
    ListAtRevision,
    /// History is there until it is forgotten on request.
    RetainedHistory,
    /// A watch delivers changes in the order of their revisions.
    WatchOrdered,
    /// A watch delivers no change twice.
    WatchUnique,
    /// A watch leaves out no change.
    WatchReliable,
    /// A watch delivers the changes of one revision together.
    WatchAtomic,
    /// A watch that starts after a revision continues there.
    WatchResumable,
    /// The progress of a watch is true: nothing follows that is not newer.
    WatchBookmarkable,
    /// The store answers.
    Alive,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: {}", self.promise, self.text)
    }
}

/// Observations before one that says that the store does not answer.
const LEADING: usize = 8;

/// Collects findings.
#[derive(Debug, Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, promise: Promise, positions: impl IntoIterator<Item = usize>, text: String) {
        self.0.push(Finding {
            promise,
            text,
            positions: positions.into_iter().collect(),
        });
    }
}

/// The violations in `history`, each promise's first ones first; empty if there are none.
#[must_use]
pub fn check(history: &History) -> Vec<Finding> {
    let mut findings = Findings::default();
    let ledger = Ledger::new(history, &mut findings);
    order::check(history, &ledger, &mut findings);
    answers::check(history, &ledger, &mut findings);
    lists::check(history, &ledger, &mut findings);
    watches::check(history, &ledger, &mut findings);
    // The search takes long where other promises are broken, too.
    if findings.0.is_empty() {
        linearizability::check(history, &ledger, &mut findings);
    }
    for (position, record) in history.records.iter().enumerate() {
        if let Record::Stuck { reason } = record {
            findings.add(
                Promise::Alive,
                position.saturating_sub(LEADING)..=position,
                reason.clone(),
            );
        }
    }
    findings.0
}

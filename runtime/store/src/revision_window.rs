//! The range of a store's revisions: from the oldest one that is still known to the newest visible one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::Revision;

/// Maximum number of revisions that are held at the same time.
const MAX_HOLDS: usize = 1024;

/// A revision that a reader needs again.
#[derive(Debug)]
struct Hold {
    revision: Revision,
    /// True if it was used since it was last looked at.
    is_used: bool,
    /// The time of the last use, as far as it was looked at, in milliseconds since 1970.
    last: u64,
}

/// Shared by the sequencer, which moves it, and all collections, which read it.
#[derive(Debug)]
pub struct RevisionWindow {
    visible: watch::Sender<Revision>,
    /// Outside of the channel, so that readers take no lock.
    newest: AtomicU64,
    floor: AtomicU64,
    holds: Mutex<Vec<Hold>>,
}

impl RevisionWindow {
    /// Returns the revisions of a store whose history starts after `floor` and ends with `visible`.
    #[must_use]
    pub fn new(floor: Revision, visible: Revision) -> Self {
        Self {
            visible: watch::Sender::new(visible),
            newest: AtomicU64::new(visible.0),
            floor: AtomicU64::new(floor.0),
            holds: Mutex::default(),
        }
    }

    /// The newest revision that is visible in all collections.
    #[must_use]
    pub fn visible(&self) -> Revision {
        Revision(self.newest.load(Ordering::Acquire))
    }

    /// The oldest revision at which lists and after which watches are possible.
    #[must_use]
    pub fn oldest(&self) -> Revision {
        Revision(self.floor.load(Ordering::Acquire))
    }

    /// Records that all changes up to `revision` are visible in every collection.
    pub fn advance(&self, revision: Revision) {
        self.newest.fetch_max(revision.0, Ordering::AcqRel);
        self.visible.send_replace(revision);
    }

    /// Records that history up to and including `revision` may be forgotten.
    pub fn raise_floor(&self, revision: Revision) {
        self.floor.fetch_max(revision.0, Ordering::AcqRel);
    }

    /// Keeps the history after `revision`, from which a reader is going to continue, for the age of history since this call. So
    /// a slow reader of many pages comes to its end, unless that takes longer than the compactor permits or history exceeds
    /// its bytes.
    pub(crate) fn hold(&self, revision: Revision) {
        let mut held = self.held_revisions();
        if let Some(known) = held.iter_mut().find(|hold| hold.revision == revision) {
            known.is_used = true;
        } else if held.len() < MAX_HOLDS {
            held.push(Hold {
                revision,
                is_used: true,
                last: 0,
            });
        }
    }

    /// The oldest revision that is held at `now`, given the age of history, both in milliseconds.
    pub(crate) fn oldest_held(&self, now: u64, window: u64) -> Option<Revision> {
        let mut held = self.held_revisions();
        held.retain_mut(|hold| {
            if std::mem::take(&mut hold.is_used) {
                hold.last = now;
            }
            now < hold.last.saturating_add(window)
        });
        held.iter().map(|hold| hold.revision).min()
    }

    /// The last revision up to which history may be forgotten, `floor` at most.
    pub(crate) fn not_beyond_held(&self, floor: Revision) -> Revision {
        let held = self.held_revisions();
        held.iter().map(|hold| hold.revision).fold(floor, Revision::min)
    }

    fn held_revisions(&self) -> MutexGuard<'_, Vec<Hold>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns once `revision` is visible.
    pub(crate) async fn reached(&self, revision: Revision) {
        let mut visible = self.visible.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = visible.wait_for(|newest| *newest >= revision).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_held_while_it_is_used() {
        let window = RevisionWindow::new(Revision::ZERO, Revision(100));
        assert_eq!(window.oldest_held(0, 10), None);
        window.hold(Revision(7));
        window.hold(Revision(5));
        assert_eq!(window.oldest_held(1000, 10), Some(Revision(5)));
        assert_eq!(window.not_beyond_held(Revision(9)), Revision(5));
        window.hold(Revision(7));
        assert_eq!(window.oldest_held(1009, 10), Some(Revision(5)));
        assert_eq!(
            window.oldest_held(1010, 10),
            Some(Revision(7)),
            "the other was not used again"
        );
        window.hold(Revision(7));
        assert_eq!(window.oldest_held(1019, 10), Some(Revision(7)));
        assert_eq!(window.oldest_held(1028, 10), Some(Revision(7)));
        assert_eq!(window.oldest_held(1029, 10), None);
        (0..2 * MAX_HOLDS as u64).for_each(|revision| window.hold(Revision(revision)));
        assert_eq!(window.held_revisions().len(), MAX_HOLDS);
    }
}

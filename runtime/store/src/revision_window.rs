//! The range of a store's revisions: from the oldest one that is still known to the newest visible one.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

use crate::Revision;

/// Shared by the sequencer, which moves it, and all collections, which read it.
#[derive(Debug)]
pub struct RevisionWindow {
    visible: watch::Sender<Revision>,
    /// Outside of the channel, so that readers take no lock.
    newest: AtomicU64,
    floor: AtomicU64,
}

impl RevisionWindow {
    /// Returns the revisions of a store whose history starts after `floor` and ends with `visible`.
    #[must_use]
    pub fn new(floor: Revision, visible: Revision) -> Self {
        Self {
            visible: watch::Sender::new(visible),
            newest: AtomicU64::new(visible.0),
            floor: AtomicU64::new(floor.0),
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

    /// Returns once `revision` is visible.
    pub(crate) async fn reached(&self, revision: Revision) {
        let mut visible = self.visible.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = visible.wait_for(|newest| *newest >= revision).await;
    }
}

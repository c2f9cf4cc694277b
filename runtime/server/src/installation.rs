//! The installation of paths while the server starts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tracks if all paths are installed.
///
/// A path that is missing only because the server is still starting is answered with 503: a client that received 404
/// would conclude that its objects were deleted.
#[derive(Clone, Debug, Default)]
pub struct Installation {
    outstanding: Arc<AtomicUsize>,
}

/// Marks paths as outstanding until it is dropped.
#[derive(Debug)]
pub struct Installing {
    outstanding: Arc<AtomicUsize>,
}

impl Installation {
    /// Announces paths that will be installed later.
    #[must_use]
    pub fn begin(&self) -> Installing {
        self.outstanding.fetch_add(1, Ordering::AcqRel);
        Installing {
            outstanding: Arc::clone(&self.outstanding),
        }
    }

    /// True if no paths are outstanding.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) == 0
    }
}

impl Drop for Installing {
    fn drop(&mut self) {
        self.outstanding.fetch_sub(1, Ordering::AcqRel);
    }
}

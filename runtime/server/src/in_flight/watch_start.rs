//! The seats of a watch.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::Permit;

/// The permit of a watch until it has started. Clones share it, and the last one frees it.
#[derive(Clone)]
pub(crate) struct WatchStart(Arc<Mutex<Option<Permit>>>);

impl WatchStart {
    pub(crate) fn new(permit: Permit) -> Self {
        Self(Arc::new(Mutex::new(Some(permit))))
    }

    /// Frees the permit.
    pub(crate) fn finish(&self) {
        let permit = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(permit);
    }
}

impl fmt::Debug for WatchStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchStart").finish_non_exhaustive()
    }
}

//! Requests with which clients show that they are alive.

use std::fmt;
use std::sync::Arc;

use crate::request::RequestInfo;

/// The requests with which clients show that they are alive, such as the renewal of a lease. Default: none.
#[derive(Clone)]
pub struct Heartbeats(Arc<dyn Fn(&RequestInfo) -> bool + Send + Sync>);

impl Heartbeats {
    /// Returns the requests for which `is_heartbeat` is true.
    #[must_use]
    pub fn new(is_heartbeat: impl Fn(&RequestInfo) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_heartbeat))
    }

    pub(super) fn contains(&self, info: &RequestInfo) -> bool {
        self.0(info)
    }
}

impl Default for Heartbeats {
    fn default() -> Self {
        Self::new(|_| false)
    }
}

impl fmt::Debug for Heartbeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heartbeats").finish_non_exhaustive()
    }
}

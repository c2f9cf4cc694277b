//! The place to which encoded events go.

use std::fmt;

use bytes::Bytes;

/// Receives encoded events.
pub(crate) trait Destination: Send + Sync + fmt::Debug {
    /// Delivers events, oldest first; returns once they are delivered or lost. May wait for a disk or another server.
    ///
    /// # Errors
    ///
    /// The reason for which they are lost.
    fn deliver(&self, events: &[Bytes]) -> Result<(), String>;

    /// True if one delivery takes the events of several requests. The default delivers those of each request by themselves.
    fn joins_requests(&self) -> bool {
        false
    }

    /// Ends repetitions, because the server ends. The default has none.
    fn stop(&self) {}
}

//! Limits of the work on pages of proxied servers.

use tokio::sync::Semaphore;

/// Maximum size of the pages of all requests together while they are received, in KiB.
const MAX_BUFFERED: usize = 64 << 10;

/// Maximum number of pages that are decompressed, rewritten and compressed at the same time.
const AT_WORK: usize = 2;

/// Limits of the work on the pages that arrive over a link and its clones.
#[derive(Debug)]
pub(super) struct PageLimits {
    /// A permit for each KiB of pages that are received; further pages are passed on unchanged.
    pub(super) gathered: Semaphore,
    /// A permit for each page that is decompressed, rewritten and compressed.
    pub(super) at_work: Semaphore,
}

impl Default for PageLimits {
    fn default() -> Self {
        Self {
            gathered: Semaphore::new(MAX_BUFFERED),
            at_work: Semaphore::new(AT_WORK),
        }
    }
}

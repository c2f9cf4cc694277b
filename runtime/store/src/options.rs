//! The options of a store.

use std::sync::Arc;
use std::time::Duration;

use crate::OnProgress;
use crate::clock::{Clock, SystemClock};

/// The options of a store.
#[derive(Clone, Debug)]
pub struct StorageOptions {
    /// The time for which changes are kept. Default: 5 minutes, the usual setting of etcd.
    pub window: Duration,
    /// Maximum bytes of memory for superseded states; the window shrinks to fit. Default: 24 MiB, which leaves a server
    /// with 5,000 objects of 1.4 KB and any number of changes below 80 MB.
    pub history_bytes: usize,
    /// Maximum bytes of changes on disk; the window shrinks to fit. Default: 256 MiB.
    pub journal_bytes: u64,
    /// Maximum bytes of one key and object. Default: 3 MiB, the limit of request bodies.
    pub write_limit: usize,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Receives the progress of opening the store, if that takes longer than a second.
    pub on_progress: OnProgress,
}

impl Default for StorageOptions {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(300),
            history_bytes: 24 << 20,
            journal_bytes: 256 << 20,
            write_limit: 3 << 20,
            clock: Arc::new(SystemClock),
            on_progress: OnProgress::default(),
        }
    }
}

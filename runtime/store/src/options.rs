//! The options of a store.

use std::sync::Arc;
use std::time::Duration;

use crate::OnProgress;
use crate::Transformers;
use planesmith_clock::{Clock, SystemClock};

/// Limits of the history of one collection. They do not reach beyond those of the store in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryLimits {
    /// The time for which changes are kept. Default: that of the store.
    pub window: Option<Duration>,
    /// Maximum bytes of the objects of all changes. Default: no limit.
    pub bytes: Option<u64>,
}

/// The options of a store.
#[derive(Clone, Debug)]
pub struct StorageOptions {
    /// The time for which changes are kept. Default: 5 minutes, the usual setting of etcd.
    pub window: Duration,
    /// Maximum bytes of memory for history. In a backend that keeps history, older changes are read back from there when
    /// needed, and take 48 bytes each, three quarters of the maximum at most; otherwise the window shrinks to fit. Default: 24
    /// MiB, which leaves a server with 5,000 objects of 1.4 KB and any number of changes below 80 MB.
    pub history_bytes: usize,
    /// Maximum bytes of changes on disk; the window shrinks to fit. Default: 768 MiB, which is more than 1,000 updates of 2 KB
    /// a second take in 5 minutes.
    pub journal_bytes: u64,
    /// Limits of single collections by their prefix, which are checked every ten seconds. Default: none.
    pub kinds: Vec<(String, HistoryLimits)>,
    /// Maximum bytes of one key and object. Default: 3 MiB, the limit of request bodies.
    pub write_limit: usize,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Transforms values before they are written and after they are read, e.g. encrypts them. Default: `None`.
    pub transformers: Option<Arc<dyn Transformers>>,
    /// Receives the progress of opening the store, if that takes longer than a second.
    pub on_progress: OnProgress,
}

impl Default for StorageOptions {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(300),
            history_bytes: 24 << 20,
            journal_bytes: 768 << 20,
            kinds: Vec::new(),
            write_limit: 3 << 20,
            clock: Arc::new(SystemClock),
            transformers: None,
            on_progress: OnProgress::default(),
        }
    }
}

impl StorageOptions {
    /// The longest time for which any collection keeps changes.
    pub(crate) fn longest_window(&self) -> Duration {
        let own = self.kinds.iter().filter_map(|(_, limits)| limits.window);
        own.max().unwrap_or_default().max(self.window)
    }
}

//! Flags about the handling of requests.

use std::time::Duration;

use clap::{ArgAction, Args, value_parser};

/// Flags about the handling of requests.
#[derive(Args, Clone, Debug)]
pub struct RequestOptions {
    /// Shortest duration, in seconds, of a watch whose client requests none; each lasts up to twice as long, so that watches that began
    /// together do not end together.
    #[arg(long, default_value_t = 1800, value_name = "SECONDS")]
    pub min_request_timeout: u32,

    /// Deletions of one request for a collection that are performed at once [default: 64, which share the store's commits].
    #[arg(long, value_parser = value_parser!(u16).range(1..), value_name = "N")]
    pub delete_collection_workers: Option<u16>,

    /// Honour the propagation policy of deletions, and run the embedded garbage collector. Without it dependents stay as they are.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = true, value_name = "BOOL")]
    pub enable_garbage_collector: bool,
}

impl RequestOptions {
    /// Returns the shortest duration of a watch whose client requests none.
    #[must_use]
    pub fn min_watch(&self) -> Duration {
        Duration::from_secs(self.min_request_timeout.into())
    }
}

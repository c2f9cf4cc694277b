//! Warnings about failed checks, without repetition: probes repeat every few seconds, and a starting server is not
//! healthy yet.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The check that fails while the server stops, which is no fault to report.
pub(crate) const SHUTDOWN: &str = "shutdown";

/// Time from the start during which failures are not reported, unless the server was healthy before.
const START_WITHIN: Duration = Duration::from_secs(30);

/// The failures that one endpoint has reported.
#[derive(Debug)]
pub(super) struct FailureReports {
    start: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    was_healthy: bool,
    /// Failed checks that were reported since the last healthy answer.
    reported: BTreeSet<String>,
}

impl FailureReports {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            state: Mutex::default(),
        }
    }

    /// True if one of the `failed` checks other than [`SHUTDOWN`] was not reported since the last healthy answer. Nothing is reported in the
    /// first half minute of a server that was never healthy.
    pub(super) fn is_due(&self, failed: &[&str]) -> bool {
        self.is_due_at(self.start.elapsed(), failed)
    }

    /// Records a healthy answer.
    pub(super) fn recover(&self) {
        self.change(|state| {
            state.was_healthy = true;
            state.reported.clear();
        });
    }

    fn is_due_at(&self, age: Duration, failed: &[&str]) -> bool {
        self.change(|state| {
            if !state.was_healthy && age < START_WITHIN {
                return false;
            }
            let before = state.reported.len();
            let worth = failed.iter().filter(|name| **name != SHUTDOWN);
            state.reported.extend(worth.map(|&name| name.to_owned()));
            state.reported.len() > before
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_reported_once_until_the_server_is_healthy_again() {
        let reports = FailureReports::new();
        let due = |failed: &[&str]| reports.is_due_at(Duration::ZERO, failed);
        // The server starts.
        assert!(!due(&["hook"]));
        reports.recover();
        assert!(due(&["store"]));
        assert!(!due(&["store"]));
        assert!(due(&["hook", "store"]));
        assert!(!due(&["hook"]));
        reports.recover();
        assert!(due(&["store"]));
        // The server stops.
        assert!(!due(&[SHUTDOWN]));
    }

    #[test]
    fn a_server_that_does_not_get_healthy_is_reported() {
        let reports = FailureReports::new();
        assert!(!reports.is_due_at(START_WITHIN / 2, &["hook"]));
        assert!(reports.is_due_at(START_WITHIN, &["hook"]));
        assert!(!reports.is_due_at(START_WITHIN * 2, &["hook"]));
    }
}

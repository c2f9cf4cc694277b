//! Series that describe by a label what is in use now.

use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use planesmith_machinery::clock::Clock;
use planesmith_machinery::hex;
use prometheus::IntGaugeVec;
use ring::digest::{SHA256, digest};

/// The label of what is in use, of which one series is shown at a time.
#[derive(Debug, Default)]
pub(super) struct CurrentLabel(Mutex<Option<String>>);

impl CurrentLabel {
    /// Shows the series of `label`, the last one behind `others`, and removes that of the label before.
    pub(super) fn replace(&self, series: &IntGaugeVec, others: &[&str], label: &str) {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = current.replace(label.to_owned()).filter(|old| old != label) {
            // A series that is removed already is what is wanted.
            let _ = series.remove_label_values(&[others, &[&*old]].concat());
        }
        series.with_label_values(&[others, &[label]].concat()).set(1);
    }
}

/// Returns the label for a text that a label does not show itself.
pub(super) fn hashed(text: &[u8]) -> String {
    match text {
        [] => String::new(),
        text => format!("sha256:{}", hex::encode(digest(&SHA256, text).as_ref())),
    }
}

/// Returns the time in seconds since 1970.
pub(super) fn seconds(clock: &dyn Clock) -> f64 {
    let since = clock.now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64()
}

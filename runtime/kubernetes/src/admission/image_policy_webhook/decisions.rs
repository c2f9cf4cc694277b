//! Decisions of the webhook that still count.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use planesmith_api_defs::imagepolicy::v1alpha1::ImageReviewStatus;

/// Maximum number of decisions; kube-apiserver's value.
const CAPACITY: usize = 1024;

/// Decisions by the review that they are about.
#[derive(Default)]
pub(super) struct Decisions {
    /// Locked only for a lookup.
    entries: Mutex<HashMap<Vec<u8>, (ImageReviewStatus, Instant)>>,
}

impl Decisions {
    /// Returns a decision that counts at the time `now`.
    pub(super) fn get(&self, review: &[u8], now: Instant) -> Option<ImageReviewStatus> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (status, end) = entries.get(review)?;
        (now < *end).then(|| status.clone())
    }

    /// Adds a decision that counts until `end`. The one that ends first makes room for it.
    pub(super) fn add(&self, review: Vec<u8>, status: &ImageReviewStatus, end: Instant) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= CAPACITY
            && let Some(first) = entries
                .iter()
                .min_by_key(|(_, (_, end))| *end)
                .map(|(review, _)| review.clone())
        {
            entries.remove(&first);
        }
        entries.insert(review, (status.clone(), end));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn decisions_end_and_are_bounded() {
        let decisions = Decisions::default();
        let begin = Instant::now();
        for number in 0..=CAPACITY {
            let end = begin + Duration::from_secs(10 + number as u64);
            decisions.add(number.to_string().into_bytes(), &ImageReviewStatus::default(), end);
        }
        assert!(decisions.get(b"0", begin).is_none(), "it ended first");
        assert!(decisions.get(b"1", begin).is_some());
        assert!(decisions.get(b"1", begin + Duration::from_secs(11)).is_none());
    }
}

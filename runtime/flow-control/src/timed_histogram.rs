//! Histograms of values over time.

use std::time::Instant;

use crate::demand::nanos_between;

/// The distribution of a ratio over time: each nanosecond counts once, in the bucket of the value that it had.
#[derive(Clone, Debug)]
pub struct TimedHistogram {
    bounds: &'static [f64],
    /// Nanoseconds by bucket; the last one is above all bounds.
    nanos: Vec<u64>,
    sum: f64,
    /// The time until which nanoseconds are counted.
    at: Instant,
    numerator: u64,
    denominator: u64,
    /// The ratio, and its bucket: computed when the value changes, and not for each nanosecond counted.
    value: f64,
    bucket: usize,
}

impl TimedHistogram {
    /// Begins at `now` with the value 0. The `bounds` are upper bounds, in ascending order.
    #[must_use]
    pub fn new(bounds: &'static [f64], now: Instant) -> Self {
        Self {
            bounds,
            nanos: vec![0; bounds.len() + 1],
            sum: 0.0,
            at: now,
            numerator: 0,
            denominator: 1,
            value: 0.0,
            bucket: 0,
        }
    }

    /// The upper bounds of the buckets.
    #[must_use]
    pub fn bounds(&self) -> &'static [f64] {
        self.bounds
    }

    /// Nanoseconds with a value of at most each bound, and the number of all nanoseconds.
    #[must_use]
    pub fn cumulative(&self) -> (Vec<u64>, u64) {
        let mut total = 0;
        let mut counts: Vec<u64> = self.nanos.iter().map(|nanos| add(&mut total, *nanos)).collect();
        counts.pop();
        (counts, total)
    }

    /// The sum of the values of all nanoseconds.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Sets the numerator of the ratio from `now` on. An unchanged one costs nothing.
    pub fn set(&mut self, now: Instant, numerator: u64) {
        if numerator != self.numerator {
            self.advance(now);
            self.numerator = numerator;
            self.evaluate();
        }
    }

    /// Sets the denominator of the ratio from `now` on, at least 1.
    pub fn set_denominator(&mut self, now: Instant, denominator: u64) {
        self.advance(now);
        self.denominator = denominator.max(1);
        self.evaluate();
    }

    /// Counts the time until `now`.
    pub fn advance(&mut self, now: Instant) {
        let nanos = nanos_between(self.at, now);
        // Readers and writers take their times before they lock, so that these may come in another order.
        self.at = self.at.max(now);
        if let Some(count) = self.nanos.get_mut(self.bucket) {
            *count = count.saturating_add(nanos);
        }
        #[expect(clippy::cast_precision_loss, reason = "sums of histograms are floating point")]
        let weight = nanos as f64;
        self.sum += self.value * weight;
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "numbers of seats and requests are far below 2^52"
    )]
    fn evaluate(&mut self) {
        self.value = self.numerator as f64 / self.denominator as f64;
        // Most changes are to the same bucket or to the next one.
        while self.bucket > 0 && self.value <= self.bounds[self.bucket - 1] {
            self.bucket -= 1;
        }
        while self.bounds.get(self.bucket).is_some_and(|bound| self.value > *bound) {
            self.bucket += 1;
        }
    }
}

fn add(total: &mut u64, nanos: u64) -> u64 {
    *total = total.saturating_add(nanos);
    *total
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_nanosecond_counts_in_its_bucket() {
        let begin = Instant::now();
        let after = |nanos| begin + Duration::from_nanos(nanos);
        let mut histogram = TimedHistogram::new(&[0.0, 0.5, 1.0], begin);
        histogram.set_denominator(begin, 4);
        histogram.set(after(10), 2);
        histogram.set(after(20), 2);
        histogram.set(after(30), 8);
        histogram.advance(after(31));
        assert_eq!(histogram.cumulative(), (vec![10, 30, 30], 31));
        assert!((histogram.sum() - (20.0 * 0.5 + 2.0)).abs() < 1e-9);
    }
}

//! Amounts of work.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

/// An amount of work: seats times time. It is exact, in nanoseconds of one seat, and does not overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeatSeconds(i128);

/// The estimated work of a request.
///
/// A request occupies the larger number of seats while it executes, and keeps its seats for `additional_latency` after its
/// answer, for the work that others do because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkEstimate {
    /// Seats of the execution itself.
    pub initial_seats: u32,
    /// Seats of the work after the answer.
    pub final_seats: u32,
    /// Duration of the work after the answer.
    pub additional_latency: Duration,
}

/// The service time that is assumed of every request until it has finished.
pub(crate) const ESTIMATED_SERVICE_TIME: Duration = Duration::from_millis(3);

impl SeatSeconds {
    /// No work.
    pub const ZERO: Self = Self(0);

    /// The largest amount.
    pub const MAX: Self = Self(i128::MAX);

    /// The work of `seats` during `time`.
    #[must_use]
    pub fn of(seats: u64, time: Duration) -> Self {
        Self(i128::from(seats).saturating_mul(nanos(time)))
    }

    /// One of `parts` equal parts; all of it for no parts.
    #[must_use]
    pub(crate) fn divided_by(self, parts: usize) -> Self {
        if parts <= 1 {
            return self;
        }
        // Nearly all amounts have 64 bits, whose division is several times as fast.
        match (i64::try_from(self.0), i64::try_from(parts)) {
            (Ok(amount), Ok(parts)) => Self((amount / parts).into()),
            _ => Self(self.0 / i128::try_from(parts).unwrap_or(i128::MAX)),
        }
    }

    /// The amount in seat-seconds.
    #[expect(clippy::cast_precision_loss, reason = "for display, nothing is computed with it")]
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

fn nanos(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
}

impl WorkEstimate {
    /// A request of one seat, without work after its answer.
    pub const ONE: Self = Self {
        initial_seats: 1,
        final_seats: 0,
        additional_latency: Duration::ZERO,
    };

    /// A request of `seats` seats, without work after its answer.
    #[must_use]
    pub fn of_seats(seats: u32) -> Self {
        Self {
            initial_seats: seats,
            ..Self::ONE
        }
    }

    /// The seats that the request occupies.
    #[must_use]
    pub fn max_seats(&self) -> u32 {
        self.initial_seats.max(self.final_seats)
    }

    /// The whole work, while the duration of the execution is not known.
    #[must_use]
    pub fn total(&self) -> SeatSeconds {
        self.initial() + SeatSeconds::of(self.final_seats.into(), self.additional_latency)
    }

    /// The assumed work of the execution.
    pub(crate) fn initial(&self) -> SeatSeconds {
        SeatSeconds::of(self.initial_seats.into(), ESTIMATED_SERVICE_TIME)
    }

    /// The same work with at most `limit` final seats: fewer seats take longer.
    #[must_use]
    pub fn with_final_seats_up_to(self, limit: u32) -> Self {
        if self.final_seats <= limit || limit == 0 {
            return self;
        }
        let stretched = self.additional_latency.as_secs_f64() * f64::from(self.final_seats) / f64::from(limit);
        Self {
            final_seats: limit,
            additional_latency: Duration::try_from_secs_f64(stretched).unwrap_or(Duration::MAX),
            ..self
        }
    }
}

impl Add for SeatSeconds {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for SeatSeconds {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for SeatSeconds {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for SeatSeconds {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for SeatSeconds {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for SeatSeconds {
    /// Writes eight digits after the point and the unit, as in `0.00300000ss`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let units = (self.0.unsigned_abs() + 5) / 10;
        write!(f, "{sign}{}.{:08}ss", units / 100_000_000, units % 100_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_kube_apiserver_writes_them() {
        for (amount, expected) in [
            (SeatSeconds::ZERO, "0.00000000ss"),
            (WorkEstimate::ONE.total(), "0.00300000ss"),
            (SeatSeconds::of(7, Duration::from_millis(1500)), "10.50000000ss"),
            (SeatSeconds::ZERO - WorkEstimate::ONE.total(), "-0.00300000ss"),
        ] {
            assert_eq!(amount.to_string(), expected);
        }
    }

    #[test]
    fn fewer_final_seats_do_the_same_work() {
        let wide = WorkEstimate {
            initial_seats: 1,
            final_seats: 10,
            additional_latency: Duration::from_millis(5),
        };
        let narrow = wide.with_final_seats_up_to(4);
        assert_eq!(
            (narrow.final_seats, narrow.additional_latency),
            (4, Duration::from_micros(12_500))
        );
        assert_eq!(narrow.total(), wide.total());
        assert_eq!(wide.with_final_seats_up_to(10), wide);
        assert_eq!(wide.max_seats(), 10);
    }
}

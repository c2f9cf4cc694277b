//! Priority levels with fair queues: decides which of the waiting requests run, and which are rejected.
//!
//! A server has a number of seats. [`Levels`] divides them among priority levels by their shares and, every
//! [`Levels::ADJUSTMENT_PERIOD`], by their demand. A [`Level`] gives seats to requests: at once while seats are free, else in the
//! order of fair queues, so that no flow of requests delays others by more than its share. The rules and formulas are those of
//! kube-apiserver's API Priority and Fairness.
//!
//! The crate knows neither HTTP nor kinds: a request is an estimate of its work, the hash of its flow, and a description of the
//! caller's own type. Time comes from a [`Clock`], and the caller limits how long it waits.

mod allocation;
mod clock;
mod dealer;
mod demand;
mod digest;
mod discipline;
mod flow_hash;
mod level;
mod levels;
mod queue;
mod queue_set;
mod rejection;
mod request_table;
mod retry_after;
mod seats;
mod start;
mod timed_histogram;
mod work;

pub use clock::{Clock, MonotonicClock};
pub use demand::DemandSummary;
pub use digest::{Counts, LevelDigest, Progress, QueueDigest, RequestDigest};
pub use discipline::Discipline;
pub use flow_hash::FlowHasher;
pub use level::Level;
pub use levels::{LevelConfig, LevelState, Levels, LevelsSnapshot, Limits};
pub use rejection::Rejection;
pub use retry_after::longest_wait;
pub use seats::{FinalSeats, Finished, Seats, Waiting};
pub use start::Start;
pub use timed_histogram::TimedHistogram;
pub use work::{SeatSeconds, WorkEstimate};

#[cfg(test)]
mod tests;

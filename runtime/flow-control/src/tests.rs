//! The laws of levels, with a clock that the test sets.

mod adjustment;
mod fairness;
mod invariants;
mod limits;
mod reserve;
mod seats;

use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;

use crate::{Clock, Discipline, Level, LevelConfig, Levels, Seats, Start, Waiting, WorkEstimate};

/// A clock that stands still until it is advanced.
#[derive(Debug)]
pub(crate) struct ManualClock(Mutex<Instant>);

impl ManualClock {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Instant::now())))
    }

    pub(crate) fn advance(&self, time: Duration) {
        *self.0.lock().unwrap() += time;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        *self.0.lock().unwrap()
    }
}

/// The name of a request.
type Name = &'static str;

const QUEUES: Discipline = Discipline::Queue {
    queues: 16,
    hand_size: 4,
    queue_length: 10,
};

/// A configuration that lends nothing.
fn config(shares: u32, discipline: Discipline) -> LevelConfig {
    LevelConfig {
        shares,
        lendable_percent: 0,
        borrowing_percent: None,
        discipline,
    }
}

/// A level with `seats` seats.
fn level(clock: &Arc<ManualClock>, seats: u32, discipline: Discipline) -> Arc<Level<Name>> {
    let levels = Levels::new(seats, Arc::<ManualClock>::clone(clock));
    levels.configure(&[("level", config(1, discipline))]).remove(0)
}

fn start(level: &Arc<Level<Name>>, seats: u32, flow: u64) -> Start<Name> {
    level.start(WorkEstimate::of_seats(seats), flow, "request")
}

#[track_caller]
fn runs<D: std::fmt::Debug>(start: Start<D>) -> Seats<D> {
    match start {
        Start::Runs(seats) => seats,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn waits<D: std::fmt::Debug>(start: Start<D>) -> Waiting<D> {
    match start {
        Start::Waits { waiting, .. } => waiting,
        other => panic!("{other:?}"),
    }
}

/// The seats, if they were given.
fn poll<D>(waiting: &mut Waiting<D>) -> Option<Seats<D>> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match waiting.poll_unpin(&mut cx) {
        Poll::Ready(seats) => Some(seats),
        Poll::Pending => None,
    }
}

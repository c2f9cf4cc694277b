//! Seats are given, kept and freed.

use std::time::Duration;

use super::{ManualClock, QUEUES, level, poll, runs, start, waits};
use crate::{Discipline, Rejection, Start, WorkEstimate};

#[test]
fn requests_wait_until_seats_are_free() {
    let clock = ManualClock::new();
    let level = level(&clock, 2, QUEUES);
    let first = runs(start(&level, 1, 1));
    let second = runs(start(&level, 1, 2));
    let mut third = waits(start(&level, 1, 3));
    assert!(poll(&mut third).is_none());
    drop(first);
    let third = poll(&mut third).expect("a seat is free");
    let digest = level.digest(true);
    assert_eq!((digest.executing, digest.waiting, digest.seats_in_use), (2, 0, 2));
    assert_eq!(digest.requests.len(), 2);
    drop((second, third));
    let digest = level.digest(true);
    assert!(digest.is_idle && digest.seats_in_use == 0 && digest.requests.is_empty());
    assert_eq!(digest.counts.dispatched, 3);
}

#[test]
fn a_level_without_queues_rejects() {
    let clock = ManualClock::new();
    let level = level(&clock, 2, Discipline::Reject);
    let first = runs(start(&level, 2, 1));
    assert!(matches!(
        start(&level, 1, 1),
        Start::Rejected(Rejection::ConcurrencyLimit)
    ));
    drop(first);
    let wide = runs(start(&level, 5, 1));
    assert!(
        matches!(start(&level, 1, 1), Start::Rejected(_)),
        "the wide one is alone"
    );
    drop(wide);
    assert_eq!(level.digest(false).counts.rejected, 2);
}

#[test]
fn an_exempt_level_has_seats_for_all() {
    let clock = ManualClock::new();
    let level = level(&clock, 1, Discipline::Exempt);
    let all: Vec<_> = (0..100).map(|_| runs(start(&level, 10, 1))).collect();
    assert_eq!(level.digest(false).seats_in_use, 1000);
    let digest = level.digest(true);
    assert!(
        digest
            .requests
            .iter()
            .all(|request| request.queue.is_none() && request.place.is_none())
    );
    drop(all);
    assert!(level.digest(false).is_idle);
}

#[test]
fn a_full_queue_rejects_and_others_do_not() {
    let clock = ManualClock::new();
    let discipline = Discipline::Queue {
        queues: 2,
        hand_size: 1,
        queue_length: 3,
    };
    let level = level(&clock, 1, discipline);
    let running = runs(start(&level, 1, 0));
    let waiting: Vec<_> = (0..3).map(|_| waits(start(&level, 1, 0))).collect();
    assert!(matches!(start(&level, 1, 0), Start::Rejected(Rejection::QueueFull)));
    let other = waits(start(&level, 1, 1));
    drop(waiting);
    assert_eq!(level.digest(false).counts.cancelled, 3);
    let mut again = waits(start(&level, 1, 0));
    drop((running, other));
    assert!(poll(&mut again).is_some());
}

#[test]
fn a_queue_behind_a_wide_request_has_twice_its_length() {
    let clock = ManualClock::new();
    let discipline = Discipline::Queue {
        queues: 1,
        hand_size: 1,
        queue_length: 2,
    };
    let level = level(&clock, 4, discipline);
    let running = runs(start(&level, 3, 0));
    let waiting: Vec<_> = (0..4).map(|_| waits(start(&level, 2, 0))).collect();
    assert!(matches!(start(&level, 1, 0), Start::Rejected(Rejection::QueueFull)));
    drop((running, waiting));
}

#[test]
fn a_request_that_is_wider_than_its_level_runs_alone() {
    let clock = ManualClock::new();
    let discipline = Discipline::Queue {
        queues: 1,
        hand_size: 1,
        queue_length: 10,
    };
    let level = level(&clock, 4, discipline);
    let small = runs(start(&level, 1, 1));
    let mut wide = waits(start(&level, 9, 2));
    let mut later = waits(start(&level, 1, 3));
    assert!(
        poll(&mut wide).is_none() && poll(&mut later).is_none(),
        "none overtakes the wide one"
    );
    drop(small);
    let running = poll(&mut wide).expect("nothing else executes");
    assert!(poll(&mut later).is_none());
    drop(running);
    assert!(poll(&mut later).is_some());
}

#[test]
fn final_seats_are_in_use_after_the_answer() {
    let clock = ManualClock::new();
    let level = level(&clock, 2, QUEUES);
    let write = WorkEstimate {
        initial_seats: 1,
        final_seats: 2,
        additional_latency: Duration::from_millis(5),
    };
    let seats = runs(level.start(write, 1, "write"));
    let mut next = waits(start(&level, 1, 2));
    let last = seats.finish().final_seats.expect("final seats");
    assert_eq!(last.until(), level.now() + Duration::from_millis(5));
    assert!(poll(&mut next).is_none());
    assert_eq!(level.digest(false).executing, 0);
    drop(last);
    let next = poll(&mut next).expect("seats are free");
    assert!(next.finish().final_seats.is_none());
    assert_eq!(level.digest(false).seats_in_use, 0);
    drop(runs(level.start(write, 1, "a write that fails")));
    assert_eq!(level.digest(false).seats_in_use, 0);
}

#[test]
fn a_request_that_waits_too_long_leaves_its_queue() {
    let clock = ManualClock::new();
    let level = level(&clock, 1, QUEUES);
    let running = runs(start(&level, 1, 1));
    let mut late = waits(start(&level, 1, 1));
    let mut lucky = waits(start(&level, 1, 2));
    assert!(late.time_out().is_none());
    drop(running);
    let seats = lucky.time_out().expect("the seat came before");
    assert_eq!(level.digest(false).executing, 1);
    drop(seats);
    let counts = level.digest(false).counts;
    assert_eq!((counts.rejected, counts.timed_out, counts.cancelled), (1, 1, 0));
}

#[test]
fn seats_of_a_caller_who_went_away_are_free_again() {
    let clock = ManualClock::new();
    let level = level(&clock, 1, QUEUES);
    let running = runs(start(&level, 1, 1));
    let gone = waits(start(&level, 1, 1));
    drop(running);
    drop(gone);
    assert_eq!(level.digest(false).seats_in_use, 0);
    drop(runs(start(&level, 1, 1)));
}

#[test]
fn progress_grows_with_the_seats_of_each_queue() {
    let clock = ManualClock::new();
    let level = level(&clock, 4, QUEUES);
    let one = runs(start(&level, 1, 1));
    clock.advance(Duration::from_secs(1));
    assert_eq!(level.digest(false).progress.current.to_string(), "1.00000000ss");
    let wide = runs(start(&level, 3, 1_000));
    clock.advance(Duration::from_secs(1));
    assert_eq!(
        level.digest(false).progress.current.to_string(),
        "3.00000000ss",
        "four seats, two queues"
    );
    drop((one, wide));
    clock.advance(Duration::from_secs(1));
    assert_eq!(
        level.digest(false).progress.current.to_string(),
        "3.00000000ss",
        "nothing happens"
    );
}

#[test]
fn a_narrow_request_does_not_wait_for_wide_ones() {
    let clock = ManualClock::new();
    let level = level(&clock, 16, QUEUES);
    // Two of sixteen seats are reserved.
    let wide: Vec<_> = (0..2).map(|_| runs(start(&level, 7, 1))).collect();
    let mut next = waits(start(&level, 7, 1));
    let narrow: Vec<_> = (2..4).map(|flow| runs(start(&level, 1, flow))).collect();
    let mut further = waits(start(&level, 1, 4));
    drop(narrow);
    let further = poll(&mut further).expect("a reserved seat is free");
    assert!(poll(&mut next).is_none());
    drop(wide);
    assert!(poll(&mut next).is_some(), "reserved seats delay no wide request");
    drop(further);
}

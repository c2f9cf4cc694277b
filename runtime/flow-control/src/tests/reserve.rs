//! Narrow requests have seats of their own, and starve no wide ones.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::{ManualClock, Name, QUEUES, level, poll, runs, start, waits};
use crate::{Discipline, Level, Seats, Start, Waiting};

/// Queues of which each flow has one, whose index is its hash.
const ONE_QUEUE_EACH: Discipline = Discipline::Queue {
    queues: 16,
    hand_size: 1,
    queue_length: 10,
};

#[test]
fn narrow_requests_in_the_reserve_delay_no_wide_one() {
    let clock = ManualClock::new();
    let level = level(&clock, 16, QUEUES);
    let wide: Vec<_> = (0..2).map(|_| runs(start(&level, 7, 1))).collect();
    let narrow: Vec<_> = (2..4).map(|flow| runs(start(&level, 1, flow))).collect();
    let mut next = waits(start(&level, 7, 1));
    let [first, second] = <[_; 2]>::try_from(wide).expect("two");
    drop(first);
    let next = poll(&mut next).expect("14 seats are for wide requests, 7 of them are free");
    drop((second, narrow, next));
    assert!(level.digest(false).is_idle);
}

#[test]
fn no_request_overtakes_one_that_needs_the_reserve_too() {
    let clock = ManualClock::new();
    let level = level(&clock, 8, ONE_QUEUE_EACH);
    let running = runs(start(&level, 2, 1));
    let mut wide = waits(start(&level, 8, 2));
    clock.advance(Duration::from_secs(1));
    let mut narrow = waits(start(&level, 1, 3));
    drop(running);
    let wide = poll(&mut wide).expect("all seats are free");
    assert!(poll(&mut narrow).is_none());
    drop(wide);
    assert!(poll(&mut narrow).is_some());
}

#[test]
fn requests_that_do_not_fit_are_counted() {
    let clock = ManualClock::new();
    let level = level(&clock, 8, QUEUES);
    let running = runs(start(&level, 2, 1));
    let mut wide = waits(start(&level, 7, 2));
    assert_eq!(wide.not_accommodated(), 1);
    let late = waits(start(&level, 7, 3));
    assert_eq!((wide.not_accommodated(), late.not_accommodated()), (2, 0));
    drop(running);
    assert!(poll(&mut wide).is_some());
}

/// Flows that always have a narrow request in the level, each of which takes some steps.
struct Flood {
    flows: u64,
    duration: u32,
    waiting: Vec<(u64, Waiting<Name>)>,
    executing: Vec<(u64, u32, Seats<Name>)>,
}

impl Flood {
    fn step(&mut self, level: &Arc<Level<Name>>, step: u32) {
        self.executing.retain(|(_, end, _)| *end > step);
        for (flow, mut waiting) in std::mem::take(&mut self.waiting) {
            match poll(&mut waiting) {
                Some(seats) => self.executing.push((flow, step + self.duration, seats)),
                None => self.waiting.push((flow, waiting)),
            }
        }
        for flow in 0..self.flows {
            let executing = self.executing.iter().map(|(flow, ..)| *flow);
            let mut present = executing.chain(self.waiting.iter().map(|(flow, _)| *flow));
            if present.any(|present| present == flow) {
                continue;
            }
            match start(level, 1, flow * 7919) {
                Start::Runs(seats) => self.executing.push((flow, step + self.duration, seats)),
                Start::Waits { waiting, .. } => self.waiting.push((flow, waiting)),
                Start::Rejected(_) => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_wide_request_gets_its_seats_during_a_flood(limit in 1_u32..40, more in 0_u32..4, flows in 1_u64..40, duration in 1_u32..6) {
        let clock = ManualClock::new();
        let level = level(&clock, limit, QUEUES);
        let mut flood = Flood { flows, duration, waiting: Vec::new(), executing: Vec::new() };
        flood.step(&level, 0);
        let mut wide = match start(&level, limit + more, u64::MAX) {
            Start::Runs(_) => return Ok(()),
            Start::Waits { waiting, .. } => waiting,
            Start::Rejected(_) => panic!("its queue is empty"),
        };
        // Its work is 3 ms for each seat, and there are 16 queues: it is the next one after 16 times that, and then the requests that
        // execute end. Twice that is enough for estimates that are wrong.
        let bound = 2 * 16 * (3 * (limit + more) + 2 * duration);
        let served = (1..=bound).any(|step| {
            clock.advance(Duration::from_millis(1));
            flood.step(&level, step);
            poll(&mut wide).is_some()
        });
        prop_assert!(served, "it waits for more than {} steps", bound);
    }

    #[test]
    fn wide_requests_leave_the_reserve_free(limit in 8_u32..32, widths in prop::collection::vec(2_u32..8, 1..12)) {
        let clock = ManualClock::new();
        let level = level(&clock, limit, ONE_QUEUE_EACH);
        let reserved = limit / 8;
        let wide: Vec<_> = widths
            .iter()
            .zip(0..)
            .filter(|(width, _)| **width <= limit - reserved)
            .map(|(width, flow)| start(&level, *width, flow))
            .collect();
        prop_assert!(level.digest(false).seats_in_use <= (limit - reserved).into());
        let narrow: Vec<_> = (0..reserved).map(|flow| start(&level, 1, 12 + u64::from(flow))).collect();
        prop_assert!(narrow.iter().all(|start| matches!(start, Start::Runs(_))));
        drop((wide, narrow));
        prop_assert!(level.digest(false).is_idle);
    }
}

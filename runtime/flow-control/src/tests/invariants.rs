//! No seat is lost, whatever happens in any order.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::{ManualClock, Name, config, poll};
use crate::{Discipline, FinalSeats, Level, Levels, Seats, Start, Waiting, WorkEstimate};

#[derive(Clone, Copy, Debug)]
enum Step {
    Start { seats: u32, last: u32, flow: u64 },
    Finish(usize),
    Abandon(usize),
    Release(usize),
    GiveUp { which: usize, timed_out: bool },
    Advance(u64),
    Adjust,
    Configure { seats: u32, queues: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1_u32..6, prop_oneof![3 => Just(0), 1 => 1_u32..12], 0_u64..40)
            .prop_map(|(seats, last, flow)| Step::Start { seats, last, flow }),
        4 => any::<usize>().prop_map(Step::Finish),
        1 => any::<usize>().prop_map(Step::Abandon),
        2 => any::<usize>().prop_map(Step::Release),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(which, timed_out)| Step::GiveUp { which, timed_out }),
        2 => (0_u64..20_000).prop_map(Step::Advance),
        1 => Just(Step::Adjust),
        1 => (1_u32..40, 0_u32..8).prop_map(|(seats, queues)| Step::Configure { seats, queues }),
    ]
}

fn discipline(queues: u32) -> Discipline {
    match queues {
        0 => Discipline::Reject,
        queues => Discipline::Queue {
            queues,
            hand_size: queues.min(3),
            queue_length: 4,
        },
    }
}

struct World {
    clock: Arc<ManualClock>,
    levels: Levels<Name>,
    level: Arc<Level<Name>>,
    waiting: Vec<Waiting<Name>>,
    running: Vec<Seats<Name>>,
    last: Vec<FinalSeats<Name>>,
}

fn take<T>(list: &mut Vec<T>, which: usize) -> Option<T> {
    (!list.is_empty()).then(|| list.swap_remove(which % list.len()))
}

impl World {
    fn new() -> Self {
        let clock = ManualClock::new();
        let levels = Levels::new(12, Arc::<ManualClock>::clone(&clock));
        let level = levels.configure(&[("a", config(1, discipline(4)))]).remove(0);
        Self {
            clock,
            levels,
            level,
            waiting: Vec::new(),
            running: Vec::new(),
            last: Vec::new(),
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Start { seats, last, flow } => {
                let estimate = WorkEstimate {
                    initial_seats: seats,
                    final_seats: last,
                    additional_latency: Duration::from_millis(u64::from(last) * 5),
                };
                match self.level.start(estimate, flow, "request") {
                    Start::Runs(seats) => self.running.push(seats),
                    Start::Waits { waiting, .. } => self.waiting.push(waiting),
                    Start::Rejected(_) => {}
                }
            }
            Step::Finish(which) => {
                let finished = take(&mut self.running, which).map(Seats::finish);
                self.last.extend(finished.and_then(|finished| finished.final_seats));
            }
            Step::Abandon(which) => drop(take(&mut self.running, which)),
            Step::Release(which) => drop(take(&mut self.last, which)),
            Step::GiveUp { which, timed_out } => match take(&mut self.waiting, which) {
                Some(mut waiting) if timed_out => self.running.extend(waiting.time_out()),
                waiting => drop(waiting),
            },
            Step::Advance(micros) => self.clock.advance(Duration::from_micros(micros)),
            Step::Adjust => self.levels.adjust(),
            Step::Configure { seats, queues } => {
                // A second level takes what this one does not get.
                let rest = ("b", config(40 - seats, Discipline::Reject));
                drop(self.levels.configure(&[("a", config(seats, discipline(queues))), rest]));
            }
        }
        self.collect();
    }

    /// Takes the seats that were given.
    fn collect(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain_mut(|waiting| {
            let given = poll(waiting);
            let waits = given.is_none();
            self.running.extend(given);
            waits
        });
        self.waiting = waiting;
    }

    fn check(&self) {
        let digest = self.level.digest(true);
        assert_eq!(
            (digest.waiting, digest.executing),
            (self.waiting.len(), self.running.len())
        );
        let queued: usize = digest.queues.iter().map(|queue| queue.waiting).sum();
        assert_eq!(queued, digest.waiting);
        assert_eq!(digest.requests.len(), digest.waiting + digest.executing);
        let executing = digest.requests.iter().filter(|request| request.started.is_some());
        let used: u64 = executing.map(|request| u64::from(request.estimate.max_seats())).sum();
        assert!(used <= digest.seats_in_use);
        if self.last.is_empty() {
            assert_eq!(used, digest.seats_in_use);
        }
        for (index, queue) in digest.queues.iter().enumerate() {
            let here = digest
                .requests
                .iter()
                .filter(|request| request.queue == Some(index) && request.started.is_none());
            assert_eq!(queue.work, here.map(|request| request.estimate.total()).sum());
        }
    }
}

proptest! {
    #[test]
    fn no_seat_is_lost(steps in prop::collection::vec(step(), 1..200)) {
        let mut world = World::new();
        for step in steps {
            world.take(step);
            world.check();
        }
        // The rest finishes in any order, and no request waits for ever.
        while !world.running.is_empty() || !world.last.is_empty() {
            world.take(Step::Finish(0));
            world.take(Step::Release(0));
            world.check();
        }
        let digest = world.level.digest(true);
        let levels = world.levels.snapshot().levels;
        let limit = levels.iter().find(|state| state.level.name() == "a").map_or(0, |state| state.current);
        prop_assert!(world.waiting.is_empty() || limit == 0, "{} wait", world.waiting.len());
        prop_assert_eq!((digest.seats_in_use, digest.executing), (0, 0));
        drop(world.waiting);
        let digest = world.level.digest(true);
        prop_assert!(digest.is_idle);
        prop_assert!(digest.queues.iter().all(|queue| queue.seats_in_use == 0 && queue.max_seats == 0));
    }
}

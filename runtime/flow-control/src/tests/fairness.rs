//! No flow of requests gets more than its share.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::time::Duration;

use super::{ManualClock, Name, QUEUES, level, poll, start};
use crate::{Seats, Start, Waiting};

/// A flow that keeps a number of requests in its level.
struct Flow {
    name: Name,
    /// Requests that it keeps in the level.
    wanted: usize,
    /// Seats of each request.
    width: u32,
    waiting: Vec<Waiting<Name>>,
    /// Executing requests with the step at which they end.
    executing: Vec<(u32, Seats<Name>)>,
    /// Seats times steps so far.
    served: u32,
}

impl Flow {
    fn new(name: Name, wanted: usize, width: u32) -> Self {
        Self {
            name,
            wanted,
            width,
            waiting: Vec::new(),
            executing: Vec::new(),
            served: 0,
        }
    }
}

/// The same hash in each run, so that the flows have the same queues.
fn hash(flow: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(flow)
}

/// Runs the flows for 2,000 steps of a millisecond in a level of `seats`; each request takes `duration` steps.
fn run(seats: u32, duration: u32, mut flows: Vec<Flow>) -> HashMap<Name, u32> {
    let clock = ManualClock::new();
    let level = level(&clock, seats, QUEUES);
    for step in 0..2000 {
        for flow in &mut flows {
            flow.executing.retain(|(end, _)| *end > step);
            let (mut waiting, mut executing) = (Vec::new(), Vec::new());
            for mut wait in flow.waiting.drain(..) {
                match poll(&mut wait) {
                    Some(seats) => executing.push((step + duration, seats)),
                    None => waiting.push(wait),
                }
            }
            flow.waiting = waiting;
            flow.executing.extend(executing);
            while flow.waiting.len() + flow.executing.len() < flow.wanted {
                match start(&level, flow.width, hash(flow.name)) {
                    Start::Runs(seats) => flow.executing.push((step + duration, seats)),
                    Start::Waits { waiting, .. } => flow.waiting.push(waiting),
                    Start::Rejected(_) => break,
                }
            }
        }
        for flow in &mut flows {
            flow.served += flow.width * u32::try_from(flow.executing.len()).unwrap();
        }
        clock.advance(Duration::from_millis(1));
    }
    flows.iter().map(|flow| (flow.name, flow.served)).collect()
}

#[test]
fn a_flood_leaves_other_flows_what_they_need() {
    let flood = Flow::new("elephant", 60, 1);
    let served = run(4, 5, vec![flood, Flow::new("mouse", 1, 1)]);
    let (elephant, mouse) = (served["elephant"], served["mouse"]);
    // One request at a time waits for one of four seats: never longer than until the next one ends.
    assert!(mouse > 1000, "{mouse} of 2000 beside {elephant}");
    // A seat that is given between two steps is used from the next one on.
    assert!(elephant + mouse > 7500, "all seats are used: {elephant} and {mouse}");
}

#[test]
fn two_flows_of_equal_demand_get_the_same() {
    let served = run(4, 5, vec![Flow::new("ann", 1, 2), Flow::new("ben", 2, 1)]);
    assert!(
        served.values().all(|served| *served > 3900),
        "there is enough for both: {served:?}"
    );
}

#[test]
fn wide_requests_count_as_many() {
    // One queue each, because a flow with more queues has more shares.
    let served = run(6, 4, vec![Flow::new("wide", 8, 3), Flow::new("slim", 24, 1)]);
    let (wide, slim) = (f64::from(served["wide"]), f64::from(served["slim"]));
    assert!(wide / slim < 1.5 && slim / wide < 1.5, "{served:?}");
}

//! Levels lend and borrow seats.

use std::sync::Arc;
use std::time::Duration;

use super::{ManualClock, Name, QUEUES, runs, start};
use crate::{Level, LevelConfig, Levels, Seats, Start, Waiting};

fn lending(shares: u32, lendable_percent: u32, borrowing_percent: Option<u32>) -> LevelConfig {
    LevelConfig {
        shares,
        lendable_percent,
        borrowing_percent,
        discipline: QUEUES,
    }
}

fn limit(levels: &Levels<Name>, wanted: &str) -> u32 {
    let levels = levels.snapshot().levels;
    let found = levels.iter().find(|state| state.level.name() == wanted);
    found.expect("the level").current
}

/// Starts `count` requests, most of which wait.
fn demand(level: &Arc<Level<Name>>, count: u64) -> (Vec<Seats<Name>>, Vec<Waiting<Name>>) {
    let (mut running, mut waiting) = (Vec::new(), Vec::new());
    for flow in 0..count {
        match start(level, 1, flow * 7919) {
            Start::Runs(seats) => running.push(seats),
            Start::Waits { waiting: wait, .. } => waiting.push(wait),
            Start::Rejected(reason) => panic!("{reason:?}"),
        }
    }
    (running, waiting)
}

#[test]
fn an_idle_level_lends_to_a_busy_one_and_gets_its_seats_back() {
    let clock = ManualClock::new();
    let levels = Levels::new(100, Arc::<ManualClock>::clone(&clock));
    let both = levels.configure(&[("busy", lending(50, 50, None)), ("idle", lending(50, 50, None))]);
    assert_eq!((limit(&levels, "busy"), limit(&levels, "idle")), (38, 38));
    let busy = demand(&both[0], 90);
    clock.advance(Levels::<Name>::ADJUSTMENT_PERIOD);
    levels.adjust();
    assert_eq!(
        (limit(&levels, "busy"), limit(&levels, "idle")),
        (75, 25),
        "the idle one has its minimum"
    );
    assert_eq!(both[0].digest(false).executing, 75, "borrowed seats are used at once");
    let idle = demand(&both[1], 60);
    clock.advance(Levels::<Name>::ADJUSTMENT_PERIOD);
    levels.adjust();
    assert_eq!(
        (limit(&levels, "busy"), limit(&levels, "idle")),
        (50, 50),
        "each gets its own back"
    );
    drop((busy, idle));
}

#[test]
fn a_level_borrows_no_more_than_it_may() {
    let clock = ManualClock::new();
    let levels = Levels::new(100, Arc::<ManualClock>::clone(&clock));
    let configs = [("busy", lending(50, 0, Some(10))), ("idle", lending(50, 100, None))];
    let both = levels.configure(&configs);
    let busy = demand(&both[0], 90);
    clock.advance(Levels::<Name>::ADJUSTMENT_PERIOD);
    levels.adjust();
    assert_eq!((limit(&levels, "busy"), limit(&levels, "idle")), (55, 45));
    drop(busy);
}

#[test]
fn demand_that_has_gone_is_remembered_for_a_while() {
    let clock = ManualClock::new();
    let levels = Levels::new(100, Arc::<ManualClock>::clone(&clock));
    let both = levels.configure(&[("a", lending(50, 50, None)), ("b", lending(50, 50, None))]);
    let all = demand(&both[0], 60);
    clock.advance(Levels::<Name>::ADJUSTMENT_PERIOD);
    levels.adjust();
    drop(all);
    // One period with a request in the other level.
    drop(runs(start(&both[1], 1, 1)));
    clock.advance(Duration::from_secs(10));
    levels.adjust();
    clock.advance(Duration::from_secs(10));
    levels.adjust();
    assert!(limit(&levels, "a") > limit(&levels, "b"), "it is likely to come again");
}

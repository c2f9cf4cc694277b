//! The division of the server's seats by shares.

use std::sync::Arc;

use super::{ManualClock, Name, QUEUES, config, poll, runs, start, waits};
use crate::{Discipline, LevelConfig, LevelState, Levels, Limits, Start};

fn queues(queues: u32, hand_size: u32) -> Discipline {
    Discipline::Queue {
        queues,
        hand_size,
        queue_length: 50,
    }
}

/// kube-apiserver's levels: name, shares, lendable percent, discipline.
fn defaults() -> Vec<(&'static str, LevelConfig)> {
    let level = |name, shares, lendable_percent, discipline| {
        let config = LevelConfig {
            shares,
            lendable_percent,
            borrowing_percent: None,
            discipline,
        };
        (name, config)
    };
    vec![
        level("exempt", 0, 0, Discipline::Exempt),
        level("catch-all", 5, 0, Discipline::Reject),
        level("system", 30, 33, queues(64, 6)),
        level("node-high", 40, 25, queues(64, 6)),
        level("leader-election", 10, 0, queues(16, 4)),
        level("workload-high", 40, 50, queues(128, 6)),
        level("workload-low", 100, 90, queues(128, 6)),
        level("global-default", 20, 50, queues(128, 6)),
    ]
}

#[test]
fn the_default_levels_have_kube_apiservers_limits() {
    let levels: Levels<()> = Levels::new(600, ManualClock::new());
    let order = levels.configure(&defaults());
    assert_eq!(order[0].name(), "exempt");
    let levels = levels.snapshot().levels;
    let rows: Vec<_> = levels
        .iter()
        .map(|state| {
            let Limits { nominal, min, max } = state.limits;
            (
                state.level.name(),
                nominal,
                min,
                max,
                state.current,
                state.level.widest_request(),
            )
        })
        .collect();
    let expected = [
        ("catch-all", 13, 13, 613, 13, 2),
        ("exempt", 0, 0, 600, 0, u32::MAX),
        ("global-default", 49, 24, 649, 37, 8),
        ("leader-election", 25, 25, 625, 25, 4),
        ("node-high", 98, 73, 698, 86, 15),
        ("system", 74, 50, 674, 62, 12),
        ("workload-high", 98, 49, 698, 74, 15),
        ("workload-low", 245, 24, 845, 135, 37),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_level_that_is_removed_ends_with_its_last_request() {
    let levels = Levels::new(10, ManualClock::new());
    let both = levels.configure(&[("a", config(1, QUEUES)), ("b", config(1, QUEUES))]);
    let running: Vec<_> = (0..5).map(|flow| runs(start(&both[0], 1, flow))).collect();
    let mut waiting = waits(start(&both[0], 1, 9));
    let names = || {
        let levels = levels.snapshot().levels;
        let name = |state: &LevelState<Name>| (state.level.name().to_owned(), state.is_quiescing, state.limits.nominal);
        levels.iter().map(name).collect::<Vec<_>>()
    };
    drop(levels.configure(&[("b", config(1, QUEUES))]));
    assert_eq!(names(), [("a".to_owned(), true, 5), ("b".to_owned(), false, 5)]);
    drop(running);
    drop(poll(&mut waiting).expect("it still has seats"));
    levels.adjust();
    assert_eq!(names(), [("b".to_owned(), false, 10)]);
    let again = levels.configure(&[("a", config(1, QUEUES)), ("b", config(1, QUEUES))]);
    assert!(!Arc::ptr_eq(&again[0], &both[0]) && Arc::ptr_eq(&again[1], &both[1]));
}

#[test]
fn more_seats_are_used_at_once_and_fewer_queues_when_they_are_empty() {
    let levels = Levels::new(1, ManualClock::new());
    let level = levels.configure(&[("a", config(1, queues(8, 2)))]).remove(0);
    let first = runs(start(&level, 1, 1));
    let mut others: Vec<_> = (2..6).map(|flow| waits(start(&level, 1, flow))).collect();
    drop(levels.configure(&[("a", config(1, queues(2, 2)))]));
    assert!(
        level.digest(true).queues.len() > 2,
        "requests wait in queues that are not wanted"
    );
    drop(first);
    while let Some(seats) = others.iter_mut().find_map(poll) {
        drop(seats);
    }
    assert_eq!(level.digest(true).queues.len(), 2);
    drop(levels.configure(&[("a", config(1, Discipline::Reject))]));
    assert_eq!(level.digest(true).queues.len(), 0);
    drop(runs(start(&level, 1, 1)));
}

#[test]
fn numbers_of_broken_configurations_are_bounded() {
    let levels: Levels<Name> = Levels::new(u32::MAX, ManualClock::new());
    let none = Discipline::Queue {
        queues: 0,
        hand_size: 0,
        queue_length: 0,
    };
    let many = Discipline::Queue {
        queues: 10_000_000,
        hand_size: u32::MAX,
        queue_length: u32::MAX,
    };
    let configs: Vec<_> = [("none", none), ("many", many)]
        .map(|(name, discipline)| (name, config(u32::MAX, discipline)))
        .into();
    let both = levels.configure(&configs);
    assert_eq!(both[0].digest(true).queues.len(), 1);
    assert_eq!(both[1].digest(true).queues.len(), Discipline::MOST_QUEUES as usize);
    assert!(matches!(start(&both[1], 1, u64::MAX), Start::Runs(_)));
    // Levels that end keep their seats, so that the sum of all exceeds those of the server.
    let running = [runs(start(&both[0], 1, 1)), runs(start(&both[1], 1, 1))];
    drop(levels.configure(&[("new", config(u32::MAX, QUEUES))]));
    levels.adjust();
    drop(running);
}

#[test]
fn a_queue_of_no_length_has_room_for_one() {
    let levels = Levels::new(1, ManualClock::new());
    let none = Discipline::Queue {
        queues: 1,
        hand_size: 1,
        queue_length: 0,
    };
    let level = levels.configure(&[("a", config(1, none))]).remove(0);
    let running = runs(start(&level, 1, 1));
    let waiting = waits(start(&level, 1, 1));
    assert!(matches!(start(&level, 1, 1), Start::Rejected(_)));
    drop((running, waiting));
}

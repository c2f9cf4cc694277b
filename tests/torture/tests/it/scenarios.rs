//! Each scenario runs, and does what it is for.

use std::path::Path;
use std::process::Command;

use planesmith_torture::cluster::Cluster;
use planesmith_torture::scenario::{Round, Scenario, Tally};

const PROGRAM: &str = env!("CARGO_BIN_EXE_planesmith-torture");

fn rounds(scenario: Scenario, seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    seeds.for_each(|seed| run(scenario, seed, &mut tally));
    tally
}

fn run(scenario: Scenario, seed: u64, tally: &mut Tally) {
    let round = Round {
        scenario,
        seed,
        calls: 120,
        program: Path::new(PROGRAM),
        fault: None,
        cluster: None,
    };
    let failure = round.run(tally).unwrap();
    assert!(failure.is_none(), "seed {seed}: {}", failure.unwrap());
}

#[test]
fn the_power_is_lost_while_the_store_settles() {
    // Few of a round's cuts meet a store that settles: rounds are added until one does.
    let mut tally = rounds(Scenario::Power, 0..4);
    for seed in 4..40 {
        if tally.settling_cuts > 0 {
            break;
        }
        run(Scenario::Power, seed, &mut tally);
    }
    assert!(tally.cuts > 60 && tally.settling_cuts > 0, "{tally}");
}

#[test]
fn a_disk_that_lies_about_syncs_is_found() {
    for seed in 0..5 {
        let round = Round {
            scenario: Scenario::Power,
            seed,
            calls: 120,
            program: Path::new(PROGRAM),
            fault: Some("inject=fdatasync:retval=0"),
            cluster: None,
        };
        if round.run(&mut Tally::default()).unwrap().is_some() {
            return;
        }
    }
    panic!("acknowledged writes are lost, but nobody notices");
}

#[test]
fn servers_share_a_backend_that_loses_feeds_and_answers() {
    let tally = rounds(Scenario::Shared, 0..5);
    assert!(tally.faults > 10 && tally.calls > 1000, "{tally}");
}

#[test]
fn members_of_etcd_fail_while_servers_write() {
    let cluster = Cluster::start().unwrap();
    let mut tally = Tally::default();
    for seed in 0..2 {
        let round = Round {
            scenario: Scenario::Etcd,
            seed,
            calls: 60,
            program: Path::new(PROGRAM),
            fault: None,
            cluster: Some(&cluster),
        };
        let failure = round.run(&mut tally).unwrap();
        assert!(failure.is_none(), "seed {seed}: {}", failure.unwrap());
    }
    assert!(tally.faults > 1 && tally.events > 100, "{tally}");
}

#[test]
fn processes_are_killed_while_they_write() {
    let tally = rounds(Scenario::Kill, 0..3);
    assert!(tally.kills > 5 && tally.events > 100, "{tally}");
}

#[test]
fn disks_fail_while_clients_write() {
    let tally = rounds(Scenario::Faults, 0..6);
    assert!(tally.faults > 10 && tally.calls > 1000, "{tally}");
}

#[test]
fn nothing_passes_without_what_it_needs() {
    for (scenario, needed) in [("power", "strace is needed"), ("etcd", "etcd is needed")] {
        let lacking = Command::new(PROGRAM)
            .args(["--scenario", scenario, "--round", "1"])
            .env("PATH", "/nonexistent")
            .output()
            .unwrap();
        let errors = String::from_utf8(lacking.stderr).unwrap();
        assert!(!lacking.status.success() && errors.contains(needed), "{errors}");
    }
}

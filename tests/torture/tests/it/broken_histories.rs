//! Each promise is found broken in a history that breaks it.

use planesmith_torture::check::{Promise, check};
use planesmith_torture::history::{History, Promises};
use planesmith_torture::record::{Answer, Call, Change, Kind, Precondition, Record, State};

fn state(name: &str, word: &str, revision: u64) -> State {
    State {
        name: name.to_owned(),
        word: word.to_owned(),
        revision,
    }
}

fn put(id: u64, name: &str, expect: Precondition) -> Record {
    let call = Call::Put {
        name: name.to_owned(),
        word: format!("{id}-1"),
        expect,
        ttl: None,
    };
    Record::Call { id, call }
}

fn written(id: u64, revision: u64, previous: Option<State>) -> Record {
    let answer = Answer::Written { revision, previous };
    Record::Return { id, answer }
}

fn change(kind: Kind, state: State, previous: Option<State>) -> Change {
    Change { kind, state, previous }
}

fn batch(events: Vec<Change>, progress: u64) -> Record {
    Record::Batch {
        watch: 1,
        events,
        progress,
    }
}

fn page(revision: u64, entries: Vec<State>) -> Answer {
    Answer::Page {
        revision,
        entries,
        more: false,
        remaining: Some(0),
    }
}

/// Three writes of two keys, a deletion, reads and a watch. Nothing is wrong with it.
fn records() -> Vec<Record> {
    let (first, second, other) = (state("a", "2-1", 1), state("a", "3-1", 2), state("b", "4-1", 3));
    let call = |id, call| Record::Call { id, call };
    let answer = |id, answer| Record::Return { id, answer };
    vec![
        Record::Opened { revision: 0, oldest: 0 },
        call(1, Call::Watch { after: None }),
        answer(1, Answer::Watching { after: 0 }),
        put(2, "a", Precondition::Absent),
        written(2, 1, None),
        put(3, "a", Precondition::Revision(1)),
        written(3, 2, Some(first.clone())),
        put(4, "b", Precondition::Any),
        written(4, 3, None),
        call(5, Call::Get { name: "a".to_owned() }),
        answer(5, Answer::Got(Some(second.clone()))),
        call(
            6,
            Call::List {
                at: None,
                after: None,
                limit: None,
            },
        ),
        answer(6, page(3, vec![second.clone(), other.clone()])),
        batch(
            vec![
                change(Kind::Created, first.clone(), None),
                change(Kind::Changed, second, Some(first)),
            ],
            2,
        ),
        batch(vec![change(Kind::Created, other.clone(), None)], 3),
        call(
            7,
            Call::Delete {
                name: "b".to_owned(),
                expect: Precondition::Present,
            },
        ),
        written(7, 4, Some(other.clone())),
        batch(vec![change(Kind::Deleted, state("b", "4-1", 4), Some(other))], 4),
    ]
}

/// The broken promises after `fault` has changed the records.
fn broken(fault: impl FnOnce(&mut Vec<Record>)) -> Vec<Promise> {
    broken_of(Promises::EMBEDDED, fault)
}

fn broken_of(promises: Promises, fault: impl FnOnce(&mut Vec<Record>)) -> Vec<Promise> {
    let mut records = records();
    fault(&mut records);
    let findings = check(&History { promises, records });
    findings.into_iter().map(|finding| finding.promise).collect()
}

fn events(record: &mut Record) -> (&mut Vec<Change>, &mut u64) {
    match record {
        Record::Batch { events, progress, .. } => (events, progress),
        other => panic!("{other}"),
    }
}

#[test]
fn a_correct_history_has_no_findings() {
    assert_eq!(broken(|_| {}), []);
    assert_eq!(broken_of(Promises::SHARED, |_| {}), []);
}

#[test]
fn a_lost_event_is_found() {
    let lost = broken(|records| drop(events(&mut records[13]).0.remove(1)));
    assert_eq!(lost, [Promise::WatchReliable]);
    let all = broken(|records| drop(records.remove(14)));
    assert_eq!(all, [Promise::WatchReliable]);
}

#[test]
fn a_repeated_event_is_found() {
    let repeated = broken(|records| {
        let record = records[14].clone();
        records.push(record);
    });
    assert!(repeated.contains(&Promise::WatchUnique), "{repeated:?}");
}

#[test]
fn reordered_events_are_found() {
    assert!(broken(|records| events(&mut records[13]).0.swap(0, 1)).contains(&Promise::WatchOrdered));
    assert!(broken(|records| records.swap(13, 14)).contains(&Promise::WatchOrdered));
}

#[test]
fn an_event_from_before_the_start_is_found() {
    let early = broken(|records| {
        records[1] = Record::Call {
            id: 1,
            call: Call::Watch { after: Some(1) },
        };
        records[2] = Record::Return {
            id: 1,
            answer: Answer::Watching { after: 1 },
        };
    });
    assert!(early.contains(&Promise::WatchResumable), "{early:?}");
}

#[test]
fn a_watch_that_starts_elsewhere_is_found() {
    let elsewhere = broken(|records| {
        records[1] = Record::Call {
            id: 1,
            call: Call::Watch { after: Some(0) },
        };
        records[2] = Record::Return {
            id: 1,
            answer: Answer::Watching { after: 2 },
        };
        *events(&mut records[13]).0 = Vec::new();
    });
    assert_eq!(elsewhere, [Promise::WatchResumable]);
}

#[test]
fn a_bookmark_that_overtakes_an_event_is_found() {
    let early = broken(|records| *events(&mut records[13]).1 = 3);
    assert!(early.contains(&Promise::WatchBookmarkable), "{early:?}");
    let back = broken(|records| *events(&mut records[17]).1 = 2);
    assert_eq!(back, [Promise::WatchBookmarkable]);
}

#[test]
fn a_divided_revision_is_found() {
    let divided = broken_of(Promises::SHARED, |records| {
        let others = [state("c", "8-1", 5), state("d", "9-1", 5)];
        for (id, other) in (8..).zip(&others) {
            records.push(put(id, &other.name, Precondition::Any));
            records.push(written(id, 5, None));
        }
        for other in others {
            records.push(batch(vec![change(Kind::Created, other, None)], 4));
        }
    });
    assert!(divided.contains(&Promise::WatchAtomic), "{divided:?}");
}

#[test]
fn a_stale_read_is_found() {
    let stale = broken(|records| {
        records[10] = Record::Return {
            id: 5,
            answer: Answer::Got(Some(state("a", "2-1", 1))),
        };
    });
    assert_eq!(stale, [Promise::Linearizable]);
    let absent = broken(|records| {
        records[10] = Record::Return {
            id: 5,
            answer: Answer::Got(None),
        };
    });
    assert_eq!(absent, [Promise::Linearizable]);
}

#[test]
fn a_stale_list_is_found() {
    let list = |answer| broken(|records| records[12] = Record::Return { id: 6, answer });
    let old = list(page(2, vec![state("a", "3-1", 2)]));
    assert!(old.contains(&Promise::OrderedRevisions), "{old:?}");
    let incomplete = list(page(3, vec![state("a", "3-1", 2)]));
    assert!(incomplete.contains(&Promise::ListAtRevision), "{incomplete:?}");
    let mixed = list(page(3, vec![state("a", "2-1", 1), state("b", "4-1", 3)]));
    assert!(mixed.contains(&Promise::ListAtRevision), "{mixed:?}");
    let unsorted = list(page(3, vec![state("b", "4-1", 3), state("a", "3-1", 2)]));
    assert!(unsorted.contains(&Promise::ListAtRevision), "{unsorted:?}");
}

#[test]
fn a_wrong_count_of_further_pages_is_found() {
    let counted = broken(|records| {
        records[11] = Record::Call {
            id: 6,
            call: Call::List {
                at: None,
                after: None,
                limit: Some(1),
            },
        };
        records[12] = Record::Return {
            id: 6,
            answer: Answer::Page {
                revision: 3,
                entries: vec![state("a", "3-1", 2)],
                more: true,
                remaining: Some(2),
            },
        };
    });
    assert_eq!(counted, [Promise::ListAtRevision]);
}

#[test]
fn a_revision_that_is_assigned_twice_is_found() {
    let twice = broken(|records| records[8] = written(4, 2, None));
    assert!(twice.contains(&Promise::OrderedRevisions), "{twice:?}");
    let opened = broken(|records| records.push(Record::Opened { revision: 3, oldest: 0 }));
    assert_eq!(opened, [Promise::OrderedRevisions]);
}

#[test]
fn a_refused_write_that_is_visible_is_found() {
    let refused = broken(|records| {
        records[8] = Record::Return {
            id: 4,
            answer: Answer::Refused("full".to_owned()),
        };
    });
    assert_eq!(refused, [Promise::Intact]);
    // One with an unknown outcome may be visible, but not after a write that followed it.
    let unknown = broken(|records| {
        records[8] = Record::Return {
            id: 4,
            answer: Answer::Unknown("lost".to_owned()),
        };
    });
    assert_eq!(unknown, [Promise::Intact]);
}

#[test]
fn damaged_and_foreign_objects_are_found() {
    for word in ["damaged", "99-1"] {
        let found = broken(|records| {
            records.push(Record::Call {
                id: 8,
                call: Call::Get { name: "c".to_owned() },
            });
            records.push(Record::Return {
                id: 8,
                answer: Answer::Got(Some(state("c", word, 5))),
            });
        });
        assert!(found.contains(&Promise::Intact), "{found:?}");
    }
}

#[test]
fn a_wrong_state_before_a_write_is_found() {
    let wrong = broken(|records| records[6] = written(3, 2, None));
    assert!(wrong.contains(&Promise::Previous), "{wrong:?}");
}

#[test]
fn a_conflict_without_a_reason_is_found() {
    let wrong = broken(|records| {
        records.push(put(8, "b", Precondition::Absent));
        records.push(Record::Return {
            id: 8,
            answer: Answer::Conflict { current: None },
        });
    });
    assert_eq!(wrong, [Promise::Previous]);
}

#[test]
fn history_that_nobody_let_go_of_is_missed() {
    let forgotten = broken(|records| {
        records.push(Record::Call {
            id: 8,
            call: Call::Watch { after: Some(1) },
        });
        records.push(Record::Return {
            id: 8,
            answer: Answer::Compacted { oldest: 3 },
        });
    });
    assert_eq!(forgotten, [Promise::RetainedHistory]);
}

#[test]
fn a_write_that_a_crash_took_is_missed() {
    let lost = broken(|records| {
        records.push(Record::Opened { revision: 4, oldest: 0 });
        records.push(Record::Call {
            id: 8,
            call: Call::Get { name: "a".to_owned() },
        });
        records.push(Record::Return {
            id: 8,
            answer: Answer::Got(Some(state("a", "2-1", 1))),
        });
    });
    assert_eq!(lost, [Promise::Linearizable]);
}

/// An update of `b` that requires an object, performed after its deletion.
fn update_after_deletion() -> [Record; 2] {
    [put(9, "b", Precondition::Present), written(9, 9, None)]
}

#[test]
fn an_update_of_a_deleted_object_is_found() {
    let wrong = broken_of(Promises::SHARED, |records| records.extend(update_after_deletion()));
    assert_eq!(wrong, [Promise::Linearizable]);
}

#[test]
fn a_creation_of_unknown_outcome_may_have_been_performed_unseen() {
    for (expect, is_possible) in [
        (Precondition::Absent, true),
        (Precondition::Any, true),
        (Precondition::Present, false),
        (Precondition::Revision(3), false),
    ] {
        let findings = broken_of(Promises::SHARED, |records| {
            records.push(put(8, "b", expect));
            records.push(Record::Return {
                id: 8,
                answer: Answer::Unknown("the answer is lost".to_owned()),
            });
            records.extend(update_after_deletion());
        });
        assert_eq!(findings.is_empty(), is_possible, "{expect:?}: {findings:?}");
    }
}

#[test]
fn an_unseen_creation_explains_one_update() {
    let wrong = broken_of(Promises::SHARED, |records| {
        records.push(put(8, "b", Precondition::Absent));
        records.extend(update_after_deletion());
        let delete = Call::Delete {
            name: "b".to_owned(),
            expect: Precondition::Revision(9),
        };
        records.push(Record::Call { id: 10, call: delete });
        records.push(written(10, 10, Some(state("b", "9-1", 9))));
        records.push(put(11, "b", Precondition::Present));
        records.push(written(11, 11, None));
    });
    assert_eq!(wrong, [Promise::Linearizable]);
}

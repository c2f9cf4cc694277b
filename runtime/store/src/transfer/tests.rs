use std::sync::Arc;

use bytes::Bytes;

use super::{Fidelity, Ledger, LoadedSource, LogTarget, RevisionShift, Source, TransferError, transfer};
use crate::log::{Batch, Change, Log, Record};
use crate::{ListQuery, MemoryLog, NoIndex, Revision, Storage, StorageOptions, WatchFrom};

fn record(revision: u64, name: &str, change: Change) -> Record {
    let bytes = format!("{{\"v\":\"{revision}\"}}");
    Record {
        revision: Revision(revision),
        key: format!("/things/{name}").into(),
        change,
        bytes: Bytes::from(bytes),
        gap: Some(6),
    }
}

const PUT: Change = Change::Put { expires: 0 };

fn filled() -> MemoryLog {
    let log = MemoryLog::new();
    for records in [
        vec![record(1, "a", PUT), record(2, "b", PUT)],
        vec![record(3, "a", PUT), record(4, "c", PUT), record(7, "c", Change::Delete)],
    ] {
        log.append(&Batch { at: 1, records }).unwrap();
    }
    log
}

fn load(log: &MemoryLog) -> LoadedSource {
    LoadedSource::of_log(log, "test", 5, &mut |_, _| Ok(())).unwrap()
}

fn restore(shift: RevisionShift) -> (MemoryLog, Ledger) {
    let log = MemoryLog::new();
    let mut target = LogTarget::new(&log).unwrap();
    let ledger = transfer(&mut load(&filled()), &mut target, shift, &mut |_| Ok(())).unwrap();
    (log, ledger)
}

#[test]
fn a_source_has_the_newest_states_in_the_order_of_their_revisions() {
    let mut source = load(&filled());
    let header = source.header().clone();
    assert_eq!((header.revision, header.objects, header.bytes), (Revision(7), 2, 36));
    assert_eq!(source.next().unwrap(), Some(record(2, "b", PUT)));
    assert_eq!(source.next().unwrap(), Some(record(3, "a", PUT)));
    assert_eq!(source.next().unwrap(), None);
}

#[tokio::test]
async fn a_restored_store_continues_behind_every_revision_that_clients_have_seen() {
    let shift = RevisionShift::for_restore(Revision(7), 0);
    let (log, ledger) = restore(shift);
    assert!(
        ledger
            .verify(&mut load(&log), Fidelity::Exact, &mut |_| Ok(()))
            .unwrap()
            .is_none()
    );
    let storage = Storage::open(log, &StorageOptions::default()).unwrap();
    let newest = Revision(RevisionShift::STEP + 7);
    assert_eq!((storage.revision(), storage.oldest()), (newest, newest));
    let things = storage.collection("/things/", Arc::new(NoIndex));
    let entries = things.list(&ListQuery::all("/things/")).unwrap().entries;
    let bytes: Vec<_> = entries.iter().map(|entry| entry.to_bytes()).collect();
    assert_eq!(bytes, ["{\"v\":\"1000000003\"}", "{\"v\":\"1000000002\"}"]);
    for seen in [Revision(3), Revision(7), Revision(500)] {
        assert!(things.watch("/things/", WatchFrom::After(seen)).is_err(), "{seen}");
    }
    things.watch("/things/", WatchFrom::After(newest)).unwrap();
}

#[test]
fn a_second_restore_of_the_same_backup_starts_behind_the_first_one() {
    let now = 1_790_000_000_000;
    let first = RevisionShift::for_restore(Revision(7), now).of(Revision(7));
    assert_eq!(first, Revision(now * 1000));
    // A second later, after a hundred thousand writes.
    let second = RevisionShift::for_restore(Revision(7), now + 1000).of(Revision(7));
    assert!(second > Revision(first.0 + 100_000));
    // A backup of the restored store, while the clock was set back.
    let third = RevisionShift::for_restore(second, 0).of(second);
    assert_eq!(third, Revision(second.0 + RevisionShift::STEP));
}

#[test]
fn a_copy_has_the_same_revisions_and_only_an_empty_target_is_accepted() {
    let (log, ledger) = restore(RevisionShift::default());
    let mut copy = load(&log);
    assert_eq!(copy.revision(), Revision(7));
    assert!(
        ledger
            .verify(&mut copy, Fidelity::Exact, &mut |_| Ok(()))
            .unwrap()
            .is_none()
    );
    let refused = LogTarget::new(&log).unwrap_err().to_string();
    assert_eq!(refused, "the target has content; choose a new folder");
}

#[test]
fn differences_of_a_copy_are_named() {
    let (_, ledger) = restore(RevisionShift::default());
    let other = MemoryLog::new();
    let mut changed = record(3, "a", PUT);
    changed.bytes = Bytes::from_static(b"{\"x\":\"3\"}");
    let records = vec![changed, record(9, "d", PUT)];
    other.append(&Batch { at: 1, records }).unwrap();
    let mismatch = ledger
        .verify(&mut load(&other), Fidelity::Exact, &mut |_| Ok(()))
        .unwrap()
        .unwrap();
    assert_eq!(
        mismatch.to_string(),
        "3 objects differ from the source; different: /things/a; missing: /things/b; surplus: /things/d"
    );
}

#[test]
fn an_empty_content_is_a_store_at_its_revision() {
    let log = MemoryLog::new();
    let mut target = LogTarget::new(&log).unwrap();
    let shift = RevisionShift::for_restore(Revision::ZERO, 0);
    transfer(&mut load(&MemoryLog::new()), &mut target, shift, &mut |_| Ok(())).unwrap();
    assert_eq!(load(&log).revision(), Revision(RevisionShift::STEP));
}

#[test]
fn objects_that_share_a_revision_get_their_own_in_a_copy() {
    let records = vec![
        record(5, "b", PUT),
        record(5, "a", PUT),
        record(6, "c", PUT),
        record(9, "d", PUT),
    ];
    let mut source = LoadedSource::new(records, Revision(9), "test", 5);
    let log = MemoryLog::new();
    let mut target = LogTarget::new(&log).unwrap();
    let ledger = transfer(&mut source, &mut target, RevisionShift::default(), &mut |_| Ok(())).unwrap();
    let mut copy = load(&log);
    assert!(
        ledger
            .verify(&mut load(&log), Fidelity::Exact, &mut |_| Ok(()))
            .unwrap()
            .is_none()
    );
    let stored: Vec<_> = std::iter::from_fn(|| copy.next().unwrap())
        .map(|record| record.revision.0)
        .collect();
    assert_eq!(stored, [5, 6, 7, 9]);
}

#[test]
fn a_store_that_counts_by_itself_is_compared_by_content() {
    let (_, ledger) = restore(RevisionShift::default());
    let renumbered = |expires| {
        let one = record(2, "b", PUT).restamped(Revision(70));
        let two = record(3, "a", Change::Put { expires }).restamped(Revision(71));
        LoadedSource::new(vec![one, two], Revision(71), "test", 5)
    };
    assert!(
        ledger
            .verify(&mut renumbered(0), Fidelity::Content, &mut |_| Ok(()))
            .unwrap()
            .is_none()
    );
    let (_, ledger) = restore(RevisionShift::default());
    let expiring = ledger
        .verify(&mut renumbered(1), Fidelity::Content, &mut |_| Ok(()))
        .unwrap()
        .unwrap();
    assert_eq!(expiring.different, ["/things/a".into()]);
}

#[test]
fn work_ends_where_its_progress_says_so() {
    let log = MemoryLog::new();
    let mut target = LogTarget::new(&log).unwrap();
    let ended = transfer(
        &mut load(&filled()),
        &mut target,
        RevisionShift::default(),
        &mut |amount| match amount.objects {
            2 => Err(TransferError::Interrupted),
            _ => Ok(()),
        },
    );
    assert!(matches!(ended, Err(TransferError::Interrupted)));
    let ended = LoadedSource::of_log(&filled(), "test", 5, &mut |_, _| Err(TransferError::Interrupted));
    assert!(matches!(ended, Err(TransferError::Interrupted)));
}

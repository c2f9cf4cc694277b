//! Collections of objects that resemble each other, which are compressed in memory: all readers see the written bytes.

use std::sync::Arc;

use planesmith_store::{
    At, Collection, Draft, Entry, Expect, ListQuery, MemoryLog, NoIndex, Op, Revision, Row, Storage, StorageOptions,
    WatchFrom,
};

const PREFIX: &str = "/things/";
const OBJECTS: usize = 200;

fn key(number: usize) -> Arc<str> {
    format!("{PREFIX}{number:04}").into()
}

/// The text before and behind the revision.
fn parts(number: usize, round: usize) -> (String, String) {
    let head = format!(r#"{{"kind":"Thing","name":"thing-{number}","resourceVersion":""#);
    (
        head,
        format!(r#"","round":{round},"text":"{}"}}"#, "lorem ipsum ".repeat(20)),
    )
}

fn expected(number: usize, round: usize, revision: Revision) -> Vec<u8> {
    let (head, tail) = parts(number, round);
    format!("{head}{revision}{tail}").into()
}

async fn write(things: &Arc<Collection>, number: usize, round: usize) -> Revision {
    let (head, tail) = parts(number, round);
    let draft = Draft::new(format!("{head}{tail}").into(), head.len());
    let op = Op::Put {
        key: key(number),
        draft,
        row: Row::default(),
        expect: Expect::Any,
        ttl: None,
    };
    things.write(op).await.unwrap().revision()
}

#[track_caller]
fn check(entry: &Arc<Entry>, number: usize, round: usize) {
    let bytes = expected(number, round, entry.revision());
    assert_eq!((entry.key(), &*entry.bytes()), (&*key(number), &*bytes));
    assert_eq!((entry.size(), entry.to_bytes()), (bytes.len(), bytes.clone().into()));
    let mut item = Vec::new();
    entry.push_bytes(10, &mut item);
    assert_eq!(item, bytes[10..]);
    assert!(entry.starts_with(&bytes) && !entry.starts_with(b"{\"kind\":\"thing"));
    assert_eq!(entry.bytes_at(Revision(7)), expected(number, round, Revision(7)));
}

fn check_all(things: &Arc<Collection>, at: At, round: usize) {
    let query = ListQuery {
        at,
        ..ListQuery::all(PREFIX)
    };
    let entries = things.list(&query).unwrap().entries;
    assert_eq!(entries.len(), OBJECTS);
    entries
        .iter()
        .enumerate()
        .for_each(|(number, entry)| check(entry, number, round));
}

/// With and without memory for the history, part of which is otherwise read back.
#[tokio::test]
async fn every_reader_sees_the_written_bytes() {
    for history_bytes in [24 << 20, 40 << 10] {
        let log = MemoryLog::new().keeping_history();
        let options = StorageOptions {
            history_bytes,
            ..StorageOptions::default()
        };
        let storage = Storage::open(log.clone(), &options).unwrap();
        let things = storage.collection(PREFIX, Arc::new(NoIndex));
        let mut watcher = things.watch(PREFIX, WatchFrom::Now).unwrap();
        let mut last = Revision(0);
        for round in 0..2 {
            for number in 0..OBJECTS {
                last = write(&things, number, round).await;
            }
            check_all(&things, At::Latest, round);
            if round == 0 {
                check_all(&things, At::Exact(last), 0);
            }
        }
        assert_eq!(things.stats().spilled > 0, history_bytes < 24 << 20);
        let first_round = Revision(last.0 - OBJECTS as u64);
        check_all(&things, At::Exact(first_round), 0);
        let mut seen = 0;
        while seen < 2 * OBJECTS {
            for event in watcher.next().await.unwrap() {
                let (round, number) = (seen / OBJECTS, seen % OBJECTS);
                check(event.entry(), number, round);
                if let Some(previous) = event.previous() {
                    check(previous, number, round - 1);
                }
                seen += 1;
            }
        }
        let op = Op::Delete {
            key: key(0),
            expect: Expect::Any,
            last: None,
        };
        let deleted = things.write(op).await.unwrap();
        check(&deleted.entry, 0, 1);
        assert_eq!(write(&things, 0, 1).await.0, last.0 + 2);
        storage.close().await;
        drop((watcher, things, storage));

        let storage = Storage::open(log, &options).unwrap();
        let things = storage.collection(PREFIX, Arc::new(NoIndex));
        check_all(&things, At::Latest, 1);
        check_all(&things, At::Exact(first_round), 0);
        storage.close().await;
    }
}

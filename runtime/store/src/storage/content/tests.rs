use std::collections::BTreeMap;
use std::sync::Arc;

use crate::log::{Batch, Change, Log, Record};
use crate::{
    Amount, Collection, Draft, Expect, MemoryLog, NoIndex, Op, Revision, Row, Storage, StorageContent, StorageOptions,
};

/// A write that was acknowledged: its revision, its key, and the new state, if there is one.
type Acknowledged = (Revision, String, Option<Vec<u8>>);

fn open(storage: &Storage, prefix: &str) -> Arc<Collection> {
    storage.collection(prefix, Arc::new(NoIndex))
}

/// Writes `count` times to a few keys of all collections, in an order that `seed` determines.
async fn write(collections: Vec<Arc<Collection>>, count: u64, seed: u64) -> Vec<Acknowledged> {
    let mut writes = Vec::new();
    let mut number = seed;
    for _ in 0..count {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let chosen = number >> 33;
        let collection = &collections[(chosen % 3) as usize];
        let key = format!("{}{}", collection.prefix(), chosen / 3 % 5);
        let op = match chosen / 15 % 4 {
            0 => Op::Delete {
                key: key.as_str().into(),
                expect: Expect::Any,
                last: None,
            },
            _ => Op::Put {
                key: key.as_str().into(),
                draft: Draft::new(
                    format!("{{\"n\":{chosen},\"v\":\"\"}}").into_bytes(),
                    11 + chosen.to_string().len(),
                ),
                row: Row::default(),
                expect: Expect::Any,
                ttl: None,
            },
        };
        let is_put = matches!(op, Op::Put { .. });
        if let Ok(written) = collection.write(op).await {
            let state = is_put.then(|| written.entry.bytes().to_vec());
            writes.push((written.revision(), key, state));
        }
        tokio::task::yield_now().await;
    }
    writes
}

fn states(content: &StorageContent) -> BTreeMap<String, (Revision, Vec<u8>)> {
    let records = (0..content.len()).map(|index| content.get(index).unwrap());
    let mut last = Revision::ZERO;
    let states = records.map(|record| {
        assert!(record.revision > last, "in the order of the revisions");
        last = record.revision;
        (record.key.to_string(), (record.revision, record.bytes.to_vec()))
    });
    states.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_content_taken_beside_writers_is_exactly_the_state_at_its_revision() {
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
    let collections: Vec<_> = ["/a/", "/b/", "/c/"].map(|prefix| open(&storage, prefix)).into();
    let writers: Vec<_> = (1..=4)
        .map(|seed| tokio::spawn(write(collections.clone(), 400, seed)))
        .collect();
    let mut contents = Vec::new();
    while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
        // History is forgotten meanwhile.
        if contents.len() % 7 == 3 {
            storage.compact(storage.revision());
        }
        contents.push(storage.content().unwrap());
        tokio::task::yield_now().await;
    }
    contents.push(storage.content().unwrap());
    let mut writes = Vec::new();
    for writer in writers {
        writes.extend(writer.await.unwrap());
    }
    writes.sort_by_key(|(revision, ..)| *revision);
    for content in &contents {
        let mut model = BTreeMap::new();
        let until = writes
            .iter()
            .take_while(|(revision, ..)| *revision <= content.revision());
        for (revision, key, state) in until {
            match state {
                Some(bytes) => model.insert(key.clone(), (*revision, bytes.clone())),
                None => model.remove(key),
            };
        }
        assert_eq!(states(content), model, "at {}", content.revision());
        let bytes: usize = model.iter().map(|(key, (_, bytes))| key.len() + bytes.len()).sum();
        assert_eq!(content.bytes(), bytes as u64);
    }
    assert!(contents.len() > 1);
    let last = contents.last().unwrap();
    let (objects, bytes) = (last.len() as u64, last.bytes());
    assert_eq!(storage.amount(), Amount { objects, bytes });
}

#[tokio::test]
async fn kinds_that_nobody_opened_are_part_of_the_content() {
    let log = MemoryLog::new();
    let record = |revision: u64, key: &str, change| Record {
        revision: Revision(revision),
        key: key.into(),
        change,
        bytes: bytes::Bytes::from(revision.to_string()),
        gap: Some(0),
    };
    // In the year 2096: none expires during the test.
    let put = Change::Put {
        expires: 4_000_000_000_000,
    };
    let records = vec![
        record(1, "/opened/a", put),
        record(2, "/other/a", put),
        record(3, "/other/b", put),
        record(4, "/other/b", Change::Delete),
    ];
    log.append(&Batch {
        at: u64::MAX / 2,
        records,
    })
    .unwrap();
    let storage = Storage::open(log, &StorageOptions::default()).unwrap();
    let _opened = open(&storage, "/opened/");
    let content = storage.content().unwrap();
    assert_eq!((content.revision(), content.len()), (Revision(4), 2));
    assert_eq!(content.get(0).unwrap(), record(1, "/opened/a", put));
    assert_eq!(content.get(1).unwrap(), record(2, "/other/a", put));
    assert!(content.get(2).is_none() && !content.is_empty());
    let (objects, bytes) = (2, content.bytes());
    assert_eq!(storage.amount(), Amount { objects, bytes });
}

//! All writes have one order, which all readers see.

use std::sync::Arc;
use std::time::Duration;

use super::{Bench, delete, key, put, set, show};
use crate::{Expect, Revision, WatchFrom, WriteError};

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn revisions_grow_with_every_write(bench: Bench) {
    let (storage, things) = bench.things();
    let others = storage.collection(super::OTHERS, Arc::new(super::WordIndex));
    let mut last = Revision::ZERO;
    for round in 0..20 {
        let name = format!("n{}", round % 3);
        let revisions = [
            set(&things, &name, "one").await.revision(),
            set(&others, &name, "one").await.revision(),
            delete(&things, &name, Expect::Any)
                .await
                .expect("the key exists")
                .revision(),
        ];
        for revision in revisions {
            assert!(revision > last);
            last = revision;
        }
        assert_eq!(storage.revision(), last);
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn an_answered_write_is_visible(bench: Bench) {
    let (storage, things) = bench.things();
    let writers = (0..8).map(|writer| {
        let (storage, things) = (storage.clone(), Arc::clone(&things));
        tokio::spawn(async move {
            for round in 0..50 {
                let name = format!("{writer}-{round}");
                let written = set(&things, &name, "one").await;
                assert!(storage.revision() >= written.revision());
                let read = things.get(&key(&name)).expect("an answered write is visible");
                assert_eq!(show(&read), show(&written));
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("the writer sees its writes");
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn increments_of_many_writers_are_all_counted(bench: Bench) {
    const WRITERS: usize = 16;
    const INCREMENTS: usize = 20;
    let (_storage, things) = bench.things();
    set(&things, "counter", "0").await;
    let writers = (0..WRITERS).map(|_| {
        let things = Arc::clone(&things);
        tokio::spawn(async move {
            for _ in 0..INCREMENTS {
                loop {
                    let current = things.get(&key("counter")).expect("the counter exists");
                    let count: usize = current
                        .row()
                        .label("word")
                        .and_then(|word| word.parse().ok())
                        .expect("a number");
                    let expect = Expect::Revision(current.revision());
                    match put(&things, "counter", &(count + 1).to_string(), expect).await {
                        Ok(_) => break,
                        Err(WriteError::Conflict { .. }) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("the writer goes on");
    }
    let counter = things.get(&key("counter")).expect("the counter exists");
    assert_eq!(
        counter.row().label("word"),
        Some((WRITERS * INCREMENTS).to_string().as_str())
    );
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_dropped_write_happens_nevertheless(bench: Bench) {
    let (_storage, things) = bench.things();
    let mut watcher = things.watch(things.prefix(), WatchFrom::Now).expect("a watch starts");
    let mut write = Box::pin(put(&things, "a", "one", Expect::Absent));
    // Polled once: the write is submitted.
    tokio::select! { biased; _ = &mut write => {}, () = std::future::ready(()) => {} }
    drop(write);
    assert_eq!(super::show_events(&super::read(&mut watcher, 1).await), ["+a=one@1"]);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn waiting_for_a_revision_ends(bench: Bench) {
    let (storage, things) = bench.things();
    assert!(!storage.wait_for(Revision(1), Duration::from_millis(1)).await);
    let waiting = {
        let storage = storage.clone();
        tokio::spawn(async move { storage.wait_for(Revision(3), Duration::from_secs(60)).await })
    };
    for word in ["one", "two", "three"] {
        set(&things, "a", word).await;
    }
    assert!(waiting.await.expect("the waiter does not panic"));
    assert!(storage.wait_for(Revision(2), Duration::ZERO).await);
}

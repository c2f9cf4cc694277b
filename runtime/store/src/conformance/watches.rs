//! Watchers see every change once, in order.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use super::{Bench, OTHERS, THINGS, WordIndex, delete, read, set, show, show_events};
use crate::{EncodingId, EventKind, Expect, ListQuery, Revision, WatchError, WatchFrom};

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn every_watcher_sees_every_change_once(bench: Bench) {
    const WRITERS: usize = 4;
    const WRITES: usize = 100;
    let (_storage, things) = bench.things();
    let watchers = (0..20).map(|_| {
        let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
        tokio::spawn(async move {
            let events = read(&mut watcher, WRITERS * WRITES).await;
            assert_eq!(watcher.progress(), Revision((WRITERS * WRITES) as u64));
            events.iter().map(|event| event.revision().0).collect::<Vec<_>>()
        })
    });
    let watchers: Vec<_> = watchers.collect();
    let writers = (0..WRITERS).map(|writer| {
        let things = Arc::clone(&things);
        tokio::spawn(async move {
            for round in 0..WRITES {
                set(&things, &format!("{writer}-{}", round % 7), "one").await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("writes are accepted");
    }
    let expected: Vec<_> = (1..=(WRITERS * WRITES) as u64).collect();
    for watcher in watchers {
        assert_eq!(watcher.await.expect("the watch goes on"), expected);
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_watch_resumes_after_its_revision(bench: Bench) {
    let (_storage, things) = bench.things();
    set(&things, "a", "one").await;
    set(&things, "b", "one").await;
    set(&things, "a", "two").await;
    delete(&things, "b", Expect::Any).await.expect("the key exists");
    let all = ["+a=one@1", "+b=one@2", "~a=two@3", "-b=one@4"];
    for after in 0..4 {
        let from = WatchFrom::After(Revision(after as u64));
        let mut watcher = things.watch(THINGS, from).expect("the revision is known");
        assert_eq!(show_events(&read(&mut watcher, 4 - after).await), all[after..]);
    }
    let mut watcher = things
        .watch(THINGS, WatchFrom::After(Revision(4)))
        .expect("the revision is known");
    assert!(watcher.try_next().expect("the watch goes on").is_empty());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_watch_stays_within_its_prefix(bench: Bench) {
    let (storage, things) = bench.things();
    let others = storage.collection(OTHERS, Arc::new(WordIndex));
    let prefix = format!("{THINGS}ns/");
    let mut watcher = things.watch(&prefix, WatchFrom::Now).expect("a watch starts");
    set(&things, "ns2/a", "one").await;
    set(&others, "ns/a", "one").await;
    set(&things, "ns/a", "one").await;
    set(&things, "ns", "one").await;
    set(&things, "ns/a", "two").await;
    assert_eq!(show_events(&read(&mut watcher, 2).await), ["+a=one@3", "~a=two@5"]);
    set(&things, "ns2/a", "two").await;
    assert!(watcher.try_next().expect("the watch goes on").is_empty());
    assert_eq!(watcher.progress(), Revision(6), "other keys' changes are progress too");
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn an_event_knows_the_state_before(bench: Bench) {
    let (_storage, things) = bench.things();
    let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    set(&things, "a", "one").await;
    set(&things, "a", "two").await;
    delete(&things, "a", Expect::Any).await.expect("the key exists");
    set(&things, "a", "three").await;
    let events = read(&mut watcher, 4).await;
    let previous = events.iter().map(|event| event.previous().map(|entry| show(entry)));
    let expected = [None, Some("a=one@1"), Some("a=two@2"), None];
    assert_eq!(
        previous.collect::<Vec<_>>(),
        expected.map(|text| text.map(str::to_owned))
    );
    assert_eq!(events[2].kind(), EventKind::Delete);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_list_and_its_watch_leave_no_gap(bench: Bench) {
    const WRITES: u64 = 200;
    let (_storage, things) = bench.things();
    let writer = {
        let things = Arc::clone(&things);
        tokio::spawn(async move {
            for number in 0..WRITES {
                set(&things, &format!("n{number:03}"), "one").await;
            }
        })
    };
    for _ in 0..10 {
        let (page, mut watcher) = things.list_and_watch(&ListQuery::all(THINGS));
        // Each write creates a key, so the list is as long as its revision.
        assert_eq!(page.entries.len() as u64, page.revision.0);
        let rest = usize::try_from(WRITES - page.revision.0).expect("few writes");
        if let Some(first) = read(&mut watcher, rest.min(1)).await.first() {
            assert_eq!(first.revision(), page.revision.next());
        }
        tokio::task::yield_now().await;
    }
    writer.await.expect("writes are accepted");
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn progress_covers_other_collections(bench: Bench) {
    let (storage, things) = bench.things();
    let others = storage.collection(OTHERS, Arc::new(WordIndex));
    let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    let written = set(&others, "a", "one").await;
    assert_eq!(watcher.progress(), Revision::ZERO, "progress is what was read");
    assert!(watcher.try_next().expect("the watch goes on").is_empty());
    assert_eq!(watcher.progress(), written.revision());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn closing_ends_watches_after_the_last_event(bench: Bench) {
    let (storage, things) = bench.things();
    let mut behind = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    set(&things, "a", "one").await;
    let mut waiting = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    let waiting = tokio::spawn(async move { waiting.next().await.err() });
    storage.close().await;
    assert_eq!(
        waiting.await.expect("the watcher does not panic"),
        Some(WatchError::Closed)
    );
    assert_eq!(show_events(&read(&mut behind, 1).await), ["+a=one@1"]);
    assert_eq!(behind.next().await.err(), Some(WatchError::Closed));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn an_encoding_is_made_once(bench: Bench) {
    let (storage, things) = bench.things();
    let mut watchers: Vec<_> = (0..10)
        .map(|_| things.watch(THINGS, WatchFrom::Now).expect("a watch starts"))
        .collect();
    set(&things, "a", "one").await;
    let made = AtomicUsize::new(0);
    for watcher in &mut watchers {
        for event in read(watcher, 1).await {
            let frame = event.frame(storage.encodings(), EncodingId(1), |event| {
                made.fetch_add(1, Ordering::Relaxed);
                Ok::<_, Infallible>(Bytes::from(show(event.entry())))
            });
            assert_eq!(frame.as_deref(), Ok(&b"a=one@1"[..]));
            let other = event.entry().encoding(storage.encodings(), EncodingId(2), |_| {
                Ok::<_, Infallible>(Bytes::from_static(b"other"))
            });
            assert_eq!(other.as_deref(), Ok(&b"other"[..]));
        }
    }
    assert_eq!(made.into_inner(), 1);
}

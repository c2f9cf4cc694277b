//! States end when their time comes, like by a client's deletion.

use std::sync::Arc;
use std::time::Duration;

use super::{Bench, THINGS, draft, key, read, set, show_events, word_row};
use crate::{Collection, Expect, Op, WatchFrom};

async fn put_for(things: &Arc<Collection>, name: &str, word: &str, seconds: u64) {
    let op = Op::Put {
        key: key(name),
        draft: draft(word),
        row: word_row(&key(name), word),
        expect: Expect::Any,
        ttl: Some(Duration::from_secs(seconds)),
    };
    things.write(op).await.expect("the write is accepted");
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn an_expired_state_is_deleted(bench: Bench) {
    let (storage, things) = bench.things();
    let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    put_for(&things, "b", "one", 20).await;
    put_for(&things, "a", "one", 10).await;
    set(&things, "c", "one").await;
    assert_eq!(
        things.get(&key("a")).and_then(|entry| entry.expires()),
        Some(1_000_000_010_000)
    );
    bench.clock.advance(Duration::from_secs(10));
    storage.recheck_clock();
    let events = show_events(&read(&mut watcher, 4).await);
    assert_eq!(events, ["+b=one@1", "+a=one@2", "+c=one@3", "-a=one@4"]);
    bench.clock.advance(Duration::from_secs(10));
    storage.recheck_clock();
    assert_eq!(show_events(&read(&mut watcher, 1).await), ["-b=one@5"]);
    assert!(things.get(&key("b")).is_none());
    assert!(things.get(&key("c")).is_some());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_later_put_prolongs_or_ends_the_expiry(bench: Bench) {
    let (storage, things) = bench.things();
    put_for(&things, "prolonged", "one", 10).await;
    put_for(&things, "prolonged", "two", 30).await;
    put_for(&things, "kept", "one", 10).await;
    set(&things, "kept", "two").await;
    put_for(&things, "ended", "one", 20).await;
    let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    bench.clock.advance(Duration::from_secs(20));
    storage.recheck_clock();
    assert_eq!(show_events(&read(&mut watcher, 1).await), ["-ended=one@6"]);
    bench.clock.advance(Duration::from_secs(10));
    storage.recheck_clock();
    assert_eq!(show_events(&read(&mut watcher, 1).await), ["-prolonged=two@7"]);
    assert!(things.get(&key("kept")).is_some());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_rewritten_state_expires_as_before(bench: Bench) {
    let (storage, things) = bench.things();
    put_for(&things, "a", "one", 20).await;
    set(&things, "b", "one").await;
    bench.clock.advance(Duration::from_secs(10));
    for name in ["a", "b"] {
        let before = things.get(&key(name)).expect("it exists");
        let rewrite = |revision| Op::Rewrite {
            key: key(name),
            draft: draft("one"),
            row: word_row(&key(name), "one"),
            revision,
        };
        let stale = things.write(rewrite(crate::Revision(0))).await;
        assert!(matches!(stale, Err(crate::WriteError::Conflict { .. })), "{stale:?}");
        let written = things
            .write(rewrite(before.revision()))
            .await
            .expect("the state is known");
        assert_eq!(written.entry.expires(), before.expires());
    }
    let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    bench.clock.advance(Duration::from_secs(10));
    storage.recheck_clock();
    assert_eq!(show_events(&read(&mut watcher, 1).await), ["-a=one@5"]);
    assert!(things.get(&key("b")).is_some());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn expiry_goes_on_after_a_restart(bench: Bench) {
    let (storage, things) = bench.things();
    put_for(&things, "a", "one", 10).await;
    put_for(&things, "b", "one", 20).await;
    let (storage, things) = bench.restart(storage).await;
    let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    bench.clock.advance(Duration::from_secs(10));
    storage.recheck_clock();
    assert_eq!(show_events(&read(&mut watcher, 1).await), ["-a=one@3"]);
    // Expired while the store was closed.
    storage.close().await;
    drop(storage);
    bench.clock.advance(Duration::from_secs(10));
    let (_storage, things) = bench.things();
    let after = WatchFrom::After(crate::Revision(3));
    let mut watcher = things.watch(THINGS, after).expect("the revision is known");
    assert_eq!(show_events(&read(&mut watcher, 1).await), ["-b=one@4"]);
}
